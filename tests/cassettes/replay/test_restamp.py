"""Which changes of a request let its recorded answer stay."""

from dataclasses import replace

import orjson
import pytest

from turntape.cassettes import Cassette, CassetteError, Player
from turntape.cassettes.matching.grades import Matching
from turntape.cassettes.matching.json_diff import Difference
from turntape.cassettes.replay.miss import Miss
from turntape.cassettes.replay.restamp import Restamp, refusal, restamping
from turntape.cassettes.tape.model import Frame, Request, Response, RoundTrip

BODY = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi."},
        {"role": "tool", "tool_call_id": "c1", "content": "3"},
    ],
    "tools": [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("find", "send")],
    "toolConfig": {"tools": [{"toolSpec": {"name": name}} for name in ("find", "send")]},
}
IMAGE = "data:image/png;base64,iVBORw0KGgo="
CALLS_FIND = Response(200, content=b'{"tool_calls":[{"function":{"name":"find"}}]}')
TRIP = RoundTrip(
    Request("POST", "https://api.openai.com/v1/chat/completions", content=orjson.dumps(BODY)), CALLS_FIND, 1.0
)


@pytest.mark.parametrize(
    "one",
    [
        Difference("/messages/0/content", "changed", "Be brief.", "Be short."),
        Difference("/messages/1/content", "changed", "Hi.", "Hello."),
        Difference("/tools/0/function/description", "added", None, "Finds."),
        Difference("/tools/0/function/strict", "added", None, True),
        Difference("/tools/0/function/parameters/properties/a/title", "removed", "A"),
        Difference("/tools/1/function/parameters/type", "added", None, "object"),
        Difference("/tools/2", "added", None, {"type": "function"}),
        Difference("/toolConfig/tools/0/toolSpec/description", "changed", "Finds.", "Gets."),
        Difference("/toolConfig/tools/1/toolSpec/name", "changed", "send", "mail"),
        Difference("/temperature", "changed", 0, 1),
        Difference("/generationConfig", "added", None, {"temperature": 1}),
        Difference("/text", "added", None, {"verbosity": "low"}),
        Difference("/messages/1/content", "changed", "Hi.", [{"type": "text", "text": "Hello."}]),
        Difference("/messages/1", "changed", {"url": IMAGE}, {"text": "See:", "url": IMAGE}),
        Difference("/messages/1/content/0/text", "changed", "See https://a.test/a.png", "See https://a.test/b.png"),
        Difference(
            "/messages/1/content/0/image_url/url",
            "changed",
            "https://a.test/a.png?X-Signature=1",
            "https://a.test/a.png?X-Signature=2",
        ),
        Difference("/messages/1/content/0/image_url/detail", "changed", "low", "high"),
        Difference("/messages/1/content/0/input/image_url", "changed", "https://a.test/a", "https://a.test/b"),
        Difference("/mcp_servers/0/source/url", "changed", "https://a.test/a", "https://a.test/b"),
        Difference("/metadata/file_id", "changed", "file-a1", "file-b2"),
    ],
    ids=lambda one: one.pointer,
)
def test_the_answer_stays(one: Difference) -> None:
    assert refusal((one,), TRIP) is None


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (Difference("/model", "changed", "m", "n"), "it is from another model"),
        (Difference("/messages/2/content", "changed", "3", "4"), "it was given to another tool result"),
        (Difference("/tools/0/function/parameters/type", "added", None, "object"), "it calls the tool find"),
        (Difference("/tools/0/function/parameters/properties/title", "removed", {}), "it calls the tool find"),
        (Difference("/tools/0", "removed", BODY["tools"]), "it calls the tool find"),
        (Difference("/toolConfig/tools/0/toolSpec/name", "changed", "find", "get"), "it calls the tool find"),
        (Difference("/toolConfig/toolChoice/auto", "removed", {}), "its form depends on /toolConfig/toolChoice"),
        (Difference("/toolConfig/functionCallingConfig/mode", "changed", "AUTO", "ANY"), "its form depends on"),
        (Difference("/format", "added", None, "json"), "its form depends on /format"),
        (Difference("/dimensions", "changed", 256, 512), "its form depends on /dimensions"),
        (
            Difference("/response_format", "added", None, {"type": "json_object"}),
            "its form depends on /response_format",
        ),
        (Difference("/generationConfig/responseSchema/type", "changed", "a", "b"), "its form depends on"),
        (Difference("path", "changed", "/v1/models/a", "/v1/models/b"), "it is from another model"),
        (Difference("/messages/1/content/0/url", "changed", IMAGE, "none"), "it was given to another file"),
        (Difference("/messages/1/content/0/url", "added", None, IMAGE), "it was given to another file"),
        (Difference("/text", "added", None, {"format": {"type": "json_object"}}), "its form depends on /text/format"),
        (Difference("/text", "removed", {"format": {"type": "json_object"}}), "its form depends on /text/format"),
        (
            Difference("/generationConfig", "added", None, {"responseMimeType": "application/json"}),
            "its form depends on /generationConfig/responseMimeType",
        ),
        (
            Difference("/messages/1/content", "changed", "Hi.", [{"image_url": {"url": IMAGE}}]),
            "it was given to another file (/messages/1/content)",
        ),
        (
            Difference("/messages/1/content/1", "added", None, {"source": {"data": "A" * 300}}),
            "it was given to another",
        ),
        (Difference("/messages/1/content/1", "removed", {"image": {"bytes": "A" * 300}}), "it was given to"),
        *(
            (
                Difference(pointer, "changed", before, after),
                f"it was given to another file ({pointer})",
            )
            for pointer, before, after in (
                ("/messages/1/content/0/image_url/url", "https://a.test/a.png", "https://a.test/b.png"),
                ("/messages/1/content/0/image_url/url", "https://a.test/a?id=1", "https://a.test/a?id=2"),
                ("/messages/1/content/0/image_url", "https://a.test/a.png", "https://a.test/b.png"),
                ("/messages/1/content/0/source/url", "https://a.test/a.png", "https://a.test/b.png"),
                ("/messages/1/content/0/source/file_id", "file_a1", "file_b2"),
                ("/messages/1/content/0/file/file_id", "file-a1", "file-b2"),
                ("/input/0/content/1/file_url", "https://a.test/a.pdf", "https://a.test/b.pdf"),
                ("/input/0/content/1/file_id", "file-a1", "file-b2"),
                ("/contents/0/parts/0/fileData/fileUri", "gs://a/a.png", "gs://a/b.png"),
                ("/contents/0/parts/0/file_data/file_uri", "files/a1", "files/b2"),
                ("/messages/0/content/0/image/source/s3Location/uri", "s3://a/a.png", "s3://a/b.png"),
                ("/messages/0/content/0/document_url", "https://a.test/a.pdf", "https://a.test/b.pdf"),
                ("/messages/0/attachments/0/file_ids/0", "file-a1", "file-b2"),
                ("/input/image", "https://a.test/a.png", "https://a.test/b.png"),
                ("/input/0/uri", "https://a.test/a.png", "https://a.test/b.png"),
            )
        ),
        (
            Difference("/messages/1/content/1", "added", None, {"type": "input_image", "file_id": "file-b2"}),
            "it was given to another file",
        ),
        (
            Difference("/messages/1/content/1", "removed", {"source": {"type": "url", "url": "https://a.test/a"}}),
            "it was given to another file",
        ),
    ],
    ids=lambda one: getattr(one, "pointer", ""),
)
def test_the_answer_could_not_follow(one: Difference, why: str) -> None:
    assert (refusal((one,), TRIP) or "").startswith(why)


def test_a_request_with_too_many_differences_is_refused() -> None:
    one = Difference("/messages/1/content", "changed", "Hi.", "Hello.")

    assert refusal((one,) * 99, TRIP) is None
    assert refusal((one,) * 100, TRIP) == "too much of the request has changed"


TOOLS_AGAIN = b'"tools":[{"type":"function","name":"find"}]'
CALL = b'"output":[{"type":"function_call","name":"find"}]'


@pytest.mark.parametrize(
    ("content", "stays"),
    [
        (b'{"output":[],%s}' % TOOLS_AGAIN, True),
        (b"{%s,%s}" % (CALL, TOOLS_AGAIN), False),
        (b'event: a\ndata: {"response":{"output":[],%s}}\n\n' % TOOLS_AGAIN, True),
        (b'event: a\ndata: {"response":{%s}}\n\nevent: b\ndata: {"response":{%s}}\n\n' % (TOOLS_AGAIN, CALL), False),
        (b'not JSON: "find"', False),
    ],
)
def test_an_answer_that_only_repeats_the_definition_of_a_tool_does_not_call_it(content: bytes, stays: bool) -> None:
    one = Difference("/tools/0/function/parameters/type", "added", None, "object")

    assert (refusal((one,), replace(TRIP, response=Response(200, content=content))) is None) == stays


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (Difference("/input/1", "changed", "b", "c"), None),
        (Difference("/input/2", "added", None, "c"), "it has a part for each item, and /input/2 is new"),
        (Difference("/input/1", "removed", "b"), "it has a part for each item, and /input/1 is gone"),
    ],
)
def test_an_answer_with_a_part_for_each_input_cannot_follow_their_number(one: Difference, why: str | None) -> None:
    request = Request("POST", "https://api.openai.com/v1/embeddings", content=b'{"input":["a","b"]}')

    assert refusal((one,), RoundTrip(request, CALLS_FIND, 1.0)) == why


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (Difference("/file/content", "changed", "a,b\n", "a,c\n"), "it was given to another file (/file/content)"),
        (Difference("/purpose", "changed", "assistants", "user_data"), None),
        (Difference("/prompt", "changed", "Names:", "Terms:"), None),
    ],
)
def test_an_answer_to_a_form_stays_unless_its_file_has_changed(one: Difference, why: str | None) -> None:
    form = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\na,b\n\r\n--b--\r\n'
    request = Request("POST", "https://api.openai.com/v1/files", content=form)

    assert refusal((one,), RoundTrip(request, CALLS_FIND, 1.0)) == why
    assert refusal((one,), TRIP) is None


URL = "https://api.openai.com/v1/chat/completions"


def asking(words: str, model: str = "m") -> Request:
    return Request(
        "POST", URL, content=orjson.dumps({"model": model, "messages": [{"role": "user", "content": words}]})
    )


def recorded(*trips: RoundTrip) -> Player:
    given = [replace(trip, index=place) for place, trip in enumerate(trips)]
    return Player(Cassette.from_round_trips(given), matching=restamping(None))


def restamp(player: Player, *requests: Request) -> Restamp:
    """Restamp with the requests of a run."""
    made = Restamp(Matching())
    for one in requests:
        made.take(player, player.play(one.method, one.url, one.headers, one.body), one)
    return made


ANSWER = Response(200, content=b'{"choices":[]}')
TWO = (RoundTrip(asking("Hi."), ANSWER, 1.0), RoundTrip(asking("And you?"), ANSWER, 2.0))


def test_a_changed_request_replaces_the_recorded_one_and_the_others_stay() -> None:
    player = recorded(*TWO)

    made = restamp(player, asking("Hi."), asking("How are you?"))

    assert [trip.request for trip in made.trips(player)] == [asking("Hi."), asking("How are you?")]
    assert [trip.response for trip in made.trips(player)] == [ANSWER, ANSWER]
    assert made.requests(player) == {1: asking("How are you?")}


def test_rules_of_the_test_do_not_count_while_it_is_restamped() -> None:
    matching = restamping(Matching(profile="strict", rules={"model": "ignore"}, ignore=("/user",)))

    assert (matching.profile, matching.rules, matching.ignore) == ("ordered", {}, ("/user",))


def test_a_request_whose_answer_cannot_stay_is_a_miss_that_says_why() -> None:
    player = recorded(*TWO)

    with pytest.raises(Miss) as raised:
        restamp(player, asking("Hi.", model="n"))

    assert str(raised.value) == "turn 1, #0 cannot keep its recorded answer: it is from another model; record again"
    assert raised.value.refused == "it is from another model"
    assert [one.pointer for one in raised.value.differences] == ["/model"]
    assert (raised.value.method, raised.value.path) == ("POST", "/chat/completions")


def test_a_session_over_a_websocket_is_only_refused_when_it_has_changed() -> None:
    session = replace(TWO[1], frames=(Frame("client", 0, b"{}", True),))
    player = recorded(TWO[0], session)
    made = restamp(player, asking("Hello."))

    assert [trip.frames for trip in made.trips(player)] == [(), session.frames]
    made.changed[1] = asking("How are you?")
    with pytest.raises(CassetteError, match="turn 2, #1 is a WebSocket session, which restamp does not write"):
        list(made.trips(player))
