"""The result of a proof, as text."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from textwrap import wrap

from turntape.cassettes.counted import several
from turntape.cassettes.excerpts import listed
from turntape.cassettes.frozen import frozen

from .comparison import Compared, Difference

_TOKEN = re.compile(r"/t/turntape-[0-9a-f]{40}(?=/)")


@frozen
class Proof:
    compared: tuple[Compared, ...]
    missed: Mapping[str, int]
    """Requests that the witness behind the proxy did not see, by host."""

    @property
    def answered(self) -> list[Compared]:
        """Exchanges that were not passed on: turntape answered them itself, or the API was not reached."""
        return [one for one in self.compared if one.behind is None]

    @property
    def unexplained(self) -> list[Difference]:
        return [difference for one in self.compared for difference in one.differences if difference.why is None]

    @property
    def holds(self) -> bool:
        return not self.unexplained and any(one.behind is not None for one in self.compared)


def lines(proof: Proof, colour: bool) -> list[str]:
    bold, dim, red, off = ("\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[0m") if colour else ("",) * 4
    passed = [one for one in proof.compared if one.behind is not None]
    if not passed:
        head = f"{red}nothing to prove{off}: no request was passed on"
    elif proof.holds:
        head = (
            f"proven for {several(len(passed), 'request')}: the API got exactly what the client sent, and the "
            "client got exactly what the API sent, byte for byte and chunk by chunk"
        )
    else:
        head = f"{red}not proven{off}: {several(len(proof.unexplained), 'difference')} that nothing explains"
    shown = wrap(head, 79)
    found = [f"{bold}turntape{off}  {shown[0]}", *(f"          {line}" for line in shown[1:])]
    found += _differences("forced", [d for one in passed for d in one.differences if d.why is not None], dim, off)
    found += _differences("DIFFERS", proof.unexplained, red, off)
    if alone := proof.answered:
        unanswered = Counter(f"{one.before.request.method} {_shown(one.before.request.target)}" for one in alone)
        found += _wrapped(f"not passed on, so not compared: {_listed(unanswered)}")
    if proof.missed:
        found += _wrapped(f"not compared, because they used an upstream proxy: {_listed(proof.missed)}")
    return found


def _shown(text: str) -> str:
    """A request target without the token of the run."""
    return _TOKEN.sub("", text)


def _differences(word: str, differences: Iterable[Difference], mark: str, off: str) -> list[str]:
    grouped: Counter[tuple[str, str, str | None]] = Counter()
    example: dict[tuple[str, str, str | None], Difference] = {}
    for difference in differences:
        key = (difference.side, difference.what, difference.why)
        grouped[key] += 1
        example.setdefault(key, difference)
    found: list[str] = []
    for key, number in grouped.items():
        one = example[key]
        found += _wrapped(
            f"{mark}{word}{off} {number} × {one.side} {one.what}: {_shown(one.sent)} → {_shown(one.arrived)}"
        )
        if one.why:
            found += [f"          {line}" for line in wrap(one.why, 75, initial_indent="  ", subsequent_indent="  ")]
    return found


def _wrapped(text: str) -> list[str]:
    return [f"          {line}" for line in wrap(text, 100, break_long_words=False, break_on_hyphens=False)]


def _listed(counts: Mapping[str, int]) -> str:
    shown = [f"{name} ({number}×)" if number > 1 else name for name, number in counts.items()]
    return listed(shown, 5)
