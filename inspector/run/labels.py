"""Labels: each round trip as one `show --json` object, made while the run is being recorded.

The layers `model` and `api` of a turn come from its answer. `client.results` and `client.outcome` come from the next
request of its thread: they say what the client did with this emission. `client.history` says how this turn's request
relates to the previous one of the thread. A turn is labelled when it ends, and again when the next turn shows what the
client did.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from turntape.cassettes.tape.carried import carried
from turntape.cassettes.tape.command_end import CommandEnd
from turntape.cassettes.tape.model import RoundTrip
from turntape.cassettes.tape.reader import Cassette

from ..analysis.dispatch import Dispatch, dispatch
from ..analysis.history_diff import HistoryDiff
from ..analysis.pricing import Cost, cost_of
from ..analysis.thread_index import Address, address_of
from ..analysis.thread_starts import early_side_call
from ..analysis.threads import Threads
from ..analysis.turn import Turn
from ..findings.causes import STORM
from ..findings.engine import JudgedTurn, RuleEngine
from ..findings.finding import Finding
from ..tools.spans import spans_ahead
from ..tools.tool_run import ToolRun
from ..wire.exchange import Exchange
from ..wire.parse import read, read_exchange
from ..wire.sessions import session_of
from ..wire.socket_turn import SessionEnd
from ..wire.values import Reading
from .emission_label import Label, without_emission
from .judged_label import labelled, put_findings
from .labelled import Key, LabelledRoundTrip
from .recorded_numbers import RecordedNumbers
from .tool_labels import ToolLabels
from .turn_label import other_label, turn_label
from .waiting_turns import WaitingTurns

log = logging.getLogger(__name__)

type Price = Callable[[RoundTrip, Reading], Cost | None]

_SENT_OTHERWISE = ("api-context-full", "client-stale-server-state")
"""Failures after which a client sends another history: a shorter one, or all of it where the API no longer holds it."""
_MOST_FAILED = 20
"""Failed turns of a thread whose labels an answer may still change; more would keep a run in memory."""

_MOST_EARLY = 8
"""Of so many threads before the main one it is asked whether they are side calls of it."""


class Labeller:
    """`add` round trips in the order in which they ended; `close` when there will be no more.

    `again` gives a round trip of the recording by its number, so that not all open threads must be in memory.
    """

    def __init__(
        self,
        *,
        hints: bool = False,
        advice: bool = False,
        price: Price = cost_of,
        again: Callable[[int], RoundTrip] | None = None,
    ) -> None:
        self._threads = Threads()
        self.price = price
        """A function for the cost of a round trip; a view that must be fast replaces it."""
        self._rules = RuleEngine(hints=hints, advice=advice)
        self._numbers = RecordedNumbers()
        self._carried: set[int] = set()
        """Round trips of an earlier segment: they are read, and have no label here."""
        self._tools = ToolLabels(self._rules, self._carried)
        self._open: dict[str, tuple[JudgedTurn, Label]] = {}
        """The last turn of each thread, with its label."""
        self._latest: dict[str | None, float] = {}
        """When the last turn of each run began."""
        self._failed: defaultdict[str, list[tuple[JudgedTurn, Label]]] = defaultdict(list)
        """The failed turns of each thread since its last answer, at most `_MOST_FAILED`."""
        self._session_ends: dict[int, SessionEnd] = {}
        """How clients left their WebSocket sessions, by round trip."""
        self._handshakes: dict[Address, list[tuple[JudgedTurn, Label]]] = {}
        """The WebSocket handshakes that failed since the last answer from there, at most `_MOST_FAILED`."""
        self._waiting = WaitingTurns(again) if again is not None else None
        """Without it, the last turn of each thread is in memory as a whole."""
        self._whole: RoundTrip | None = None
        """The round trip that was given last; a turn of a session is only a part of one."""
        self._problems: list[str] = []
        self._continued: frozenset[int] = frozenset()
        self._command_end: CommandEnd | None = None

    @property
    def problems(self) -> tuple[str, ...]:
        """Rules that could not be loaded or that failed, and round trips without labels, one sentence each."""
        return (*self._rules.problems, *self._problems)

    def expect(self, runs: Sequence[ToolRun]) -> None:
        """Tool runs that are recorded after the turns whose calls they are, as `spans_ahead` gives them."""
        self._tools.expect(runs)

    def continues(self, numbers: Collection[int]) -> None:
        """The next segment carries these round trips: the end of this one is not the end of their threads."""
        self._continued = frozenset(numbers)

    def command_ended(self, end: CommandEnd | None) -> None:
        """How the recorded command ended, if that is known: the last turn before it may be why."""
        self._command_end = end

    @property
    def threads(self) -> int:
        """How many threads there were, those of earlier segments included."""
        return self._threads.count

    def open_turns(self) -> list[Turn]:
        """The last turn of each thread, the latest first."""
        turns = [judged.context.turn for judged, _ in self._open.values()]
        return sorted(turns, key=lambda turn: turn.round_trip.started_at, reverse=True)

    def add(self, round_trip: RoundTrip) -> list[tuple[int, Label]]:
        """The label of this round trip, and the new one of the turn whose client layer it decides."""
        return [(index, done.label) for index, done in self.follow(round_trip)]

    def follow(self, round_trip: RoundTrip) -> Iterator[tuple[int, LabelledRoundTrip]]:
        """As `add`, with the readings. The turns of a session all have the number of its round trip.

        A round trip that is carried from an earlier segment has no label: what the next turn shows of it is a finding
        of that turn.

        A round trip whose analysis fails has a label without layers, and a sentence in `problems`; the others are
        not affected.
        """
        if carried(round_trip) is not None:
            self._carried.add(round_trip.index)
        self._whole = round_trip
        self._numbers.add(round_trip.index)
        yield from (one for one in self._guarded(round_trip) if one[0] not in self._carried)
        self._whole = None

    def _guarded(self, round_trip: RoundTrip) -> Iterator[tuple[int, LabelledRoundTrip]]:
        try:
            yield from self._follow(round_trip)
        except Exception as exc:  # noqa: BLE001 - whatever is on the wire, the rest of the run must be shown
            problem = self._failed_on(round_trip, exc)
            reading = read(round_trip)
            reading = replace(reading, problems=(*reading.problems, problem))
            yield round_trip.index, LabelledRoundTrip(round_trip, reading, None, other_label(round_trip, reading))

    def _failed_on(self, round_trip: RoundTrip, exc: Exception) -> str:
        """Notes that the analysis failed; returns the sentence."""
        problem = (
            f"round trip #{round_trip.index} has no labels, because turntape failed on it "
            f"({type(exc).__name__}: {exc}); please report this"
        )
        self._problems.append(problem)
        log.warning("turntape: %s", problem, exc_info=log.isEnabledFor(logging.DEBUG))
        return problem

    def _follow(self, round_trip: RoundTrip) -> Iterator[tuple[int, LabelledRoundTrip]]:
        turns, session_end = session_of(round_trip)
        if turns:
            if session_end is not None:
                self._session_ends[round_trip.index] = session_end
            for turn in turns:
                yield from self._guarded(turn)
            return
        exchange = Exchange(round_trip)
        reading = read_exchange(exchange)
        if reading.kind == "tools":
            yield from self._tools.add(round_trip, reading, other_label(round_trip, reading), self._open.values())
            return
        if not reading.is_generation:
            cost = self.price(round_trip, reading) if reading.usage or reading.stated_cost else None
            label = other_label(round_trip, reading, cost)
            yield round_trip.index, LabelledRoundTrip(round_trip, reading, None, label, cost=cost)
            return
        turn = self._threads.add(round_trip, reading)
        self._latest[round_trip.run] = round_trip.started_at
        yield from self._turn(turn, exchange)

    def _turn(self, turn: Turn, exchange: Exchange) -> Iterator[tuple[int, LabelledRoundTrip]]:
        """The labels of a new turn, and those of earlier ones that it changes."""
        round_trip = turn.round_trip
        before = self._open.get(turn.thread)
        inherited: list[Finding] = []
        broken = self._numbers.broken(before[0].context.index, round_trip.index) if before is not None else None
        if before is not None and turn.number > before[0].context.turn.number:
            earlier, label = before
            before_it = list(earlier.findings)
            done = dispatch(earlier.context.turn, turn)
            self._rules.followed(earlier, turn, done, broken)
            _settle(label, earlier, done, earlier.context.next_echo)
            yield from self._tools.followed(earlier, turn, done)
            if earlier.context.index in self._carried and round_trip.index not in self._carried:
                inherited = [one for one in earlier.findings if one not in before_it]
            yield earlier.context.index, labelled(earlier, label)
        judged = self._rules.ended(turn, before[0] if before else None, exchange, broken)
        if before is not None:
            before[0].context.following = None
        judged.findings[:0] = inherited
        yield from self._compacted(turn)
        if self._threads.begins_main(turn):
            yield from self._early_side_calls(turn)
        judged.cost = self.price(round_trip, turn.reading)
        label = turn_label(turn, judged.cost, judged.context.emitted)
        _settle(label, judged, dispatch(turn, None), None)
        kept = label
        if self._waiting is not None and round_trip is self._whole:
            kept = without_emission(label, round_trip)
        self._open[turn.thread] = (judged, kept)
        yield from self._tools.ended(judged, kept)
        yield round_trip.index, labelled(judged, label)
        yield from self._recovered(judged, kept)
        if self._waiting is not None and round_trip is self._whole:
            self._waiting.add(turn)

    def _compacted(self, turn: Turn) -> Iterator[tuple[int, LabelledRoundTrip]]:
        """The label of the first turn of a compaction, of which the second one shows what it was."""
        before = self._open.get(turn.edge.thread or "") if turn.edge.kind == "compaction" else None
        if before is None:
            return
        judged, label = before
        if judged.context.turn.number == 1:
            label["edge"] = replace(judged.context.turn.edge, kind="compaction").as_json()
            yield judged.context.index, labelled(judged, label)

    def _early_side_calls(self, main: Turn) -> Iterator[tuple[int, LabelledRoundTrip]]:
        """The labels of the latest turns that turn out to be side calls of the main thread that begins."""
        run = main.round_trip.run
        early = [one for one in self._open.values() if one[0].context.turn.round_trip.run == run]
        for judged, label in early[-_MOST_EARLY:]:
            edge = early_side_call(main, judged.context.turn)
            if edge is not None:
                judged.context.turn.edge, label["edge"] = edge, edge.as_json()
                yield judged.context.index, labelled(judged, label)

    def _recovered(self, judged: JudgedTurn, label: Label) -> Iterator[tuple[int, LabelledRoundTrip]]:
        """The labels of failed turns that this one explains or makes good; a failed one is kept for later."""
        failed = self._failed[judged.context.turn.thread]
        address = address_of(judged.context.turn.round_trip)
        if judged.context.turn.failed:
            if judged.context.has(STORM):
                yield from self._again(failed, self._rules.part_of_storm)
            del failed[: max(0, len(failed) + 1 - _MOST_FAILED)]
            failed.append((judged, label))
            if judged.context.failed_handshake:
                self._handshakes[address] = [*self._handshakes.get(address, [])[-_MOST_FAILED:], (judged, label)]
            return
        yield from self._again(self._handshakes.pop(address, []), self._rules.recovered)
        edge = judged.context.turn.edge
        if edge.kind in ("fork", "compaction") and edge.thread is not None:
            # A shorter history than the one that did not fit is another branch, as is one that is sent in full again.
            full = [one for one in self._failed[edge.thread] if one[0].context.has(*_SENT_OTHERWISE)]
            yield from self._again(full, self._rules.recovered)
        yield from self._again(failed, self._rules.recovered)
        failed.clear()

    @staticmethod
    def _again(
        failed: list[tuple[JudgedTurn, Label]], judge: Callable[[JudgedTurn], bool]
    ) -> Iterator[tuple[int, LabelledRoundTrip]]:
        """The labels of those failed turns that are judged again and differ."""
        for earlier, old in failed:
            if judge(earlier):
                yield earlier.context.index, labelled(earlier, old)

    def close(self) -> list[tuple[int, Label]]:
        """The labels that the end of the recording changes: those of turns whose thread should not have ended."""
        return [(index, done.label) for index, done in self.finish()]

    def finish(self) -> Iterator[tuple[int, LabelledRoundTrip]]:
        """As `close`, with the readings."""
        yield from (one for one in self._closed() if one[0] not in self._carried | self._continued)

    def _closed(self) -> Iterator[tuple[int, LabelledRoundTrip]]:
        yield from self._tools.closed()
        newest = max(self._latest.values(), default=0.0)
        end = self._command_end if self._command_end is not None and newest <= self._command_end.at else None
        # The thread that began last first: its turn may be in memory, and those of the others are read again.
        for judged, label in reversed(self._open.values()):
            turn = judged.context.turn
            if turn.round_trip.index in self._continued:
                continue
            count = len(judged.findings)
            later = self._latest.get(turn.round_trip.run, 0) > turn.round_trip.started_at
            try:
                last = turn.round_trip.started_at >= newest
                self._rules.closed(
                    judged,
                    dispatch(turn, None),
                    later=later,
                    command=end if last else None,
                    session=self._session_ends.get(turn.round_trip.index),
                )
            except Exception as exc:  # noqa: BLE001 - as in `follow`
                self._failed_on(turn.round_trip, exc)
                continue
            if len(judged.findings) != count:
                yield turn.round_trip.index, labelled(judged, label)
            judged.context.release()
            if self._waiting is not None:
                self._waiting.close(turn)


def label_stream(
    round_trips: Iterable[RoundTrip],
    *,
    hints: bool = False,
    advice: bool = False,
    again: Callable[[int], RoundTrip] | None = None,
    command_end: CommandEnd | None = None,
) -> Iterator[tuple[Key, LabelledRoundTrip]]:
    """All round trips labelled as they come; a label that comes again under its key replaces the one before.

    `hints` adds the findings of tier H, `advice` the lint. `again` is that of `Labeller`, for a caller that keeps no
    round trips. `command_end`: how the recorded command ended, which a `Cassette` knows.
    """
    labeller = Labeller(hints=hints, advice=advice, again=again)
    labeller.command_ended(command_end)
    if isinstance(round_trips, Cassette):
        labeller.continues(round_trips.continued)
        labeller.command_ended(command_end or round_trips.command_end)
        round_trips = round_trips.with_carried()
    labeller.expect(spans_ahead(round_trips))
    for place, given in enumerate(round_trips):
        numbered = given if given.index >= 0 else replace(given, index=place)
        for index, done in labeller.follow(numbered):
            yield _key(index, done), done
    for index, done in labeller.finish():
        yield _key(index, done), done


def _key(index: int, done: LabelledRoundTrip) -> Key:
    return index, done.round_trip.started_at, done.round_trip.request_at or 0


def label_all(
    round_trips: Iterable[RoundTrip],
    *,
    hints: bool = False,
    advice: bool = False,
    command_end: CommandEnd | None = None,
) -> list[LabelledRoundTrip]:
    """All round trips labelled, in order of their numbers; all of them in memory. The rest is as in `label_stream`."""
    done = dict(label_stream(round_trips, hints=hints, advice=advice, command_end=command_end))
    return [done[key] for key in sorted(done)]


def _settle(label: Label, judged: JudgedTurn, done: Dispatch, echo: HistoryDiff | None) -> None:
    turn = judged.context.turn
    label["client"] = {
        "results": [{"call_id": r.call_id, "is_error": r.is_error, "ran": None} for r in done.results],
        "history": turn.history,
        "outcome": done.outcome,
        "proof": "request" if done.results else None,
        "echo": None if echo is None else _echo(echo),
    }
    put_findings(judged, label)


def _echo(echo: HistoryDiff) -> dict[str, object]:
    """How the next request repeats this turn, with JSON pointers into both."""
    return {
        "state": echo.state,
        "reasoning": echo.reasoning,
        "changes": [
            {
                "kind": change.kind,
                "of": "response" if change.emitted else "request",
                "before": change.before,
                "now": change.now,
                "call_id": change.call_id,
            }
            for change in echo.changes[:50]
        ],
    }
