"""What clients and tool servers do wrong, as edits of a loop with its tool wire."""

from ...recorded.catalogue.table import Fault
from . import call_faults, hop_faults, protocol_faults, result_faults, server_faults, wire_faults
from .table import TABLE

FAULTS: tuple[Fault, ...] = tuple(TABLE.rows)

__all__ = [
    "FAULTS",
    "Fault",
    "call_faults",
    "hop_faults",
    "protocol_faults",
    "result_faults",
    "server_faults",
    "wire_faults",
]
