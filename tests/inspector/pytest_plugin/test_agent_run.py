"""What tests can ask of a run."""

from dataclasses import replace
from decimal import Decimal

import orjson
import tool_tapes
from conversations import HELLO, chat, result, said, user
from factories import round_trip
from round_trips import MESSAGES, exchanged

from turntape.cassettes import RoundTrip
from turntape.inspector.pytest_plugin.agent_run import AgentRun, Sent, actions


def test_findings_are_selected_by_id_also_by_a_former_one() -> None:
    run = AgentRun.of([chat([HELLO], status=400, error={"error": {"message": "No such word."}})])

    for name in ("request-rejected", "api-invalid-request"):
        assert [found.id for found in run.findings(id=name)] == ["request-rejected"]
    assert run.findings(id="access-refused") == []
    assert run.findings(id="request-rejected", layer="model") == []


def test_tool_runs_are_plain_tuples_in_the_order_of_the_calls() -> None:
    run = AgentRun.of(tool_tapes.story().trips)

    assert run.tool_runs == [
        ("files", "read", {"path": "notes.txt"}, False, "cut"),
        ("files", "search", {"q": "tape"}, False, "structured"),
        ("files", "write", {"path": "out.txt"}, True, "equal"),
        ("files", "stop", {"why": "nobody asked"}, False, None),
    ]
    assert len(run.turns) == 3


def test_a_finding_about_a_message_of_a_tool_server_is_found() -> None:
    run = AgentRun.of(tool_tapes.story().trips)

    [found] = run.findings(id="client-tool-call-unasked")
    assert (found.turn, found.layer) == (0, "client")
    assert [one.turn for one in run.findings(layer="tool")] == [2]


def test_what_the_client_sent_is_asserted_in_plain_values() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    history: list[dict[str, object]] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Find Acme."}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "3 people"},
    ]
    trip = chat(history)
    body = orjson.loads(trip.request.body) | {"temperature": 0.5, "tools": [{**call, "function": {"name": "find"}}]}
    request = replace(trip.request, content=orjson.dumps(body), headers=(("X-Team", "sales"),))
    [turn] = AgentRun.of([replace(trip, request=request)]).turns

    assert turn.request.system == "Be brief."
    assert turn.request.messages == [("user", "Find Acme."), ("assistant", ""), ("tool", "3 people")]
    assert turn.request.tool_results == [("find", "3 people")]
    assert turn.request.tools == ["find"]
    assert turn.request.headers["x-team"] == "sales"
    assert turn.request.settings["temperature"] == 0.5
    assert turn.request.body["messages"] == history


def two_threads() -> list[RoundTrip]:
    """A loop with a tool call, and between its turns one of another agent."""
    call, asked = said("I look.", ("c1", "look_up", '{"word":"a"}')), [user("Look it up.")]
    aside = [{"role": "system", "content": "You name things."}, user("Name this.")]
    return [
        chat(asked, call, at=0, index=0),
        chat(aside, said("A name"), at=1, index=1, tools=None, model="gpt-5-mini"),
        chat([*asked, call, result("c1", "a letter")], said("It is a letter."), at=2, index=2),
        chat([*aside, said("A name"), user("Another.")], said("Other"), at=3, index=3, tools=None, model="gpt-5-mini"),
    ]


def test_a_run_is_its_turns_its_calls_and_the_last_text_of_its_first_thread() -> None:
    run = AgentRun.of(iter(two_threads()))

    assert [(turn.thread, turn.number, turn.text) for turn in run.turns] == [
        ("t1", 1, "I look."),
        ("t2", 1, "A name"),
        ("t1", 2, "It is a letter."),
        ("t2", 2, "Other"),
    ]
    assert run.tool_calls == [("look_up", {"word": "a"})] == list(run.turns[0].tool_calls)
    assert run.text == "It is a letter."
    assert [turn.outcome for turn in run.turns] == ["dispatched", "ended", "ended", "ended"]
    assert [turn.finish for turn in run.turns] == ["tool_calls", "complete", "complete", "complete"]
    assert run.turns[1].model == "gpt-5-mini-2025-08-07"
    assert run.turns[0].usage is not None and run.turns[0].usage.output == 10
    assert run.cost == sum((turn.cost or 0 for turn in run.turns), Decimal(0)) > 0
    assert run.findings() == []
    assert "look_up" in run.trajectory() and "It is a letter." in run.trajectory()


def test_a_run_without_turns() -> None:
    run = AgentRun.of([])

    assert (run.turns, run.tool_calls, run.tool_runs, run.text, run.cost, run.findings()) == ([], [], [], "", None, [])


def test_a_run_that_continues_has_its_new_turns() -> None:
    trips: list[RoundTrip] = []
    run = AgentRun(lambda: trips)

    texts: list[str] = []
    for trip in two_threads()[::2]:
        trips.append(trip)
        texts.append(run.text)
    assert texts == ["I look.", "It is a letter."]


def test_a_turn_without_an_answer_has_no_text_and_calls_that_cannot_be_parsed_are_texts() -> None:
    torn = chat([HELLO], said(None, ("c1", "look_up", '{"word":')), finish="length")
    refused = chat([HELLO], status=500, error={"error": {"message": "No."}}, at=1, index=1, model="unheard-of")
    lost = replace(refused, response=None, index=2)

    first, *rest = AgentRun.of([torn, refused, lost]).turns

    assert first.tool_calls == (("look_up", '{"word":'),)
    for turn in rest:
        assert (turn.text, turn.tool_calls, turn.usage, turn.cost) == ("", (), None, None)
        assert turn.model == "unheard-of"


def test_findings_are_selected_by_all_that_is_given_and_know_their_turn() -> None:
    call = said(None, ("c1", "look_up", '{"wort":"a"}'), ("c2", "no_such_tool", "{}"))
    answered = [HELLO, call, result("c1", "?"), result("c2", "?")]
    run = AgentRun.of([chat([HELLO], call, at=0), chat(answered, said("Done"), at=1, index=1)])
    every = run.findings()

    assert {found.turn for found in every} == {1} and len({found.id for found in every}) > 1
    for name in ("layer", "severity", "id"):
        for value in {getattr(found, name) for found in every}:
            assert run.findings(**{name: value}) == [found for found in every if getattr(found, name) == value]
    one = every[0]
    assert run.findings(layer=one.layer, severity=one.severity, id=one.id) == [one]
    assert run.findings(layer=one.layer, severity="no such") == run.findings(layer="no such", id=one.id) == []
    assert repr(one) == f"<turn 1, {one.layer}, {one.severity}, {one.id}: {one.message}>"


def test_a_request_in_the_form_of_another_api_is_asserted_in_the_same_values() -> None:
    sent = {
        "model": "claude-sonnet-4-5",
        "max_tokens": 9,
        "system": [{"type": "text", "text": "Be brief."}, {"type": "text", "text": ""}],
        "messages": [
            {"role": "user", "content": "Find."},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "find", "input": {}}]},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "3 people"},
                    {"type": "tool_result", "tool_use_id": "c9", "content": "lost"},
                    {"type": "text", "text": "More."},
                ],
            },
        ],
    }
    [turn] = AgentRun.of([exchanged(MESSAGES, sent, {})]).turns

    assert turn.request.system == "Be brief."
    assert turn.request.messages == [("user", "Find."), ("assistant", ""), ("user", "3 people\nlost\nMore.")]
    assert turn.request.tool_results == [("find", "3 people"), ("", "lost")]
    assert turn.request.url == MESSAGES
    assert turn.request.reading.max_output == 9


def test_a_body_that_is_not_json_is_none() -> None:
    trip = chat([HELLO], said("Hi"))
    broken = Sent(replace(trip.request, content=b"{"), AgentRun.of([trip]).turns[0].request.reading)

    assert broken.body is None


def test_each_round_trip_of_a_cassette_is_a_few_words() -> None:
    other = round_trip(b"", url="https://api.example/health")
    long = chat([HELLO], said("word " * 20), at=9)
    silent = chat([HELLO], status=500, error={"error": {"message": "No."}}, at=10)

    first, *rest, health, spoken, failed = actions([*two_threads(), other, long, silent])
    assert first == "→ look_up"
    assert rest == ["A name", "It is a letter.", "Other"]
    assert health == f"{other.request.method} https://api.example/health"
    assert len(spoken) == 40 and spoken.endswith("…") and spoken.startswith("word word")
    assert failed == "error"
