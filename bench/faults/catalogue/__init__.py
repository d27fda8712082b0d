"""The table of faults."""

from .api_faults import API
from .fault import Case, Fault
from .model_faults import MODEL

TABLES = (MODEL, API)
CASES: tuple[Case, ...] = tuple(case for table in TABLES for case in table.cases())

__all__ = ["CASES", "TABLES", "Case", "Fault"]
