"""The table of faults."""

from .fault import Case, Fault
from .model_faults import MODEL

TABLES = (MODEL,)
CASES: tuple[Case, ...] = tuple(case for table in TABLES for case in table.cases())

__all__ = ["CASES", "TABLES", "Case", "Fault"]
