"""What a round trip says: the values that every protocol reads into.

Four facts about an answer are kept apart, never collapsed: the API's own word (`Finish.raw`), its meaning
(`Finish.label`), what the model produced (`Emission.emitted`), and what a correct client must do next
(`Finish.effective`). `None` is "the wire did not say"; 0 is zero.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from decimal import Decimal
from typing import Literal

from turntape.cassettes.frozen import frozen

from .per_message import Joined
from .shared_tuple import SharedTuple

type Emitted = Literal["text", "calls", "partial_call", "call_as_text", "refusal", "reasoning_only", "empty", "none"]
"""What the model produced; `none` when there was no answer to produce it in (an error, a refused socket)."""

type FinishLabel = Literal[
    "complete",
    "tool_calls",
    "length",
    "context_full",
    "stop_sequence",
    "pause",
    "refusal",
    "content_filter",
    "malformed",
    "limit",
    "error",
    "cancelled",
    "cut",
    "unknown",
]

type Kind = Literal[
    "generation",
    "embeddings",
    "models",
    "files",
    "batches",
    "assistants",
    "count_tokens",
    "moderation",
    "audio",
    "images",
    "rerank",
    "realtime",
    "stored",
    "tools",
    "other",
]
"""What an endpoint is for. `stored` reads, cancels or deletes a stored answer; `tools` are messages between a client
and a tool server; `other` is anything else."""

type PartKind = Literal["text", "reasoning", "call", "result", "refusal", "media", "other"]


@frozen
class ToolCall:
    """A call that the model emitted (in an answer) or that the client sent back (in the history)."""

    name: str
    id: str | None
    arguments: object
    """The parsed arguments, or None when they do not parse (see `arguments_raw`)."""
    arguments_raw: str
    """The arguments as the wire had them, decoded from JSON string escapes only."""
    server: bool = False
    """True for the API's own tools, which the client must not answer."""
    complete: bool = True
    """False when the API marked it incomplete or the stream ended inside it."""
    choice: int = 0
    toolset: str | None = None
    """The family of tools that the name belongs to, where the request offers a family and not each tool."""


@frozen
class ToolResult:
    call_id: str | None
    name: str | None
    is_error: bool
    text: str
    """The result's text; media are named in brackets."""
    server: bool = False
    """True for the result of the API's own tool, which the client does not give but only sends back."""
    program_failed: bool = False
    """True for an error of the program that the model wrote; the tool that ran it worked."""


@frozen
class Part:
    """One piece of a message, with the JSON pointer of the bytes that hold it."""

    kind: PartKind
    pointer: str
    """RFC 6901 pointer into the request body."""
    text: str = ""
    call: ToolCall | None = None
    result: ToolResult | None = None
    signature: str | None = None
    """A signature or encrypted content that must be echoed unchanged."""
    raw: object = None
    """The parsed JSON value that this part was read from."""
    item_id: str | None = None
    """In an answer: the id under which a later request can name the part instead of repeating it. In a request: the
    id of the part of an answer that it names so."""


@frozen
class Message:
    role: Literal["system", "user", "assistant", "tool", "other"]
    parts: tuple[Part, ...]
    pointer: str
    raw: object = None


@frozen
class Tool:
    """A tool that the request offered."""

    name: str
    description: str | None
    schema: object
    """The JSON Schema of its arguments as sent, or None."""
    pointer: str
    server: bool = False
    """True for a tool that the API runs."""
    deferred: bool = False
    """True for a tool whose definition is not in the prompt until the model looks for it (`defer_loading`)."""


@frozen
class ToolChoice:
    mode: Literal["auto", "none", "required", "named"]
    names: tuple[str, ...] = ()


@frozen
class OutputFormat:
    """JSON that the request demands as the text of the answer."""

    pointer: str
    """RFC 6901 pointer to the field that demands it."""
    schema: object = None
    """The JSON Schema as sent, an object; None when any JSON will do."""
    enforced: bool = True
    """False where the request leaves it to the model to follow the schema."""


@frozen
class CacheMark:
    """A place where the request asks the API to keep the prompt up to there in its cache."""

    pointer: str
    """RFC 6901 pointer to the last piece that is kept; empty for the last piece of the prompt, whatever it is."""
    lifetime: str | None = None
    """How long to keep it, in the API's own word: `5m`, `1h`, `30m`; None when the mark does not say."""


@frozen
class RequestReading:
    model: str | None = None
    streamed: bool = False
    """True when the request asks for a stream."""
    system: tuple[Part, ...] = ()
    messages: Sequence[Message] = ()
    """The conversation without the system prompt where the API keeps that apart. It is a tuple, or a `SharedTuple`."""
    tools: tuple[Tool, ...] = ()
    added_tools: tuple[Tool, ...] = ()
    """Tools that the conversation itself defines, beside those of `tools`."""
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    max_output: int | None = None
    stop: tuple[str, ...] = ()
    output_format: OutputFormat | None = None
    """The JSON that the answer's text must be; None when the request leaves its form open."""
    cache_marks: tuple[CacheMark, ...] = ()
    """The cache marks, in the order of the body: tools, system prompt, messages."""
    parameters: dict[str, object] = field(default_factory=dict[str, object])
    """Every other top-level field of the body that is not history, tools or system."""
    previous_id: str | None = None
    """The server-held answer that this request continues (`previous_response_id` and similar)."""
    conversation_id: str | None = None
    """The conversation that the API keeps and to which it adds this request and its answer; then `previous_id` is the
    same."""
    continuation: str | None = None
    """The token of an answer that this request lets the API finish. The request repeats the whole history, unlike one
    with a `previous_id`."""

    @property
    def continues(self) -> str | None:
        """The token or the id of the answer that it continues."""
        return self.continuation or self.previous_id

    @property
    def instructions(self) -> tuple[Part, ...]:
        """The system prompt, wherever the API has it: apart, or as the first messages."""
        return (*self.system, *(part for message in self.messages[: self._leading] for part in message.parts))

    @property
    def conversation(self) -> Sequence[Message]:
        """The messages without the system messages at their beginning."""
        messages = self.messages
        return messages.since(self._leading) if isinstance(messages, SharedTuple) else messages[self._leading :]

    @property
    def _leading(self) -> int:
        return next((i for i, m in enumerate(self.messages) if m.role != "system"), len(self.messages))

    @property
    def results(self) -> Sequence[ToolResult]:
        """All results in the history that the client gave, in order."""
        return _results(self.messages)

    @property
    def calls(self) -> Sequence[ToolCall]:
        """All calls in the history, those of server-side tools included, in order."""
        return _calls(self.messages)

    @property
    def item_ids(self) -> Sequence[str]:
        """The ids of the parts of answers that the request names instead of repeating them, in order."""
        return _item_ids(self.messages)


def _results_of(message: Message) -> list[ToolResult]:
    return [part.result for part in message.parts if part.result is not None and not part.result.server]


def _calls_of(message: Message) -> list[ToolCall]:
    return [part.call for part in message.parts if part.call is not None]


def _item_ids_of(message: Message) -> list[str]:
    return [part.item_id for part in message.parts if part.item_id is not None]


_results, _calls, _item_ids = Joined(_results_of).of, Joined(_calls_of).of, Joined(_item_ids_of).of


@frozen
class Choice:
    """One of several answers to the same request (`n` > 1)."""

    index: int
    """Its place, from 0."""
    finish_raw: str | None
    """The API's own finish word."""
    finish: FinishLabel | None
    content: tuple[Part, ...]

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.content if part.kind == "text")

    @property
    def reasoning(self) -> str:
        return "\n".join(part.text for part in self.content if part.kind == "reasoning" and part.text)

    @property
    def refusal(self) -> str | None:
        return "".join(part.text for part in self.content if part.kind == "refusal") or None

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Its calls that the client must answer."""
        return tuple(part.call for part in self.content if part.call is not None and not part.call.server)


@frozen
class Emission:
    """Layer 1, model."""

    emitted: Emitted = "none"
    text: str = ""
    reasoning: str = ""
    refusal: str | None = None
    calls: tuple[ToolCall, ...] = ()
    """Calls that the client must answer, of all choices, in order."""
    server_calls: tuple[ToolCall, ...] = ()
    signatures: tuple[str, ...] = ()
    """Signatures and encrypted contents that the client must echo."""
    content: tuple[Part, ...] = ()
    """What was emitted in order, pointers into the whole answer (as if it had not been streamed)."""

    @property
    def server_results(self) -> tuple[ToolResult, ...]:
        """What the API's own tools gave, in order."""
        return tuple(part.result for part in self.content if part.result is not None)

    choices: tuple[Choice, ...] = ()
    """Every choice where the answer has several; the text above is that of the first. Empty for a single one."""


@frozen
class Finish:
    """Layer 2, api."""

    raw: str | None
    """The API's own word, verbatim."""
    label: FinishLabel
    effective: FinishLabel
    detail: str | None = None
    """What the answer has beside the word: stop details, incomplete details, a finish message, a native word."""
    prompt_filtered: bool = False
    """True when a filter stopped the prompt, and not the answer."""


type OnlyInTotal = Literal["cached", "thoughts", "sound"]
"""The kind of tokens that an answer counts only in its total."""


@frozen
class Usage:
    """Tokens under one convention, whatever the API's own.

    `input` counts all input tokens, cached ones included; `output` includes `reasoning`.
    """

    input: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    reasoning: int | None = None
    cache_write_1h: int = 0
    """The part of `cache_write` that is kept for an hour, which costs more."""
    input_audio: int = 0
    """The audio tokens in `input`, if the answer counts them."""
    output_audio: int = 0
    input_image: int = 0
    input_video: int = 0
    output_image: int = 0
    output_video: int = 0
    cached_audio: int | None = None
    """The audio tokens in `cache_read`; None when the answer does not count them apart."""
    cached_image: int | None = None
    cached_video: int | None = None
    input_media: int | None = None
    """The tokens of pictures, documents, video and sound in `input`, if the answer counts them apart."""
    web_searches: int = 0
    """Searches by the API, if the answer counts them. Each costs a fee."""
    file_searches: int = 0
    """Searches by the API in stored files. Each costs a fee."""
    rerank_searches: int = 0
    """Searches in the documents of a request, by which reranking is billed."""
    characters: int = 0
    """The characters of a text to be spoken. Some models have a price for these and none for tokens."""
    audio_seconds: float = 0.0
    """The length of a recording that was transcribed. Some models have a price for this and none for tokens."""
    other_fees: tuple[str, ...] = ()
    """What else the API did for a fee, in words, such as `Google Maps`. No price list has a price for these."""
    unexplained: int = 0
    """Tokens that only the answer's total counts. They are added to `input` or `output`, whichever is more likely."""
    problems: tuple[str, ...] = ()
    """Fields that are negative or of a wrong type, one sentence each. They are not used."""


@frozen
class StatedCost:
    """The cost that the answer itself states, in US dollars."""

    amount: Decimal | None
    """None when what it states cannot be an amount."""
    input: Decimal | None = None
    """The part for the input, where the answer states it."""
    problems: tuple[str, ...] = ()
    """Values that cannot be an amount, one sentence each."""


@frozen
class ApiError:
    message: str
    type: str | None = None
    code: str | None = None
    status: int | None = None
    """The status of the response; inside a stream the one that the error names, or that its word means."""
    in_stream: bool = False
    names_status: bool = True
    """False when `status` is only the meaning of the error's word, and no status is on the wire."""


@frozen
class ResponseReading:
    """What a protocol reads out of an answer, before reconciliation."""

    text: str = ""
    reasoning: str = ""
    refusal: str | None = None
    calls: tuple[ToolCall, ...] = ()
    server_calls: tuple[ToolCall, ...] = ()
    signatures: tuple[str, ...] = ()
    content: tuple[Part, ...] = ()
    choices: tuple[Choice, ...] = ()
    finish_raw: str | None = None
    finish: FinishLabel | None = None
    """The label of `finish_raw`; None when the API gave no finish word."""
    finish_detail: str | None = None
    prompt_filtered: bool = False
    """True when the answer says that a filter stopped the prompt, so that the model wrote nothing."""
    ended: bool = False
    """True when the terminal evidence of this protocol was seen (so the answer is not cut)."""
    usage: Usage | None = None
    usage_raw: object = None
    stated_cost: StatedCost | None = None
    """The cost that the answer states; None when it states none."""
    price_terms: Mapping[str, str] = field(default_factory=dict[str, str])
    """Terms of the answer that change its price: `service_tier`, `speed`."""
    cache_diagnosis: str | None = None
    """Why the prompt's cache was not read whole, in the API's own word; None where it does not say."""
    model: str | None = None
    id: str | None = None
    continuation: str | None = None
    """A token with which a later request continues this answer."""
    error: ApiError | None = None
    problems: tuple[str, ...] = ()
    other_content: bool = False
    """True when something was emitted that is neither text, call, reasoning nor refusal (images, audio)."""


@frozen
class Reading:
    """A round trip, read. Outside generation the layers are None."""

    protocol: str
    """A name of the registry, or `unknown`."""
    provider: str | None
    kind: Kind
    streamed: bool
    """True when the answer came as a stream."""
    request: RequestReading
    emission: Emission | None
    finish: Finish | None
    usage: Usage | None
    error: ApiError | None
    response_model: str | None = None
    response_id: str | None = None
    continuation: str | None = None
    """A token with which a later request continues this answer."""
    usage_raw: object = None
    stated_cost: StatedCost | None = None
    price_terms: Mapping[str, str] = field(default_factory=dict[str, str])
    cache_diagnosis: str | None = None
    """Why the prompt's cache was not read whole, in the API's own word; None where it does not say."""
    problems: tuple[str, ...] = ()
    """What could not be read, one sentence each."""

    @property
    def usage_problems(self) -> tuple[str, ...]:
        """Counts and costs in the answer that are negative or of a wrong type, one sentence each."""
        usage, stated = self.usage, self.stated_cost
        return (*(usage.problems if usage else ()), *(stated.problems if stated else ()))

    @property
    def answer_ids(self) -> tuple[str, ...]:
        """The ids and tokens by which a later request can continue this answer."""
        names = (self.response_id, self.continuation, self.request.conversation_id)
        return tuple(name for name in names if name)

    @property
    def is_generation(self) -> bool:
        return self.kind == "generation"
