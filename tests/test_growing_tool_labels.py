"""The labels of tool runs while a recording grows: what changes when, and what is let go."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from conversations import START, chat, said, user
from tool_stories import ADD, SAY, Story, offered, text
from tool_wire import STREAM, answers, asks, confirmed, events, http, initialize, initialized, notifies

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run import tool_labels
from turntape.inspector.run.labels import Labeller

END = -1
RAN, CHANGED = ("add", "answered", None), ("add", "answered", "changed")


@dataclass(frozen=True)
class Change:
    """A row that is new or has changed."""

    at: int
    """The round trip that came; `END` when the recording ended."""
    row: int
    runs: list[Any]
    """Of each run: its tool, how it ended and what the model saw."""
    found: list[Any]
    """The ids of its findings."""


def changes(trips: Sequence[RoundTrip]) -> list[Change]:
    labeller, found = Labeller(), list[Change]()

    def note(at: int, rows: Sequence[tuple[int, Any]]) -> None:
        for row, label in rows:
            runs = [(run["name"], run["outcome"], run["seen_as"]) for run in label.get("tool_runs", ())]
            found.append(Change(at, row, runs, [one["id"] for one in label["findings"]]))

    for trip in trips:
        note(trip.index, labeller.add(trip))
    note(END, labeller.close())
    assert labeller.problems == ()
    return found


def numbered(trips: Sequence[RoundTrip]) -> list[RoundTrip]:
    return [replace(trip, index=place) for place, trip in enumerate(trips)]


def of_row(row: int, trips: Sequence[RoundTrip]) -> list[tuple[int, list[Any], list[Any]]]:
    """What is new in a row, without repetitions: when, its runs and its findings."""
    seen: list[tuple[int, list[Any], list[Any]]] = []
    for one in changes(trips):
        if one.row == row and (not seen or seen[-1][1:] != (one.runs, one.found)):
            seen.append((one.at, one.runs, one.found))
    return seen


def changed() -> Story:
    """A result that the model sees changed: the server starts, a turn, its run, the next turn."""
    made = Story().start().turn(("c1", "add", '{"a":1}')).call("add", {"a": 1}, text("one two three four"))
    return made.results(("c1", "five six")).turn()


def test_what_the_model_was_shown_is_judged_when_the_next_request_comes() -> None:
    assert of_row(2, confirmed(changed().trips)) == [
        (2, [], []),
        (3, [RAN], []),
        (4, [CHANGED], ["client-tool-result-changed"]),
    ]


def test_a_run_that_is_recorded_after_the_next_request_is_judged_at_once() -> None:
    trips = confirmed(changed().trips)
    trips[3], trips[4] = trips[4], trips[3]

    assert of_row(2, numbered(trips)) == [(2, [], []), (4, [CHANGED], ["client-tool-result-changed"])]
    assert of_row(4, numbered(trips)) == [(4, [], [])], "it is shown with the turn alone"


def asked_for_input() -> list[RoundTrip]:
    """A call that the server answers with a question, which the client does not answer."""
    made = Story().modern().turn(("c1", "add", '{"a":1}'))
    schema = {"type": "object", "properties": {"b": {"type": "number"}}}
    question = {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": "And?", "requestedSchema": schema},
    }
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    }
    made.exchange(
        asks(12, "tools/call", name="add", arguments={"a": 1}, _meta=meta),
        answers(12, resultType="input_required", inputRequests={"q": question}, requestState="s"),
    )
    return made.results(("c1", "Error: it wants to know more")).turn().trips


def test_a_question_may_be_answered_until_the_next_request() -> None:
    trips = asked_for_input()
    late, early = numbered([*trips[:3], trips[4], trips[3]]), numbered([*trips[:2], trips[3], trips[2], trips[4]])
    found = ["client-tool-input-unanswered"]

    assert [(at, [one for one in ids if one in found]) for at, _, ids in of_row(2, trips)] == [
        (2, []),
        (3, []),
        (4, found),
    ]
    assert of_row(2, late)[-1][0] == 4 and found[0] in of_row(2, late)[-1][2]
    assert [(at, found[0] in ids) for at, _, ids in of_row(3, early)] == [(3, False), (4, True)]


@pytest.mark.parametrize("text_of_turn", [None, "I look."])
def test_a_server_that_starts_in_a_turn_gets_the_calls_of_that_turn(text_of_turn: str | None) -> None:
    made = Story().turn(("c1", "add", '{"a":1}'), text=text_of_turn).start()
    made.call("add", {"a": 1}, text("one two three four")).results(("c1", "five six")).turn()

    assert of_row(0, confirmed(made.trips)) == [
        (0, [], []),
        (3, [RAN], []),
        (4, [CHANGED], ["client-tool-result-changed"]),
    ]


def test_a_run_without_a_call_is_judged_at_the_end_beside_what_was_found_before() -> None:
    made = Story().start().turn().call("add", {"a": 1}, "it broke").turn()
    made.exchange(
        {**asks(90, "tools/call", name="add", arguments={"a": 2}), "jsonrpc": "1.0"}, answers(90, **text("2"))
    )
    trips = confirmed(made.trips)

    assert of_row(3, trips) == [
        (3, [("add", "failed", None)], []),
        (END, [("add", "failed", None)], ["tool-server-error", "client-tool-call-unasked"]),
    ]
    first, last = (found for _, _, found in of_row(5, trips))
    assert first and last == [*first, "client-tool-call-unasked"]


def over_old_stream(*calls: tuple[str, object]) -> list[RoundTrip]:
    """Calls over the transport of 2024-11-05: `(tool, arguments)`. The stream with all answers is recorded last."""
    sent = [initialize(0), asks(1, "tools/list")]
    got = [initialized(0), answers(1, tools=[ADD, SAY])]
    for place, (tool, arguments) in enumerate(calls, 2):
        sent.append(asks(place, "tools/call", name=tool, arguments=arguments))
        got.append(answers(place, **text(f"It is {place}.")))
    posts = [
        http(
            one, b"", url="http://127.0.0.1:9000/messages?session_id=s1", status=202, headers=(), at=START + place / 10
        )
        for place, one in enumerate(sent)
    ]
    body = b"event: endpoint\r\ndata: /messages?session_id=s1\r\n\r\n" + events(*got)
    stream = http(
        None, body, url="http://127.0.0.1:9000/sse", method="GET", kind=STREAM, headers=(), at=START - 0.1,
        ended_at=9_000_000,
    )  # fmt: skip
    return numbered([*posts, stream])


def test_an_answer_that_is_recorded_later_is_shown_with_its_call() -> None:
    trips = over_old_stream(("add", {"a": 1}), ("say", {"text": "x"}))

    assert [(at, runs) for at, runs, _ in of_row(2, trips)] == [
        (2, [("add", "unanswered", None)]),
        (4, [("add", "answered", None)]),
    ]
    assert [runs for _, runs, _ in of_row(3, trips)] == [[("say", "unanswered", None)], [("say", "answered", None)]]
    assert [runs for _, runs, _ in of_row(4, trips)] == [[]]


def test_of_two_calls_in_one_message_the_one_that_a_turn_has_leaves_the_row() -> None:
    both = [asks(n, "tools/call", name=name, arguments={"a": 1}) for n, name in ((7, "add"), (8, "say"))]
    gave = [answers(7, **text("one")), answers(8, **text("two"))]
    version, first = "2025-03-26", initialized(0)  # the one version that has such messages
    result = {**first["result"], "protocolVersion": version}
    batch = http(both, gave, headers=(), at=START + 0.5)
    started = [
        http(initialize(0, version), {**first, "result": result}, headers=(), at=START),
        http(asks(1, "tools/list"), answers(1, tools=[ADD, SAY]), headers=(), at=START + 0.1),
    ]
    # The turn began before its call and ended after it.
    turn = chat([user("Go.")], said(None, ("c1", "mcp__files__add", '{"a":1}')), tools=offered(ADD, SAY), at=0.2)
    trips = numbered([*started, batch, turn])

    say = ("say", "answered", None)
    assert of_row(2, trips) == [(2, [RAN, say], []), (3, [say], []), (END, [say], ["client-tool-call-unasked"])]
    assert of_row(3, trips)[0][1] == [RAN]


def repeated(turns: int, later: int, **call: Any) -> Story:
    """A long run whose first call is executed again, known by its id, when `later` more turns have been followed."""
    made = Story().start()
    for n in range(turns):
        made.turn((f"c{n}", "add", f'{{"a":{n}}}')).call("add", {"a": n}, text(f"It is {n}."))
        made.results((f"c{n}", f"It is {n}."))
        if n == later:
            made.turn(text="Wait.").call("add", {"a": 0}, text("It is 0."), id="c0")
    return made


@pytest.mark.parametrize(("later", "shown"), [(0, 2), (3, 2), (4, 1)])
def test_a_turn_whose_calls_all_ran_may_get_another_run_for_four_turns(later: int, shown: int) -> None:
    trips = confirmed(repeated(8, later).trips)

    assert len(of_row(2, trips)[-1][1]) == shown


def missing(turns: int) -> list[RoundTrip]:
    """A long run of calls that never reach the server."""
    made = Story().start()
    for n in range(turns):
        made.turn((f"c{n}", "add", f'{{"a":{n}}}')).results((f"c{n}", f"It is {n}."))
    return confirmed(made.turn().trips)


def test_turns_wait_for_their_runs_for_sixteen_turns_and_are_judged_then() -> None:
    found = {one.row: one.at for one in reversed(changes(missing(18))) if "client-tool-result-forged" in one.found}

    assert found == {2: 19, 3: 20, **dict.fromkeys(range(4, 20), END)}


def test_a_call_without_a_server_does_not_make_a_turn_wait() -> None:
    made = Story().start()
    for n in range(6):
        made.turn((f"c{n}", "add", f'{{"a":{n}}}'), (f"o{n}", "other", "{}")).call("add", {"a": n}, text(f"It is {n}."))
        made.results((f"c{n}", f"It is {n}."), (f"o{n}", "Fine."))
    labeller = Labeller()
    for trip in made.turn().trips:
        labeller.add(trip)

    assert [row for row, label in labeller.close() if label["turn"] is not None] == [6, 8, 10, 12]


def test_a_tool_that_the_server_does_not_list_is_found_in_a_long_run_too() -> None:
    made = Story().start()
    made.tools = [*made.tools, {**ADD, "name": "hidden"}]
    for n in range(8):
        tool = "add" if n else "hidden"
        made.turn((f"c{n}", tool, f'{{"a":{n}}}')).call(tool, {"a": n}, text(f"It is {n}."))
        made.results((f"c{n}", f"It is {n}."))

    assert "client-tool-not-on-server" in of_row(2, confirmed(made.turn().trips))[-1][2]


def waiting(turns: int) -> list[RoundTrip]:
    """A run over the old transport: the model sees other results than those that come at the end."""
    wire = over_old_stream(*(("add", {"a": n}) for n in range(turns)))
    made = Story(trips=wire[:2])
    trips = list(wire[:2])
    for n, call in enumerate(wire[2:-1]):
        made.turn((f"c{n}", "add", f'{{"a":{n}}}'), at=call.started_at - START - 0.01).results(
            (f"c{n}", "Other words.")
        )
        trips += [made.trips[-1], call]
    made.turn(at=wire[-2].started_at - START + 0.05)
    return numbered([*trips, made.trips[-1], wire[-1]])


@pytest.mark.parametrize(
    ("name", "most", "judged"), [("_MOST_WAITING", 200, 22), ("_MOST_WAITING", 18, 18), ("_MOST_BYTES", 1, 16)]
)
def test_turns_whose_answers_are_recorded_later_wait_as_long_as_there_is_room(
    monkeypatch: pytest.MonkeyPatch, name: str, most: int, judged: int
) -> None:
    monkeypatch.setattr(tool_labels, name, most)
    found = {one.row for one in changes(waiting(22)) if "client-tool-result-changed" in one.found}

    assert found == set(range(2, 46, 2)[-judged:])


def test_the_size_of_the_requests_counts_for_what_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    trips = waiting(22)
    sizes = [len(trip.request.body) for trip in trips if b"mcp__files__" in trip.request.body][:-1]
    monkeypatch.setattr(tool_labels, "_MOST_BYTES", sum(sizes[-19:]))
    found = {one.row for one in changes(trips) if "client-tool-result-changed" in one.found}

    assert found == set(range(2, 46, 2)[-19:])


def test_a_last_call_with_other_arguments_gets_its_run_at_the_end() -> None:
    trips = confirmed(Story().start().turn(("c1", "add", '{"a":1}')).call("add", {"a": 2}, text("2")).trips)
    ran = ("add", "answered", None)

    assert of_row(3, trips) == [(3, [ran], []), (END, [], [])]
    at, runs, found = of_row(2, trips)[-1]
    assert (at, runs) == (END, [ran]) and "client-tool-arguments-changed" in found


def test_a_tool_that_is_not_offered_is_reported_whatever_else_the_server_does() -> None:
    lost = notifies("notifications/progress", progressToken="nobody", progress=1)
    made = Story().start().exchange(lost, sender="server").turn(tools=offered(ADD, name="own_{}"))
    found = {one.row: one.found for one in changes(confirmed(made.trips))}

    assert found[1] == ["client-tool-definition-differs"] and found[2] == ["tool-protocol-broken"]


def test_a_change_of_tools_that_no_request_offers_is_not_reported() -> None:
    def found(*offers: dict[str, Any]) -> list[Any]:
        made = Story().start().exchange(notifies("notifications/tools/list_changed"), sender="server")
        other = Story([{**SAY, "name": "look"}], "desk", "b", trips=made.trips).start()
        tools = [*offered(other.tools[0], name="mcp__desk__{}"), *offered(*offers)]
        return changes(confirmed(other.turn(tools=tools, at=60).trips))[5].found

    assert found(ADD, SAY) == ["client-tool-protocol-broken"]
    assert found() == []


def test_a_result_that_the_next_request_does_not_have_is_judged_too() -> None:
    made = Story().start().turn(("c1", "add", '{"a":1}')).call("add", {"a": 1}, text("one two three four"))
    made.turn()

    assert [(at, runs) for at, runs, _ in of_row(2, confirmed(made.trips))] == [(2, []), (3, [RAN]), (4, [RAN])]


def test_a_server_alone_on_the_tape_offers_its_tools_to_nobody() -> None:
    trips = numbered([Story().lists().trips[0], *Story().start().trips])

    assert [one.found for one in changes(trips) if "client-tool-definition-differs" in one.found] == []


def test_a_server_that_replaces_its_tools_after_they_were_offered() -> None:
    made = Story().start().turn()
    made.tools = [{**ADD, "name": "move"}]
    trips = confirmed(made.lists().turn(tools=offered(ADD, SAY)).trips)

    assert "client-tool-definition-differs" not in [name for one in changes(trips) for name in one.found]


def test_a_turn_that_waits_does_not_make_those_after_it_wait() -> None:
    made = Story().start().turn(("c0", "add", '{"a":0}'))
    made.exchange(asks(50, "tools/call", name="add", arguments={"a": 0})).results(("c0", "It is 0."))
    for n in range(1, 19):
        made.turn((f"c{n}", "add", f'{{"a":{n}}}')).results((f"c{n}", f"It is {n}."))
    rows = reversed(changes(confirmed(made.turn().trips)))
    found = {one.row: one.at for one in rows if "client-tool-result-forged" in one.found}

    assert found == {2: END, 4: 20, 5: 21, 6: 22, **dict.fromkeys(range(7, 22), END)}


def test_a_definition_that_differs_is_reported_for_the_first_turn_that_offers_it() -> None:
    def rows(*lists: list[dict[str, Any]]) -> list[int]:
        made = Story().start()
        for tools in lists:
            made.turn(tools=[*offered(*tools), *offered({**SAY, "name": "own"}, name="{}_" + str(len(made.trips)))])
            made.messages.append(user("And now?"))
        found = {one.row for one in changes(confirmed(made.trips)) if "client-tool-definition-differs" in one.found}
        return sorted(found)

    other = {**ADD, "inputSchema": {"type": "object", "properties": {}}}
    assert rows([other, SAY], [other, SAY], [ADD, SAY]) == [2]
    assert rows([ADD, SAY], [ADD, SAY]) == []
    assert rows([SAY], [other, SAY]) == [3]


def test_the_last_turn_of_a_thread_stays_while_another_thread_continues() -> None:
    made = Story().start().turn(("c0", "add", '{"a":0}')).call("add", {"a": 0}, text("It is 0."))
    other = Story(trips=made.trips, messages=[user("Something else.")], sequence=made.sequence, id=100)
    for n in range(1, 8):
        other.turn((f"c{n}", "add", f'{{"a":{n}}}')).call("add", {"a": n}, text(f"It is {n}."))
        other.results((f"c{n}", f"It is {n}."))
    trips = confirmed(other.turn().call("add", {"a": 0}, text("It is 0."), id="c0").trips)

    assert [runs for _, runs, _ in of_row(2, trips)][-1] == [RAN, RAN]
