"""An ASGI app behind the rules of admission."""

from typing import Any

import anyio
import pytest

from turntape.cassettes.routes.admission import Admission
from turntape.cassettes.server.asgi import Message, Receive, Send
from turntape.cassettes.server.visitors import guarded

TOKEN = "turntape-0123456789abcdef"


class App:
    """An app that remembers what it was asked."""

    def __init__(self) -> None:
        self.scopes: list[Message] = []

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        self.scopes.append(scope)
        await send({"type": "asked"})


def ask(admission: Admission, path: str = "/openai", **scope: Any) -> tuple[App, list[Message]]:
    app, sent = App(), list[Message]()
    headers = [(name.encode(), value.encode()) for name, value in {"host": "a", **scope.pop("headers", {})}.items()]

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    asked = {"type": "http", "path": path, "raw_path": path.encode(), "headers": headers, **scope}
    anyio.run(guarded(app, admission), asked, receive, send)
    return app, sent


@pytest.mark.parametrize(
    ("path", "seen", "prefix"),
    [
        (f"/t/{TOKEN}/a/b", "/a/b", f"/t/{TOKEN}"),
        (f"/t/{TOKEN}/", "/", f"/t/{TOKEN}"),
        (f"/t/{TOKEN}", "/", f"/t/{TOKEN}"),
    ],
)
def test_the_app_sees_the_path_without_the_token(path: str, seen: str, prefix: str) -> None:
    app, _ = ask(Admission(TOKEN), path)

    assert [(one["path"], one["raw_path"], one["root_path"]) for one in app.scopes] == [(seen, seen.encode(), prefix)]


def test_a_bearer_token_is_as_good() -> None:
    app, _ = ask(Admission(TOKEN), headers={"authorization": f"Bearer {TOKEN}"})

    assert [one["path"] for one in app.scopes] == ["/openai"]


@pytest.mark.parametrize(("host", "status"), [("a", 403), ("127.0.0.1", 401)])
def test_who_is_not_let_in_gets_an_error_and_the_app_nothing(host: str, status: int) -> None:
    app, sent = ask(Admission(TOKEN), headers={"host": host})

    assert app.scopes == []
    assert [one["type"] for one in sent] == ["http.response.start", "http.response.body"]
    assert sent[0]["status"] == status
    assert b"turntape_refused" in sent[1]["body"]


@pytest.mark.parametrize(
    ("extensions", "types"),
    [
        ({}, ["websocket.close"]),
        ({"websocket.http.response": {}}, ["websocket.http.response.start", "websocket.http.response.body"]),
    ],
)
def test_a_websocket_is_refused_too(extensions: dict[str, object], types: list[str]) -> None:
    app, sent = ask(Admission(), type="websocket", extensions=extensions)

    assert app.scopes == []
    assert [one["type"] for one in sent] == types


def test_other_messages_of_the_server_pass() -> None:
    app, sent = ask(Admission(TOKEN), type="lifespan")

    assert len(app.scopes) == len(sent) == 1
