"""A run as conversations: for each thread the messages and the answers, each piece once.

Requests repeat the whole history; here each turn has only what is new in its request. What the client did with a
turn's calls is part of the turn, as the next request shows it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from typing import Literal

from turntape.cassettes.frozen import frozen, mutable
from turntape.cassettes.tape.model import RoundTrip

from ..run.labels import Key, Label, label_stream
from ..tools.tool_run import ToolRun
from ..wire.values import Emission, Finish, Message, RequestReading, Tool, ToolCall, ToolResult, Usage

type Role = Literal["system", "user", "assistant"]


@frozen
class SentMessage:
    """A message in a request: text with media named in brackets, and the calls of an assistant's."""

    role: Role
    text: str
    calls: tuple[ToolCall, ...] = ()


@frozen
class TurnSummary:
    """A turn: what is new in its request, and what came back."""

    label: Label
    """As `show --json` has it, with the client layer and the findings."""
    started_at: float
    ended_at: float
    said: tuple[SentMessage, ...]
    emission: Emission
    finish: Finish | None
    usage: Usage | None
    results: tuple[ToolResult, ...] = ()
    """The results that the client sent for the calls of this turn."""
    tool_runs: tuple[ToolRun, ...] = ()
    """The runs of its calls, where the tools' own wire was recorded."""


@frozen
class RunSummary:
    """All threads of a cassette, and what belongs to none."""

    threads: "list[ThreadSummary]"
    unjoined: tuple[ToolRun, ...]
    """The tool runs for which no call of the model was found."""
    of_earlier: tuple[ToolRun, ...] = ()
    """The tool runs whose call is in the segment before this recording."""


@mutable
class ThreadSummary:
    """One thread of a run."""

    run: str | None
    name: str
    turns: list[TurnSummary] = field(default_factory=list[TurnSummary])
    tools: tuple[Tool, ...] = ()
    """The tools that the last request offered."""


@mutable
class _ThreadProgress:
    number: int = 0
    said: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])


def run_summary(round_trips: Iterable[RoundTrip]) -> RunSummary:
    """The threads of a run in the order in which they began. Holds what is new in each turn, and no bodies."""
    outside: dict[Key, tuple[ToolRun, ...]] = {}
    threads: dict[str, ThreadSummary] = {}
    seen: dict[str, _ThreadProgress] = {}
    done: dict[Key, TurnSummary] = {}
    place: dict[Key, tuple[str, int]] = {}
    for key, one in label_stream(round_trips):
        if one.turn is None:
            outside[key] = one.tool_runs
            continue
        if key in done:  # again, because the next request has shown what the client did
            thread, number = place[key]
            known_turn = threads[thread].turns[number]
            threads[thread].turns[number] = replace(known_turn, label=one.label, tool_runs=one.tool_runs)
            continue
        thread, request = one.turn.thread, one.reading.request
        reported = threads.setdefault(thread, ThreadSummary(one.round_trip.run, thread))
        known = seen.setdefault(thread, _ThreadProgress())
        fresh = () if one.turn.number == known.number else _fresh(request, one.turn.history, one.turn.messages_before)
        said = tuple(_sent(fresh, first=one.turn.number == 1, changed=one.turn.history == "changed", seen=known.said))
        if reported.turns and one.turn.number != known.number:
            reported.turns[-1] = _with_results(reported.turns[-1], fresh)
        known.number = one.turn.number
        if request.system and one.turn.number == 1:
            system = "\n\n".join(part.text for part in request.system if part.text)
            said = (SentMessage("system", system), *said) if system else said
        started = one.round_trip.started_at
        done[key] = TurnSummary(
            label=one.label,
            started_at=started,
            ended_at=started + (one.round_trip.ended_at or 0) / 1_000_000,
            said=said,
            emission=one.reading.emission or Emission(),
            finish=one.reading.finish,
            usage=one.reading.usage,
            tool_runs=one.tool_runs,
        )
        place[key] = (thread, len(reported.turns))
        reported.turns.append(done[key])
        reported.tools = request.tools or reported.tools
    alone = [run for key in sorted(outside) for run in outside[key]]
    return RunSummary(
        list(threads.values()),
        tuple(run for run in alone if run.joined is None),
        tuple(run for run in alone if run.joined is not None),
    )


def _fresh(request: RequestReading, history: str, before: int) -> Sequence[Message]:
    """The messages that no earlier request of the thread had, judged by their number."""
    if history != "extended" or request.previous_id:
        return request.messages
    return request.messages[before:]


def _sent(
    messages: Iterable[Message], *, first: bool, changed: bool, seen: set[tuple[str, str]]
) -> Iterator[SentMessage]:
    for message in messages:
        # An assistant's message in a later request repeats an answer that the thread already has.
        if message.role == "assistant" and not first:
            continue
        role: Role = message.role if message.role in ("system", "assistant") else "user"
        text = "\n\n".join(
            part.text if part.kind == "text" else f"[{part.kind}]"
            for part in message.parts
            if (part.kind == "text" and part.text) or part.kind == "media"
        )
        calls = tuple(part.call for part in message.parts if part.call is not None)
        if not text and not calls:
            continue
        if changed and (role, text) in seen:
            continue
        seen.add((role, text))
        yield SentMessage(role, text, calls)


def _with_results(turn: TurnSummary, messages: Iterable[Message]) -> TurnSummary:
    given = (part.result for message in messages for part in message.parts if part.result is not None)
    results = tuple(result for result in given if not result.server)
    calls = turn.emission.calls
    known = {call.id for call in calls if call.id is not None}
    mine = tuple(r for r in results if r.call_id in known or (r.call_id is None and calls))
    return replace(turn, results=mine)
