"""The table of faults."""

from .api_count_faults import COUNTS
from .api_label_faults import LABELS
from .api_length_faults import LENGTHS
from .api_stream_faults import STREAMS
from .fault import Case, Fault
from .fidelity_faults import FIDELITY
from .forged_faults import FORGED
from .hint_faults import HINTS
from .loop_faults import LOOP
from .model_faults import MODEL
from .pairing_faults import PAIRING
from .promise_faults import PROMISES
from .retry_faults import RETRIES
from .shape_faults import SHAPES

TABLES = (MODEL, LENGTHS, LABELS, STREAMS, COUNTS, PROMISES, PAIRING, FIDELITY, FORGED, LOOP, RETRIES, SHAPES, HINTS)
CASES: tuple[Case, ...] = tuple(case for table in TABLES for case in table.cases())

__all__ = ["CASES", "TABLES", "Case", "Fault"]
