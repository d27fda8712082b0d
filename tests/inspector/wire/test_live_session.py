"""A session of Gemini Live becomes one turn for each answer. Its client's messages are those of google-genai 3.4."""

import json
from dataclasses import replace
from typing import Any

import pytest

from turntape.cassettes.tape.model import Frame, Request, Response, RoundTrip
from turntape.inspector.run.labels import label_all
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.values import Reading, Usage
from turntape.inspector.wire.websocket import is_live, turns_of

DECLARED = {"name": "add", "description": "Add.", "parameters": {"type": "OBJECT"}}
SETUP: dict[str, Any] = {
    "model": "models/gemini-3-live",
    "generationConfig": {"responseModalities": ["TEXT"], "maxOutputTokens": 99},
    "systemInstruction": {"role": "user", "parts": [{"text": "Be brief."}]},
    "tools": [{"functionDeclarations": [DECLARED]}],
}
USAGE = {"promptTokenCount": 20, "responseTokenCount": 6, "totalTokenCount": 26, "cachedContentTokenCount": 8}
URL = "wss://generativelanguage.googleapis.com/ws/google.ai.generativelanguage.v1beta.GenerativeService"

type Sent = tuple[str, dict[str, Any]]


def client(**fields: Any) -> Sent:
    return "client", fields


def server(**fields: Any) -> Sent:
    return "server", fields


def ask(text: str, *, complete: bool = True) -> Sent:
    turns = [{"role": "user", "parts": [{"text": text}]}]
    return client(client_content={"turns": turns, "turnComplete": complete})


def said(*texts: str) -> list[Sent]:
    return [server(serverContent={"modelTurn": {"role": "model", "parts": [{"text": text}]}}) for text in texts]


def sound(text: str) -> list[Sent]:
    """Two pieces of sound, and what they say."""
    blob = {"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": "AAA="}}
    return [
        server(serverContent={"modelTurn": {"parts": [blob]}}),
        server(serverContent={"modelTurn": {"parts": [blob]}, "outputTranscription": {"text": text}}),
    ]


def calls(*names: str) -> Sent:
    return server(toolCall={"functionCalls": [{"id": name, "name": "add", "args": {"a": 1}} for name in names]})


def results(*names: str) -> Sent:
    found = [{"id": name, "name": "add", "response": {"result": 2}} for name in names]
    return client(tool_response={"functionResponses": found})


OPENED = [client(setup=SETUP), server(setupComplete={"sessionId": "s1"})]
DONE = [
    server(serverContent={"generationComplete": True}),
    server(serverContent={"turnComplete": True}, usageMetadata=USAGE),
]
MICROPHONE = client(realtime_input={"audio": {"data": "AAA=", "mime_type": "audio/pcm;rate=16000"}})


def session(*frames: Sent, opened: list[Sent] | None = None) -> RoundTrip:
    """A session whose frames come 10 microseconds apart, the first at 10."""
    sent = tuple(
        Frame("client" if who == "client" else "server", 10 * n, json.dumps(message).encode(), who == "client")
        for n, (who, message) in enumerate([*(OPENED if opened is None else opened), *frames], 1)
    )
    request = Request("GET", f"{URL}.BidiGenerateContent")
    return RoundTrip(request, Response(101), 100.0, frames=sent, closed_first="client")


def readings(*frames: Sent) -> list[Reading]:
    return [read(turn) for turn in turns_of(session(*frames))]


def test_an_answer_is_a_turn_with_the_sessions_setup_and_the_new_contents() -> None:
    (reading,) = readings(ask("you are kind", complete=False), ask("hi"), *said("Hel", "lo"), *DONE)
    request = reading.request

    assert (reading.protocol, reading.provider, request.model) == ("gemini-live", "gemini", "gemini-3-live")
    assert ([part.text for part in request.system], request.max_output) == (["Be brief."], 99)
    assert [tool.name for tool in request.tools] == ["add"]
    assert [(m.role, m.parts[0].text) for m in request.messages] == [("user", "you are kind"), ("user", "hi")]
    assert request.parameters == {"responseModalities": ["TEXT"]}
    assert reading.emission and reading.finish
    assert (reading.emission.text, reading.finish.raw, reading.finish.effective) == ("Hello", None, "complete")
    assert reading.usage == Usage(input=20, cache_read=8, output=6)
    assert (reading.usage_raw, reading.response_id) == (USAGE, "s1/1")


def test_the_results_of_calls_begin_the_next_turn() -> None:
    first, second = readings(ask("hi"), calls("f1", "f2"), results("f1"), results("f2"), *said("It is 4."), *DONE)

    assert first.emission and first.finish and first.finish.effective == "tool_calls"
    assert [(call.id, call.name, call.arguments) for call in first.emission.calls] == [
        ("f1", "add", {"a": 1}),
        ("f2", "add", {"a": 1}),
    ]
    assert second.request.previous_id == first.response_id == "s1/1"
    assert [(r.call_id, r.name, r.text) for r in second.request.results] == [("f1", "add", "2"), ("f2", "add", "2")]
    assert second.emission and second.emission.text == "It is 4."


def test_a_model_may_continue_while_a_tool_runs() -> None:
    """The function is not blocking: the model speaks in the same turn, and again when the result is there."""
    first, second = readings(
        ask("hi"), calls("f1"), *said("I am looking."), *DONE, results("f1"), *said("It is 2."), *DONE
    )

    assert first.emission and first.finish and len(first.emission.calls) == 1
    assert (first.emission.text, first.finish.effective) == ("I am looking.", "tool_calls")
    assert second.emission and second.emission.text == "It is 2." and second.request.results


def test_calls_that_the_server_cancels_need_no_result() -> None:
    cancelled = server(toolCallCancellation={"ids": ["f1"]}, usageMetadata=USAGE)
    (reading,) = readings(ask("hi"), calls("f1"), cancelled)

    assert reading.emission and reading.emission.calls == ()
    assert reading.emission.content[0].text == "[cancelledCall]"
    labels: list[Any] = [done.label for done in label_all([session(ask("hi"), calls("f1"), cancelled)])]
    assert [finding["id"] for label in labels for finding in label["findings"]] == []


def test_speech_is_named_and_read_from_its_transcriptions() -> None:
    heard = [server(serverContent={"inputTranscription": {"text": text}}) for text in ("good ", "day")]
    (first, second) = turns_of(
        session(MICROPHONE, MICROPHONE, heard[0], *sound("Hello"), heard[1], *DONE, MICROPHONE, *sound("Bye"), *DONE)
    )
    reading = read(first)

    assert [(part.kind, part.text) for part in reading.request.messages[0].parts] == [
        ("media", "[audio/pcm;rate=16000]"),
        ("text", "good day"),
    ]
    assert reading.emission and reading.emission.text == "Hello"
    assert [part.kind for part in reading.emission.content] == ["media", "text"]
    assert first.started_at == 100.0 + 60 / 1_000_000  # Nobody asked in words: it begins with the answer.
    assert [part.text for part in read(second).request.messages[0].parts] == ["[audio/pcm;rate=16000]"]
    assert len(first.request.body) < 1000


@pytest.mark.parametrize(
    "sent",
    [
        {"text": "and?"},
        {"activityEnd": {}},
        {"audioStreamEnd": True},
    ],
)
def test_real_time_input_that_ends_asks_for_an_answer(sent: dict[str, Any]) -> None:
    (turn,) = turns_of(session(MICROPHONE, client(realtime_input=sent), *said("Yes."), *DONE))

    assert turn.started_at == 100.0 + 40 / 1_000_000
    texts = [part.text for message in read(turn).request.messages for part in message.parts]
    assert texts == [*([sent["text"]] if "text" in sent else []), "[audio/pcm;rate=16000]"]


def test_an_interrupted_answer_was_cancelled_by_the_user() -> None:
    interrupted = server(serverContent={"interrupted": True})
    first, second = readings(ask("hi"), *said("Hel"), interrupted, *DONE, ask("stop"), *said("Ok."), *DONE)

    assert first.emission and first.finish
    assert (first.emission.text, first.finish.raw, first.finish.label) == ("Hel", "interrupted", "cancelled")
    assert second.emission and second.emission.text == "Ok."


@pytest.mark.parametrize(
    ("reason", "label"), [("MALFORMED_FUNCTION_CALL", "malformed"), ("GENERATED_CONTENT_SAFETY", "content_filter")]
)
def test_the_reason_for_the_end_is_the_finish_word(reason: str, label: str) -> None:
    ended = server(serverContent={"turnComplete": True, "turnCompleteReason": reason})
    (reading,) = readings(ask("hi"), *said("Hel"), ended)

    assert reading.finish and (reading.finish.raw, reading.finish.label) == (reason, label)


def test_an_answer_without_its_end_is_cut() -> None:
    (turn,) = turns_of(session(ask("hi"), *said("Hel")))
    reading = read(turn)

    assert reading.finish and reading.finish.effective == "cut" and turn.closed_first == "client"
    assert reading.emission and reading.emission.text == "Hel"


def test_a_request_that_nothing_answered_is_a_turn_without_an_answer() -> None:
    (turn,) = turns_of(session(ask("hi")))
    assert turn.response is None and turn.closed_first == "client"


def test_counts_that_come_after_the_end_belong_to_the_turn_before() -> None:
    late = server(usageMetadata=USAGE)
    first, _ = readings(ask("hi"), *said("a"), server(serverContent={"turnComplete": True}), late, ask("b"), *said("c"))

    assert first.usage == Usage(input=20, cache_read=8, output=6)


def test_an_update_holds_from_then_on() -> None:
    update = client(context_update={"systemInstruction": {"parts": [{"text": "Be long."}]}, "tools": {"tools": []}})
    first, second = readings(ask("a"), *said("b"), *DONE, update, ask("c"), *said("d"), *DONE)

    assert ([p.text for p in first.request.system], len(first.request.tools)) == (["Be brief."], 1)
    assert ([p.text for p in second.request.system], len(second.request.tools)) == (["Be long."], 0)


def test_a_session_can_continue_another_one() -> None:
    handle = server(sessionResumptionUpdate={"newHandle": "h1", "resumable": True})
    before = session(ask("a"), *said("b"), *DONE, handle)
    setup = {**SETUP, "sessionResumption": {"handle": "h1"}}
    after = session(
        ask("c"), *said("d"), *DONE, opened=[client(setup=setup), server(setupComplete={"sessionId": "s2"})]
    )
    labels = [done.label for done in label_all([before, after])]

    assert [read(turn).continuation for turn in turns_of(before)] == ["h1"]
    assert [read(turn).request.previous_id for turn in turns_of(after)] == ["h1"]
    assert [label["turn"] for label in labels] == [1, 2] and labels[0]["thread"] == labels[1]["thread"]


def test_a_session_without_content_stays_whole() -> None:
    assert turns_of(session()) == [] and is_live(session())


def test_the_turns_of_a_session_are_one_thread_and_its_call_is_answered() -> None:
    done = label_all([session(ask("hi"), calls("f1"), results("f1"), *said("It is 2."), *DONE)])
    labels: list[Any] = [one.label for one in done]

    assert [label["turn"] for label in labels] == [1, 2] and labels[0]["thread"] == labels[1]["thread"]
    assert (labels[0]["client"]["outcome"], labels[1]["client"]["outcome"]) == ("dispatched", "ended")
    assert [f["id"] for label in labels for f in label["findings"] if f["severity"] != "info"] == []


@pytest.mark.parametrize(("name", "found"), [("", True), ("add", False)])
def test_a_result_with_an_empty_name_is_found(name: str, found: bool) -> None:
    given = client(tool_response={"functionResponses": [{"id": "f1", "name": name, "response": {"result": 2}}]})
    labelled = label_all([session(ask("hi"), calls("f1"), given, *said("It is 2."), *DONE)])
    ids: set[Any] = {one["id"] for done in labelled for one in list[Any](done.label["findings"])}  # pyright: ignore[reportArgumentType]

    assert ("client-result-wrong-name" in ids) is found


@pytest.mark.parametrize(("total", "found"), [(26, False), (99, True)])
def test_a_total_that_is_not_the_sum_is_found(total: int, found: bool) -> None:
    counts = {**USAGE, "totalTokenCount": total}
    done = [DONE[0], server(serverContent={"turnComplete": True}, usageMetadata=counts)]
    labelled = label_all([session(ask("hi"), *said("Hello."), *done)])
    ids: set[Any] = {one["id"] for done in labelled for one in list[Any](done.label["findings"])}  # pyright: ignore[reportArgumentType]

    assert ("api-usage-inconsistent" in ids) is found


ASKED_AGAIN = [ask("hi"), *said("Hello."), *DONE, ask("And 1 and 1?")]


def complete(**more: Any) -> Sent:
    return server(serverContent={"turnComplete": True, **more}, usageMetadata=USAGE)


def test_an_answer_without_a_word_is_a_turn() -> None:
    only, after = session(ask("hi"), complete()), session(*ASKED_AGAIN, complete())
    given = session(ask("hi"), calls("f1"), results("f1"), complete())

    assert [len(turns_of(one)) for one in (only, after, given)] == [1, 2, 2]
    assert [found(one, "model-empty-response") for one in (only, after, given)] == [True, True, True]


def test_an_answer_that_was_refused_before_its_first_word_is_a_turn() -> None:
    (_, refused) = turns_of(session(*ASKED_AGAIN, complete(turnCompleteReason="MALFORMED_FUNCTION_CALL")))
    reading = read(refused)

    assert [message.parts[0].text for message in reading.request.messages] == ["And 1 and 1?"]
    assert reading.finish and reading.finish.label == "malformed"


BACKGROUND = {**SETUP, "tools": [{"functionDeclarations": [{**DECLARED, "behavior": "NON_BLOCKING"}]}]}


@pytest.mark.parametrize(
    ("setup", "frames"),
    [
        (SETUP, [complete()]),
        (SETUP, [ask("hi"), complete(waitingForInput=True), ask("there"), *said("Hello."), *DONE]),
        (SETUP, [ask("hi"), complete(turnCompleteReason="NEED_MORE_INPUT"), ask("you"), *said("Hello."), *DONE]),
        (
            SETUP,
            [ask("hi"), ask("there"), server(serverContent={"interrupted": True}), complete(), *said("Hi."), *DONE],
        ),
        (SETUP, [ask("hi"), *said("Hel"), ask("wait"), server(serverContent={"interrupted": True}), complete()]),
        ({**SETUP, "proactivity": {"proactiveAudio": True}}, [ask("to nobody"), complete()]),
        (BACKGROUND, [ask("hi"), calls("f1"), results("f1"), complete(), *said("It is 2."), *DONE]),
    ],
    ids=[
        "nothing asked",
        "waits",
        "wants more",
        "interrupted",
        "interrupted in a word",
        "proactive",
        "background tool",
    ],
)
def test_a_turn_that_the_model_leaves_on_purpose_is_not_an_empty_answer(
    setup: dict[str, Any], frames: list[Sent]
) -> None:
    opened = [client(setup=setup), server(setupComplete={"sessionId": "s1"})]

    assert not found(session(*frames, opened=opened), "model-empty-response")


def found(trip: RoundTrip, name: str) -> bool:
    every = (one for done in label_all([trip]) for one in list[Any](done.label["findings"]))  # pyright: ignore[reportArgumentType]
    return name in {one["id"] for one in every}


def failed(code: int, reason: str, *frames: Sent, opened: list[Sent] | None = None, side: str = "server") -> RoundTrip:
    """A session that one side closed with a code; the first one, unless `opened` says otherwise, was set up."""
    closed = {"from": side, "code": code, "reason": reason}
    return replace(session(*frames, opened=opened), closed_first="server", extra={"closed": closed})


def errors(trip: RoundTrip) -> list[tuple[int | None, str] | None]:
    """The status and the message of each turn's error."""
    found = [read(turn).error for turn in turns_of(trip)]
    return [(error.status, error.message) if error is not None else None for error in found]


@pytest.mark.parametrize(
    ("code", "reason", "status"),
    [
        (1011, "Internal error occurred.", 500),
        (1011, "You exceeded your current quota, please check your plan.", 429),
        (1008, "Requested entity was not found.", 400),
        (1007, "Invalid JSON payload received.", 400),
        (1013, "Try again later.", 503),
    ],
)
def test_a_close_frame_answers_the_request_that_nothing_else_answers(code: int, reason: str, status: int) -> None:
    trip = failed(code, reason, ask("hi"), calls("c1"), results("c1"))

    assert errors(trip) == [None, (status, reason)]


def test_a_message_that_ends_the_session_is_a_turn_of_its_own() -> None:
    wrong = "Unknown name 'turnComplete' at 'realtime_input'"
    trip = failed(1007, wrong, ask("hi"), *said("Hey"), *DONE, client(realtimeInput={"turnComplete": True}))

    assert errors(trip) == [None, (400, wrong)]


def test_a_setup_that_ends_the_session_is_a_turn_of_its_own() -> None:
    wrong = "models/gemini-x is not found for API version v1beta"

    assert errors(failed(1008, wrong, opened=[client(setup=SETUP)])) == [(400, wrong)]


def test_a_close_without_a_reason_says_its_code() -> None:
    assert errors(failed(1011, "", ask("hi"))) == [(500, "the server closed the session with code 1011")]


def test_a_close_without_a_failure_answers_nothing() -> None:
    asked = [ask("hi"), *said("Hey"), *DONE]

    assert errors(failed(1000, "", *asked)) == [None]
    assert errors(failed(1001, "going away", *asked)) == [None]
    assert errors(failed(1011, "no", *asked, side="client")) == [None]
    assert errors(failed(1011, "time is up", *asked, server(goAway={"timeLeft": "5s"}))) == [None]


def test_an_answer_that_the_close_cut_off_is_cut() -> None:
    turn = read(turns_of(failed(1011, "Internal error", ask("hi"), *said("Hey")))[0])

    assert turn.error is None and turn.finish and turn.finish.effective == "cut"


def test_turns_of_two_sessions_without_an_id_have_different_names() -> None:
    opened = [client(setup=SETUP), server(setupComplete={})]
    first, second = (replace(session(ask("hi"), *said("Hey"), *DONE, opened=opened), index=n) for n in (3, 4))

    assert [read(turns_of(one)[0]).response_id for one in (first, second)] == ["session #3/1", "session #4/1"]


def test_a_result_without_the_id_of_its_call_is_found() -> None:
    bare = client(toolResponse={"functionResponses": [{"name": "add", "response": {"result": 2}}]})

    def found(answered: Sent) -> list[str]:
        done = label_all([session(ask("1+1?"), calls("c1"), answered, *said("It is 2."), *DONE)])
        return [str(one["id"]) for turn in done for one in list[Any](turn.label["findings"])]  # pyright: ignore[reportArgumentType]

    assert "client-id-missing" in found(bare)
    assert "client-id-missing" not in found(results("c1"))
