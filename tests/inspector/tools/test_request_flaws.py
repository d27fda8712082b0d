"""How a request of a client is wrong, by what is known of its session when it comes, and when its answer does."""

from typing import Any

import pytest
from tool_stories import ADD, KEY
from tool_wire import answers, asks, fails, initialize

from turntape.inspector.tools.definitions import Definition
from turntape.inspector.tools.request_flaws import rejudged, seen_late, unfounded, wrong_in
from turntape.inspector.tools.session_state import Session, WireNote
from turntape.inspector.tools.tool_messages import ToolMessage
from turntape.inspector.tools.tool_run import Departure, Outcome, ToolRun

MODERN = "2026-07-28"
SAID = {f"{KEY}protocolVersion": MODERN, f"{KEY}clientCapabilities": {}}
CITY = {"name": "weather", "arguments": [{"name": "city", "required": True}]}
GET = asks(5, "prompts/get", name="weather", arguments={})
LACKING = "has no argument 'city', which the server requires"
AGAIN = "has the id 5 of an earlier request of the session, which MCP forbids"


def message(
    data: dict[str, Any], at: float = 3.0, index: int = 4, sequence: int = 9, sender: Any = "client", **more: Any
) -> ToolMessage:
    return ToolMessage("s", "files", sender, at, data, b"", index, sequence, **more)


def session(**known: Any) -> Session:
    one = Session("files", **{"starts": 1, "ready_at": 2.0, "version": "2025-11-25", "offers": {}, **known})
    one.prompts.listed({"prompts": [CITY]})
    return one


def tool(tasks: str) -> Definition:
    return Definition.read({**ADD, "execution": {"taskSupport": tasks}}, "files", 1)


def call(**params: Any) -> ToolMessage:
    return message(asks(5, "tools/call", name="add", arguments={}, **params))


TASK = {"task": {"ttl": 1}}
NOT_DECLARED = "runs 'add' as a task, and its server has not declared `tasks`"
NOT_OFFERED = "runs 'add' as a task, which its server does not offer"
DECLARED = {"offers": {"tasks": {}}}


@pytest.mark.parametrize(
    ("known", "asked", "tasks", "wrong"),
    [
        ({}, call(), "required", "does not run 'add' as a task, as its server demands"),
        (DECLARED, call(**TASK), "required", None),
        ({}, call(), "optional", None),
        ({}, call(**TASK), "optional", NOT_DECLARED),
        ({"offers": None}, call(**TASK), "optional", None),
        (DECLARED, call(**TASK), "optional", None),
        (DECLARED, call(**TASK), "forbidden", NOT_OFFERED),
        (DECLARED, call(), "forbidden", None),
        ({"version": MODERN}, call(**TASK, _meta=SAID), "forbidden", None),
        ({"version": MODERN}, call(**TASK, _meta=SAID), "optional", None),
        ({}, call(**TASK), None, None),
        (DECLARED, message(asks(5, "prompts/get", name="add", **TASK)), "forbidden", None),
    ],
)
def test_a_call_that_is_a_task_or_not_as_its_server_says(
    known: dict[str, Any], asked: ToolMessage, tasks: str | None, wrong: str | None
) -> None:
    assert wrong_in(session(**known), asked, tool(tasks) if tasks else None) == wrong


@pytest.mark.parametrize(
    ("known", "asked", "wrong"),
    [
        ({}, message(asks(5, "tools/list")), None),
        ({}, message(asks(5, "tools/call", arguments={})), "has no `name`"),
        ({"supported": ("2025-11-25",)}, call(_meta=SAID), f"says version '{MODERN}', and its server has only 2025"),
        ({"used": {"5": 2.9}}, call(), AGAIN),
        ({"used": {"5": 3.0}}, call(), None),
        ({"used": {"5": 2.9}, "starts": 2}, call(), None),
        ({"used": {'"5"': 2.9}}, call(), None),
        ({}, message(GET), LACKING),
        ({"starts": 2}, message(GET), None),
        ({"version": MODERN}, message(asks(5, "prompts/get", name="weather", _meta=SAID)), None),
        ({}, message({**GET, "method": "prompts/list"}), None),
        # A state that the server itself gave in another form than MCP's.
        ({"version": MODERN, "states": {"7": "add"}}, call(requestState=7, _meta=SAID), None),
        ({"version": MODERN, "states": {"8": "add"}}, call(requestState=7, _meta=SAID), "has 7 as"),
    ],
)  # fmt: skip
def test_a_request_that_breaks_a_rule_when_it_comes(
    known: dict[str, Any], asked: ToolMessage, wrong: str | None
) -> None:
    found = wrong_in(session(**known), asked, None)

    assert (found or "")[: len(wrong or "")] == (wrong or "") and (found is None) == (wrong is None)


@pytest.mark.parametrize(
    ("known", "data", "wrong"),
    [
        ({}, asks(5, "tools/list"), None),
        ({}, asks(True, "tools/list"), "has true as its id, which must be a text or an integer"),
        ({"used": {"5": 2.9}}, asks(5, "tools/list"), AGAIN),
        ({}, initialize(5), "comes after the handshake of the session"),
        ({"starts": 2, "issued": True}, initialize(5), None),
        ({"starts": 2}, initialize(5), "comes after the handshake of the session"),
        ({"issued": True}, initialize(5), "comes after the handshake of the session"),
    ],
)
def test_a_request_that_was_recorded_before_what_came_before_it(
    known: dict[str, Any], data: dict[str, Any], wrong: str | None
) -> None:
    asked = message(data)

    assert seen_late(session(**known), asked, message(answers(5), index=5)) == wrong
    assert seen_late(session(**known), asked, message(answers(5), index=4)) is None, "judged when it came"


@pytest.mark.parametrize(
    ("known", "data", "failed", "wrong"),
    [
        ({}, asks(5, "logging/setLevel", level="info"), False, "asks for what the server has not declared"),
        ({}, asks(5, "logging/setLevel", level="info"), True, None),
        ({"offers": {"logging": {}}}, asks(5, "logging/setLevel", level="info"), False, None),
        ({"starts": 2}, asks(5, "logging/setLevel", level="info"), False, None),
        ({"version": MODERN}, asks(5, "logging/setLevel", level="info"), False, None),
        ({}, GET, True, LACKING),
        ({}, GET, False, LACKING),
        ({"starts": 2}, GET, True, None),
        ({"version": MODERN}, GET, True, None),
    ],
)
def test_a_request_that_relies_on_what_the_server_did_not_say(
    known: dict[str, Any], data: dict[str, Any], failed: bool, wrong: str | None
) -> None:
    answer = message(fails(5) if failed else answers(5))

    assert unfounded(session(**known), message(data), answer) == wrong


BATCHED = "comes in a batch, which version 2025-11-25 does not have"


def open_call(outcome: Outcome = "unanswered", **known: Any) -> Session:
    """A call in a batch that waits for its answer when the version becomes known."""
    asked = message(asks(5, "tools/call", name="add", arguments={}), batched=True)
    run = ToolRun(index=4, session="s", server="files", name="add", arguments={}, started_at=3.0, outcome=outcome)
    return session(**{"asked": {9: asked}, "runs": {9: run}, **known})


def test_a_request_is_judged_again_when_the_version_is_known() -> None:
    one, notes = open_call(), list[WireNote]()
    [run] = rejudged(one, message(answers(0), index=1), notes)

    assert run.departed == Departure(f"sent a request that {BATCHED}", 4)
    assert one.flaws == {9: BATCHED} and one.runs == {9: run} and notes == []
    assert list(rejudged(one, message(answers(0), index=1), notes)) == [], "once"


def test_a_call_that_had_failed_by_then_is_reported() -> None:
    one, notes = open_call("failed"), list[WireNote]()
    assert len(list(rejudged(one, message(answers(0), index=1), notes))) == 1

    assert notes == [WireNote("request_wrong", "files", 4, "tools/call", BATCHED)]
    again, more = open_call("failed", noted={"request_wrong"}), list[WireNote]()
    assert len(list(rejudged(again, message(answers(0), index=1), more))) == 1 and more == []


def test_what_is_not_judged_again() -> None:
    start = message(answers(0), index=1)
    of_server = message(asks(5, "tools/call", name="add"), batched=True, sender="server")
    for one in (
        open_call(asked={9: of_server}),
        open_call(flaws={9: "is wrong"}),
        open_call(version="2025-03-26"),
    ):
        assert list(rejudged(one, start, [])) == [] and one.flaws.get(9) in (None, "is wrong")
    same = open_call()
    assert list(rejudged(same, message(answers(0), index=4), [])) == [] and same.flaws == {}, "its own round trip"


def test_one_request_that_is_right_does_not_hide_the_next() -> None:
    fine, server = message(asks(4, "ping"), sequence=7), message(asks(3, "ping"), sender="server")
    one = open_call()
    one.asked = {6: server, 7: fine, 8: message(asks(6, "ping"), batched=True), **one.asked}

    assert [run.index for run in rejudged(one, message(answers(0), index=1), [])] == [4]
    assert one.flaws == {8: BATCHED, 9: BATCHED}


def test_a_run_that_departed_before_keeps_that() -> None:
    one, notes = open_call(), list[WireNote]()
    one.runs[9] = run = ToolRun(
        index=4, session="s", server="files", name="add", arguments={}, started_at=3.0, departed=Departure("left", 2)
    )

    assert list(rejudged(one, message(answers(0), index=1), notes)) == [] and one.runs == {9: run}
