"""A finding: what went wrong or costs money, the layer to blame, and the places in the bytes that prove it.

This is the one model of a finding: rules make it, labels carry it as JSON, and check and the views read it back.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, Self, cast

from turntape.cassettes.excerpts import cut
from turntape.cassettes.frozen import frozen

from ..wire.json_value import as_array, as_object

type Layer = Literal["model", "api", "client", "tool"]
type Severity = Literal["error", "warning", "info"]
type Tier = Literal["P", "S", "H"]
"""How sure a finding is: P is proven by the bytes, S leaves one benign explanation, H is a heuristic."""

SEVERITIES: tuple[Severity, ...] = ("info", "warning", "error")
"""From mild to severe."""


@frozen
class Finding:
    """One thing that went wrong or costs money."""

    id: str
    layer: Layer
    severity: Severity
    tier: Tier
    message: str
    evidence: tuple[str, ...]
    """Places, each `#N` (a round trip) and what to look at in it; JSON pointers where there are any."""
    fix: str = ""
    because_of: tuple[str, ...] = ()
    """The ids of the findings that this one follows from."""
    aliases: tuple[str, ...] = ()
    """The former ids of its class."""

    @property
    def names(self) -> tuple[str, ...]:
        """Its id, then the former ones: a comparison with any of them holds."""
        return (self.id, *self.aliases)

    def as_json(self) -> dict[str, object]:
        """The finding as a label and `show --json` have it."""
        return {
            "id": self.id,
            "layer": self.layer,
            "severity": self.severity,
            "tier": self.tier,
            "message": self.message,
            "evidence": list(self.evidence),
            "fix": self.fix,
            "because_of": list(self.because_of),
            "aliases": list(self.aliases),
        }

    @classmethod
    def from_json(cls, value: object) -> Self:
        """The finding that `as_json` wrote. A missing field is read as empty, because old indexes may lack some."""
        fields = as_object(value)
        return cls(
            str(fields.get("id", "")),
            cast(Layer, str(fields.get("layer", ""))),
            cast(Severity, str(fields.get("severity", ""))),
            cast(Tier, str(fields.get("tier", ""))),
            str(fields.get("message", "")),
            tuple(str(place) for place in as_array(fields.get("evidence"))),
            str(fields.get("fix") or ""),
            tuple(str(name) for name in as_array(fields.get("because_of"))),
            tuple(str(name) for name in as_array(fields.get("aliases"))),
        )


def roots_first(findings: Iterable[Finding]) -> list[Finding]:
    """`findings` with root causes first, the most severe before the milder; none names itself as its cause."""
    kept = [replace(f, because_of=tuple(b for b in f.because_of if b != f.id)) for f in findings]
    return sorted(kept, key=lambda f: (bool(f.because_of), -SEVERITIES.index(f.severity)))


def became(was: str, now: str) -> str:
    """A change as a clause: `'a' became 'b'`, or that one of them was added or removed."""
    if not was.strip():
        return f"{now!r} was added"
    return f"{was!r} became {now!r}" if now.strip() else f"{was!r} was removed"


def shortened(text: str, limit: int = 400) -> str:
    """`text` in at most `limit` characters and one line."""
    return cut(" ".join(text.split()), limit)
