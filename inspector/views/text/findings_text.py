"""All findings of a run as text: the layer to blame, the turn, the evidence, and what to do."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import cast

from turntape.cassettes.tape.model import RoundTrip

from ...findings.finding import Finding
from ...run.labels import Key, Label, label_stream
from ...run.row import turn_label
from ...wire.json_value import as_array
from ...wire.printable import safe
from ..vocabulary.repeats import repeats
from .number_format import several
from .status_styles import SEVERITY
from .terminal_text import GLYPHS, Line, Style, folded, wrap

_INDENT = " " * 9
"""Before the later lines of a fix and of the evidence."""


def findings_text(
    round_trips: Iterable[RoundTrip],
    title: str,
    *,
    thread: str | None = None,
    width: int = 100,
    hints: bool = False,
) -> Iterator[Line]:
    """The findings in order of their turns; a sentence when there are none. `hints` adds tier H."""
    width = max(40, width)
    labels: dict[Key, Label] = {key: one.label for key, one in label_stream(round_trips, hints=hints)}
    shown = [labels[key] for key in sorted(labels) if thread is None or labels[key]["thread"] == thread]
    found = [(label, Finding.from_json(one)) for label in shown for one in as_array(label["findings"])]
    yield [(title, "bold")]
    if not found:
        yield [("no findings", "good")]
        return
    counts = Counter(one.severity for _, one in found)
    sums = [
        several(counts[name], name) if name != "info" else f"{counts[name]} info" for name in SEVERITY if counts[name]
    ]
    yield [(", ".join(sums), "plain")]
    name_of = _names(labels.values())
    before = repeats(one for _, one in found)
    for number, ((label, one), first) in enumerate(zip(found, before, strict=True)):
        if first is None or not number or before[number - 1] is None:
            yield []
        yield from _finding(one, name_of(label), "" if first is None else name_of(found[first][0]), width)


def _names(labels: Iterable[Label]) -> Callable[[Label], str]:
    """How a round trip is called: its turn, its thread if there are several, and its number in the file."""
    several_threads = len({label["thread"] for label in labels} - {None}) > 1

    def name(label: Label) -> str:
        if label["turn"] is None:
            return f"no turn  #{label['index']}"
        turn = turn_label(cast(int, label["turn"]), cast(int, label["attempt"]))
        return f"turn {turn}" + (f" of {label['thread']}" if several_threads else "") + f"  #{label['index']}"

    return name


def _finding(found: Finding, name: str, first: str, width: int) -> Iterator[Line]:
    """A finding; of one that repeats the words of the one at `first`, only where it is."""
    glyph, look = SEVERITY[found.severity]
    head: Line = [
        (f"{glyph} ", look),
        (f"{GLYPHS[found.layer]} {found.layer}", cast(Style, found.layer)),
        (f" · {found.id}", look),
        (f"  {name}", "dim"),
    ]
    yield from folded(head, width, "    ")
    where = " · ".join(safe(place) for place in found.evidence)
    if first:
        same = f"    the same as in {' '.join(first.split())}"
        yield from folded([(same, "plain"), ("  see  ", "dim"), (where, "dim")], width, _INDENT)
        return
    for line in wrap(safe(found.message), width - 4):
        yield [("    ", "plain"), (line, "plain")]
    if found.fix:
        for at, line in enumerate(wrap(safe(found.fix), width - 9)):
            yield [("    fix  " if not at else "         ", "good"), (line, "plain")]
    yield from folded([("    see  ", "dim"), (where, "dim")], width, _INDENT)
