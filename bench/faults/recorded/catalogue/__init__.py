"""The faults that are put into recorded loops."""

from .api_faults import API
from .client_faults import CLIENT
from .model_faults import MODEL
from .table import Fault

FAULTS: tuple[Fault, ...] = (*MODEL.rows, *API.rows, *CLIENT.rows)

__all__ = ["FAULTS", "Fault"]
