"""The documents of `check --format json`, `diff --json` and `explain --json` as pydantic models.

`CheckReport`, `RunDiff` and `FailureClassInfo` are the outermost ones. `models` says how they may change.
"""

from typing import Literal

from ...check.budgets import State
from ...findings.finding import Layer, Severity, Tier
from .models import Dollars, FindingInfo, JsonObject


class CheckFinding(FindingInfo):
    """A finding, and the turn at which it is."""

    index: int
    """The number of the round trip."""
    run: str | None
    """The name of the run."""
    thread: str | None
    """The thread of the turn."""
    turn: int | None
    """The turn in its thread."""


class BudgetVerdict(JsonObject):
    """Whether one run kept one budget."""

    budget: str
    """The option that set it, without dashes."""
    state: State
    """`unknown`: the recording cannot decide it."""
    says: str
    """What was found, as a sentence."""
    used: str | None
    """What the run used."""
    allowed: str
    """What it may use."""
    run: str | None
    """The name of the run."""
    evidence: list[str]
    """The turns that used most."""


class CheckedFile(JsonObject):
    """What was found in one recording."""

    file: str
    """The file, as it was named."""
    failed: bool
    """Whether it fails the check."""
    round_trips: int
    """How many round trips it holds."""
    turns: int
    """How many turns; the attempts of one turn count once."""
    attempts: int
    """How many requests for an answer: the turns, and every retry of one."""
    threads: int
    """How many threads."""
    input: int
    """The input tokens of all turns."""
    cost_usd: Dollars | None
    """US dollars; `null` when no request has a known price."""
    unpriced: int
    """Requests without a known price; if there are any, the real cost is higher than `cost_usd`."""
    findings: list[CheckFinding]
    """In order of the round trips."""
    budgets: list[BudgetVerdict]
    """One for each budget and run."""
    problems: list[str]
    """What could not be read, one sentence each."""


class UnreadFile(JsonObject):
    """A file that could not be checked."""

    file: str
    """The file, as it was named."""
    problem: str
    """Why, as a sentence."""


class CheckReport(JsonObject):
    """The document of `turntape check --format json`."""

    failed: bool
    """Whether the check fails: a finding at or above `fail_on`, or a broken budget."""
    fail_on: Severity
    """The least severity that fails the check."""
    files: list[CheckedFile]
    """The recordings that were checked."""
    unread: list[UnreadFile]
    """The files that could not be."""


class WordDifference(JsonObject):
    """Words that differ within two texts."""

    a: str
    """The words in A, with a few before and after."""
    b: str
    """The words in B."""


class ValueDifference(JsonObject):
    """One place that differs between two turns."""

    pointer: str
    """JSON pointer into the request's body, or into `model` or `api`; or the name of a header, or `url`."""
    kind: Literal["changed", "added", "removed"]
    """What B did with it."""
    a: object
    """The value in A."""
    b: object
    """The value in B."""
    words: list[WordDifference]
    """Where both are texts, the words that differ."""


class DivergenceInfo(JsonObject):
    """The first turn at which two threads differ."""

    layer: Layer
    """Which layer differs first."""
    part: Literal["request", "emission", "finish", "stop"]
    """What differs. `stop`: one run continues where the other ends."""
    says: str
    """The same as a sentence."""
    turn: int
    """The turn in its thread."""
    a_index: int | None
    """The round trip in A; `null` where A has no such turn."""
    b_index: int | None
    """The round trip in B."""
    differences: list[ValueDifference]
    """The first places that differ."""
    more: int
    """How many more places differ, at least."""


class FirstDivergence(DivergenceInfo):
    """The divergence that came first in time, and its threads."""

    a: str | None
    """The thread in A."""
    b: str | None
    """The thread in B."""


class ComparedRunInfo(JsonObject):
    """One of the two runs."""

    name: str
    """The file, or the name of the run."""
    threads: int
    """How many threads it has."""
    turns: int
    """How many turns."""
    input: int
    """The input tokens of all turns."""
    cost_usd: Dollars | None
    """US dollars; `null` when no request has a known price."""
    unpriced: int
    """Requests without a known price; if there are any, the real cost is higher than `cost_usd`."""


class ThreadPairInfo(JsonObject):
    """A thread of A beside the thread of B that does the same."""

    a: str | None
    """The thread in A; `null` when only B has it."""
    b: str | None
    """The thread in B."""
    same_turns: int
    """How many turns are the same before they differ."""
    a_turns: int
    """How many turns the thread has in A."""
    b_turns: int
    """How many in B."""
    parting: DivergenceInfo | None
    """Where they differ first; `null` when they are the same."""


class RunDiff(JsonObject):
    """The document of `turntape diff --json`."""

    same: bool
    """Whether nothing differs."""
    first: FirstDivergence | None
    """Where the runs differ first."""
    a: ComparedRunInfo
    """The first run."""
    b: ComparedRunInfo
    """The second run."""
    threads: list[ThreadPairInfo]
    """All threads of both."""


class FindingExample(JsonObject):
    """An example of a class of findings."""

    message: str
    """The message of such a finding."""
    evidence: list[str]
    """Its evidence."""


class FailureClassInfo(JsonObject):
    """A class of findings, as `turntape explain --json` prints it on a line."""

    id: str
    """The id of the class."""
    aliases: list[str]
    """Its former ids, which commands still accept."""
    layer: Layer
    """Who is to blame."""
    severities: list[Severity]
    """The severities that it may have."""
    tiers: list[Tier]
    """How sure it may be."""
    says: str
    """What it means."""
    fix: str
    """What to do about it."""
    not_when: str | None
    """When it is not reported."""
    protocols: list[str] | None
    """The protocols that it is for; `null` for all."""
    advice: bool
    """Whether it is advice, which blames no layer."""
    switch: str | None
    """The option that turns it on; `null` when it is always on."""
    example: FindingExample | None
    """An example."""
