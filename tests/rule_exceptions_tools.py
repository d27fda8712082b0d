"""Rules about tools and their own wire: for each exception, a run in which a rule fires and a twin that it spares.

Rows are as in `rule_exceptions_model_api`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from conversations import chat, said, user
from rule_exceptions_model_api import Row
from tool_stories import ADD, SAY, Story, offered, text
from tool_wire import answers, asks, events, fails, http, initialize, initialized, notifies, stdio

from turntape.cassettes.tape.model import Failure, RoundTrip, Side

LONG = "".join(f"line {number} of a long text\n" for number in range(1_000))
ONE = ("c1", "add", '{"a":1}')
IMAGE: dict[str, Any] = {"type": "image", "data": "iVBORw0KGgo" + "A" * 200, "mimeType": "image/png"}
AUDIO: dict[str, Any] = {"type": "audio", "data": "UklGRiQAAABX" + "B" * 200, "mimeType": "audio/wav"}
ENCODED = "iVBORw0KGgo" + "A" * 1_200
BROKEN: dict[str, Any] = {**ADD, "inputSchema": {"type": "string"}}
LINK: dict[str, Any] = {"type": "resource_link", "uri": "file:///notes.md", "name": "notes"}
BOTH = text("It is warm.", structuredContent={"degrees": 21, "sky": "blue"})
ALONE: dict[str, Any] = {"content": [], "structuredContent": {"degrees": 21}}
FAILED = text("the disk is full", isError=True)

type Trips = Sequence[RoundTrip]


def ended(result: object, *seen: str) -> Trips:
    """A call with this result, and what the next request shows for it; without `seen`, no next request."""
    story = Story().start().turn(ONE).call("add", {"a": 1}, result)
    for one in seen:
        story.results(("c1", one)).turn()
    return story.trips


def marked(result: object, seen: str, *, is_error: bool | None = None, **tool: Any) -> Trips:
    """The same over an API that marks errors."""
    story = Story()
    story.tools = [{**ADD, **tool}, SAY]
    story.start().ask(ONE).call("add", {"a": 1}, result)
    return story.shows("c1", seen, is_error=is_error).ask().trips


def notified(method: str, sender: Side, **params: Any) -> Trips:
    """A side says something that has no answer."""
    return Story().start().exchange(notifies(method, **params), sender=sender).turn().trips


def with_block(block: dict[str, Any], seen: str) -> Trips:
    return ended({"content": [{"type": "text", "text": "see this"}, block]}, seen)


def linked(seen: str) -> Trips:
    """A result with a link, what the client read there, and what the model sees."""
    story = Story().start().turn(ONE).call("add", {"a": 1}, {"content": [LINK]})
    page = {"uri": "file:///notes.md", "text": "hello there"}
    story.exchange(asks(8, "resources/read", uri="file:///notes.md"), answers(8, contents=[page]))
    return story.results(("c1", seen)).turn().trips


def provoked(*, ended: bool) -> Trips:
    """A tool fails while the client owes its server an answer, or has given it."""
    story = Story().start(roots={}).turn(ONE)
    call = asks(5, "tools/call", name="add", arguments={"a": 1})
    story.exchange(call, answers(5, **text("no answer of the client", isError=True)))
    story.trips[-1] = replace(story.trips[-1], ended_at=9_000_000, first_byte_at=9_000_000)
    story.exchange(asks(1, "roots/list"), None if ended else answers(1, roots=[]), sender="server")
    if ended:
        story.trips[-1] = replace(story.trips[-1], failure=Failure("cut", "it ended"))
    return story.results(("c1", "no answer of the client")).turn().trips


def asked_for(method: str, *, declared: bool = True) -> Trips:
    """The server does not know a method that it has declared, or not."""
    begun = initialized()
    begun["result"]["capabilities"] = {"prompts": {}} if declared else {"tools": {}}
    story = Story().exchange(initialize(), begun)
    return story.exchange(asks(2, method), fails(2, "Method not found", -32601)).trips


def loosely_listed(*, offered: bool) -> Trips:
    """A tool whose output schema is not that of an object, and a request that offers it or not."""
    story = Story([{**ADD, "outputSchema": {"title": "sum"}}, SAY]).start()
    return (story.turn() if offered else story).trips


def redrawn() -> Trips:
    story = Story().start().turn(ONE).call("add", {"a": 1}, {"content": [IMAGE]}).results(("c1", "see below"))
    story.messages.append({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:x"}}]})
    return story.turn().trips


def two(first: str, second: str) -> Trips:
    story = Story().start().turn(ONE, ("c2", "say", '{"text":"x"}'))
    story.call("add", {"a": 1}, text("the sum is 1")).call("say", {"text": "x"}, text("you said x"))
    return story.results(("c1", first), ("c2", second)).turn().trips


def repeated(*, runs: bool, shows: str = "the sum is 1") -> Trips:
    """A second turn in which the client may run the call, and shows some result."""
    story = Story().start().turn(ONE).call("add", {"a": 1}, text("the sum is 1")).results(("c1", "the sum is 1"))
    story.turn(("c2", "add", '{"a":2}'))
    if runs:
        story.call("add", {"a": 2}, text("the sum is 2"))
    return story.results(("c2", shows)).turn().trips


def not_executed(*seen: str, arguments: str = '{"a":1}', ends: bool = False) -> Trips:
    """A call that no server was asked to run, and what the next request shows for it."""
    story = Story().start().turn(("c1", "add", arguments))
    for one in seen:
        story.results(("c1", one))
    return story.trips if ends else story.turn().trips


def twice(first: object, **annotations: Any) -> Trips:
    story = Story()
    story.tools = [{**ADD, "annotations": annotations}, SAY]
    story.start().turn(ONE).call("add", {"a": 1}, first).call("add", {"a": 1}, text("1"))
    return story.results(("c1", "1")).turn().trips


def changed(sent: str, given: object) -> Trips:
    story = Story().start().turn(("c1", "add", sent)).call("add", given, text("1"), callId="c1")
    return story.results(("c1", "1")).turn().trips


def over_http(*trips: RoundTrip) -> Trips:
    """After the handshake with a server that gave a session."""
    named = (("Mcp-Session-Id", "s-1"),)
    return [http(initialize(0), initialized(0), answer_headers=named, headers=()), *trips]


def answered_late() -> Trips:
    """A call whose result came 90 seconds after it, when the model had read that it timed out."""
    story = Story().start().ask(ONE).call("add", {"a": 1}, text("It is 42."))
    late = replace(story.trips.pop(), ended_at=90_000_000)
    story.shows("c1", "The call timed out after 60 s", is_error=True).ask()
    story.trips[-1] = replace(story.trips[-1], started_at=late.started_at + 60)
    return story.put(replace(late, index=len(story.trips))).trips


def gave_up(
    *,
    continues: bool = True,
    waits: float = 0.004,
    late: bool = False,
    reports: int = 0,
    why: str = "Request timed out",
    again: bool = False,
) -> Trips:
    story = Story().start().turn(ONE)
    for number in range(reports):
        story.exchange(notifies("notifications/progress", progressToken=1, progress=number), sender="server")
    story.exchange(notifies("notifications/cancelled", requestId=12, reason=why))
    cancel = story.trips.pop()
    story.call("add", {"a": 1}, text("1") if late else None, **({"progressToken": 1} if reports else {}))
    call = replace(story.trips.pop(), ended_at=int((waits + 1) * 1e6)) if late else story.trips.pop()
    for place in range(len(story.trips) - reports, len(story.trips)):
        story.trips[place] = replace(story.trips[place], started_at=call.started_at + waits / 2)
    story.put(replace(cancel, started_at=call.started_at + waits)).put(call)
    if again:
        return story.call("add", {"a": 1}, text("1")).results(("c1", "1")).turn().trips
    return story.results(("c1", "The call timed out.")).turn().trips if continues else story.trips


def unasked(*, tool: str = "say", first: bool = False) -> Trips:
    story = Story().start()
    if first:
        return story.call(tool, {"text": "x"}, text("x")).turn().trips
    return story.turn().call(tool, {"text": "x"}, text("x")).trips


def refused(code: int, *, ends: bool = False, open_call: bool = False) -> Trips:
    story = Story().start().turn(ONE, *([("c2", "say", '{"text":"x"}')] if open_call else []))
    story.exchange(asks(12, "tools/call", name="add", arguments={"a": 1}), fails(12, "it broke", code))
    if open_call:
        story.call("say", {"text": "x"})
    return story.trips if ends else story.results(("c1", "it broke")).turn().trips


def silent(number: int = 0, seconds: int = 60, writes: object = None) -> Trips:
    """A call without an answer. With `number`, another call has that id while it is open; `writes` comes meanwhile."""
    story = Story().start().turn(ONE).call("add", {"a": 1})
    if writes is not None:
        story.exchange(writes, sender="server")
    story.results(("c1", "No answer: the tool failed")).turn()
    gone = Failure("client_gone", "it went")
    story.trips[3] = replace(story.trips[3], failure=gone, closed_first="client", ended_at=seconds * 1_000_000)
    story.put(story.trips.pop(3))
    if number:
        story.exchange(asks(number, "ping"), answers(number))
        story.trips[-1] = replace(story.trips[-1], started_at=story.trips[-2].started_at + 0.001)
    return story.trips


def left_alone() -> Trips:
    """A call that no model asked for, and that the server left open until the client went."""
    trips = Story().start().call("add", {"a": 1}).trips
    gone = Failure("client_gone", "it went")
    return [*trips[:-1], replace(trips[-1], failure=gone, closed_first="client", ended_at=60_000_000)]


def ended_session(*, status: int | None = None) -> Trips:
    """A call over HTTP after the server had ended the session; `status`: how it answers the call after that one."""
    given = (("Mcp-Session-Id", "s-1"),)
    opened = http(initialize(), initialized(), headers=(), answer_headers=given)
    call = http(asks(5, "tools/call", name="add", arguments={}), fails(5, "Session not found", -32001), status=404)
    trips = [opened, call]
    if status is not None:
        again = asks(6, "tools/call", name="add", arguments={})
        got = answers(6, **text("1")) if status == 200 else fails(6, "Session not found", -32001)
        trips.append(http(again, got, status=status))
    return [replace(trip, index=index, started_at=float(index)) for index, trip in enumerate(trips)]


def rejected(stated: dict[str, Any], given: dict[str, Any]) -> Trips:
    """A request that the API refuses because of a tool: as the server states it, and as the client offers it."""
    story = Story()
    story.tools = [stated]
    story.start()
    said = {"error": {"message": "Invalid schema for function 'mcp__files__add': 'string' is not an object"}}
    tools = offered(given, name=story.name("{}"))
    return [*story.trips, chat([user("Go.")], tools=tools, status=400, error=said, at=1, index=2)]


def routed(tool: str) -> Trips:
    """A call for which the client runs this tool."""
    story = Story()
    story.tools = [ADD, SAY, {**ADD, "name": "Add"}]
    story.start().turn(ONE).call(tool, {"a": 1}, text("It is 1."))
    return story.results(("c1", "It is 1.")).turn().trips


def not_listed(tool: str) -> Trips:
    """A call that its server does not know, under a name that it does not list."""
    story = Story().start().turn(ONE)
    story.exchange(asks(12, "tools/call", name=tool, arguments={"a": 1}), fails(12, f"Unknown tool: {tool}", -32602))
    return story.results(("c1", "it broke")).turn().trips


def unread() -> Trips:
    """A call, although the list of tools has another page."""
    story = Story().start().exchange(asks(50, "tools/list"), answers(50, tools=[ADD, SAY], nextCursor="p2"))
    return story.turn(ONE).call("add", {"a": 1}, text("1")).results(("c1", "1")).turn().trips


def second_page(*first: dict[str, Any]) -> Trips:
    """A list in two pages, both read, of which only the first is offered."""
    story = Story().exchange(asks(1, "tools/list"), answers(1, tools=[*first], nextCursor="p2"))
    story.exchange(asks(2, "tools/list", cursor="p2"), answers(2, tools=[{**SAY, "name": "more"}]))
    return story.turn(tools=offered(*first, name=story.name("{}"))).trips


def outdated() -> Trips:
    """Tools that changed some seconds before a turn that offers the old ones."""
    story = Story().start().exchange(notifies("notifications/tools/list_changed"), sender="server")
    story.trips[-1] = replace(story.trips[-1], started_at=story.at - 5)
    return story.turn().trips


def garbled(*, refused: bool) -> Trips:
    """A line of the client that is not a message, and whether the server refuses it."""
    story = Story().start().exchange(notifies("notifications/initialized")).exchange(b"[]")
    if refused:
        story.exchange(fails(None, "Invalid Request", -32600), sender="server")
    return story.call("add", {"a": 1}, text("1")).trips


def led_away(*, followed: bool) -> Trips:
    """A stream of the transport of 2024-11-05 that names another origin, and whether its client follows."""
    named, begun = "http://other.test/messages?s=1", events(initialized(0)) if followed else b""
    body = events(named.encode(), name="endpoint") + begun
    stream = http(None, body, url="http://desk.test/sse", method="GET", kind="text/event-stream", headers=())
    posted = http(initialize(), b"", url=named, status=202, headers=())
    trips = [posted, stream] if followed else [stream]
    return [replace(trip, index=index, ended_at=9_000_000) for index, trip in enumerate(trips)]


def unmarked(tool: str, said: str = "Error: no connection") -> Trips:
    """A result that reads like an error."""
    story = Story(tools=[{**ADD, "name": tool}]).start().turn(("c1", tool, '{"a":1}'))
    return story.call(tool, {"a": 1}, text(said)).results(("c1", said)).turn().trips


FORM: dict[str, Any] = {"message": "Sure?", "requestedSchema": {"type": "object"}}
UNKNOWN = fails(1, "Method not found", -32601)


def input_asked(got: object, method: str = "elicitation/create", asking: Any = FORM, **declared: Any) -> Trips:
    story = Story().start(**declared).exchange(asks(1, method, **asking), got, sender="server")
    if got is None:
        story.trips[-1] = replace(story.trips[-1], failure=Failure("cut", "it ended"))
    return story.trips


def called_with(arguments: object, got: object) -> Trips:
    """A call without arguments that the client sends with these."""
    story = Story().start().turn(("c1", "add", "{}"))
    story.exchange(asks(9, "tools/call", name="add", arguments=arguments), got)
    return story.results(("c1", "1")).turn().trips


def explained(offered_as: dict[str, Any]) -> Trips:
    """A call with an argument that the client takes out; the server does not have it."""
    story = Story().start()
    story.tools = [offered_as, SAY]
    story.turn(("c1", "add", '{"a":1,"why":"it is the first one"}')).call("add", {"a": 1}, text("1"))
    return story.results(("c1", "1")).turn().trips


WITH_WHY: dict[str, Any] = {
    **ADD,
    "inputSchema": {"type": "object", "properties": {**ADD["inputSchema"]["properties"], "why": {"type": "string"}}},
}


def listed(tool: dict[str, Any], *others: dict[str, Any], announced: bool = False) -> Trips:
    story = Story().start()
    if announced:
        story.exchange(notifies("notifications/tools/list_changed"), sender="server")
    story.tools = [tool, SAY, *others]
    return story.lists().trips


def offers(**changes: Any) -> Trips:
    story = Story().start()
    return story.turn(tools=offered({**ADD, **changes}, SAY, name=story.name("{}"))).trips


def lines(*said: bytes) -> Trips:
    """Lines on the standard output of a server."""
    story = Story()
    for one in said:
        story.exchange(one, sender="server")
    return story.trips


def properties(**given: Any) -> dict[str, Any]:
    return {"inputSchema": {"type": "object", "properties": given}}


SUM: dict[str, Any] = {"outputSchema": {"type": "object", "required": ["sum"]}}
OTHER: dict[str, Any] = {**ADD, **properties(x={"type": "string"})}
READS_MISSING = "The model reads that something is missing: then it is an info"

TOOLS: list[Row] = [
    (
        "client-tool-result-cut",
        "The model reads that the result was cut: then it is an info",
        ended(text(LONG), LONG[:900]),
        ended(text(LONG), f"{LONG[:900]}\n[12,000 characters truncated]"),
        "info",
    ),
    (
        "client-tool-result-lost",
        "It is the text of an error: then it is a warning",
        ended(text("It is 42."), ""),
        ended("it broke", ""),
        "warning",
    ),
    (
        "client-tool-result-lost",
        "It is the text of an error, and the result is marked as one: then it is an info",
        ended(text("It is 42."), ""),
        marked("it broke", "", is_error=True),
        "info",
    ),
    (
        "client-tool-result-lost",
        "The model reads other words in place of the text of an error: then it is an info",
        ended(text("It is 42."), ""),
        ended("the warehouse is closed", "MCP error -32603"),
        "info",
    ),
    (
        "client-tool-result-doubled",
        "The tool itself returned the text twice",
        ended(text(LONG[:200]), LONG[:200] * 2),
        ended(text(LONG[:200] * 2), LONG[:200] * 2),
    ),
    (
        "client-tool-result-doubled",
        "The text is short",
        ended(text(LONG[:200]), LONG[:200] * 2),
        ended(text("It is 42."), "It is 42. It is 42."),
    ),
    (
        "client-tool-structured-lost",
        "The model sees the text of the same result: then it is an info",
        ended(ALONE, ""),
        ended(BOTH, "It is warm."),
        "info",
    ),
    (
        "client-tool-image-lost",
        READS_MISSING,
        with_block(IMAGE, "see this"),
        with_block(IMAGE, "see this (an image was omitted)"),
        "info",
    ),
    ("client-tool-image-lost", "The client made another image of it", with_block(IMAGE, "see this"), redrawn()),
    (
        "client-tool-audio-lost",
        READS_MISSING,
        with_block(AUDIO, "see this"),
        with_block(AUDIO, "see this (audio stripped)"),
        "info",
    ),
    (
        "client-tool-resource-lost",
        READS_MISSING,
        with_block(LINK, "see this"),
        with_block(LINK, "see this (links are not supported)"),
        "info",
    ),
    (
        "client-tool-resource-lost",
        "The model sees its text, its address or a file",
        with_block(LINK, "see this"),
        with_block(LINK, "see this file:///notes.md"),
    ),
    (
        "client-tool-resource-lost",
        "The client read what the link names, and the model sees that",
        linked("it says hello"),
        linked("hello there"),
    ),
    (
        "client-tool-result-changed",
        "White space, JSON or words around it differ, words do not run together and indented lines stay so",
        ended(text("It is 42."), "It is 43."),
        ended(text("It is 42."), 'Output:\n{"result":"It  is 42."}'),
    ),
    (
        "client-tool-result-changed",
        "White space, JSON or words around it differ, words do not run together and indented lines stay so",
        ended(text("It is 42."), "Itis 42."),
        ended(text("It is 42."), "It is\n42."),
    ),
    (
        "client-tool-result-changed",
        "It is the result of another run",
        ended(text("the sum is 1"), "you said x"),
        two("you said x", "the sum is 1"),
    ),
    (
        "client-tool-result-changed",
        "Short parts are hidden behind marks, as secrets are: then it is an info",
        ended(text("key=sk-9f31ab, region=eu"), "key=[REDACTED], region=us"),
        ended(text("key=sk-9f31ab, region=eu"), "key=[REDACTED], region=eu"),
        "info",
    ),
    (
        "client-tool-result-stale",
        "The tool was not executed again: then it is a warning",
        repeated(runs=True),
        repeated(runs=False),
        "warning",
    ),
    (
        "client-tool-error-mark-lost",
        "The API has no such mark: then it is an info, and nothing where the text reads like an error",
        ended(FAILED, "the disk is full"),
        ended(text("Error: full", isError=True), "Error: full"),
    ),
    (
        "client-tool-error-mark-lost",
        "The text reads like an error: then it is an info",
        marked(FAILED, "the disk is full"),
        marked(text("Error: full", isError=True), "Error: full"),
        "info",
    ),
    (
        "client-tool-error-invented",
        "The tool reported an error",
        marked(text("It is 42."), "It broke.", is_error=True),
        marked(FAILED, "the disk is full", is_error=True),
    ),
    (
        "client-tool-error-invented",
        "The result breaks the schema that the tool states: clients must refuse it",
        marked(text("1"), "It does not match.", is_error=True),
        marked(text("1"), "It does not match.", is_error=True, **SUM),
    ),
    (
        "client-tool-error-invented",
        "The result is larger than the client takes: then it is a warning",
        marked(text(LONG), "It broke.", is_error=True),
        marked(text(LONG), "The response exceeds 25000 tokens.", is_error=True),
        "warning",
    ),
    (
        "client-tool-error-invented",
        "The result is empty, and the client only says so in words: then it is a warning",
        marked(text(), "Error: nothing came back", is_error=True),
        marked(text(), "Error: nothing came back"),
        "warning",
    ),
    (
        "client-tool-error-invented",
        "The result came after the model had been asked again: then `client-tool-gave-up` says so",
        marked(text("It is 42."), "It broke.", is_error=True),
        answered_late(),
    ),
    (
        "client-tool-misrouted",
        "Only the spelling of the name differs, or a prefix",
        routed("say"),
        routed("Add"),
    ),
    (
        "client-tool-result-unread",
        "Another call of the same answer had no answer yet",
        ended(text("1")),
        Story()
        .start()
        .turn(ONE, ("c2", "add", '{"a":2}'))
        .call("add", {"a": 1}, text("1"))
        .call("add", {"a": 2})
        .trips,
    ),
    (
        "client-tool-result-unread",
        "The run continues in another thread",
        ended(text("1")),
        [*ended(text("1")), chat([user("Something else.")], said("Yes."), at=50, index=4)],
    ),
    (
        "client-tool-result-unread",
        "A call of the same answer failed: then `client-tool-error-ends-run` says so",
        ended(text("1")),
        ended(FAILED),
    ),
    (
        "client-tool-error-ends-run",
        "Another call of the same answer had no answer yet",
        refused(-32603, ends=True),
        refused(-32603, ends=True, open_call=True),
    ),
    (
        "client-tool-error-ends-run",
        "The run continues in another thread",
        refused(-32603, ends=True),
        [*refused(-32603, ends=True), chat([user("Something else.")], said("Yes."), at=50, index=4)],
    ),
    (
        "client-tool-never-executed",
        "The model reads why, and not an untruth, a client's exception or another call's failure: then it is an info",
        not_executed(""),
        not_executed("Error: no permission"),
        "info",
    ),
    (
        "client-tool-never-executed",
        "The recording ends with the call: then it is an info",
        not_executed(),
        not_executed(ends=True),
        "info",
    ),
    (
        "client-tool-never-executed",
        "The arguments of the call are not JSON",
        not_executed(""),
        not_executed("", arguments='{"a":'),
    ),
    (
        "client-tool-never-executed",
        "The model sees a result all the same: `client-tool-result-forged` or `client-tool-result-stale`",
        not_executed(""),
        not_executed("The sum is 1."),
    ),
    (
        "client-tool-result-forged",
        "The text says that the call was refused or failed",
        not_executed("The sum is 1."),
        not_executed("The user declined the call."),
    ),
    (
        "client-tool-result-forged",
        "It is the result of an earlier run: `client-tool-result-stale`",
        repeated(runs=False, shows="the sum is 3"),
        repeated(runs=False),
    ),
    (
        "client-tool-executed-twice",
        "The run before had neither a result nor an error of the tool: a retry, and an info",
        twice(text("1")),
        twice("it broke"),
        "info",
    ),
    (
        "client-tool-executed-twice",
        "The server says that the tool only reads, or may run twice: then it is an info",
        twice(text("1"), readOnlyHint=False),
        twice(text("1"), readOnlyHint=True),
        "info",
    ),
    (
        "client-tool-arguments-changed",
        "Numbers are written in another way",
        changed('{"a":1.0}', {"a": 2}),
        changed('{"a":1.0}', {"a": 1}),
    ),
    (
        "client-tool-arguments-changed",
        "Arguments were only added, or left out where `null` or empty, and no error names them: then it is an info",
        changed('{"a":1,"c":"x"}', {"b": 0}),
        changed('{"a":1,"c":null,"d":""}', {"a": 1, "b": 0}),
        "info",
    ),
    (
        "client-tool-arguments-changed",
        "A text became the number or the boolean that it names, and the server's schema takes that: then it is an info",
        changed('{"a":"1"}', {"a": 2}),
        changed('{"a":"1"}', {"a": 1}),
        "info",
    ),
    (
        "client-tool-gave-up",
        "The thread ends with it, as when a user stops the agent: then it is an info",
        gave_up(),
        gave_up(continues=False),
        "info",
    ),
    (
        "client-tool-gave-up",
        "The call was made again, and then had a result: then it is an info",
        gave_up(),
        gave_up(again=True),
        "info",
    ),
    (
        "client-tool-gave-up",
        "The client says that the user stopped it: then it is an info",
        gave_up(),
        gave_up(why="AbortError: the user pressed Esc"),
        "info",
    ),
    (
        "client-tool-call-unasked",
        "The model was never offered the tool: clients call some tools for themselves",
        unasked(),
        unasked(tool="status"),
    ),
    ("client-tool-call-unasked", "The call came before the first turn", unasked(), unasked(first=True)),
    (
        "tool-server-error",
        "The code says that the server refuses the call, such as wrong arguments: then it is an info, unless the call "
        "follows the schema that the server states. A tool that the server itself lists cannot be unknown to it",
        refused(-32603),
        refused(-32602),
        "info",
    ),
    (
        "tool-server-error",
        "The call was repeated, and then had a result: then it is an info",
        ended("it broke", "it broke"),
        twice("it broke"),
        "info",
    ),
    (
        "tool-server-error",
        "The server has listed its tools, and this is none of them: then `client-tool-not-on-server` says so",
        refused(-32603),
        not_listed("mul"),
    ),
    (
        "client-tool-input-unanswered",
        "It is a ping or asks for the roots, and the server did not end for it: then it is an info",
        input_asked(None),
        input_asked(None, "ping"),
        "info",
    ),
    (
        "tool-invalid-result",
        "Only structured content is there: then it is an info",
        ended({"output": "1"}, "1"),
        ended({"structuredContent": {"degrees": 21}}, '{"degrees":21}'),
        "info",
    ),
    (
        "tool-invalid-result",
        "The client takes it all the same, and the model sees all of it: then it is an info",
        ended(text("The sum is 1.", structuredContent=[1]), "it broke"),
        ended(text("The sum is 1.", structuredContent=[1]), "The sum is 1.\n[1]"),
        "info",
    ),
    (
        "tool-protocol-broken",
        "It reports progress that nobody asked for, that does not grow, is more than its total, or comes after its "
        "answer: then it is an info",
        listed(ADD, {**ADD, "description": "Multiply."}),
        Story().start().exchange(notifies("notifications/progress", progressToken=1), sender="server").turn().trips,
        "info",
    ),
    (
        "client-tool-protocol-broken",
        "The tools changed and the client offers the old ones: then it is an info",
        unread(),
        outdated(),
        "info",
    ),
    (
        "client-tool-protocol-broken",
        "Tools of later pages are not offered, and the first page has only one: then it is an info",
        second_page(ADD, SAY),
        second_page(ADD),
        "info",
    ),
    (
        "client-tool-protocol-broken",
        "It sends something else than a message, and the server does not refuse it: then it is an info",
        garbled(refused=True),
        garbled(refused=False),
        "info",
    ),
    (
        "tool-protocol-broken",
        "The client follows it to another origin: then it is an info",
        led_away(followed=False),
        led_away(followed=True),
        "info",
    ),
    (
        "tool-error-unmarked",
        "The tool reads files, logs or pages, and the text is longer than an error and no error page of a server: it "
        "may be what it read",
        unmarked("read_log"),
        unmarked("read_log", "Error: no connection\nerror: no connection\n12:01 ready"),
    ),
    (
        "tool-server-silent",
        "The client gave up, or closed the connection, in less than five seconds: then `client-tool-gave-up` says so",
        gave_up(waits=6),
        gave_up(),
    ),
    (
        "tool-server-silent",
        "The client gave up, or closed the connection, in less than five seconds: then `client-tool-gave-up` says so",
        silent(),
        silent(seconds=1),
    ),
    (
        "tool-server-silent",
        "The client says that the user stopped the call: then `client-tool-gave-up` says so",
        gave_up(waits=6),
        gave_up(waits=6, why="AbortError: the user pressed Esc"),
    ),
    ("tool-server-silent", "An answer came later", gave_up(waits=6), gave_up(waits=6, late=True)),
    (
        "tool-server-silent",
        "No call of the model has it: then it is a warning, and an info where the client gave up",
        silent(),
        left_alone(),
        "warning",
    ),
    (
        "tool-invalid-result",
        "No call of the model has it, and a tolerant client loses nothing by it: then it is an info",
        Story().start().call("add", {"a": 1}, {"content": "3"}).trips,
        Story().start().call("add", {"a": 1}, {"content": [{"type": "error", "text": "no"}]}).trips,
        "info",
    ),
    (
        "client-tool-not-on-server",
        "The server ran it, although it does not list it: then it is an info",
        not_listed("mul"),
        Story().start().call("status", {}, text("x")).trips,
        "info",
    ),
    (
        "tool-server-error",
        "The server says with status 404 that it has ended the session, which it may: then it is an info",
        ended("it broke", "it broke"),
        ended_session(),
        "info",
    ),
    (
        "client-tool-protocol-broken",
        "It never sends `notifications/initialized`, and the server answers all the same: then it is an info",
        unread(),
        [*Story().start().trips, stdio(notifies("notifications/initialized"), session="b", server="other")],
        "info",
    ),
    (
        "tool-protocol-broken",
        "It sends a request that MCP does not have: then it is an info",
        listed(ADD, {**ADD, "description": "Multiply."}),
        input_asked(UNKNOWN, "acme/state", {}),
        "info",
    ),
    (
        "client-tool-protocol-broken",
        "It begins no session in place of one that is gone: then it is an info",
        unread(),
        ended_session(),
        "info",
    ),
    (
        "client-tool-protocol-broken",
        "It uses a session that the server has ended, and the server answers in it: then it is an info",
        ended_session(status=404),
        ended_session(status=200),
        "info",
    ),
    (
        "tool-protocol-broken",
        "It gives a request the id of an earlier one that has its answer, answers what was cancelled with an error, or "
        "asks for roots that the client has not declared: then it is an info",
        listed(ADD, {**ADD, "description": "Multiply."}),
        input_asked(UNKNOWN, "roots/list", {}),
        "info",
    ),
    (
        "client-tool-gave-up",
        "The tool wrote something else meanwhile, such as an answer with another id: `tool-server-silent`",
        silent(seconds=1),
        silent(seconds=1, writes=answers(99)),
    ),
    (
        "tool-reported-error",
        "It does not say what failed, refuses a call that follows the schema which it states, or does not take its own "
        "result: then it is a warning",
        ended(FAILED, "the disk is full"),
        ended({"content": [], "isError": True}, ""),
        "warning",
    ),
    (
        "tool-reported-error",
        "The client had not answered what the server asked it, or in a wrong form: then it is a warning of the client",
        provoked(ended=False),
        provoked(ended=True),
        "warning",
    ),
    (
        "tool-protocol-broken",
        "It does not know `ping`, or has resources and no templates of them: then it is an info",
        asked_for("prompts/list"),
        asked_for("ping"),
        "info",
    ),
    (
        "tool-protocol-broken",
        "A message has a wrong form, and the client took it, as a list whose tools are offered: then it is an info",
        loosely_listed(offered=False),
        loosely_listed(offered=True),
        "info",
    ),
    (
        "tool-protocol-broken",
        "A notification or a schema has a wrong form: then it is an info",
        asked_for("prompts/list"),
        notified("notifications/message", "server", level="warn", data="slow"),
        "info",
    ),
    (
        "tool-protocol-broken",
        "It refuses a notification, or to let a client listen: then it is an info",
        listed(ADD, {**ADD, "description": "Multiply."}),
        over_http(http(notifies("notifications/initialized"), fails(None), status=400)),
        "info",
    ),
    (
        "client-tool-protocol-broken",
        "A notification has a wrong form: then it is an info",
        unread(),
        notified("notifications/cancelled", "client", requestId=None),
        "info",
    ),
    (
        "client-tool-protocol-broken",
        "It asks for what the server has not declared, or cancels its own `initialize`: then it is an info",
        unread(),
        asked_for("prompts/list", declared=False),
        "info",
    ),
    (
        "tool-definition-rejected",
        "The client offers another schema than the server states: then it is the client's",
        rejected(BROKEN, BROKEN),
        rejected(ADD, BROKEN),
    ),
    (
        "tool-result-unreadable",
        "The tool returned it in another form, and the client changed it",
        ended(text(ENCODED), ENCODED),
        ended({"content": [{**IMAGE, "data": ENCODED}]}, ENCODED),
    ),
    (
        "tool-result-unreadable",
        "The tool returned it in another form, and the client changed it",
        ended(text(ENCODED), ENCODED),
        ended({"content": [{"type": "resource", "resource": {"uri": "file:///a.png", "blob": ENCODED}}]}, ENCODED),
    ),
    (
        "client-tool-gave-up",
        "The tool was silent for five seconds, and did not answer later either: then `tool-server-silent` says so",
        gave_up(),
        gave_up(waits=6),
    ),
    ("tool-server-silent", "The server ended: `tool-server-died`", silent(), ended(None, "it broke")),
    (
        "tool-server-silent",
        "The tool reported progress: then `client-tool-gave-up` says so",
        gave_up(waits=6, reports=0),
        gave_up(waits=6, reports=2),
    ),
    (
        "tool-server-silent",
        "The client gave the call an id by which no answer can be matched: `client-tool-protocol-broken`",
        silent(),
        silent(12),
    ),
    (
        "client-tool-input-unanswered",
        "The client refuses it with an error: then it is an info, if it had not declared that it can answer",
        input_asked(UNKNOWN, elicitation={}),
        input_asked(fails(1, "the user has no time", -1), elicitation={}),
        "info",
    ),
    (
        "client-tool-input-unanswered",
        "The request has a wrong form, or the client had not declared that it can answer: then `tool-protocol-broken` "
        "says so",
        input_asked(UNKNOWN, elicitation={}),
        input_asked(UNKNOWN),
    ),
    (
        "client-tool-protocol-broken",
        "A request has a wrong form, and the server took it: then it is an info",
        called_with(None, fails(9, "params must be an object", -32602)),
        called_with(None, answers(9, content=[{"type": "text", "text": "1"}])),
        "info",
    ),
    (
        "client-tool-arguments-changed",
        "The client itself had added the argument to the definition: then it is an info",
        explained(ADD),
        explained(WITH_WHY),
        "info",
    ),
    (
        "tool-invalid-result",
        "The tool reports an error",
        marked(text("1"), "1", **SUM),
        marked(FAILED, "the disk is full", is_error=True, **SUM),
    ),
    (
        "tool-definition-changed",
        "The server announced that its tools change: then it is an info",
        listed(OTHER),
        listed(OTHER, announced=True),
        "info",
    ),
    (
        "tool-definition-changed",
        "Only the description changed: then it is an info",
        listed(OTHER),
        listed({**ADD, "description": "Sum."}),
        "info",
    ),
    (
        "tool-definition-changed",
        "Tools were only added",
        listed(OTHER),
        listed(ADD, {**ADD, "name": "more"}),
    ),
    (
        "tool-definition-changed",
        "A tool was removed: then it is an info, and nothing when the server announced it",
        listed(OTHER),
        listed({**ADD, "name": "more"}),
        "info",
    ),
    ("tool-garbage-on-stdout", "Empty lines", lines(b"ready"), lines(b"", b"  ")),
    (
        "client-tool-definition-differs",
        "The description was cut, or got words of the client: then it is an info",
        offers(description="Subtract two numbers."),
        offers(description="Add two numbers. Use it with care."),
        "info",
    ),
    (
        "client-tool-definition-differs",
        "Only keywords of the schema, optional arguments or related types differ: then it is an info",
        offers(**properties(a={"type": "boolean"}, b={"type": "number"})),
        offers(**properties(a={"type": "integer"}, b={"type": "number"})),
        "info",
    ),
    (
        "client-tool-definition-differs",
        "Arguments were only added: then it is an info",
        offers(**properties(a={"type": "number"})),
        offers(**properties(a={"type": "number"}, b={"type": "number"}, c={"type": "number"})),
        "info",
    ),
    (
        "client-tool-definition-differs",
        "A prompt describes the tools of a server, or the client calls them without offering them",
        Story().start().turn(tools=[]).trips,
        Story().start().turn(tools=[]).call("add", {"a": 1}, text("1")).trips,
    ),
    (
        "client-tool-definition-differs",
        "Tools are not offered, which may be meant, as for a plan or by a list of allowed tools: then it is an info",
        Story([ADD]).start().turn(tools=offered({**ADD, "description": "Remove all."}, name="{}")).trips,
        Story([ADD]).start().turn(tools=[]).trips,
        "info",
    ),
]

FIRES: dict[str, Trips] = {
    "client-tool-result-as-file": ended(text(LONG), "Result too large. Saved to /home/me/.x/results/a.txt"),
    "client-tool-text-lost": ended(BOTH, '{"degrees":21,"sky":"blue"}'),
    "client-tool-results-swapped": two("you said x", "the sum is 1"),
    "tool-reported-error": ended(FAILED, "the disk is full"),
    "tool-server-died": ended(None, "Connection closed"),
    "tool-invalid-result": marked(text("1"), "1", **SUM),
    "client-tool-not-on-server": not_listed("mul"),
}
"""Rules without exceptions."""
