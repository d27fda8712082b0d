"""docs/clients.md, made from a run of the matrix."""

import platform
import re
import shutil
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime

from .catalogue import CLIENTS
from .environments import ROOT
from .matrix import Cell

PAGE = ROOT / "docs" / "clients.md"
HEAD = """\
# Clients

Made by `make clients`; do not edit by hand. `make clients CLIENT='openai litellm'` runs some of them and prints the
outcome. Each is installed from its registry as it is today, and runs one agent with two tools against a scripted
LLM, four turns long: three parallel tool calls, two more, one, then text. Nothing in an agent's code differs from
route to route, but for what is said at the end: `turntape run --route …` sets its environment, and that is all.

- **recorded**: each round trip that reached the API is on the tape, whole, by the route that was asked for, and the
  agent ended as it should.
- **labelled**: each turn has the right tool calls, finish and outcome, and no finding is a warning or an error, but
  for those that are right and named at the end.
- **replayed**: run again as `turntape run --replay …` with the scripted LLM gone, the agent gets the same bytes
  turn by turn, ends well, and is labelled alike.
"""
_WORDS = {"ok": "yes", "failed": "**no**", "skipped": "–"}
_ROUTES = {"base_url": "base URL", "forward": "forward"}
_PLACE = re.compile(r"(?:https?://|(?<![\w.])/)[^\s'\"]*/[^\s'\"]+")

type Row = tuple[str, str, str, str, str, str]


def page(cells: Iterable[Cell]) -> str:
    """The page as Markdown. A row holds the variants of a client that went alike."""
    cells = list(cells)
    rows: dict[Row, list[Cell]] = {}
    for cell in cells:
        recorded, labelled, replayed = (_WORDS[check.word] for check in (cell.recorded, cell.labelled, cell.replayed))
        row = (cell.client, cell.version, cell.route, recorded, labelled, replayed)
        rows.setdefault(row, []).append(cell)
    numbers: dict[tuple[str, ...], int] = {}
    lines = [HEAD, _machine(), "", "| client | version | route | used as | recorded | labelled | replayed |"]
    lines.append("|---|---|---|---|---|---|---|")
    for (client, version, route, *words), alike in rows.items():
        marks = ""
        for cell in alike:
            for reason in _reasons(cell):
                number = numbers.setdefault((client, _ROUTES[route], reason), len(numbers) + 1)
                marks += f" [{number}]" if f"[{number}]" not in marks else ""
        used = ", ".join(cell.variant for cell in alike)
        lines.append(f"| {client}{marks} | {version} | {_ROUTES[route]} | {used} | {' | '.join(words)} |")
    if numbers:
        lines += ["", "## What is not a yes", ""]
        lines += [f"{number}. {client}, {route}: {reason}" for (client, route, reason), number in numbers.items()]
    notes = {name: client.notes for client in CLIENTS if (name := client.name) in {cell.client for cell in cells}}
    if any(notes.values()):
        lines += ["", "## Worth knowing", ""]
        lines += [f"- **{name}**: {note}" for name, all_notes in notes.items() for note in all_notes]
    return "\n".join(lines) + "\n"


def _reasons(cell: Cell) -> list[str]:
    explained = next((c.explained for c in CLIENTS if c.name == cell.client), {})
    if cell.skipped:
        return [_shown(f"not run: {cell.skipped}.")]
    if not cell.problems:
        return []
    why = [explained[key] for key in (cell.route, cell.variant, f"{cell.variant}, {cell.route}") if key in explained]
    return [_shown(f"{problem}.") + "".join(f" {reason}" for reason in why) for problem in cell.problems]


def _shown(text: str) -> str:
    """A reason without the places of this machine and this index, on one line."""
    return _PLACE.sub("…", " ".join(text.split())).replace("|", "\\|").replace("..", ".")


def _machine() -> str:
    node = shutil.which("node")
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout if node else ""
    runtimes = f"Python {platform.python_version()}, " + (f"Node {said.strip().lstrip('v')}" if said else "no Node")
    return f"The last run: {datetime.now(UTC):%Y-%m-%d}, {platform.system()}, {runtimes}."
