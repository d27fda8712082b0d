"""An ASGI app behind the rules of `Admission`: what a page of another place, or a client without the token, gets."""

import orjson

from ..routes.admission import Admission, Refusal, field
from .asgi import App, Message, Receive, Send

_STATUS = {"host": 403, "origin": 403, "token": 401}


def guarded(app: App, admission: Admission) -> App:
    """`app` for those who are let in. It sees paths without the token, which is then in `root_path`."""

    async def answer(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await app(scope, receive, send)
            return
        fields = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        target = bytes(scope.get("raw_path") or scope["path"].encode()).decode("latin-1")
        path, in_path = admission.path(target)
        wrong = admission.refuses(
            field(fields, "host") or "",
            field(fields, "origin"),
            field(fields, "sec-fetch-site"),
            has_token=in_path or admission.has_password(field(fields, "authorization")),
            path=path,
        )
        if wrong is not None:
            await _refuse(scope, receive, send, wrong)
            return
        if in_path:
            prefix = target[: len(target) - len(path)] if path != "/" else target.rstrip("/")
            decoded = admission.path(scope["path"])[0]
            scope = {**scope, "path": decoded, "raw_path": path.encode("latin-1"), "root_path": prefix}
        await app(scope, receive, send)

    return answer


async def _refuse(scope: Message, receive: Receive, send: Send, wrong: Refusal) -> None:
    kind = f"turntape_refused_{wrong.reason}"
    error = {"type": kind, "code": _STATUS[wrong.reason], "message": wrong.message, "param": None}
    body = orjson.dumps({"type": "error", "error": error, "message": wrong.message})
    headers = [(b"content-type", b"application/json"), (b"x-should-retry", b"false")]
    headers.append((b"content-length", str(len(body)).encode()))
    answer = "http.response"
    if scope["type"] == "websocket":
        await receive()
        if "websocket.http.response" not in (scope.get("extensions") or {}):
            await send({"type": "websocket.close", "code": 1008})
            return
        answer = "websocket.http.response"
    await send({"type": f"{answer}.start", "status": _STATUS[wrong.reason], "headers": headers})
    await send({"type": f"{answer}.body", "body": body})
