"""The Responses API over WebSocket: each `response.create` is answered with the events of a stream, one a message."""

import asyncio
import base64
import hashlib
from collections.abc import Callable, Mapping

_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def wants_websocket(headers: Mapping[str, str]) -> bool:
    return headers.get("upgrade", "").lower() == "websocket"


async def converse(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    headers: Mapping[str, str],
    answer: Callable[[bytes], list[bytes]],
) -> None:
    """Accept the upgrade and answer each message until the client closes; `headers` are the request's, lower-cased."""
    # Of the extra `proxy`; the rest of the scripted LLM works without it.
    from wsproto.connection import Connection, ConnectionType
    from wsproto.events import BytesMessage, CloseConnection, Ping, TextMessage

    key = hashlib.sha1(headers["sec-websocket-key"].encode() + _GUID, usedforsecurity=False).digest()
    lines = [
        "HTTP/1.1 101 Switching Protocols",
        "upgrade: websocket",
        "connection: Upgrade",
        f"sec-websocket-accept: {base64.b64encode(key).decode()}",
    ]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    connection = Connection(ConnectionType.SERVER)
    said = b""
    while data := await reader.read(1 << 16):
        connection.receive_data(data)
        for event in connection.events():
            if isinstance(event, CloseConnection):
                writer.write(connection.send(event.response()))
                await writer.drain()
                return
            if isinstance(event, Ping):
                writer.write(connection.send(event.response()))
            elif isinstance(event, TextMessage | BytesMessage):
                said += event.data.encode() if isinstance(event.data, str) else bytes(event.data)
                if event.message_finished:
                    for message in answer(said):
                        writer.write(connection.send(TextMessage(message.decode())))
                    said = b""
        await writer.drain()
