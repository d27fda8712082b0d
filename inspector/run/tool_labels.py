"""What the tools' own wire adds to the labels: tool runs, proof of what the client did, and findings.

Nothing is done, and nothing kept, until the first message of a tool server. A turn is labelled again when a run of its
calls comes, when the next request shows what the model was given, and at the end.
"""

from collections import Counter, OrderedDict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from turntape.cassettes.regex import regex
from turntape.cassettes.tape.model import RoundTrip

from ..analysis.dispatch import Dispatch
from ..analysis.turn import Turn
from ..findings.causes import INHERITABLE
from ..findings.engine import JudgedTurn, RuleEngine
from ..findings.tool_context import Over
from ..tools.definitions import Definition
from ..tools.join import ToolJoin
from ..tools.model_calls import TurnCalls, key_of
from ..tools.seen import is_alone, is_passed_on
from ..tools.session_state import WireNote
from ..tools.tool_names import fits
from ..tools.tool_run import ToolRun
from ..tools.tool_sessions import RunKey, ToolSessions
from ..wire.json_value import as_array, is_object
from ..wire.printable import several
from ..wire.schema_refs import lost_reference
from ..wire.values import Reading, Tool
from .emission_label import Label
from .judged_label import labelled
from .labelled import LabelledRoundTrip

_MOST_HELD = 16
"""So many turns are held for runs that may still come, with their readings."""
_MOST_WAITING = 200
"""So many instead, while runs of theirs wait for an answer that is recorded later: in the transport of 2024-11-05 all
answers are in a stream, which is recorded when it ends. Those that are let go before that are not judged."""
_MOST_BYTES = 32_000_000
"""So large may the requests of such turns be together."""
_MOST_REPORTS = 500
_SETTLED = 4
"""So many of them although each of their calls has its run."""

_NAME = regex(r"[A-Za-z0-9_.-]{1,128}")
"""The names of tools that MCP allows (2025-11-25, `server/tools`, read 2026-11-23)."""

type Labelled = tuple[int, LabelledRoundTrip]


class ToolLabels:
    """`add` round trips of tool servers, and the turns as they end and are followed.

    The turns of the round trips in `carried` are an earlier segment's and have no label here. A run of their calls is
    shown with its own round trip.
    """

    def __init__(self, rules: RuleEngine, carried: Collection[int] = ()) -> None:
        self._rules = rules
        self._carried = carried
        self._sessions = ToolSessions()
        self._join = ToolJoin()
        self._join.catalogue, self._join.read = self._sessions.catalogue, self._sessions.resources
        self._active = False
        self._held: OrderedDict[int, tuple[JudgedTurn, Label]] = OrderedDict()
        """The turns whose labels may change, by the identity of their calls."""
        self._offered: set[tuple[frozenset[str], int]] = set()
        self._compared: set[tuple[str, str, int]] = set()
        """Offered names, with the server's definition with which they were compared."""
        self._outdated: set[tuple[str, int]] = set()
        """Changes of tools that were not read, by server and round trip, that were reported for a turn."""
        self._causes: dict[str, tuple[str, ...]] = {}
        """By thread: the findings about the runs of its last turn."""
        self._passed_on: dict[str, dict[str, bool]] = {}
        """By thread: pointers to the results of its last turn that the next request has as the tools returned them, and
        whether it has nothing around them."""
        self._rows: dict[RunKey, LabelledRoundTrip] = {}
        """The round trips of runs that no turn shows."""
        self._offering: set[str] = set()
        """The servers of which a request offered a tool."""
        self._in_use: set[str] = set()
        """The servers of which a tool was called, or is described in a request that offers none."""
        self._latest = -1
        """The latest round trip of a turn that could offer tools."""
        self._reports: dict[int, LabelledRoundTrip] = {}
        """The first round trips of which only the end shows what they mean."""

    def expect(self, runs: Sequence[ToolRun]) -> None:
        """Runs that are recorded after the turns whose calls they are."""
        self._active = self._active or bool(runs)
        self._join.expect(runs)

    def add(
        self, trip: RoundTrip, reading: Reading, label: Label, open_turns: Iterable[tuple[JudgedTurn, Label]]
    ) -> Iterator[Labelled]:
        """The label of a round trip of a tool server, and the new ones of turns whose calls it is about."""
        if not self._active:
            self._active = True
            for judged, old in open_turns:
                yield from self.ended(judged, old)
        added = self._sessions.add(trip)
        touched: dict[int, TurnCalls] = {}
        loose: list[ToolRun] = []
        rows: list[RunKey] = []
        self._in_use |= {run.server for run in added.runs}
        for run in added.runs:
            turn = self._join.ran(run)
            if turn is not None:
                touched[id(turn)] = turn
            if run.index == trip.index:
                loose += self._shown_alone(run)
            elif key_of(run) in self._rows:
                rows.append(key_of(run))
        label["findings"] = [finding.as_json() for finding in self._rules.tool_wire(added.notes)]
        row = self._row(LabelledRoundTrip(trip, reading, None, label, tuple(loose)))
        if added.late and len(self._reports) < _MOST_REPORTS:
            self._reports[trip.index] = row
        yield trip.index, row
        for key in rows:
            yield from self._settle_row(key, next(run for run in added.runs if key_of(run) == key))
        for turn in touched.values():
            yield from self._again(turn)

    def ended(self, judged: JudgedTurn, label: Label) -> Iterator[Labelled]:
        """A turn has ended: its calls may have run already."""
        if not self._active:
            return
        turn = judged.context.turn
        if turn.reading.request.messages:
            self._latest = max(self._latest, turn.round_trip.index)
        made, joined = self._join.ended(turn)
        judged.tool_calls = made
        judged.tool_offers = self._new_offers(turn)
        judged.tool_outdated = list(self._newly_outdated(turn))
        judged.tool_causes = self._causes.pop(turn.thread, ())
        results = self._passed_on.pop(turn.thread, {})
        if found := [finding.message for finding in judged.findings if finding.id in INHERITABLE]:
            judged.tool_sent = {**results, **dict.fromkeys(self._definitions_sent(turn, " ".join(found)), True)}
        self._judge(judged, "open")
        if made is None:
            return
        self._held[id(made)] = (judged, label)
        for run in joined:
            yield from self._settle_row(key_of(run), run)

    def followed(self, judged: JudgedTurn, following: Turn, done: Dispatch) -> Iterator[Labelled]:
        """The next turn of the thread shows what the model was given."""
        if judged.tool_calls is None:
            return
        late = self._join.followed(judged.tool_calls, following, done)
        for run in judged.tool_calls.runs if judged.tool_calls.index in self._carried else late:
            yield from self._settle_row(key_of(run), run)
        self._judge(judged, "followed")
        self._causes[judged.context.turn.thread] = tuple(dict.fromkeys(one.id for one in judged.tool_findings))
        self._passed_on[judged.context.turn.thread] = {
            call.shown.pointer: is_alone(run, call.shown)
            for call in judged.tool_calls.calls
            for run in call.runs[-1:]
            if call.shown is not None and call.shown.pointer and is_passed_on(run, call.shown)
        }
        yield from self._shrink()

    def closed(self) -> Iterator[Labelled]:
        """The recording has ended: calls without a run have none, and runs without a call have none."""
        for judged, label in list(self._held.values()):
            yield from self._close(judged, label)
        refused = list(self._sessions.closed(self._offering))
        for note in (*refused, *self._withheld({note.server for note in refused if note.kind == "answer_wrong"})):
            row = self._reports.get(note.index)
            if row is None and note.before is not None:
                row = self._reports.get(note.before)
            if row is not None:
                found = [finding.as_json() for finding in self._rules.tool_wire([note])]
                row.label["findings"] = [*as_array(row.label["findings"]), *found]
                yield row.round_trip.index, row
        for row in {row.round_trip.index: row for row in self._rows.values()}.values():
            loose = [run for run in row.tool_runs if run.source == "wire" and self._join.is_loose(run)]
            found = [finding.as_json() for run in loose for finding in self._rules.loose_run(run, self._join)]
            if found:
                row.label["findings"] = [*as_array(row.label["findings"]), *found]
                yield row.round_trip.index, row

    def _new_offers(self, turn: Turn) -> list[tuple[Tool, Definition]]:
        """The tools of servers in a request that no earlier request offered since the servers listed them."""
        tools = turn.reading.request.tools
        names = frozenset(tool.name for tool in tools)
        if (names, self._sessions.catalogue.listings) in self._offered:
            return []
        self._offered.add((names, self._sessions.catalogue.listings))
        known = ((tool, self._join.definition_of(tool, names)) for tool in tools if not tool.server)
        found = [(tool, stated) for tool, stated in known if stated is not None]
        self._offering |= {stated.server for _, stated in found}
        if not tools and (request := turn.reading.request).messages:
            texts = "\n".join(part.text for part in (*request.system, *(p for m in request.messages for p in m.parts)))
            self._in_use |= {
                server
                for server, known in self._join.tools.items()
                if any(_is_described(tool, texts) for tool in known.values())
            }
        unclear = self._sessions.catalogue.ambiguous
        found = [(tool, one) for tool, one in found if (one.server, one.name) not in unclear]
        new = [(tool, one) for tool, one in found if (tool.name, one.server, one.index) not in self._compared]
        self._compared |= {(tool.name, one.server, one.index) for tool, one in new}
        return new

    def _withheld(self, refused: Collection[str]) -> Iterator[WireNote]:
        """The servers of whose tools no request offers one, or not all, although the client asked for their list.

        `refused`: those whose lists clients must refuse. A tool that is called all the same is known to the model.
        """
        names = frozenset(self._join.offered)
        yield from self._shadowed(names)
        for server, tools in self._join.tools.items():
            rest = {tool: one.index for tool, one in tools.items() if not any(fits(n, server, tool) for n in names)}
            for tool, index in rest.items():  # a definition that is offered is looked at in the request
                if (lost := lost_reference(tools[tool].schema)) is not None:
                    how = f"an `inputSchema` that refers to {lost!r}, which it does not have"
                    yield WireNote("schema_wrong", server, index, tool, how)
            listed = max(rest.values(), default=self._latest)
            if listed >= self._latest or server in refused:
                continue
            if len(rest) < len(tools):
                pages = {one.index for tool, one in tools.items() if tool not in rest}
                if pages.isdisjoint(rest.values()):
                    continue  # whole pages: `client-tool-protocol-broken` says so
                count = f"{several(len(rest), 'tool')} of the {len(tools)}"
                yield WireNote("partly_offered", server, listed, ", ".join(rest), count)
            elif server not in self._offering and server not in self._in_use:
                yield WireNote("not_offered", server, listed, ", ".join(tools), "others are" if names else "")

    def _shadowed(self, names: frozenset[str]) -> Iterator[WireNote]:
        """The first tool that two servers list under one name, define in two ways, and of which requests offer one."""
        seen: dict[str, Definition] = {}
        for server, tools in self._join.tools.items():
            for name, one in tools.items():
                other = seen.setdefault(name, one)
                fitting = [
                    offered for offered in names if fits(offered, server, name) or fits(offered, other.server, name)
                ]
                if other.server != server and fitting == [name] and other.differs(one):
                    yield WireNote("shadowed", server, one.index, name, other.server, other.index)
                    return

    def _definitions_sent(self, turn: Turn, said: str) -> Iterator[str]:
        """The pointers to the tools of a request whose schemas are those that their servers state.

        What clients put around the arguments is not looked at, unless it is what the findings (`said`) are about.

        To the list of tools too, where a name in it that MCP does not allow, or that is there twice, is a server's. A
        name that MCP allows is the client's to change.
        """
        tools = turn.reading.request.tools
        names = Counter(tool.name for tool in tools)
        for tool in tools:
            stated = None if tool.server else self._join.definition_of(tool, frozenset(names))
            if stated is None:
                continue
            twice = names[tool.name] > 1 and (stated.server, stated.name) in self._sessions.catalogue.repeated
            named = tool.name == stated.name and (twice or not _NAME.fullmatch(stated.name))
            yield from (tool.pointer, "/tools") if named else ()
            if _without_frame(tool.schema, said) == _without_frame(stated.schema, said):
                yield tool.pointer

    def _newly_outdated(self, turn: Turn) -> Iterator[tuple[str, int]]:
        """The servers whose tools a turn still offers as they were before a change, for the first time."""
        changed = self._sessions.catalogue.changed_before(turn.round_trip.started_at)
        names = frozenset(tool.name for tool in turn.reading.request.tools) if changed else frozenset[str]()
        for server, index in changed.items():
            known = any((at := self._join.server_of(name, names)) is not None and at[0] == server for name in names)
            if known and (server, index) not in self._outdated:
                self._outdated.add((server, index))
                yield server, index

    def _close(self, judged: JudgedTurn, label: Label) -> Iterator[Labelled]:
        if judged.tool_calls is None:
            return
        for run in self._join.closed(judged.tool_calls):
            yield from self._settle_row(key_of(run), run)
        self._judge(judged, "closed")
        yield judged.context.index, labelled(judged, label)

    def _shrink(self) -> Iterator[Labelled]:
        """Let go of the oldest turns: first of those whose calls all have their runs."""
        settled = [key for key, (judged, _) in self._held.items() if _is_settled(judged)]
        for key in settled[:-_SETTLED]:
            yield from self._close(*self._held.pop(key))
        waiting = {key for key, (judged, _) in self._held.items() if _awaits(judged)}
        size = sum(len(judged.context.turn.round_trip.request.body) for judged, _ in self._held.values())
        for key in list(self._held):
            if len(self._held) <= _MOST_HELD:
                return
            if key in waiting and len(self._held) <= _MOST_WAITING and size <= _MOST_BYTES:
                continue
            judged, label = self._held.pop(key)
            size -= len(judged.context.turn.round_trip.request.body)
            if key not in waiting:
                yield from self._close(judged, label)

    def _again(self, turn: TurnCalls) -> Iterator[Labelled]:
        held = self._held.get(id(turn))
        if held is not None:
            judged, label = held
            self._judge(judged, "open" if turn.followed_by is None else "followed")
            yield judged.context.index, labelled(judged, label)

    def _judge(self, judged: JudgedTurn, over: Over) -> None:
        judged.tool_findings = self._rules.tool_calls(judged, self._join, over)

    def _row(self, row: LabelledRoundTrip) -> LabelledRoundTrip:
        row.label["tool_runs"] = [run.as_json() for run in row.tool_runs]
        for run in row.tool_runs:
            self._rows[key_of(run)] = row
        return row

    def _settle_row(self, key: RunKey, newer: ToolRun) -> Iterator[Labelled]:
        """The round trip of a run without the run, which a turn shows now; or with its newer form."""
        row = self._rows.pop(key, None)
        if row is None:
            return
        kept = [run for run in row.tool_runs if key_of(run) != key]
        row = replace(row, tool_runs=(*kept, *self._shown_alone(newer)))
        yield row.round_trip.index, self._row(row)

    def _shown_alone(self, run: ToolRun) -> list[ToolRun]:
        """The run in its present form if it is shown with its own round trip, because no turn with a label has it."""
        turn = self._join.turn_of(run)
        if turn is None:
            return [run]
        if turn.index not in self._carried:
            return []
        return [one for one in turn.runs if key_of(one) == key_of(run)]


_FRAME = ("$schema", "additionalProperties", "title")
"""What clients change in schemas beside the arguments."""


def _without_frame(schema: object, said: str) -> object:
    if not is_object(schema):
        return schema
    return {key: value for key, value in schema.items() if key not in _FRAME or key in said}


def _is_described(tool: Definition, texts: str) -> bool:
    """Whether a prompt describes a tool, as for models that write their calls as text."""
    words = tool.description.strip()
    return bool(words) and tool.name in texts and words in texts


def _awaits(judged: JudgedTurn) -> bool:
    """Whether the answer to a call of a turn is still to be recorded."""
    runs = judged.tool_calls.runs if judged.tool_calls is not None else ()
    return any(run.awaits for run in runs)


def _is_settled(judged: JudgedTurn) -> bool:
    calls = judged.tool_calls
    if calls is None or calls.until is None:
        return False
    return not _awaits(judged) and all(call.runs or call.tool is None for call in calls.calls)
