"""The table of faults."""

from .api_faults import API
from .fault import Case, Fault
from .fidelity_faults import FIDELITY
from .hint_faults import HINTS
from .loop_faults import LOOP
from .model_faults import MODEL
from .pairing_faults import PAIRING
from .retry_faults import RETRIES
from .shape_faults import SHAPES

TABLES = (MODEL, API, PAIRING, FIDELITY, LOOP, RETRIES, SHAPES, HINTS)
CASES: tuple[Case, ...] = tuple(case for table in TABLES for case in table.cases())

__all__ = ["CASES", "TABLES", "Case", "Fault"]
