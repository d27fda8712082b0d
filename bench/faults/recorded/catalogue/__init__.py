"""The faults that are put into recorded loops."""

from .api_faults import API
from .echo_faults import ECHO
from .history_faults import HISTORY
from .model_faults import MODEL
from .sending_faults import SENDING
from .step_faults import STEP
from .stream_faults import STREAM
from .table import Fault

FAULTS: tuple[Fault, ...] = (
    *MODEL.rows,
    *API.rows,
    *STREAM.rows,
    *ECHO.rows,
    *STEP.rows,
    *HISTORY.rows,
    *SENDING.rows,
)

__all__ = ["FAULTS", "Fault"]
