"""The ledger of a run, made in the same pass as its rows.

Of each turn it holds numbers: which contents its prompt had, in order, and what the API counted. A content is held
once, as its digest, its size and a name, and never as text.
"""

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import Protocol

from turntape.cassettes.frozen import mutable
from turntape.cassettes.tape.model import RoundTrip

from ..analysis.call_words import begins
from ..analysis.pricing import Cost
from ..analysis.refused import was_refused
from ..analysis.turn import Turn
from ..tools.tool_run import ToolRun
from ..wire.caching import rule_of
from ..wire.per_message import KEPT
from ..wire.values import Message, Reading, Usage
from .cache import CachePredictor
from .contents import hidden, read_again
from .forecast import Forecast, forecast
from .model import Ledger
from .pieces import First, Pieces
from .prompt import Prompt, ThreadPrompt
from .solve import solve
from .stretch import SentOther, SentTurn, Stretch, without_bodies
from .summary import summed_up

log = logging.getLogger(__name__)

_UNEXPLAINED = 256
"""So many tokens more than bytes may be in a prompt before text that the API adds is assumed."""


_HELD = 24_000_000
"""Bytes of requests whose messages are at hand, beside those of the latest turn."""


class LabelledTurn(Protocol):
    """What the ledger needs of a labelled round trip, whoever labels it."""

    @property
    def round_trip(self) -> RoundTrip: ...
    @property
    def reading(self) -> Reading: ...
    @property
    def turn(self) -> Turn | None: ...
    @property
    def tool_runs(self) -> tuple[ToolRun, ...]: ...
    @property
    def cost(self) -> Cost | None: ...


@mutable
class _Thread:
    """A thread of which more turns may come."""

    prompt: ThreadPrompt
    stretch: Stretch | None = None
    last: SentTurn | None = None
    counted: SentTurn | None = None
    """The last turn that has counts."""


class LedgerBuilder:
    """`add` round trips as they are labelled; `ledger` at any time. One thread may add while another one asks."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._pieces = Pieces()
        self._threads: dict[str, _Thread] = {}
        self._latest: OrderedDict[str, int] = OrderedDict()
        """The threads whose latest messages are at hand, with the bytes of that request, the latest one last."""
        self._stretches: list[Stretch] = []
        self._places: set[int] = set()
        self._others: dict[int, SentOther] = {}
        """The requests outside generation that are in the bill, by place."""
        self._caches = CachePredictor()
        self._made: Ledger | None = None

    def add(self, place: int, one: LabelledTurn) -> None:
        """Add the round trip of the row at `place`. One that comes again adds only what its label has new."""
        with self._lock:
            self._made = None
            for run in one.tool_runs:
                self._note_server(run)
            if one.turn is None:
                self._add_other(place, one)
            elif place not in self._places:
                self._places.add(place)
                try:
                    self._add(place, one, one.turn)
                except Exception as exc:  # noqa: BLE001 - whatever is on the wire, the rest of the run must be shown
                    log.warning("turntape: row %d is not in the ledger: %s: %s", place, type(exc).__name__, exc)

    def ledger(self, rest: Callable[[], None] = lambda: None) -> Ledger:
        """The ledger of what was added so far. `rest` is called between two pieces of the work."""
        with self._lock:
            if self._made is None:
                solved = solve(self._pieces.contents, self._stretches, rest)
                self._made = summed_up(self._pieces, solved, rest, list(self._others.values()))
            return self._made

    def forecast(self, place: int) -> Forecast | None:
        """What the turn at `place` will be counted as adding, for a turn without counts; None where nothing says it."""
        with self._lock:
            return forecast(self._pieces.contents, self._stretches, place)

    def forget(self) -> None:
        """Let go of the messages that the next turns would be compared with: none follows, and they may be large."""
        with self._lock:
            self._caches.forget()
            self._latest.clear()
            for thread in self._threads.values():
                thread.prompt.messages = ()

    def _add_other(self, place: int, one: LabelledTurn) -> None:
        reading = one.reading
        if reading.usage is not None or reading.stated_cost is not None:
            self._others[place] = SentOther(place, without_bodies(one.round_trip, reading), one.cost)

    def _note_server(self, run: ToolRun) -> None:
        if run.server:
            self._pieces.servers.setdefault(run.name, run.server)
            if run.call_id:
                self._pieces.servers_by_call[run.call_id] = run.server

    def _add(self, place: int, one: LabelledTurn, turn: Turn) -> None:
        reading = one.reading
        self._pieces.called.update(call.name for call in (reading.emission.calls if reading.emission else ()))
        thread = self._threads.get(turn.thread)
        if thread is None:
            thread = self._threads[turn.thread] = _Thread(ThreadPrompt(self._pieces))
            self._pieces.starts[turn.thread] = (turn.edge, _task(reading.request.conversation))
        prompt = thread.prompt.next(turn, place)
        self._keep(turn.thread, len(one.round_trip.request.body))
        sent = SentTurn(
            place=place,
            thread=turn.thread,
            number=turn.number,
            attempt=turn.attempt,
            usage=reading.usage or Usage(),
            priced=without_bodies(one.round_trip, reading),
            cost=one.cost,
            refused=was_refused(one.round_trip, reading),
        )
        sent.cache = self._caches.add(place, turn)
        emission = reading.emission
        rule = rule_of(reading)
        sent.verbatim, sent.keeps = prompt.verbatim, rule is None or rule.keeps_reasoning
        if emission is not None:
            sent.reasons = bool(emission.reasoning or emission.signatures)
            sent.calls, sent.several = len(emission.calls), len(emission.choices) > 1
            sent.summed = bool(emission.server_calls)
        before = thread.counted
        if before is not None and before.number < turn.number:
            sent.before, sent.same_head, sent.extended = before.place, prompt.same_head, prompt.extended
            sent.skipped = thread.last is not None and before.number < thread.last.number < turn.number
        self._put(thread, sent, prompt, reading.response_model or reading.request.model or "")
        thread.prompt.answered(turn.number, reading.emission)
        thread.last = sent
        if sent.input is not None:
            thread.counted = sent

    def _keep(self, thread: str, size: int) -> None:
        """Hold the messages of a thread that has a turn now, and of few others that are not too large together."""
        self._latest[thread] = size
        self._latest.move_to_end(thread)
        while len(self._latest) > KEPT or (sum(self._latest.values()) > _HELD and len(self._latest) > 1):
            forgotten, _ = self._latest.popitem(last=False)
            self._threads[forgotten].prompt.messages = ()

    def _put(self, thread: _Thread, sent: SentTurn, prompt: Prompt, model: str) -> None:
        """Add a turn to the stretch of its thread, or begin another one."""
        stretch, last = thread.stretch, thread.last
        # An answer without counts often does not name the model either.
        same_model = stretch is not None and (sent.input is None or stretch.model in ("", model))
        summed = sent.summed or (last is not None and last.summed)
        if stretch is None or summed or not (same_model and prompt.extended and _grows(stretch, sent, prompt)):
            stretch = thread.stretch = Stretch(sent.thread, "")
            self._stretches.append(stretch)
            sent.new = sent.echo = prompt.same
        elif last is not None and last.number == sent.number:
            # Another attempt has what the first one had.
            sent.new, sent.echo = last.new, last.echo
        else:
            sent.new = len(stretch.ids)
            sent.echo = sent.new + prompt.echo - prompt.same
        if sent.input is not None:
            stretch.model = model
        self._explain(stretch, sent, prompt)
        shift = stretch.add(prompt.ids, prompt.moved)
        sent.marks = tuple(mark + shift for mark in prompt.marks)
        sent.length = len(stretch.ids)
        stretch.turns.append(sent)

    def _explain(self, stretch: Stretch, sent: SentTurn, prompt: Prompt) -> None:
        """Add a piece for tokens that no byte of the request can explain."""
        if sent.input is None:
            return
        before = stretch.counted
        if sent.summed:
            first = First(sent.thread, sent.number, sent.place)
            stretch.ids.append(self._pieces.number(first, read_again(sent.place), 0))
            return
        room = _UNEXPLAINED - sent.input + (before.input or 0 if before else 0)
        start = before.length if before else 0
        ids = [*stretch.ids[start:], *prompt.ids[stretch.taken :]]
        for number in ids:
            ceiling = self._pieces.contents[number].ceiling
            if ceiling is None:
                return
            room += ceiling
        if room < 0 or (sent.input and not prompt.ids and not stretch.ids):
            first = First(sent.thread, sent.number, sent.place)
            stretch.ids.append(self._pieces.number(first, hidden(sent.place), 0))


def _grows(stretch: Stretch, now: SentTurn, prompt: Prompt) -> bool:
    """Whether the counts fit a prompt that has the whole of the one before."""
    before = stretch.counted
    if before is None or before.input is None or now.input is None:
        return True
    added = len(prompt.ids) > stretch.taken or len(stretch.ids) > before.length
    return now.input >= before.input if added else now.input == before.input


def _task(messages: Sequence[Message]) -> str:
    return begins(next((part.text for m in messages for part in m.parts if part.text.strip()), ""))


def ledger_of(found: Iterable[LabelledTurn]) -> Ledger:
    """The ledger of a whole run; the place of each round trip is its place in `found`."""
    builder = LedgerBuilder()
    for place, one in enumerate(found):
        builder.add(place, one)
    return builder.ledger()
