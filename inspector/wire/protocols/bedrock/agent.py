"""Amazon Bedrock agents and knowledge bases: the question, the answer, and the calls that the client must run.

What an agent does itself is only in its traces, of which the counts of tokens are read.
"""

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterator
from dataclasses import field

from turntape.cassettes.excerpts import cut
from turntape.cassettes.frozen import mutable
from turntape.cassettes.regex import regex

from ...exchange import Exchange
from ...json_value import Object, as_object, as_text, compact, objects_in
from ...values import (
    ApiError,
    FinishLabel,
    Kind,
    Message,
    Part,
    RequestReading,
    ResponseReading,
    ToolCall,
    ToolResult,
    Usage,
)
from ..protocol import Protocol
from ..shared.answers import answer, objects, posts, prompt_message, stream_error, summed
from ..shared.counts import Counts
from ..shared.parts import call_part, media_part, other_fields, text_of, text_part, unread
from ..traits import AnswerRules, Pairing
from .not_read import AGENT_NOT_READ

_AGENT = regex(r"/agents/([^/]+)/agentAliases/[^/]+/sessions/([^/]+)/text$")


def detect(exchange: Exchange) -> Kind | None:
    if exchange.method == "POST" and _AGENT.search(exchange.path.rstrip("/")):
        return "generation"
    return "generation" if posts(exchange, "/retrieveAndGenerate", "/retrieveAndGenerateStream") else None


def read_request(exchange: Exchange) -> RequestReading:
    fields = exchange.fields
    found = _AGENT.search(exchange.path.rstrip("/"))
    asked = as_text(fields.get("inputText"))
    pointer = "/inputText" if asked is not None else "/input/text"
    config = as_object(fields.get("retrieveAndGenerateConfiguration"))
    named = (as_text(as_object(value).get("modelArn")) for value in config.values())
    return RequestReading(
        model=next((model for model in named if model), f"agent/{found[1]}" if found else None),
        streamed=bool(found) or exchange.path.rstrip("/").endswith("Stream"),
        messages=(
            *_results(as_object(fields.get("sessionState"))),
            *prompt_message(asked if asked is not None else as_object(fields.get("input")).get("text"), pointer),
        ),
        parameters=other_fields(fields, frozenset({"inputText", "input", "sessionState"})),
        previous_id=found[2] if found else as_text(fields.get("sessionId")),
    )


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    if exchange.framing is None:
        return _whole(exchange)
    draft = AgentDraft()
    for name, event in objects(exchange.events, draft.problems):
        draft.add(name, event)
    failed = exchange.round_trip.failure is not None
    return draft.answer(request.previous_id, ended=not failed, error=stream_error(exchange.events))


def _whole(exchange: Exchange) -> ResponseReading:
    body = exchange.answer_fields
    if not body:
        return unread(exchange, "an answer of an agent")
    draft = AgentDraft()
    draft.add("output", as_object(body.get("output")))
    draft.add("guardrail", {"action": body.get("guardrailAction")})
    return draft.answer(as_text(body.get("sessionId")), ended=exchange.round_trip.failure is None, error=None)


@mutable
class AgentDraft:
    """What the events of an answer add up to."""

    texts: list[str] = field(default_factory=list[str])
    calls: list[Part] = field(default_factory=list[Part])
    files: list[Part] = field(default_factory=list[Part])
    usages: list[Usage] = field(default_factory=list[Usage])
    """The tokens of each request to the model, where traces are on."""
    action: str | None = None
    """What a guardrail did."""
    problems: list[str] = field(default_factory=list[str])

    def add(self, name: str, event: Object) -> None:
        """Take in one event."""
        match name:
            case "chunk":
                self.texts.append(_decoded(as_text(event.get("bytes")) or "", self.problems))
            case "output":
                self.texts.append(as_text(event.get("text")) or "")
            case "guardrail":
                self.action = as_text(event.get("action"))
            case "returnControl":
                self.calls += _calls(event)
            case "files":
                for place, file in enumerate(objects_in(event.get("files"))):
                    self.files.append(media_part(as_text(file.get("type")) or "file", f"/files/{place}", file))
            case "trace":
                self.usages += _usages(event.get("trace"))
            case _:
                pass

    def answer(self, session: str | None, *, ended: bool, error: ApiError | None) -> ResponseReading:
        """The answer of this session. There is no finish word, so only its content shows that it has ended."""
        text = "".join(self.texts)
        said = [text_part(text, "/output/text", text)] if text else []
        label: FinishLabel | None = "content_filter" if self.action == "INTERVENED" else None
        return answer(
            [*said, *self.files, *self.calls],
            finish_raw=self.action if label else None,
            finish=label or ("tool_calls" if self.calls else None),
            ended=ended and bool(text or self.calls),
            usage=_summed(self.usages) if self.usages else None,
            id=session,
            error=error,
            problems=self.problems,
        )


def _calls(event: Object) -> list[Part]:
    """The functions and API operations that the client must run; results name them by action group and name."""
    parts: list[Part] = []
    invocation = as_text(event.get("invocationId")) or ""
    for place, value in enumerate(objects_in(event.get("invocationInputs"))):
        for kind in ("functionInvocationInput", "apiInvocationInput"):
            if given := as_object(value.get(kind)):
                arguments: Object = {
                    as_text(one.get("name")) or "": one.get("value") for one in objects_in(given.get("parameters"))
                }
                if body := as_object(given.get("requestBody")):
                    arguments["requestBody"] = body
                call = ToolCall(_name(given), _call_id(invocation, given), arguments, compact(arguments))
                parts.append(call_part(call, f"/returnControl/invocationInputs/{place}/{kind}", value))
    return parts


def _name(given: Object) -> str:
    """A function's name, or the method and the path of an API operation."""
    operation = " ".join(filter(None, (as_text(given.get("httpMethod")), as_text(given.get("apiPath")))))
    return as_text(given.get("function")) or operation


def _call_id(invocation: str, given: Object) -> str:
    return "/".join((invocation, as_text(given.get("actionGroup")) or "", _name(given)))


def _results(state: Object) -> list[Message]:
    """The results that the client sends for the calls of the answer before."""
    messages: list[Message] = []
    invocation = as_text(state.get("invocationId")) or ""
    for place, value in enumerate(objects_in(state.get("returnControlInvocationResults"))):
        for kind in ("functionResult", "apiResult"):
            if given := as_object(value.get(kind)):
                pointer = f"/sessionState/returnControlInvocationResults/{place}/{kind}"
                bodies = as_object(given.get("responseBody")).values()
                text = "\n".join(text_of(as_object(body).get("body")) for body in bodies)
                failed = given.get("responseState") is not None
                result = ToolResult(_call_id(invocation, given), _name(given), failed, text)
                part = Part("result", pointer, text=text, result=result, raw=value)
                messages.append(Message("tool", (part,), pointer, value))
    return messages


def _usages(trace: object) -> Iterator[Usage]:
    """The counts in a trace, wherever it has them: each step of an agent has its own kind of trace."""
    for value in as_object(trace).values():
        metadata = as_object(as_object(as_object(value).get("modelInvocationOutput")).get("metadata"))
        if usage := as_object(metadata.get("usage")):
            counts = Counts(usage)
            yield Usage(counts.first("inputTokens"), output=counts.first("outputTokens"), problems=counts.problems)


def _summed(usages: list[Usage]) -> Usage:
    problems = tuple(problem for usage in usages for problem in usage.problems)
    given, said = summed(*(usage.input for usage in usages)), summed(*(usage.output for usage in usages))
    return Usage(given, output=said, problems=problems)


def _decoded(encoded: str, problems: list[str]) -> str:
    try:
        return b64decode(encoded, validate=True).decode("utf-8", "replace")
    except (Base64Error, ValueError):
        problems.append(f"A chunk is not base64: it begins {cut(encoded, 20)!r}.")
        return ""


BEDROCK_AGENT = Protocol(
    name="bedrock-agent",
    title="Amazon Bedrock agents",
    spec="https://docs.aws.amazon.com/bedrock/latest/APIReference/API_agent-runtime_InvokeAgent.html, "
    "and botocore 1.44.5, read 2026-11-22",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    finish={"INTERVENED": "content_filter"},
    not_read=AGENT_NOT_READ,
    streams=("aws-event-stream",),
    pairing=Pairing(anywhere=True),
    answers=AnswerRules(has_word_for_calls=False),
)
