"""Findings: what went wrong, the layer to blame, and the bytes that prove it; and the rules that make them.

A rule says nothing without evidence. Its tier is P when the bytes prove it, S when one benign reading is left, and
H when it is a threshold or a pattern of words; H never goes above `warning` and is off unless hints are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .rule_context import Case

type Layer = Literal["model", "api", "client"]
type Severity = Literal["error", "warning", "info"]
type Tier = Literal["P", "S", "H"]
type Moment = Literal["ended", "followed", "closed"]
"""When a rule is asked: as a turn ends, as the next turn of its thread ends, or as the recording does."""

SEVERITIES: tuple[Severity, ...] = ("info", "warning", "error")
"""From mild to grave."""


@dataclass(frozen=True, slots=True)
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
    """The ids of findings that this one only echoes."""

    def as_json(self) -> dict[str, object]:
        """The finding as `show --json` has it."""
        return {
            "id": self.id,
            "layer": self.layer,
            "severity": self.severity,
            "tier": self.tier,
            "message": self.message,
            "evidence": list(self.evidence),
            "fix": self.fix,
            "because_of": list(self.because_of),
        }


@dataclass(frozen=True, slots=True)
class Note:
    """What a rule says of one case; its own layer, severity or tier where they depend on the case."""

    message: str
    evidence: tuple[str, ...]
    severity: Severity | None = None
    layer: Layer | None = None
    tier: Tier | None = None
    because_of: tuple[str, ...] = ()
    key: object = None
    """What this is about; a thread is told the same thing about the same key once."""


type Check = Callable[["Case"], Iterator[Note]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One class of failure, and the function that finds it."""

    id: str
    layer: Layer
    severity: Severity
    tier: Tier
    says: str
    """What it means, in one sentence."""
    fix: str
    not_when: str
    """What it must not fire on."""
    check: Check
    when: Moment = "ended"
    protocols: tuple[str, ...] = ()
    """The protocols it is for; none means all."""
    advice: bool = False
    """True for lint: it blames nobody and says what could be better."""

    def apply(self, case: Case) -> Iterator[Finding]:
        """What this rule finds in `case`."""
        if self.protocols and case.reading.protocol not in self.protocols:
            return
        for note in self.check(case):
            if note.key is not None:
                if (self.id, note.key) in case.thread.told:
                    continue
                case.thread.told.add((self.id, note.key))
            yield Finding(
                self.id,
                note.layer or self.layer,
                note.severity or self.severity,
                note.tier or self.tier,
                shortened(note.message),
                note.evidence,
                self.fix,
                note.because_of,
            )


def rule(
    id: str,
    layer: Layer,
    severity: Severity,
    tier: Tier,
    *,
    says: str,
    fix: str,
    not_when: str = "",
    when: Moment = "ended",
    protocols: tuple[str, ...] = (),
    advice: bool = False,
) -> Callable[[Check], Rule]:
    """Makes a row of the table out of a function."""

    def made(check: Check) -> Rule:
        return Rule(id, layer, severity, tier, says, fix, not_when, check, when, protocols, advice)

    return made


def shortened(text: str, limit: int = 400) -> str:
    """`text` in at most `limit` characters and one line."""
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def rooted(findings: list[Finding]) -> list[Finding]:
    """`findings` with the roots first, the gravest before the milder; none is its own root."""
    kept = [replace(f, because_of=tuple(b for b in f.because_of if b != f.id)) for f in findings]
    return sorted(kept, key=lambda f: (bool(f.because_of), -SEVERITIES.index(f.severity)))
