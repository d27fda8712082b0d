"""WebSocket sessions from a tape: greeted, answered message by message, refused in the API's words."""

import asyncio
import json
from typing import Any, Literal

from turntape.cassettes import Player, Request, Response, RoundTrip
from turntape.cassettes.server.server import app
from turntape.cassettes.tape.model import Frame

URL = "wss://api.openai.com/v1/responses"
HEADERS = (("x-request-id", "r"), ("sec-websocket-accept", "abc"), ("upgrade", "websocket"))


def say(sender: Literal["client", "server"], at: int, **body: object) -> Frame:
    return Frame(sender, at, json.dumps(body).encode(), True)


def create(at: int, text: str, turn_id: str = "a") -> Frame:
    item = {
        "role": "user",
        "content": text,
        "internal_chat_message_metadata_passthrough": {"turn_id": turn_id, "create_time": at},
    }
    return say("client", at, type="response.create", input=[item], client_metadata={"turn": turn_id})


SESSION = RoundTrip(
    Request("GET", URL),
    Response(101, headers=HEADERS),
    0.0,
    frames=(
        say("server", 1, type="hello"),
        create(2, "one"),
        say("server", 3, type="response.created"),
        say("server", 4, type="response.completed", answer=1),
        create(5, "two"),
        Frame("server", 6, b"\x00\xff", False),
        say("server", 7, type="response.completed", answer=2),
    ),
)


def talk(
    source: RoundTrip | Player, *, said: list[Frame], path: str = "/openai/v1/responses", again: int = 1
) -> list[dict[str, Any]]:
    """What the app sends to a client that says these messages, on each of `again` connections."""
    serving = app(source if isinstance(source, Player) else Player([source]))
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    for _ in range(again):
        given = [{"type": "websocket.receive", "text": frame.data.decode()} for frame in said]
        pending = [{"type": "websocket.connect"}, *given, {"type": "websocket.disconnect"}]

        async def receive(pending: list[Any] = pending) -> Any:
            return pending.pop(0)

        scope = {
            "type": "websocket",
            "path": path,
            "query_string": b"",
            "headers": [],
            "extensions": {"websocket.http.response": {}},
        }
        asyncio.run(serving(scope, receive, send))  # type: ignore[arg-type]
    return sent


def test_each_message_is_answered_with_what_was_said_after_it() -> None:
    """The first message is not the tape's to the byte: its metadata are volatile, as they are in a request."""
    opened, *answers = talk(SESSION, said=[create(0, "one", turn_id="b"), create(0, "two")])

    assert opened == {"type": "websocket.accept", "subprotocol": None, "headers": [(b"x-request-id", b"r")]}
    frames = [message.get("bytes") or json.loads(message["text"]) for message in answers]
    assert frames == [
        {"type": "hello"},
        {"type": "response.created"},
        {"type": "response.completed", "answer": 1},
        b"\x00\xff",
        {"type": "response.completed", "answer": 2},
    ]


def test_a_client_that_connects_again_finds_the_messages_that_are_left() -> None:
    sent = talk(SESSION, said=[create(0, "one")], again=2)

    assert [message["type"] for message in sent].count("websocket.accept") == 2
    assert json.loads(sent[3]["text"])["answer"] == 1
    error = json.loads(sent[-1]["text"])
    assert (error["type"], error["status"], error["error"]["code"]) == ("error", 400, "turntape_replay_miss")
    assert "requested again" in error["error"]["message"]


def test_a_message_that_was_not_recorded_names_the_nearest() -> None:
    error = json.loads(talk(SESSION, said=[create(0, "three")])[-1]["text"])

    assert error["error"]["param"] == "/input/0/content"


def test_a_session_that_was_not_recorded_is_refused_as_plain_http() -> None:
    start, body = talk(SESSION, said=[], path="/openai/v1/realtime")

    assert (start["type"], start["status"]) == ("websocket.http.response.start", 400)
    assert "/realtime" in json.loads(body["body"])["error"]["message"]


def test_an_upgrade_that_was_refused_is_refused_alike() -> None:
    refused = RoundTrip(Request("GET", URL), Response(426, "", (("x-request-id", "r"),), b"no sockets here"), 0.0)
    start, body = talk(refused, said=[])

    assert (start["status"], dict(start["headers"])[b"x-request-id"], body["body"]) == (426, b"r", b"no sockets here")


def test_a_message_that_was_not_recorded_is_in_the_report() -> None:
    player = Player([SESSION])
    talk(player, said=[create(0, "one"), create(0, "three")])

    report = player.report()

    assert (len(report.played), len(report.changed), len(report.extra)) == (1, 1, 0)
    assert not report.clean
    assert [miss.method for miss in player.misses] == ["WEBSOCKET"]
    assert "WEBSOCKET /responses" in str(report.changed[0]) and "/input/0/content" in str(report.changed[0])
    assert str(report.first).startswith("first to diverge: client, ")
    assert any(line.startswith("changed: ") for line in report.lines())


def test_a_session_as_recorded_has_a_clean_report() -> None:
    player = Player([SESSION])
    talk(player, said=[create(0, "one"), create(0, "two")])

    assert player.report().clean and player.misses == []
