"""All findings of a run as text: the layer to blame, the turn, the evidence, and what to do."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import cast

from turntape.cassettes.tape.model import RoundTrip

from ...run.labels import Key, Label, label_stream
from ...wire.json_value import as_array, as_object
from ...wire.printable import safe
from .number_format import several
from .status_styles import SEVERITY
from .terminal_text import GLYPHS, Line, Style, fit, wrap


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
    found = [(label, as_object(one)) for label in shown for one in as_array(label["findings"])]
    yield [(title, "bold")]
    if not found:
        yield [("no findings", "good")]
        return
    counts = Counter(cast(str, one["severity"]) for _, one in found)
    sums = [
        several(counts[name], name) if name != "info" else f"{counts[name]} info" for name in SEVERITY if counts[name]
    ]
    yield [(", ".join(sums), "plain")]
    for label, one in found:
        yield []
        yield from _finding(label, one, width)


def _finding(label: Label, finding: dict[str, object], width: int) -> Iterator[Line]:
    glyph, look = SEVERITY[cast(str, finding["severity"])]
    layer = cast(str, finding["layer"])
    turn = f"turn {label['turn']} of {label['thread']}" if label["turn"] is not None else "no turn"
    yield fit(
        [
            (f"{glyph} ", look),
            (f"{GLYPHS[layer]} {layer}", cast(Style, layer)),
            (f" · {finding['id']}", look),
            (f"  {turn}  #{label['index']}", "dim"),
        ],
        width,
    )
    for line in wrap(safe(cast(str, finding["message"])), width - 4):
        yield [("    ", "plain"), (line, "plain")]
    if fix := finding.get("fix"):
        for at, line in enumerate(wrap(safe(cast(str, fix)), width - 9)):
            yield [("    fix  " if not at else "         ", "good"), (line, "plain")]
    where = " · ".join(safe(str(place)) for place in as_array(finding["evidence"]))
    yield fit([("    see  ", "dim"), (where, "dim")], width)
