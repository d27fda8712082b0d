"""`python -m bench.faults --generated`: how many random changes that a client can notice are found and blamed right."""

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from tests.corpus import corpus
from turntape.cassettes.tape.model import RoundTrip

from ..page import table
from ..recorded.loops import Recording, candidates
from ..score import Found, label_trips
from ..tapes import write_trips
from .changes import Change, change
from .norm import Norm, norm_of

COUNT, SEED = 300, "turntape"
_TRIES = 40


@dataclass(frozen=True, slots=True)
class Case:
    """One changed answer, at the end of its loop."""

    number: int
    recording: Recording
    change: Change
    before: tuple[RoundTrip, ...]
    """The loop up to that answer, as it was recorded."""
    trips: tuple[RoundTrip, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    case: Case
    found: tuple[Found, ...]
    """What is new at the changed answer."""

    @property
    def right(self) -> bool:
        """True when the most severe root cause is the API's."""
        roots = [one for one in self.found if not one.because_of] or list(self.found)
        highest = max((one.rank for one in roots), default=0)
        return any(one.layer == "api" for one in roots if one.rank == highest)


def norms() -> dict[tuple[str, bool], Norm]:
    """What is usual in the answers of each API, whole and streamed."""
    turns = [(one.protocol, turn) for one in candidates() for turn in one.loop().turns]
    keys = {(protocol, turn.streamed) for protocol, turn in turns}
    return {
        key: norm_of(turn.answer for protocol, turn in turns if (protocol, turn.streamed) == key)
        for key in sorted(keys)
    }


def cases(seed: str, numbers: Sequence[int]) -> Iterator[Case]:
    """The changes of these numbers; each depends on the seed and its number alone."""
    usual = norms()
    by_protocol: defaultdict[str, list[Recording]] = defaultdict(list)
    for one in candidates():
        by_protocol[one.protocol].append(one)
    for number in numbers:
        random = Random(f"{seed} {number}")
        for _ in range(_TRIES):
            recording = random.choice(by_protocol[random.choice(sorted(by_protocol))])
            if (made := _made(number, recording, usual, random)) is not None:
                yield made
                break


def _made(number: int, recording: Recording, usual: dict[tuple[str, bool], Norm], random: Random) -> Case | None:
    loop = recording.loop()
    at = random.randrange(len(loop.turns))
    del loop.turns[at + 1 :]
    before, turn = tuple(loop.trips()), loop.turns[at]
    done = change(turn.answer, usual[recording.protocol, turn.streamed], random)
    if done is None or not done.noticed:
        return None
    turn.body = done.body
    return Case(number, recording, done, before, tuple(loop.trips()))


def judge(case: Case) -> Outcome:
    known = {(one.id, one.message) for one in label_trips(case.before)}
    last = len(case.trips) - 1
    found = (one for one in label_trips(case.trips) if one.at == last and (one.id, one.message) not in known)
    return Outcome(case, tuple(found))


def main(given: argparse.Namespace) -> int:
    """Print how many changes were found and blamed right, by protocol and by kind; always 0."""
    if corpus.folder() is None:
        print(f"generated faults: left out, {corpus.ABSENT}")
        return 0
    numbers = given.case or range(given.count or COUNT)
    outcomes: list[Outcome] = []
    for case in cases(given.seed or SEED, numbers):
        outcome = judge(case)
        outcomes.append(outcome)
        if given.write:
            write_trips(given.write, f"generated {case.number}", case.trips)
        if given.case or (given.verbose and not (outcome.found and outcome.right)):
            print(_shown(outcome, given), file=sys.stderr)
    print(text(outcomes))
    return 0


def _shown(outcome: Outcome, given: argparse.Namespace) -> str:
    case = outcome.case
    seed = f" --seed {given.seed}" if given.seed else ""
    head = f"{case.number} {case.recording.name} #{len(case.trips) - 1}: {case.change.kind} {case.change.place}"
    command = f'make faults ARGS="--generated{seed} --case {case.number} --write FOLDER"'
    return "\n".join([head, *(f"    {one}" for one in outcome.found), f"    {command}"])


def text(outcomes: Sequence[Outcome]) -> str:
    """The figures by protocol and by kind, and the fields that were missed most often."""
    rows: list[list[object]] = [
        *_rows([(one.case.recording.protocol, one) for one in outcomes]),
        *_rows([(one.case.change.kind, one) for one in outcomes]),
        *_rows([("all", one) for one in outcomes]),
    ]
    missed = Counter(
        f"{one.case.recording.protocol}: {one.case.change.kind} {one.case.change.place}"
        for one in outcomes
        if not one.found
    )
    worst = [f"missed {count}: {place}" for place, count in missed.most_common(10)]
    return "\n".join([*table(["", "changes", "found", "above info", "blamed right"], rows), "", *worst])


def _rows(named: Sequence[tuple[str, Outcome]]) -> list[list[object]]:
    groups: defaultdict[str, list[Outcome]] = defaultdict(list)
    for name, one in named:
        groups[name].append(one)
    return [
        [
            name,
            len(group),
            sum(bool(one.found) for one in group),
            sum(any(f.rank for f in one.found) for one in group),
            sum(bool(one.found) and one.right for one in group),
        ]
        for name, group in sorted(groups.items())
    ]
