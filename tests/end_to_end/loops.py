"""Agents as users write them, on the real SDKs: each runs the scripted story and returns what it saw."""

import ssl
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import httpx2

from turntape.cassettes import Recorder, RoundTrip
from turntape.proxy.engine.engine import Engine, running
from turntape.proxy.scripted import ScriptedServer

TOOLS = ("generate_email", "send_email")
CLAUDE = "claude-scripted"


@dataclass(frozen=True, slots=True)
class Rig:
    """A scripted LLM, the real proxy in front of it, and a recorder."""

    server: ScriptedServer
    engine: Engine
    confdir: Path
    recorded: SimpleQueue[RoundTrip]
    """Each round trip as it is handed to the recorder."""

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.engine.port}"

    def forward(self, **options: Any) -> httpx2.Client:
        """A client that uses us as its proxy and trusts our authority."""
        return httpx2.Client(proxy=self.base, verify=self.trust(), trust_env=False, **options, timeout=None)

    def trust(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.confdir / "mitmproxy-ca-cert.pem"))


@contextmanager
def rig(tape: Path, confdir: Path, **server: Any) -> Generator[Rig]:
    """Everything up; the cassette is whole when it is left."""
    with ScriptedServer(**server) as upstream, Recorder(tape) as recorder:
        recorded = SimpleQueue[RoundTrip]()
        engine = Engine(
            recorder,
            upstreams={"*": upstream.url, "dead": "http://127.0.0.1:9"},
            confdir=confdir,
            on_round_trip=lambda trip, _number: recorded.put(trip),
        )
        with running(engine):
            yield Rig(upstream, engine, confdir, recorded)


class Witness(httpx2.BaseTransport):
    """Keeps the bytes of every answer, as the SDK gets them."""

    def __init__(self, inner: httpx2.BaseTransport) -> None:
        self.inner = inner
        self.bodies: list[list[bytes]] = []

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        response = self.inner.handle_request(request)
        kept: list[bytes] = []
        self.bodies.append(kept)

        class Kept(httpx2.SyncByteStream):
            def __iter__(self) -> Any:
                assert isinstance(response.stream, httpx2.SyncByteStream)
                for piece in response.stream:
                    kept.append(piece)
                    yield piece

            def close(self) -> None:
                response.close()

        headers = response.headers
        return httpx2.Response(response.status_code, headers=headers, stream=Kept(), extensions=response.extensions)

    def close(self) -> None:
        self.inner.close()


def chat(client: Any, streamed: bool) -> int:
    tools = [
        {"type": "function", "function": {"name": n, "parameters": {"type": "object", "properties": {}}}} for n in TOOLS
    ]
    messages: list[Any] = [{"role": "user", "content": "go"}]
    for turn in range(1, 7):
        if streamed:
            options = {"include_usage": True}
            with client.chat.completions.stream(
                model="gpt-5", messages=messages, tools=tools, stream_options=options
            ) as s:
                message = s.get_final_completion().choices[0].message
        else:
            message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        if not message.tool_calls:
            return turn
        calls = [
            {"id": c.id, "type": "function", "function": {"name": c.function.name, "arguments": c.function.arguments}}
            for c in message.tool_calls
        ]
        messages.append({"role": "assistant", "content": message.content, "tool_calls": calls})
        messages += [{"role": "tool", "tool_call_id": c["id"], "content": f"done {c['id']}"} for c in calls]
    return 0


def responses(client: Any, streamed: bool) -> int:
    tools = [{"type": "function", "name": n, "parameters": {"type": "object", "properties": {}}} for n in TOOLS]
    asked: list[Any] = [{"role": "user", "content": "go"}]
    more: dict[str, Any] = {}
    for turn in range(1, 7):
        if streamed:
            with client.responses.stream(model="gpt-5", input=asked, tools=tools, **more) as stream:
                for _ in stream:
                    pass
                answer = stream.get_final_response()
        else:
            answer = client.responses.create(model="gpt-5", input=asked, tools=tools, **more)
        calls = [item for item in answer.output if item.type == "function_call"]
        if not calls:
            return turn
        more = {"previous_response_id": answer.id}
        asked = [{"type": "function_call_output", "call_id": c.call_id, "output": "done"} for c in calls]
    return 0


def messages(client: Any, streamed: bool) -> int:
    tools = [{"name": n, "input_schema": {"type": "object", "properties": {}}} for n in TOOLS]
    history: list[Any] = [{"role": "user", "content": "go"}]
    for turn in range(1, 7):
        if streamed:
            with client.messages.stream(model=CLAUDE, max_tokens=500, messages=history, tools=tools) as stream:
                answer = stream.get_final_message()
        else:
            answer = client.messages.create(model=CLAUDE, max_tokens=500, messages=history, tools=tools)
        calls = [block for block in answer.content if block.type == "tool_use"]
        if not calls:
            return turn
        fields = {"type", "text", "id", "name", "input"}
        history.append({"role": "assistant", "content": [b.model_dump(include=fields) for b in answer.content]})
        results = [{"type": "tool_result", "tool_use_id": c.id, "content": "done"} for c in calls]
        history.append({"role": "user", "content": results})
    return 0


async def chat_async(client: Any, streamed: bool) -> int:
    tools = [
        {"type": "function", "function": {"name": n, "parameters": {"type": "object", "properties": {}}}} for n in TOOLS
    ]
    asked: list[Any] = [{"role": "user", "content": "go"}]
    for turn in range(1, 7):
        if streamed:
            async with client.chat.completions.stream(
                model="gpt-5", messages=asked, tools=tools, stream_options={"include_usage": True}
            ) as stream:
                message = (await stream.get_final_completion()).choices[0].message
        else:
            answer = await client.chat.completions.create(model="gpt-5", messages=asked, tools=tools)
            message = answer.choices[0].message
        if not message.tool_calls:
            return turn
        calls = [
            {"id": c.id, "type": "function", "function": {"name": c.function.name, "arguments": c.function.arguments}}
            for c in message.tool_calls
        ]
        asked.append({"role": "assistant", "content": message.content, "tool_calls": calls})
        asked += [{"role": "tool", "tool_call_id": c["id"], "content": "done"} for c in calls]
    return 0


async def messages_async(client: Any, streamed: bool) -> int:
    tools = [{"name": n, "input_schema": {"type": "object", "properties": {}}} for n in TOOLS]
    history: list[Any] = [{"role": "user", "content": "go"}]
    for turn in range(1, 7):
        if streamed:
            async with client.messages.stream(model=CLAUDE, max_tokens=500, messages=history, tools=tools) as stream:
                answer = await stream.get_final_message()
        else:
            answer = await client.messages.create(model=CLAUDE, max_tokens=500, messages=history, tools=tools)
        calls = [block for block in answer.content if block.type == "tool_use"]
        if not calls:
            return turn
        fields = {"type", "text", "id", "name", "input"}
        history.append({"role": "assistant", "content": [b.model_dump(include=fields) for b in answer.content]})
        history.append(
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": c.id, "content": "done"} for c in calls],
            }
        )
    return 0


def openai_client(base: str | None, http: Any) -> Any:
    import openai

    return openai.OpenAI(
        api_key="sk-scripted", base_url=f"{base}/openai/v1" if base else None, http_client=http, max_retries=0
    )


def anthropic_client(base: str | None, http: Any) -> Any:
    import anthropic

    return anthropic.Anthropic(
        api_key="scripted", base_url=f"{base}/anthropic" if base else None, http_client=http, max_retries=0
    )


LOOPS: dict[str, tuple[Callable[[Any, bool], int], Callable[[str | None, Any], Any]]] = {
    "openai-chat": (chat, openai_client),
    "openai-responses": (responses, openai_client),
    "anthropic-messages": (messages, anthropic_client),
}
