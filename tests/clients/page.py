"""docs/clients.md, made from a run of the matrix."""

from .environments import ROOT
from .matrix import Cell

PAGE = ROOT / "docs" / "clients.md"


def page(cells: list[Cell]) -> str:
    return ""
