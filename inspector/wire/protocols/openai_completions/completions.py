"""Legacy completions: a prompt in, a text out."""

from ...exchange import Exchange
from ...json_value import Object, add_text, as_array, as_count, as_object, as_text, is_object, parse_json
from ...values import Kind, Message, Part, RequestReading, ResponseReading
from ..openai_chat.answer import FINISH
from ..openai_chat.chat import is_chat_answer
from ..openai_chat.usage import chat_usage
from ..protocol import Protocol
from ..shared.choices import Verdict, choices_of, most_severe
from ..shared.errors import error_in
from ..shared.output_format import chat_format
from ..shared.parts import other_fields, text_part, texts, unread
from ..shared.stated_cost import stated_cost
from ..traits import AnswerRules, Demand, RequestRules
from .api import API
from .not_read import NOT_READ

_KNOWN = frozenset({"model", "prompt", "stream", "max_tokens", "stop"})


def detect(exchange: Exchange) -> Kind | None:
    path = exchange.path.rstrip("/")
    if exchange.method != "POST" or path.endswith("/chat/completions"):
        return None
    if path.endswith("/completions") and not is_chat_answer(exchange):
        return "generation"
    return None


def read_request(exchange: Exchange) -> RequestReading:
    fields = exchange.fields
    prompt = fields.get("prompt")
    prompts = [prompt] if isinstance(prompt, str) else as_array(prompt)
    single = isinstance(prompt, str)
    messages: list[Message] = []
    for i, item in enumerate(prompts):
        if isinstance(item, str):
            pointer = "/prompt" if single else f"/prompt/{i}"
            messages.append(Message("user", (text_part(item, pointer, item),), pointer, item))
    return RequestReading(
        model=as_text(fields.get("model")),
        streamed=fields.get("stream") is True,
        messages=tuple(messages),
        max_output=as_count(fields.get("max_tokens")),
        stop=texts(fields.get("stop")),
        output_format=chat_format(fields),
        parameters=other_fields(fields, _KNOWN),
    )


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    if exchange.framing == "sse":
        return _stream(exchange)
    if not exchange.answer_fields:
        return unread(exchange, "a completion")
    return _body(exchange.answer_fields, ended=True)


def _stream(exchange: Exchange) -> ResponseReading:
    body: Object = {}
    choices: dict[int, Object] = {}
    problems: list[str] = []
    done = False
    for event in exchange.events:
        if event.kind == "comment" or not event.data.strip():
            continue
        if event.data.strip() == b"[DONE]":
            done = True
            continue
        value = parse_json(event.data)
        if not is_object(value):
            problems.append(event.problem or f"An event at byte {event.start} is not a JSON object.")
            continue
        chunk = as_object(value)
        for key, item in chunk.items():
            if key != "choices" and item is not None:
                body[key] = item
        for item in as_array(chunk.get("choices")):
            fields = as_object(item)
            choice = choices.setdefault(as_count(fields.get("index")) or 0, {"text": ""})
            add_text(choice, "text", as_text(fields.get("text")))
            if fields.get("finish_reason"):
                choice["finish_reason"] = fields["finish_reason"]
    body["choices"] = [choices[index] for index in sorted(choices)]
    finished = bool(choices) and all(choice.get("finish_reason") for choice in choices.values())
    return _body(body, ended=done or finished, streamed=True, problems=tuple(problems))


def _body(body: Object, *, ended: bool, streamed: bool = False, problems: tuple[str, ...] = ()) -> ResponseReading:
    choices = [as_object(choice) for choice in as_array(body.get("choices"))]
    parts: list[Part] = []
    for i, choice in enumerate(choices):
        if text := as_text(choice.get("text")):
            parts.append(text_part(text, f"/choices/{i}/text", text))
    words = [as_text(choice.get("finish_reason")) for choice in choices]
    verdicts: list[Verdict] = [(word, FINISH.get(word.lower(), "unknown") if word else None) for word in words]
    raw, label = most_severe(verdicts)
    usage = as_object(body.get("usage"))
    failed = bool(body.get("error")) or not choices
    return ResponseReading(
        text=parts[0].text if parts and parts[0].pointer == "/choices/0/text" else "",
        content=tuple(parts),
        choices=choices_of(parts, verdicts, "/choices"),
        finish_raw=raw,
        finish=label,
        ended=ended,
        usage=chat_usage(usage) if usage else None,
        usage_raw=usage or None,
        stated_cost=stated_cost(body, usage),
        model=as_text(body.get("model")),
        id=as_text(body.get("id")),
        error=error_in(body, in_stream=streamed) if failed else None,
        problems=problems,
    )


OPENAI_COMPLETIONS = Protocol(
    name="openai-completions",
    title="OpenAI Completions (legacy)",
    spec="https://platform.openai.com/docs/api-reference/completions, and openai 3.54.0, read 2026-11-22",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    finish=dict(FINISH),
    not_read=NOT_READ,
    streams=("sse",),
    api=API,
    operation="text_completion",
    requests=RequestRules(
        demands=(
            Demand("answers", ("n",)),
            Demand("questions", ("prompt",)),
            Demand("logprobs", ("logprobs",), shown=("logprobs",)),
        )
    ),
    answers=AnswerRules(holder="choices"),
)
