"""Runs of an agent with a tool server, for tests: turns over one wire, tool calls over the other, in order of time."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from conversations import START, chat, result, said, user
from judged import findings
from round_trips import MESSAGES, exchanged
from tool_wire import answers, asks, fails, initialize, initialized, stdio

from turntape.cassettes.tape.model import Failure, RoundTrip
from turntape.inspector.findings.rules import tool_calls, tool_clients, tool_protocol, tool_results, tool_servers
from turntape.inspector.run.labels import LabelledRoundTrip, label_all

_MODULES = (tool_calls, tool_clients, tool_protocol, tool_results, tool_servers)
IDS = {rule.id for module in _MODULES for rule in module.RULES}
ADD: dict[str, Any] = {
    "name": "add",
    "description": "Add two numbers.",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}},
}
SAY: dict[str, Any] = {
    "name": "say",
    "description": "Say something.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
}

KEY = "io.modelcontextprotocol/"
MODERN: dict[str, Any] = {f"{KEY}protocolVersion": "2026-07-28", f"{KEY}clientCapabilities": {"elicitation": {}}}
"""What each request says in version 2026-07-28."""
KEPT: dict[str, Any] = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
"""What the answers to lists say in it."""


def offered(*tools: dict[str, Any], name: str = "mcp__files__{}") -> list[Any]:
    """Tools of a server as a request offers them."""
    return [
        {
            "type": "function",
            "function": {
                "name": name.format(tool["name"]),
                "description": tool["description"],
                "parameters": tool["inputSchema"],
            },
        }
        for tool in tools
    ]


def text(*texts: str, **more: Any) -> dict[str, Any]:
    """A result of these text blocks; with `structuredContent`, `isError` and so on."""
    return {"content": [{"type": "text", "text": one} for one in texts], **more}


@dataclass
class Story:
    """Turns and exchanges, each a tenth of a second after the one before."""

    tools: list[dict[str, Any]] = field(default_factory=lambda: [ADD, SAY])
    server: str = "files"
    session: str = "a"
    naming: str = "mcp__{server}__{tool}"
    trips: list[RoundTrip] = field(default_factory=list[RoundTrip])
    messages: list[dict[str, Any]] = field(default_factory=lambda: [user("Do it.")])
    sequence: int = 0
    id: int = 10

    @property
    def at(self) -> float:
        return START + len(self.trips) / 10

    def start(self, **capabilities: Any) -> "Story":
        """The server starts and lists its tools, for a client with these capabilities."""
        self.exchange(initialize(0, **capabilities), initialized(0, self.server))
        return self.lists()

    def modern(self, **capabilities: Any) -> "Story":
        """As `start`, in version 2026-07-28: `MODERN` is what each request says."""
        found = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **capabilities, **KEPT}
        self.exchange(asks(0, "server/discover", _meta=MODERN), answers(0, **found))
        return self.exchange(asks(1, "tools/list", _meta=MODERN), answers(1, tools=self.tools, **KEPT))

    def lists(self) -> "Story":
        self.id += 1
        return self.exchange(asks(self.id, "tools/list"), answers(self.id, tools=self.tools))

    def exchange(self, sent: object, got: object = None, **given: Any) -> "Story":
        """Any exchange with the server."""
        answered = self.sequence + 1 if got is not None else None
        given = {"session": self.session, "server": self.server, **given}
        trip = stdio(sent, got, sequence=self.sequence, answered=answered, at=self.at, ended_at=5_000, **given)
        self.sequence += 2 if got is not None else 1
        return self.put(trip)

    def put(self, trip: RoundTrip) -> "Story":
        self.trips.append(replace(trip, index=len(self.trips)))
        return self

    def name(self, tool: str) -> str:
        return self.naming.format(server=self.server, tool=tool)

    def turn(self, *calls: tuple[str, str, str], text: str | None = None, **fields: Any) -> "Story":
        """The model answers: calls are `(id, tool, arguments)`."""
        answer = said(text if calls else text or "Done.", *((i, self.name(t), a) for i, t, a in calls))
        tools = offered(*self.tools, name=self.name("{}"))
        fields = {"at": self.at - START, "tools": tools, "index": len(self.trips), **fields}
        self.put(chat(list(self.messages), answer, **fields))
        self.messages.append(answer)
        return self

    def ask(self, *calls: tuple[str, str, str]) -> "Story":
        """As `turn`, over Anthropic's API, which marks results of failed tools."""
        blocks: list[Any] = [
            {"type": "tool_use", "id": i, "name": self.name(t), "input": json.loads(a)} for i, t, a in calls
        ] or [{"type": "text", "text": "Done."}]
        tools = [
            {"name": self.name(one["name"]), "description": one["description"], "input_schema": one["inputSchema"]}
            for one in self.tools
        ]
        sent = {"model": "claude-sonnet-4-5", "max_tokens": 99, "messages": list(self.messages), "tools": tools}
        got = {
            "id": f"msg_{len(self.trips)}",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": blocks,
            "stop_reason": "tool_use" if calls else "end_turn",
            "usage": {"input_tokens": 10, "output_tokens": 5},
        }
        self.put(replace(exchanged(MESSAGES, sent, got), started_at=self.at))
        self.messages.append({"role": "assistant", "content": blocks})
        return self

    def shows(self, call_id: str, content: object, *, is_error: bool | None = None) -> "Story":
        """A result over Anthropic's API."""
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call_id, "content": content}
        if is_error is not None:
            block["is_error"] = is_error
        self.messages.append({"role": "user", "content": [block]})
        return self

    def call(self, tool: str, arguments: object, gives: object = None, /, **meta: Any) -> "Story":
        """The client calls a tool; `gives` is a result, an error in text, or None when no answer comes."""
        self.id += 1
        params: dict[str, Any] = {"name": tool} if arguments is None else {"name": tool, "arguments": arguments}
        if meta:
            params["_meta"] = meta
        sent = asks(self.id, "tools/call", **params)
        if gives is None:
            self.exchange(sent)
            cut = replace(self.trips[-1], failure=Failure("cut", "the tool server ended"), closed_first="server")
            self.trips[-1] = cut
            return self
        got = fails(self.id, gives) if isinstance(gives, str) else {"jsonrpc": "2.0", "id": self.id, "result": gives}
        return self.exchange(sent, got)

    def results(self, *given: tuple[str, str]) -> "Story":
        """What the next request shows: `(id of the call, text)`."""
        self.messages += [result(call_id, shown) for call_id, shown in given]
        return self

    def label(self) -> Sequence[LabelledRoundTrip]:
        return label_all(self.trips)

    def found(self, *, severity: str | None = None) -> list[tuple[int, str, str, str]]:
        """The findings about tools: round trip, id, layer, severity."""
        return [
            (index, one["id"], one["layer"], one["severity"])
            for index, one in findings(self.trips, hints=False, advice=False)
            if one["id"] in IDS and severity in (None, one["severity"])
        ]

    def says(self, name: str) -> list[str]:
        """The messages of the findings of a class."""
        return [one["message"] for _, one in findings(self.trips, hints=False, advice=False) if one["id"] == name]

    def every(self, name: str) -> list[Any]:
        """The findings of a class as JSON, advice too."""
        found = [one for row in self.label() for one in list[Any](row.label["findings"])]  # pyright: ignore[reportArgumentType]
        return [one for one in found if one["id"] == name]

    def runs(self) -> list[Any]:
        """The tool runs of all turns, in order."""
        return [run for one in self.label() if one.turn is not None for run in one.tool_runs]

    def loose(self) -> list[Any]:
        """The tool runs that no call has."""
        return [run for one in self.label() if one.turn is None for run in one.tool_runs]
