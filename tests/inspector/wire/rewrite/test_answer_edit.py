"""An edited answer reads as one of the API, whole and streamed, in every protocol that is edited by name."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import httpx
import pytest

from turntape.cassettes.tape.model import Chunk, Request, Response, RoundTrip
from turntape.inspector.wire.exchange import Exchange
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.registry import built_in
from turntape.inspector.wire.rewrite import document
from turntape.inspector.wire.rewrite.answer_edit import EditError, edited, parse_edit, with_answer
from turntape.proxy.scripted import ScriptedServer

ASKS: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "openai-chat": ("/v1/chat/completions", "", "length", {"messages": [{"role": "user", "content": "go"}]}),
    "mistral-chat": ("/v1/chat/completions", "", "length", {"messages": [{"role": "user", "content": "go"}]}),
    "anthropic-messages": (
        "/v1/messages", "", "max_tokens", {"max_tokens": 9, "messages": [{"role": "user", "content": "go"}]}
    ),
    "openai-responses": ("/v1/responses", "", "max_output_tokens", {"input": "go"}),
    "gemini-generate": (
        "/v1beta/models/gemini-3:generateContent",
        "/v1beta/models/gemini-3:streamGenerateContent?alt=sse",
        "MAX_TOKENS",
        {"contents": [{"role": "user", "parts": [{"text": "go"}]}]},
    ),
    "bedrock-converse": (
        "/model/anthropic.claude/converse",
        "/model/anthropic.claude/converse-stream",
        "max_tokens",
        {"messages": [{"role": "user", "content": [{"text": "go"}]}]},
    ),
    "ollama-chat": ("/api/chat", "", "length", {"messages": [{"role": "user", "content": "go"}]}),
    "cohere-v2": ("/v2/chat", "", "MAX_TOKENS", {"messages": [{"role": "user", "content": "go"}]}),
}  # fmt: skip
HOSTS = {"mistral-chat": "api.mistral.ai"}


@pytest.fixture(scope="module")
def answers() -> Mapping[tuple[str, bool], RoundTrip]:
    """The scripted LLM's first answer, three calls behind a text, in every shape."""

    async def ask_all() -> dict[tuple[str, bool], RoundTrip]:
        made: dict[tuple[str, bool], RoundTrip] = {}
        async with ScriptedServer() as server, httpx.AsyncClient(trust_env=False) as client:
            for protocol, (whole, stream, _, fields) in ASKS.items():
                for streamed in (False, True):
                    path = stream if streamed and stream else whole
                    model = "mistral-large" if protocol == "mistral-chat" else "gpt-5"
                    body = fields if stream else {"model": model, "stream": streamed, **fields}
                    got = await client.post(server.url + path, json=body)
                    half = len(got.content) // 2
                    made[protocol, streamed] = RoundTrip(
                        Request(
                            "POST", f"https://{HOSTS.get(protocol, 'gateway.test')}{path}", (), got.request.content
                        ),
                        Response(
                            got.status_code,
                            headers=tuple(got.headers.items()),
                            content=got.content,
                            chunks=(Chunk(half, 10), Chunk(len(got.content) - half, 20)),
                        ),
                        started_at=1.0,
                        index=4,
                    )
        return made

    return asyncio.run(ask_all())


def test_the_scripted_llm_speaks_every_protocol_of_the_table() -> None:
    assert set(ASKS) == {protocol.name for protocol in built_in() if protocol.edit_targets is not None}


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("protocol", ASKS)
def test_text_tool_arguments_and_finish_are_changed_and_nothing_else(
    protocol: str, streamed: bool, answers: Mapping[tuple[str, bool], RoundTrip]
) -> None:
    trip = answers[protocol, streamed]
    before = read(trip)
    assert before.protocol == protocol and before.emission is not None

    made = trip
    spoken = protocol != "cohere-v2"  # there a plan, and not a text, comes before calls
    for text in (
        'text=Ich höre "auf".',
        'arguments.2={"company":"Acme","tone":"kühl"}',
        "tool.3=send_email",
        f"finish={ASKS[protocol][2]}",
    ):
        if spoken or not text.startswith("text="):
            made = edited(made, parse_edit(text))

    after = read(made)
    assert after.emission is not None and after.finish is not None and before.finish is not None
    assert after.problems == before.problems == ()
    assert after.emission.text == ('Ich höre "auf".' if spoken else before.emission.text)
    first, second, third = after.emission.calls
    assert second.arguments == {"company": "Acme", "tone": "kühl"}
    assert third.name == "send_email"
    old = before.emission.calls
    assert (first, second.id, second.name, third.id, third.arguments) == (
        old[0], old[1].id, old[1].name, old[2].id, old[2].arguments
    )  # fmt: skip
    assert (before.finish.label, after.finish.label) == ("tool_calls", "length") or protocol in {
        "gemini-generate", "ollama-chat", "openai-responses"
    }  # fmt: skip
    assert after.finish.label == "length"
    assert after.usage == before.usage
    assert bool(Exchange(made).events) == streamed
    assert {event.problem for event in Exchange(made).events} <= {None}
    assert made.response is not None
    assert sum(chunk.size for chunk in made.response.chunks) == len(made.response.body)


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_arguments_that_are_not_json_can_be_put_where_the_api_holds_a_string(
    streamed: bool, answers: Mapping[tuple[str, bool], RoundTrip]
) -> None:
    made = read(edited(answers["openai-chat", streamed], parse_edit('arguments={"company":')))

    assert made.emission is not None
    assert made.emission.calls[0].arguments is None
    assert made.emission.calls[0].arguments_raw == '{"company":'


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("protocol", ASKS)
def test_a_pointer_leads_into_the_answer_as_it_is_unstreamed(
    protocol: str, streamed: bool, answers: Mapping[tuple[str, bool], RoundTrip]
) -> None:
    trip = answers[protocol, streamed]
    before = json.loads(document(trip))
    pointer, change = next(_strings(before, ""))

    after = json.loads(document(edited(trip, parse_edit(f"{pointer}=other"))))

    change("other")
    assert after == before


def _strings(value: Any, pointer: str) -> Iterator[tuple[str, Callable[[str], None]]]:
    """The texts that the model said, and how to change them."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if key in ("text", "content", "tool_plan") and isinstance(item, str):
            yield f"{pointer}/{key}", partial(value.__setitem__, key)
        yield from _strings(item, f"{pointer}/{key}")


def test_an_answer_can_be_replaced_whole(answers: Mapping[tuple[str, bool], RoundTrip]) -> None:
    made = with_answer(answers["openai-chat", False], b"{}")

    assert made.response is not None
    assert (made.response.body, sum(chunk.size for chunk in made.response.chunks)) == (b"{}", 2)


def test_a_document_takes_the_place_of_a_streamed_answer_in_frames(
    answers: Mapping[tuple[str, bool], RoundTrip],
) -> None:
    trip = answers["anthropic-messages", True]
    wanted = json.loads(document(trip))
    wanted["content"], wanted["stop_reason"] = [{"type": "text", "text": "No more calls."}], "end_turn"

    made = with_answer(trip, json.dumps(wanted).encode())

    reading = read(made)
    assert Exchange(made).framing == "sse"
    assert reading.emission is not None and reading.finish is not None
    assert (reading.emission.text, reading.emission.calls, reading.finish.label) == ("No more calls.", (), "complete")


def test_bytes_that_are_not_a_document_are_taken_as_they_are(answers: Mapping[tuple[str, bool], RoundTrip]) -> None:
    made = with_answer(answers["openai-chat", True], b"data: {broken\n\n")

    assert made.response is not None
    assert made.response.body == b"data: {broken\n\n"


@pytest.mark.parametrize(
    ("protocol", "streamed", "edit", "said"),
    [
        ("openai-chat", False, "arguments.4={}", "has 3 tool calls; give a number from 1 to 3"),
        ("ollama-chat", False, "arguments=[]", "'[]' is not a JSON object"),
        ("openai-responses", True, "finish=stop", "'stop' is not a finish of this API"),
        ("openai-chat", False, "/choices/1/x=1", "/choices is a list of 1, and '1' is not in it"),
        ("openai-chat", False, "/choice/1=1", "the top has no 'choice' but id"),
        ("openai-chat", False, "/id/x=1", "/id is neither an object nor a list"),
        ("openai-chat", True, "/choices/7/index=1", "/choices is a list of 1, and '7' is not in it"),
    ],
)
def test_what_is_not_there_is_reported(
    protocol: str, streamed: bool, edit: str, said: str, answers: Mapping[tuple[str, bool], RoundTrip]
) -> None:
    with pytest.raises(EditError) as raised:
        edited(answers[protocol, streamed], parse_edit(edit))

    assert said in str(raised.value)


@pytest.mark.parametrize("text", ["text", "words=x", "text.0=x", "", "=x"])
def test_what_is_not_an_edit_is_reported(text: str) -> None:
    with pytest.raises(EditError) as raised:
        parse_edit(text)

    assert "is not WHAT=VALUE" in str(raised.value)
