"""The run of an agent, for assertions: turns, tool calls, findings, cost, and the trajectory as text.

Everything is read again from the round trips when there are more of them.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, NamedTuple, cast

import orjson

from turntape.cassettes.frozen import frozen
from turntape.cassettes.tape.model import Request, RoundTrip

from ..findings.finding import Finding
from ..run.labels import LabelledRoundTrip, label_all
from ..tools.tool_run import SeenAs
from ..views.text.terminal_text import clip
from ..views.text.trajectory_text import trajectory
from ..wire.json_value import as_array, as_object
from ..wire.values import FinishLabel, RequestReading, Usage


class Call(NamedTuple):
    """A call that the model emitted; equal to a plain `(name, arguments)`."""

    name: str
    arguments: Any
    """The parsed arguments; their text if it cannot be parsed."""


class Result(NamedTuple):
    """A tool result in a request; equal to a plain `(name, text)`."""

    name: str
    """The tool's name; empty when the request does not say it."""
    text: str


@frozen
class Sent:
    """What the client sent in one turn."""

    _request: Request
    _reading: RequestReading

    @property
    def body(self) -> Any:
        """The parsed JSON body; None when it is not JSON."""
        try:
            return orjson.loads(self._request.body)
        except orjson.JSONDecodeError:
            return None

    @property
    def headers(self) -> dict[str, str]:
        """The headers by their names in lower case. Credentials are replaced, as in a cassette."""
        return {name.lower(): value for name, value in self._request.headers}

    @property
    def url(self) -> str:
        return self._request.url

    @property
    def system(self) -> str:
        """The system prompt, wherever the API has it."""
        inner = [part.text for one in self._reading.messages if one.role == "system" for part in one.parts]
        return "\n".join(text for text in (*(part.text for part in self._reading.system), *inner) if text)

    @property
    def messages(self) -> list[tuple[str, str]]:
        """The conversation as `(role, text)`, without the system prompt. The text of a message of calls is empty, and
        that of a message of results is theirs."""
        found: list[tuple[str, str]] = []
        for message in self._reading.messages:
            if message.role != "system":
                texts = (part.result.text if part.result else part.text for part in message.parts)
                found.append((message.role, "\n".join(text for text in texts if text)))
        return found

    @property
    def tools(self) -> list[str]:
        """The names of the tools that the request offers, in their order."""
        return [tool.name for tool in (*self._reading.tools, *self._reading.added_tools)]

    @property
    def tool_results(self) -> list[Result]:
        """The tool results in the request, in their order, those of earlier turns too: `[("search", "3 people")]`."""
        names = {part.call.id: part.call.name for one in self._reading.messages for part in one.parts if part.call}
        given = [part.result for one in self._reading.messages for part in one.parts if part.result]
        return [Result(one.name or names.get(one.call_id) or "", one.text) for one in given if not one.server]

    @property
    def settings(self) -> dict[str, object]:
        """The other fields of the body, such as `temperature`, by their names."""
        return self._reading.parameters

    @property
    def reading(self) -> RequestReading:
        """Everything that was read of the request."""
        return self._reading


@frozen
class TurnView:
    """One turn as a flat object, for assertions."""

    number: int
    thread: str
    model: str | None
    text: str
    tool_calls: tuple[Call, ...]
    finish: FinishLabel | None
    """The effective finish; None if there was no answer."""
    request: Sent
    """What the client sent: `messages`, `tools`, `tool_results`, `headers`, `body`."""
    outcome: str
    """What the client did next: `dispatched`, `partly`, `not_dispatched`, `ended` or `open`."""
    usage: Usage | None
    cost: Decimal | None


@frozen
class TurnFinding(Finding):
    """A finding, and its turn."""

    turn: int = 0
    """0 for a finding about a message of a tool server."""

    def __repr__(self) -> str:
        return f"<turn {self.turn}, {self.layer}, {self.severity}, {self.id}: {self.message}>"


class RanTool(NamedTuple):
    """One execution of a tool, as its server's own messages show it; equal to a plain tuple of its fields."""

    server: str
    name: str
    """The tool's name as the server knows it."""
    arguments: Any
    is_error: bool | None
    """None without an answer."""
    seen_as: SeenAs | None
    """What the model saw of the result: `equal`, `structured`, `cut`, …; None while no request shows it."""


class AgentRun:
    """The turns of one execution of an agent, in the order in which they ended."""

    def __init__(self, round_trips: Callable[[], Sequence[RoundTrip]]) -> None:
        self._round_trips = round_trips
        self._read: list[LabelledRoundTrip] = []
        self._of = 0

    @classmethod
    def of(cls, round_trips: Iterable[RoundTrip]) -> "AgentRun":
        """The run of a cassette: `AgentRun.of(Cassette.load(path))`."""
        taken = list(round_trips)
        return cls(lambda: taken)

    @property
    def _everything(self) -> list[LabelledRoundTrip]:
        trips = self._round_trips()
        if len(trips) != self._of:
            self._read, self._of = label_all(trips), len(trips)
        return self._read

    @property
    def _labelled(self) -> list[LabelledRoundTrip]:
        return [one for one in self._everything if one.turn is not None]

    @property
    def turns(self) -> list[TurnView]:
        return [_view(one) for one in self._labelled]

    @property
    def tool_calls(self) -> list[Call]:
        """Every call that the client had to answer: `[("search", {"q": "x"}), …]`."""
        return [call for turn in self.turns for call in turn.tool_calls]

    @property
    def tool_runs(self) -> list[RanTool]:
        """Every execution of a tool that was recorded on the wire of its server, in the order of the calls; those that
        no call of the model explains too."""
        runs = sorted((run for one in self._everything for run in one.tool_runs), key=lambda run: run.started_at)
        return [RanTool(run.server, run.name, run.arguments, run.is_error, run.seen_as) for run in runs]

    @property
    def text(self) -> str:
        """The last text of the model in the first thread: the agent's answer."""
        turns = self.turns
        return next((turn.text for turn in reversed(turns) if turn.thread == turns[0].thread), "")

    @property
    def cost(self) -> Decimal | None:
        """The cost of all requests with a known price, embeddings included, in US dollars; None when there are none."""
        known = [one.cost.amount for one in self._everything if one.cost is not None]
        return sum(known, Decimal(0)) if known else None

    def findings(
        self, *, layer: str | None = None, severity: str | None = None, id: str | None = None
    ) -> list[TurnFinding]:
        """What went wrong, by layer (`model`, `api`, `client`, `tool`), severity or id, which may be a former one."""
        wanted = {"layer": layer, "severity": severity}
        return [
            found
            for one in self._everything
            for found in _findings(one)
            if all(value is None or getattr(found, name) == value for name, value in wanted.items())
            and (id is None or id in found.names)
        ]

    def trajectory(self) -> str:
        """The run as text for a review: messages, calls, results and findings, without ids, times or prices."""
        return trajectory(self._labelled)


def _findings(one: LabelledRoundTrip) -> list[TurnFinding]:
    number = one.turn.number if one.turn else 0
    return [replace(TurnFinding.from_json(found), turn=number) for found in as_array(one.label["findings"])]


def _view(one: LabelledRoundTrip) -> TurnView:
    turn, reading = one.turn, one.reading
    assert turn is not None
    emission = reading.emission
    price = cast("str | None", one.label["cost_usd"])
    calls = emission.calls if emission else ()
    return TurnView(
        number=turn.number,
        thread=turn.thread,
        model=reading.response_model or reading.request.model,
        text=emission.text if emission else "",
        tool_calls=tuple(
            Call(call.name, call.arguments_raw if call.arguments is None else call.arguments) for call in calls
        ),
        finish=reading.finish.effective if reading.finish else None,
        request=Sent(one.round_trip.request, reading.request),
        outcome=cast(str, as_object(one.label["client"]).get("outcome")),
        usage=reading.usage,
        cost=None if price is None else Decimal(price),
    )


def actions(round_trips: Sequence[RoundTrip]) -> list[str]:
    """What happened in each round trip of a cassette, in a few words: `→ search`, or the model's text."""
    found = [f"{trip.request.method} {trip.request.url}" for trip in round_trips]
    for one in label_all(replace(trip, index=place) for place, trip in enumerate(round_trips)):
        if one.turn is not None:
            view = _view(one)
            calls = ", ".join(f"→ {call.name}" for call in view.tool_calls)
            found[one.round_trip.index] = calls or clip(view.text, 40) or str(view.finish)
    return found
