"""The last run of each client, kept beside the environments, so that one client can be run again for the page."""

from dataclasses import asdict

import orjson

from .catalogue import CLIENTS
from .environments import CACHE
from .matrix import Cell, Check

FOLDER = CACHE / "runs"


def remember(cells: list[Cell]) -> None:
    """Take these cells, all of one client, for its last run."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    if cells:
        path = FOLDER / f"{cells[0].client.replace('/', '_')}.json"
        path.write_bytes(orjson.dumps([asdict(cell) for cell in cells], option=orjson.OPT_INDENT_2))


def remembered() -> list[Cell]:
    """The last run of each client of the catalogue, in its order."""
    cells: list[Cell] = []
    for client in CLIENTS:
        path = FOLDER / f"{client.name.replace('/', '_')}.json"
        if path.exists():
            cells += [_cell(value) for value in orjson.loads(path.read_bytes())]
    return cells


def _cell(value: dict[str, object]) -> Cell:
    checks = {name: Check(**value.pop(name)) for name in ("recorded", "labelled", "replayed")}  # type: ignore[arg-type]
    return Cell(**value, **checks)  # type: ignore[arg-type]
