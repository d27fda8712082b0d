"""The part of the bench with real frameworks, on the command line: a table of frameworks and faults."""

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from tests.clients.environments import Unavailable
from turntape.cassettes.tape.model import RoundTrip

from ..page import put, table
from ..recorded.catalogue import FAULTS
from ..recorded.loops import Recording, healthy_loops
from ..recorded.report import text
from ..recorded.score import BARS, Score, score
from ..score import Found, label_trips
from .catalogue import FRAMEWORKS, SERVED, Framework, Served
from .tapes import tape_of

APIS = {"mistral-chat": "mistral"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What turntape finds of one fault in one framework."""

    framework: str
    served: Served
    found: bool
    blamed: str | None
    root: str
    """The finding that blames it."""

    @property
    def right(self) -> bool:
        return self.blamed in self.served.layers

    @property
    def word(self) -> str:
        if not self.found:
            return f"missed, {self.root or 'nothing'} ({self.blamed or 'none'})"
        return "ok" if self.right else f"blames {self.blamed}: {self.root}"


def main(given: argparse.Namespace) -> int:
    """Print the table; 1 when a bar is missed."""
    names = tuple(given.only or ("",))
    outcomes: list[Outcome] = []
    recordings: list[Recording] = []
    alarms = 0
    for framework in FRAMEWORKS:
        if given.framework and framework.client.name not in given.framework:
            continue
        try:
            healthy = tape_of(framework, None, again=given.again)
        except Unavailable as exc:
            print(f"{framework.name:<32} left out: {exc}", flush=True)
            continue
        before = [f for f in label_trips(healthy) if f.id not in framework.client.findings]
        alarms += any(f.rank for f in before)
        print(f"{framework.name:<32} healthy{'':<48}{_alarm(before)}", flush=True)
        recordings += _recordings(framework, healthy)
        for served in SERVED:
            if served.fits(framework) and served.name.startswith(names):
                outcome = judge(framework, served, tape_of(framework, served, again=given.again), before)
                outcomes.append(outcome)
                print(f"{framework.name:<32} {served.name:<55}{outcome.word}", flush=True)
    edited = score(recordings, [fault for fault in FAULTS if fault.name.startswith(names)])
    print("", text(edited, verbose=given.verbose, explained={}), "", *_summary(outcomes, alarms), sep="\n")
    if given.page:
        put("frameworks", _page(outcomes, edited))
    return int(bool(_missed(outcomes) or alarms or edited.missed({})))


def judge(framework: Framework, served: Served, trips: Sequence[RoundTrip], before: Sequence[Found]) -> Outcome:
    """The root cause is the most severe finding that follows from nothing; of several the first."""
    known = {(f.id, f.message) for f in before} | {(name, None) for name in framework.client.findings}
    new = [f for f in label_trips(trips) if not {(f.id, f.message), (f.id, None)} & known]
    roots = [f for f in new if not f.because_of]
    hits = [f for f in new if f.id in served.finds]
    if not roots:
        return Outcome(framework.name, served, bool(hits), None, "")
    highest = max(f.rank for f in roots)
    # An info does not blame a layer. If an info is expected, the expected finding decides.
    top = [f for f in roots if f.rank == highest] if highest else [h for h in hits if h in roots] or roots
    first = min(top, key=lambda f: (f.at, f.layer not in served.layers))
    return Outcome(framework.name, served, bool(hits), first.layer, first.id)


def _alarm(before: Sequence[Found]) -> str:
    loud = sorted({f.id for f in before if f.rank})
    return f"false alarm: {', '.join(loud)}" if loud else "silent"


def _recordings(framework: Framework, trips: Sequence[RoundTrip]) -> list[Recording]:
    """The healthy loop of a framework, for the faults of recorded loops."""
    api = APIS.get(framework.variant.protocol, framework.variant.protocol)
    return [
        Recording(framework.name, shape.protocol, framework.name, shape, tuple(loop))
        for shape, loop in healthy_loops((api, trip) for trip in trips)
    ]


def _summary(outcomes: Sequence[Outcome], alarms: int) -> list[str]:
    found = sum(o.found for o in outcomes)
    blamed = [o for o in outcomes if o.blamed is not None]
    right = sum(o.right for o in blamed)
    missed = Counter(o.served.name for o in outcomes if not o.found or not o.right)
    return [
        "faults of the server, in the framework's own run",
        f"frameworks                      {len({o.framework for o in outcomes})}",
        f"faults found                    {found} of {len(outcomes)}",
        f"layer blamed right              {right} of {len(blamed)}",
        f"healthy runs with an alarm      {alarms}",
        *(f"wrong in {count}: {name}" for name, count in missed.most_common()),
        *(f"missed: {sentence}" for sentence in _missed(outcomes)),
    ]


def _page(outcomes: Sequence[Outcome], edited: Score) -> list[str]:
    """The score as it is published."""
    names = sorted({o.framework for o in outcomes})
    rows: list[list[object]] = []
    for name in names:
        mine = [o for o in outcomes if o.framework == name]
        wrong = "; ".join(f"{o.served.name}: {o.word}" for o in mine if o.word != "ok")
        rows.append([name, len(mine), sum(o.found for o in mine), sum(o.right for o in mine), wrong])
    t = edited.total
    return [
        *wrap(
            f"Faults of the server, in the own runs of {len(names)} frameworks: {sum(o.found for o in outcomes)} of "
            f"{len(outcomes)} were found, and the layer was right in {sum(o.right for o in outcomes)}. The healthy "
            f"loops, with the faults of the recorded part: {t.found} of {t.cases} found, the layer right in {t.right} "
            f"of {t.blamed}. Findings above info of a healthy run are explained in [clients.md](clients.md); they do "
            "not count here.",
            120,
        ),
        "",
        *table(["framework", "faults", "found", "layer right", "what was wrong"], rows),
    ]


def _missed(outcomes: Sequence[Outcome]) -> list[str]:
    blamed = [o for o in outcomes if o.blamed is not None]
    sentences: list[str] = []
    if sum(o.found for o in outcomes) < len(outcomes) * BARS["found"]:
        sentences.append(f"the bar for faults that are found is {BARS['found']:.0%}")
    if sum(o.right for o in blamed) < len(blamed) * BARS["layer"]:
        sentences.append(f"the bar for the right layer is {BARS['layer']:.0%}")
    return sentences
