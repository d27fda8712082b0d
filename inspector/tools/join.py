"""Joins tool runs to the calls of the model, while both are recorded.

First by an id that both wires have: some value in the call's `_meta` is the id of the model's call (Claude Code,
Codex, and whatever a program puts there). Else by name, arguments and time: the run lies between the answer that holds
the call and the next request of that thread. Of equal calls, the order decides, and `ToolRun.by` says so. A run that no
call explains stays unjoined.

A turn may end after its tools have run, because clients run tools while the answer still arrives, and a run may be
recorded after the next request, because it is written when it ends. So each side waits for the other.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from turntape.cassettes.frozen import copied_with

from ..analysis.conversation import text_meaning
from ..analysis.dispatch import Dispatch
from ..analysis.turn import Turn
from ..wire.json_value import Object, as_object, as_text, is_object
from ..wire.registry import traits_of
from ..wire.values import Message, Part, Tool
from .arguments import meaning
from .catalogue import Catalogue
from .definitions import Definition, is_passed_on
from .model_calls import ModelCall, TurnCalls, calls_of, key_of
from .seen import Shown, texts_shown
from .spans import CALL_ID
from .tool_names import NAMED, best, fits
from .tool_run import ToolRun
from .tool_sessions import RunKey

_MOST_TURNS = 64
"""So many of the latest turns may still get a run."""
_MOST_LOOSE = 500
"""So many of the latest runs wait for a call."""
_SHORT = 6
"""A shorter text may be the result of many runs by chance."""
_NO_ID = frozenset({"progressToken"})


class ToolJoin:
    """`ended` and `followed` take the turns, `ran` the tool runs, as they come. Each gives what it changes."""

    def __init__(self) -> None:
        self._turns: OrderedDict[int, TurnCalls] = OrderedDict()
        """The latest turns with calls, by the identity of their calls."""
        self._by_id: dict[str, ModelCall] = {}
        self._by_meaning: defaultdict[str, list[ModelCall]] = defaultdict(list)
        self._loose: OrderedDict[RunKey, ToolRun] = OrderedDict()
        """Runs without a call."""
        self._expected: defaultdict[str, list[ToolRun]] = defaultdict(list)
        """By the id of the call: runs of turns that are still to come."""
        self._joined: dict[RunKey, ModelCall] = {}
        self._returned: dict[int, ToolRun] = {}
        """By the meaning of its text: the first run that returned it."""
        self.catalogue = Catalogue()
        """The tools that the servers listed."""
        self.read: Mapping[tuple[str, str], str] = {}
        """The text of the resources that clients read, by their server and address."""

        self._first: float | None = None
        """When the first turn began."""
        self._latest: dict[str | None, float] = {}
        """By run: when its latest turn began."""
        self.offered: set[str] = set()
        """The names of all tools that the model was offered."""

    @property
    def tools(self) -> dict[str, dict[str, Definition]]:
        """By server, then by name: the tools that the servers listed last."""
        return self.catalogue.tools

    @property
    def loose(self) -> list[ToolRun]:
        """The runs for which no call was found."""
        return list(self._loose.values())

    def is_loose(self, run: ToolRun) -> bool:
        return key_of(run) in self._loose

    def turn_of(self, run: ToolRun) -> TurnCalls | None:
        """The turn whose call a run is joined to; None for one without a call."""
        call = self._joined.get(key_of(run))
        return call.turn if call is not None else None

    def expect(self, runs: Iterable[ToolRun]) -> None:
        """Runs that are known before the turns whose calls they are: spans, which are recorded after them."""
        for run in runs:
            call_id = as_text(run.meta.get(CALL_ID))
            if call_id:
                self._expected[call_id].append(run)
            else:
                self._loose[key_of(run)] = run

    def ended(self, turn: Turn) -> tuple[TurnCalls | None, list[ToolRun]]:
        """The calls of a turn (None when it has none), and the waiting runs that were joined to them."""
        made = calls_of(turn)
        self.offered |= made.offered
        self._first = made.begun if self._first is None else min(self._first, made.begun)
        self._latest[turn.round_trip.run] = max(made.begun, self._latest.get(turn.round_trip.run, made.begun))
        if not made.calls:
            return None, []
        for call in made.calls:
            call.tool = self.server_of(call.call.name, made.offered)
            if call.call.id:
                self._by_id[call.call.id] = call
            self._by_meaning[call.meaning].append(call)
        self._turns[id(made)] = made
        while len(self._turns) > _MOST_TURNS:
            self._forget(self._turns.popitem(last=False)[1])
        for call in made.calls:
            for run in self._expected.pop(call.call.id or "", ()):
                self._join(run, call, f"_meta.{CALL_ID}")
        found = [run for run in self._loose.values() if made.begun <= run.started_at]
        return made, [run for run in found if self._put(run) is not None]

    def followed(self, before: TurnCalls, following: Turn, done: Dispatch) -> list[ToolRun]:
        """Notes the next request of a thread: what it shows of the results. The runs that only now were joined."""
        trip = following.round_trip
        before.until, before.followed_by = trip.started_at, trip.index
        for call in before.calls:
            self._take_back(call, trip.started_at)
        late = self._by_order(before)
        for call, shown in shown_results(before, following, done):
            call.show(shown)
        for call in before.calls:
            self._find_other(call)
        return late

    def _take_back(self, call: ModelCall, until: float) -> None:
        """Part with runs that began after the next request: they belong to one of its calls, not yet recorded."""
        for run in [one for one in call.runs if one.joined == "inferred" and one.started_at > until]:
            call.runs.remove(run)
            self._joined.pop(key_of(run), None)
            self._loose[key_of(run)] = copied_with(run, call_id=None, turn=None, joined=None, by="")

    def closed(self, turn: TurnCalls) -> list[ToolRun]:
        """At the end of the recording: the runs that can still be joined to calls of a turn."""
        return self._by_order(turn)

    def ran(self, run: ToolRun) -> TurnCalls | None:
        """A run, or the newer form of one: the turn whose call it is joined to, if there is one."""
        key = key_of(run)
        if run.result is not None and run.returned_text and len(run.returned_text.strip()) >= _SHORT:
            self._returned.setdefault(text_meaning("tool", run.returned_text), run)
        known = self._joined.get(key)
        if known is not None:
            old = next((one for one in known.runs if key_of(one) == key), run)
            known.put(copied_with(run, call_id=old.call_id, turn=old.turn, joined=old.joined, by=old.by))
            self._find_other(known)
            return known.turn
        found = self._put(run)
        if found is None:
            self._loose[key] = run
            while len(self._loose) > _MOST_LOOSE:
                self._loose.popitem(last=False)
        return found

    def is_offered(self, run: ToolRun) -> bool:
        """Whether the model was offered the tool of a run."""
        others = frozenset(self.tools) - {run.server}
        return any(fits(name, run.server, run.name, others) for name in self.offered)

    def began_before(self, run: ToolRun) -> bool:
        """Whether a turn of the model began before a run."""
        return self._first is not None and self._first <= run.started_at

    def is_last(self, turn: TurnCalls) -> bool:
        """Whether no turn of the same run began after this one."""
        return turn.begun >= self._latest.get(turn.run, turn.begun)

    def definition_of(self, offered: Tool, names: frozenset[str]) -> Definition | None:
        """What the server of an offered tool states of it; `names` are those of all offered tools.

        Where several servers have a tool whose name fits as well, the one whose definition the client offers.
        """
        at = self.server_of(offered.name, names)
        if at is None:
            return None
        stated = self.tools[at[0]][at[1]]
        others = [tools[at[1]] for server, tools in self.tools.items() if server != at[0] and at[1] in tools]
        score = fits(offered.name, *at)
        twins = [one for one in others if fits(offered.name, one.server, one.name) == score]
        return next((one for one in (stated, *twins) if is_passed_on(offered, one)), stated)

    def server_of(self, name: str, offered: frozenset[str]) -> tuple[str, str] | None:
        """The server and the tool that a name means among the tools that a request offers; None when none does."""
        found = best(name, ((server, tool) for server, tools in self.tools.items() for tool in tools))
        if found is None or fits(name, *found) == NAMED:
            return found
        # A client that writes the server's name into others of its tools has a tool of its own by this name.
        others = self.tools.get(found[0], {})
        named = any(fits(one, found[0], tool) == NAMED for one in offered if one != name for tool in others)
        return None if named else found

    def returned_before(self, shown: Shown) -> ToolRun | None:
        """The first run that returned what a request shows."""
        found = (self._returned.get(text_meaning("tool", text)) for text in texts_shown(shown) if len(text) >= _SHORT)
        return next((run for run in found if run is not None), None)

    def _put(self, run: ToolRun) -> TurnCalls | None:
        """Join a run to the call that an id or its arguments name."""
        call = self._exact(run) or self._inferred(run)
        if call is None:
            return None
        return self._join(run, *call)

    def _join(self, run: ToolRun, call: ModelCall, by: str) -> TurnCalls:
        key = key_of(run)
        self._loose.pop(key, None)
        self._joined[key] = call
        exact = by.startswith("_meta")
        call.put(
            copied_with(run, call_id=call.call.id, turn=call.turn.index, joined="exact" if exact else "inferred", by=by)
        )
        self._find_other(call)
        return call.turn

    def _exact(self, run: ToolRun) -> tuple[ModelCall, str] | None:
        for path, value in _ids(run.meta):
            call = self._by_id.get(value)
            if call is not None:
                return call, f"_meta.{path}"
        return None

    def _inferred(self, run: ToolRun) -> tuple[ModelCall, str] | None:
        found = [
            call
            for call in self._by_meaning.get(meaning(run.arguments), ())
            if call.turn.covers(run) and _same_run(call, run) and self._fits(call, run)
        ]
        if not found:
            return None
        found = self._of_trace(run, found)
        free = [call for call in found if not call.runs]
        if not free:
            # Everything that the model asked for was executed: this is another execution of the last of them.
            last = max(found, key=lambda call: (call.turn.begun, call.place))
            return last, "name, arguments"
        first = min(free, key=lambda call: (-call.turn.begun, call.place))
        twins = [call for call in found if call.turn is first.turn]
        return first, "name, arguments, order" if len(twins) > 1 else "name, arguments"

    def _by_order(self, turn: TurnCalls) -> list[ToolRun]:
        """Join what is left on both sides by name and order: the client may have changed the arguments."""
        found: list[ToolRun] = []
        for run in [one for one in self._loose.values() if turn.covers(one)]:
            for call in turn.open:
                if _same_run(call, run) and self._fits(call, run):
                    self._join(run, call, "name, order")
                    found.append(run)
                    break
        for run in [one for one in self._loose.values() if turn.covers(one) and one.arguments]:
            # The arguments alone: the client may have run another tool than the model called.
            same = [call for call in turn.open if call.tool is not None and call.meaning == meaning(run.arguments)]
            if len(same) == 1 and _same_run(same[0], run):
                self._join(run, same[0], "arguments")
                found.append(run)
        return found

    def _fits(self, call: ModelCall, run: ToolRun) -> bool:
        score = fits(call.call.name, run.server, run.name, frozenset(self.tools) - {run.server})
        if call.tool is not None and call.tool != (run.server, run.name) and score:
            # Another tool that a server lists fits better, such as `b_add` where `add` ran.
            other = fits(call.call.name, *call.tool, frozenset(self.tools) - {call.tool[0]})
            return score > other or (score == other and len(run.name) >= len(call.tool[1]))
        return score > 0

    def _of_trace(self, run: ToolRun, found: list[ModelCall]) -> list[ModelCall]:
        """Those of the run's trace, if the turns say theirs."""
        parts = (as_text(run.meta.get("traceparent")) or "").split("-")
        trace = parts[1] if len(parts) > 2 else None
        return [call for call in found if trace and call.turn.trace == trace] or found

    def _forget(self, turn: TurnCalls) -> None:
        for call in turn.calls:
            if call.call.id and self._by_id.get(call.call.id) is call:
                del self._by_id[call.call.id]
            same = self._by_meaning[call.meaning]
            same.remove(call)
            if not same:
                del self._by_meaning[call.meaning]
            for run in call.runs:
                self._joined.pop(key_of(run), None)

    def _find_other(self, call: ModelCall) -> None:
        """Where a result is not the run's own, look for the run whose result it is."""
        if call.shown is None:
            return
        for place, run in enumerate(call.runs):
            if run.seen_as in ("changed", "dropped") and (other := self._other(call, run, call.shown)) is not None:
                call.runs[place] = copied_with(run, seen_as="other", seen_of=other.index)

    def _other(self, call: ModelCall, run: ToolRun, shown: Shown) -> ToolRun | None:
        if run.returned_text and run.returned_text.strip() in shown.text:
            return None
        beside = [one for twin in call.turn.calls if twin is not call for one in twin.runs]
        for text in texts_shown(shown):
            for one in beside:
                if text and text == (one.returned_text or "").strip():
                    return one
            earlier = self._returned.get(text_meaning("tool", text)) if len(text) >= _SHORT else None
            if earlier is not None and key_of(earlier) != key_of(run) and earlier.started_at <= run.started_at:
                return earlier
        long = (one for one in beside if len((one.returned_text or "").strip()) >= _SHORT)
        return next((one for one in long if (one.returned_text or "").strip() in shown.text), None)


def shown_results(turn: TurnCalls, following: Turn, done: Dispatch) -> Iterator[tuple[ModelCall, Shown]]:
    """The results that the next request has for the calls of a turn."""
    by_call = {id(call.call): call for call in turn.calls}
    request = following.reading.request
    wanted = {id(result) for _, result in done.given}
    parts = dict(_holding(request.messages, wanted))
    near = tuple(_media(following))
    marks = traits_of(following.reading.protocol).requests.marks_errors
    for call, result in done.given:
        known = by_call.get(id(call))
        if known is None:
            continue
        part = parts.get(id(result))
        raw, pointer = (part.raw, part.pointer) if part is not None else (None, "")
        marked = marks or _has_mark(raw)
        yield known, Shown(following.round_trip.index, result.text, result.is_error, raw, near, marked, pointer)


def _has_mark(raw: object) -> bool:
    """Whether the form of a result has a mark for failures: those of Anthropic and Converse, behind other APIs too."""
    fields = as_object(raw)
    return "is_error" in fields or "tool_use_id" in fields or is_object(fields.get("toolResult"))


def _holding(messages: Sequence[Message], wanted: set[int]) -> Iterator[tuple[int, Part]]:
    """The parts of those results, by the identity of the result. The newest messages have them."""
    left = set(wanted)
    for message in reversed(messages):
        if not left:
            return
        for part in message.parts:
            if part.result is not None and id(part.result) in left:
                left.discard(id(part.result))
                yield id(part.result), part


def _media(turn: Turn) -> Iterator[object]:
    """The media in the messages that a request added."""
    for unit in turn.conversation.units[turn.shared :]:
        if unit.kind == "media":
            yield unit.part.raw


def _same_run(call: ModelCall, run: ToolRun) -> bool:
    """Two runs of agents with different names have nothing in common; where one has no name, they may be one."""
    return call.turn.run == run.run or call.turn.run is None or run.run is None


def _ids(meta: Object, path: str = "", depth: int = 2) -> Iterator[tuple[str, str]]:
    """The texts in `_meta` that may be ids, with their keys."""
    for key, value in meta.items():
        if key in _NO_ID:
            continue
        if isinstance(value, str) and value:
            yield f"{path}{key}", value
        elif depth and is_object(value):
            yield from _ids(value, f"{path}{key}.", depth - 1)
