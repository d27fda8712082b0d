"""How well turntape reads faulty recorded loops, by class of fault and by protocol.

A fault is found when one of the findings that name it is at its round trip, or names that in its evidence. The layer is
right when the most severe root cause blames it; of several, the first one. What the loop showed before the fault is
not counted.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field

from turntape.cassettes.tape.model import RoundTrip

from ..score import Found, is_at, label_trips
from .catalogue import Fault
from .loops import Recording

BARS = {"found": 0.95, "layer": 0.98}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One fault in one loop."""

    fault: Fault
    loop: str
    protocol: str
    found: tuple[Found, ...]
    """What is new against the untouched loop."""
    hits: tuple[Found, ...]
    blamed: str | None
    """The layer of the root cause; None when nothing was found."""

    @property
    def right(self) -> bool:
        return self.blamed in self.fault.layers

    @property
    def strays(self) -> list[Found]:
        """Findings above info that the fault does not explain."""
        known = self.fault.finds | self.fault.also | self.fault.given
        return [f for f in self.found if f.rank and f.id not in known and not f.because_of]


@dataclass(slots=True)
class Count:
    cases: int = 0
    found: int = 0
    blamed: int = 0
    right: int = 0
    info: int = 0
    """Found, and as nothing more than an info."""

    def join(self, other: "Count") -> None:
        for name in ("cases", "found", "blamed", "right", "info"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def add(self, outcome: Outcome) -> None:
        self.cases += 1
        self.found += bool(outcome.hits)
        self.info += bool(outcome.hits) and not any(f.rank for f in outcome.hits)
        if outcome.blamed is not None:
            self.blamed += 1
            self.right += outcome.right


def _counts() -> defaultdict[str, Count]:
    return defaultdict(Count)


def _names() -> defaultdict[str, list[str]]:
    return defaultdict(list)


@dataclass(slots=True)
class Score:
    loops: Counter[str] = field(default_factory=Counter[str])
    """Untouched loops, by protocol."""
    alarms: defaultdict[str, list[str]] = field(default_factory=_names)
    """Findings above info in untouched loops: the loops, by class."""
    torn: int = 0
    """Untouched loops that were read once more without a round trip in the middle."""
    untrue: defaultdict[str, list[str]] = field(default_factory=_names)
    """Findings above info that the missing round trip brings: the loops, by class."""
    classes: defaultdict[str, Count] = field(default_factory=_counts)
    protocols: defaultdict[str, Count] = field(default_factory=_counts)
    layers: defaultdict[str, Count] = field(default_factory=_counts)
    total: Count = field(default_factory=Count)
    skipped: Counter[str] = field(default_factory=Counter[str])
    """Loops in which a fault of this class could not be put."""
    wrong: list[Outcome] = field(default_factory=list[Outcome])
    """Faults that were missed or blamed on another layer."""
    strays: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    """Findings beside the fault that nothing explains: class of the fault, id."""

    def add(self, other: "Score") -> None:
        """Take in the score of other loops."""
        self.loops += other.loops
        self.skipped += other.skipped
        self.strays += other.strays
        self.wrong = sorted([*self.wrong, *other.wrong], key=lambda one: (one.fault.name, one.loop))
        self.torn += other.torn
        for mine, theirs in ((self.alarms, other.alarms), (self.untrue, other.untrue)):
            for identity, names in theirs.items():
                mine[identity] = sorted([*mine[identity], *names])
        for mine, theirs in ((self.classes, other.classes), (self.protocols, other.protocols),
                             (self.layers, other.layers)):  # fmt: skip
            for name, count in theirs.items():
                mine[name].join(count)
        self.total.join(other.total)

    def missed(self, explained: Mapping[str, tuple[int, str]]) -> list[str]:
        """The bars that are missed, one sentence each. `explained`: in how many untouched loops a class is known."""
        t = self.total
        sentences: list[str] = []
        if t.found < t.cases * BARS["found"]:
            sentences.append(f"{t.found} of {t.cases} faults were found; the bar is {BARS['found']:.0%}")
        if t.right < t.blamed * BARS["layer"]:
            sentences.append(f"the layer was right in {t.right} of {t.blamed} cases; the bar is {BARS['layer']:.0%}")
        for identity, names in sorted(self.alarms.items()):
            known, _ = explained.get(identity, (0, ""))
            if len(names) > known:
                sentences.append(f"{identity} is found in {len(names)} untouched loops; {known} are explained")
        for identity, names in sorted(self.untrue.items()):
            sentences.append(f"{identity} is found in {len(names)} of {self.torn} loops that lack a round trip")
        return sentences


def score(recordings: Sequence[Recording], faults: Iterable[Fault], jobs: int = 1) -> Score:
    """The score of all loops, in `jobs` processes. The result does not depend on their number."""
    rows = tuple(faults)
    if jobs == 1:
        return _score(recordings, rows)
    parts = [recordings[start::jobs] for start in range(jobs)]
    total = Score()
    with ProcessPoolExecutor(jobs) as pool:
        for part in pool.map(_score, parts, [rows] * jobs):
            total.add(part)
    return total


def _score(recordings: Sequence[Recording], rows: Sequence[Fault]) -> Score:
    total = Score()
    for recording in recordings:
        total.loops[recording.protocol] += 1
        before = label_trips(recording.loop().trips())
        for identity in {f.id for f in before if f.rank}:
            total.alarms[identity].append(recording.name)
        if len(recording.trips) > 2:
            total.torn += 1
            for identity in _torn(recording) - {f.id for f in before if f.rank}:
                total.untrue[identity].append(recording.name)
        for fault in rows:
            outcome = judge(recording, fault, before)
            if outcome is None:
                total.skipped[fault.name] += 1
                continue
            for count in (total.classes[fault.name], total.protocols[outcome.protocol], total.layers[fault.layer],
                          total.total):  # fmt: skip
                count.add(outcome)
            total.strays.update((fault.name, f.id) for f in outcome.strays)
            if not outcome.hits or not outcome.right:
                total.wrong.append(outcome)
    return total


def _torn(recording: Recording) -> set[str]:
    """What is found above info when a round trip in the middle is not in the tape, as of a damaged or filtered file."""
    trips = recording.loop().trips()
    return {f.id for f in label_trips([*trips[: len(trips) // 2], *trips[len(trips) // 2 + 1 :]]) if f.rank}


def faulty(recording: Recording, fault: Fault) -> tuple[list[RoundTrip], set[int]] | None:
    """The loop with the fault, and where the finding may be; None when the loop has nothing to break there."""
    loop = recording.loop()
    places = fault.inject(loop)
    return None if places is None else (loop.trips(), places)


def judge(recording: Recording, fault: Fault, before: Sequence[Found]) -> Outcome | None:
    made = faulty(recording, fault)
    if made is None:
        return None
    trips, places = made
    if any(f.id in fault.finds and is_at(f, places) for f in before):
        return None
    known = {(f.id, f.message) for f in before}
    found = tuple(f for f in label_trips(trips) if (f.id, f.message) not in known)
    hits = tuple(f for f in found if f.id in fault.finds and is_at(f, places))
    return Outcome(fault, recording.name, recording.protocol, found, hits, _blamed(fault, found, hits))


def _blamed(fault: Fault, found: Sequence[Found], hits: Sequence[Found]) -> str | None:
    """The layer of the most severe root cause; of several, of the first one; None when nothing was found."""
    roots = [
        f for f in found if f.id not in fault.given and all(any(g in c for g in fault.given) for c in f.because_of)
    ]
    if not roots:
        return None
    highest = max(f.rank for f in roots)
    # An info does not blame a layer. If an info is expected, the expected finding decides.
    top = [f for f in roots if f.rank == highest] if highest else [h for h in hits if h in roots] or roots
    first = min(f.at for f in top)
    layers = [f.layer for f in top if f.at == first]
    return next((layer for layer in layers if layer in fault.layers), layers[0])
