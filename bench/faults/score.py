"""How well turntape reads the bench: precision, recall, and whether it blames the right layer.

A finding counts when its id is the expected one and it is at the right round trip, or its evidence names that.
The layer blamed is that of the root finding (one that is the consequence of nothing) of highest severity; of several
the earliest. What the fault reacts to, and information, is never blamed when something else is.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run.labels import label_all

from .catalogue import Case
from .clean import Clean
from .loop import Loop, record

SEVERITIES = ("info", "warning", "error")
LAYERS = ("model", "api", "client")
BARS = {"layer": 0.99, "recall": 0.95}


@dataclass(frozen=True)
class Found:
    """A finding, and the number of its round trip."""

    at: int
    id: str
    layer: str
    severity: str
    evidence: tuple[str, ...]
    because_of: tuple[str, ...]
    message: str

    @property
    def rank(self) -> int:
        return SEVERITIES.index(self.severity)

    def __str__(self) -> str:
        cause = f" because of {', '.join(self.because_of)}" if self.because_of else ""
        return f"#{self.at} {self.severity} {self.layer} {self.id}{cause}: {self.message}"


def found_in(loop: Loop, *, hints: bool = False) -> tuple[list[Found], list[int]]:
    """What turntape finds, and the number of the round trip of each step."""
    recording = record(loop)
    return label_trips(recording.trips, hints=hints), recording.places


def label_trips(trips: Sequence[RoundTrip], *, hints: bool = False) -> list[Found]:
    """What turntape finds in these round trips."""
    found: list[Found] = []
    for labelled in label_all(trips, hints=hints):
        index = labelled.round_trip.index
        findings: Any = labelled.label["findings"]
        for one in findings:
            evidence = tuple(str(e) for e in one.get("evidence") or ())
            cause = tuple(str(c) for c in one.get("because_of") or ())
            found.append(Found(index, one["id"], one["layer"], one["severity"], evidence, cause, one["message"]))
    return found


def is_at(found: Found, places: set[int]) -> bool:
    named = {int(n) for e in found.evidence if e.startswith("#") and (n := e[1:].split()[0].rstrip(":,")).isdigit()}
    return found.at in places or not places.isdisjoint(named)


@dataclass(frozen=True)
class Outcome:
    """What was found of one case."""

    case: Case
    found: tuple[Found, ...]
    hit: bool
    blamed: str | None
    """The layer; None when nothing was found."""
    strays: tuple[Found, ...]
    """Findings above info that the fault does not explain."""

    @property
    def right(self) -> bool:
        return self.blamed in self.case.fault.layers


def judge(case: Case) -> Outcome:
    loop, where = case.faulty()
    fault = case.fault
    found, places = found_in(loop, hints=fault.tier == "H")
    right = {places[step] for step in where}
    hits = [f for f in found if f.id in fault.ids and is_at(f, right)]
    known = fault.ids | fault.also | fault.given
    strays = tuple(f for f in found if f.rank and f.id not in known and not f.because_of)
    return Outcome(case, tuple(found), bool(hits), _blamed(case, found, hits), strays)


def _blamed(case: Case, found: list[Found], hits: list[Found]) -> str | None:
    """The layer of the most severe root cause; of several, of the first one; None when nothing was found."""
    given = case.fault.given
    roots = [f for f in found if f.id not in given and all(any(g in c for g in given) for c in f.because_of)]
    if not roots:
        return None
    highest = max(f.rank for f in roots)
    # An info does not blame a layer. If an info is expected, the expected finding decides.
    top = [f for f in roots if f.rank == highest] if highest else [h for h in hits if h in roots] or roots
    first = min(f.at for f in top)
    layers = [f.layer for f in top if f.at == first]
    return next((layer for layer in layers if layer in case.fault.layers), layers[0])


@dataclass
class Count:
    cases: int = 0
    hits: int = 0

    @property
    def recall(self) -> float:
        return self.hits / self.cases if self.cases else 1.0


@dataclass
class Score:
    classes: dict[str, Count] = field(default_factory=lambda: defaultdict[str, Count](Count))
    layers: dict[str, Count] = field(default_factory=lambda: defaultdict[str, Count](Count))
    tiers: dict[str, Count] = field(default_factory=lambda: defaultdict[str, Count](Count))
    confusion: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    strays: Counter[str] = field(default_factory=Counter[str])
    """Findings above info that nothing explains, by id, on faulty and on clean loops."""
    explained: Counter[str] = field(default_factory=Counter[str])
    alarms: dict[str, tuple[Found, ...]] = field(default_factory=dict[str, tuple[Found, ...]])
    """Clean loops with findings above info."""
    clean: int = 0
    outcomes: list[Outcome] = field(default_factory=list[Outcome])

    @property
    def blamed(self) -> tuple[int, int]:
        """How often the layer was right, out of how often one was blamed."""
        blamed = [o for o in self.outcomes if o.blamed is not None]
        return sum(o.right for o in blamed), len(blamed)

    @property
    def recall(self) -> Count:
        """Over the classes that bytes prove or strongly suggest."""
        counts = [count for tier, count in self.tiers.items() if tier in ("P", "S")]
        return Count(sum(c.cases for c in counts), sum(c.hits for c in counts))

    def precision(self, identity: str | None = None) -> float:
        good = self.explained[identity] if identity else self.explained.total()
        bad = self.strays[identity] if identity else self.strays.total()
        return good / (good + bad) if good + bad else 1.0

    @property
    def missed(self) -> list[str]:
        """The bars that are missed, one sentence each."""
        right, blamed = self.blamed
        missed: list[str] = []
        if blamed and right / blamed < BARS["layer"]:
            missed.append(f"the layer was right in {right} of {blamed} cases; the bar is {BARS['layer']:.0%}")
        if (recall := self.recall).recall < BARS["recall"]:
            missed.append(f"{recall.hits} of {recall.cases} faults were found; the bar is {BARS['recall']:.0%}")
        if self.alarms:
            missed.append(f"{len(self.alarms)} of {self.clean} clean loops have a finding above info; the bar is none")
        return missed


def score(cases: Iterable[Case], clean: Iterable[Clean]) -> Score:
    total = Score()
    for case in cases:
        outcome = judge(case)
        total.outcomes.append(outcome)
        layer = case.fault.layers[0]
        for count in (total.classes[case.fault.id], total.layers[layer], total.tiers[case.fault.tier]):
            count.cases += 1
            count.hits += outcome.hit
        blamed = outcome.blamed or "none"
        total.confusion[(layer, layer if outcome.right else blamed)] += 1
        total.strays.update(f.id for f in outcome.strays)
        total.explained.update(f.id for f in outcome.found if f.rank and f not in outcome.strays)
    for loop in clean:
        total.clean += 1
        found = tuple(f for f in found_in(loop.loop())[0] if f.rank)
        if found:
            total.alarms[loop.name] = found
            total.strays.update(f.id for f in found)
    return total
