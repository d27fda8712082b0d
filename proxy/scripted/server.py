"""The scripted LLM: an HTTP server that answers with a story in the format of the API that is asked.

It keeps no state: the answer follows from the history in the request, so that any number of agents may ask at
once, and two runs of one agent get the same bytes.
"""

# brotli has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import asyncio
import contextlib
import gzip
import ssl
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import TracebackType
from typing import Self

import orjson

from turntape.cassettes.frozen import frozen

from .answer import Answer, Ask, Shape
from .apis.anthropic import ANTHROPIC_MESSAGES
from .apis.bedrock import BEDROCK_CONVERSE
from .apis.bedrock_invoke import BEDROCK_INVOKE
from .apis.cohere import COHERE_V2
from .apis.gemini import GEMINI_GENERATE
from .apis.ollama import OLLAMA_CHAT
from .apis.openai_chat import MISTRAL_CHAT, OPENAI_CHAT
from .apis.openai_responses import OPENAI_RESPONSES
from .faults import Fault, parse
from .story import SALES_EMAILS, Step, Story, step_after
from .websocket import converse, wants_websocket

SHAPES: tuple[Shape, ...] = (
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    ANTHROPIC_MESSAGES,
    GEMINI_GENERATE,
    BEDROCK_CONVERSE,
    BEDROCK_INVOKE,
    OLLAMA_CHAT,
    COHERE_V2,
)

REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests",
           500: "Internal Server Error", 503: "Service Unavailable", 529: "Overloaded"}  # fmt: skip


@frozen
class Received:
    """A request as it arrived at the server."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    """In the order and the spelling of the wire."""
    body: bytes


@dataclass(slots=True)
class _Reply:
    status: int
    headers: list[tuple[str, str]]
    pieces: list[bytes]
    streamed: bool = False
    cut_after: int | None = None
    stall_after: int | None = None
    delay: float = 0.0
    """Seconds after each event of a stream."""


class ScriptedServer:
    """`with ScriptedServer() as server:` or `async with`; `server.url` is its base URL, `server.requests` what arrived.

    `faults` are by turn, from 1; `chunk_delay` are the seconds between the events of a stream; `pace` are the output
    tokens that it streams in a second, None without a limit. A `story` may also be a function of the request, for
    clients that rename their tools or ask for more than the story has.
    """

    def __init__(
        self,
        story: Story | Callable[[Ask], Step] = SALES_EMAILS,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        faults: Mapping[int, Fault | None] | None = None,
        chunk_delay: float = 0.0,
        pace: float | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.story = story
        self.host = host
        self.port = port
        self.requests: list[Received] = []
        self._faults = dict(faults or {})
        self._delay = chunk_delay
        self._pace = pace
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://{self.host}:{self.port}"

    # Starting and stopping, in the caller's loop or in a separate thread.

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self.host, self.port, ssl=self._tls, limit=1 << 26)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def start(self) -> Self:
        loop = self._loop = asyncio.new_event_loop()
        ready = threading.Event()

        def run() -> None:
            asyncio.set_event_loop(loop)
            loop.run_until_complete(self.__aenter__())
            ready.set()
            loop.run_forever()
            loop.run_until_complete(self.__aexit__())
            for _ in range(10):  # a transport that was closed ends in a later turn of its loop
                loop.run_until_complete(asyncio.sleep(0))
            loop.close()

        self._thread = threading.Thread(target=run, name="scripted LLM", daemon=True)
        self._thread.start()
        ready.wait()
        return self

    def stop(self) -> None:
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(timeout=5)
            self._loop = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # HTTP

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while (received := await _receive(reader, writer)) is not None:
                self.requests.append(received)
                headers = {name.lower(): value for name, value in received.headers}
                path = received.path.partition("?")[0]
                if wants_websocket(headers) and OPENAI_RESPONSES.matches(path):
                    await converse(reader, writer, headers, partial(self._events, path, headers))
                    break
                if not await self._reply(received, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError, ssl.SSLError):
                await writer.wait_closed()
            self._tasks.discard(task)

    async def _reply(self, received: Received, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; False when the connection ends with it."""
        reply, fault = self._answer(received)
        if fault is not None and fault.kind == "reset":
            return False
        if fault is not None and fault.kind == "slow":
            await asyncio.sleep(fault.number / 1000)
        headers = list(reply.headers)
        if reply.streamed:
            headers.append(("transfer-encoding", "chunked"))
        else:
            headers.append(("content-length", str(sum(map(len, reply.pieces)))))
        lines = [f"HTTP/1.1 {reply.status} {REASONS.get(reply.status, 'Unknown')}", *(f"{k}: {v}" for k, v in headers)]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        for number, piece in enumerate(reply.pieces):
            if number == reply.cut_after:
                await writer.drain()
                return False
            if number == reply.stall_after:
                await writer.drain()
                await asyncio.sleep(3600)
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece) if reply.streamed else piece)
            await writer.drain()
            if reply.streamed:
                # Each event is a separate write, even without a delay.
                await asyncio.sleep(reply.delay or self._delay)
        if reply.streamed:
            writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    # The script

    def _answer(self, received: Received) -> tuple[_Reply, Fault | None]:
        path = received.path.partition("?")[0]
        headers = {name.lower(): value for name, value in received.headers}
        shape = next((shape for shape in SHAPES if shape.matches(path)), None)
        if shape is None:
            return _other(received), None
        ask = shape.ask(received.path, headers, received.body)
        if shape is OPENAI_CHAT and ("mistral" in headers.get("host", "") or "mistral" in ask.model):
            shape = MISTRAL_CHAT
        asked = parse(headers.get("x-scripted-fault")) or parse(ask.model.removeprefix("scripted:"))
        fault = asked or self._faults.get(ask.answers + 1)
        return self._reply_to(shape, ask, fault), fault

    def _events(self, path: str, headers: Mapping[str, str], message: bytes) -> list[bytes]:
        """The answer to a message on a WebSocket: the events of a stream, without their framing."""
        ask = OPENAI_RESPONSES.ask(path, headers, message)
        if ask.fields.get("generate") is False:
            # Only warms the cache: a response without output, which the story does not count.
            answer = Answer(replace(ask, answers=-1), Step())
        else:
            answer = Answer(ask, self._step(ask))
        return [event.partition(b"data: ")[2].strip() for event in OPENAI_RESPONSES.stream(answer)]

    def _step(self, ask: Ask) -> Step:
        return self.story(ask) if callable(self.story) else step_after(self.story, ask.answers)

    def _reply_to(self, shape: Shape, ask: Ask, fault: Fault | None) -> _Reply:
        kind = fault.kind if fault else None
        number = fault.number if fault else 0
        identity = [("x-request-id", f"req_{ask.answers + 1:04d}{ask.size:08d}")]
        if fault is not None and kind == "status":
            return _refusal(shape, number, identity)
        answer = Answer(ask, self._step(ask), fault, shape.prefix)
        if shape is MISTRAL_CHAT:
            answer = replace(answer, prefix="c")
        if not ask.streamed:
            body = orjson.dumps(shape.whole(answer))
            if kind == "invalid_json":
                body = body[:-1]
            reply = _Reply(200, [("content-type", "application/json"), *identity], [body])
            return _encoded(reply, kind)
        pieces = shape.stream(answer)
        if kind == "error_event":
            pieces = [*pieces[:number], shape.error_event]
        if kind == "malformed_sse":
            pieces[number : number + 1] = [b"data: {not json\n\n"]
        content_type = shape.content_type
        if shape is GEMINI_GENERATE and "alt=sse" not in ask.path:
            content_type = "application/json; charset=UTF-8"
        reply = _Reply(200, [("content-type", content_type), ("cache-control", "no-cache"), *identity], pieces, True)
        if self._pace is not None:
            reply.delay = answer.tokens[2] / len(pieces) / self._pace
        if kind == "cut":
            reply.cut_after = number
        if kind == "stall":
            reply.stall_after = number
        return _encoded(reply, kind)


def _refusal(shape: Shape, status: int, identity: Iterable[tuple[str, str]]) -> _Reply:
    headers = [("content-type", "application/json"), *identity]
    if status == 429:
        headers.append(("retry-after", "0"))
    body = orjson.dumps(shape.error(status, f"scripted {status} {REASONS.get(status, '')}".strip()))
    return _Reply(status, headers, [body])


def _encoded(reply: _Reply, kind: str | None) -> _Reply:
    """The reply in a content-encoding, each event flushed, when a fault asks for one."""
    if kind == "gzip" and not reply.streamed:
        reply.pieces = [gzip.compress(b"".join(reply.pieces), mtime=0)]
    elif kind == "gzip":
        import zlib

        stream = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
        reply.pieces = [stream.compress(piece) + stream.flush(zlib.Z_SYNC_FLUSH) for piece in reply.pieces]
        reply.pieces.append(stream.flush())
    elif kind == "br":
        import brotli

        coder = brotli.Compressor()
        reply.pieces = [coder.process(piece) + coder.flush() for piece in reply.pieces]
        reply.pieces.append(coder.finish())
    elif kind == "zstd":
        import zstandard

        coder = zstandard.ZstdCompressor().compressobj()
        flush = zstandard.COMPRESSOBJ_FLUSH_BLOCK
        reply.pieces = [coder.compress(piece) + coder.flush(flush) for piece in reply.pieces]
        reply.pieces.append(coder.flush())
    else:
        return reply
    reply.pieces = [piece for piece in reply.pieces if piece]
    reply.headers.append(("content-encoding", str(kind)))
    return reply


def _other(received: Received) -> _Reply:
    """The few other endpoints that clients call; 404 for the rest."""
    path = received.path.partition("?")[0]
    json_type = [("content-type", "application/json")]
    if path.endswith("/models") and received.method == "GET":
        model = {"id": "gpt-5", "object": "model", "created": 1_780_000_000, "owned_by": "scripted"}
        return _Reply(200, json_type, [orjson.dumps({"object": "list", "data": [model]})])
    if path.endswith("/count_tokens"):
        return _Reply(200, json_type, [orjson.dumps({"input_tokens": len(received.body) // 4})])
    if path.endswith("/embeddings"):
        data = [{"object": "embedding", "index": 0, "embedding": [0.0, 0.25, -0.5]}]
        body = {
            "object": "list",
            "data": data,
            "model": "scripted-embedding",
            "usage": {"prompt_tokens": 3, "total_tokens": 3},
        }
        return _Reply(200, json_type, [orjson.dumps(body)])
    sentence = f"the scripted LLM does not know {received.method} {path}"
    return _Reply(
        404, json_type, [orjson.dumps({"error": {"message": sentence, "type": "not_found"}, "message": sentence})]
    )


async def _receive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Received | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head[:-4].split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = tuple((name, value.strip()) for name, _, value in (line.partition(":") for line in lines))
    known = {name.lower(): value for name, value in headers}
    if known.get("expect", "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    if "chunked" in known.get("transfer-encoding", "").lower():
        return Received(method, path, headers, await _chunks(reader))
    return Received(method, path, headers, await reader.readexactly(int(known.get("content-length", 0))))


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while True:
        size = int((await reader.readline()).split(b";")[0], 16)
        if size == 0:
            while (await reader.readline()).strip():
                pass
            return body
        body += await reader.readexactly(size)
        await reader.readexactly(2)
