"""Answers in the shape of Anthropic Messages: a stream is joined into one message."""

from dataclasses import field

from turntape.cassettes.framing import Event
from turntape.cassettes.frozen import mutable

from ...exchange import Exchange
from ...json_value import Object, add_text, as_array, as_count, as_object, as_text, is_json, is_object, parse_json
from ...values import ApiError, FinishLabel, Part, ResponseReading, Usage
from ..shared.cache_marks import cache_diagnosis
from ..shared.cached_input import whole_input
from ..shared.counts import Counts, later_usage
from ..shared.errors import error_in
from ..shared.parts import unread
from ..shared.piece_names import grow
from ..shared.stated_cost import merge_stated, price_terms, stated_cost
from .request import read_blocks

FINISH: dict[str, FinishLabel] = {
    "end_turn": "complete",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "stop_sequence": "stop_sequence",
    "pause_turn": "pause",
    "compaction": "pause",
    "refusal": "refusal",
    "model_context_window_exceeded": "context_full",
}


def read_anthropic_answer(exchange: Exchange) -> ResponseReading:
    """The answer of a messages endpoint."""
    if exchange.framing == "sse":
        return read_anthropic_stream(exchange.events)
    body = exchange.answer_fields
    if body.get("type") == "error" or (body.get("error") and "content" not in body):
        return ResponseReading(error=error_in(body), ended=True, id=as_text(body.get("request_id")))
    if "content" not in body and "stop_reason" not in body:
        if body and (found := error_in(body)) is not None:
            return ResponseReading(error=found, ended=True)
        return unread(exchange, "a message")
    return read_anthropic_message(body)


def read_anthropic_message(
    message: Object,
    *,
    ended: bool = True,
    cut: frozenset[int] = frozenset(),
    error: ApiError | None = None,
    problems: tuple[str, ...] = (),
) -> ResponseReading:
    """A whole message; `cut` are the blocks that a stream ended inside."""
    parts = read_blocks(message.get("content"), "/content", cut)
    raw = as_text(message.get("stop_reason"))
    usage = as_object(message.get("usage"))
    texts = [p.text for p in parts if p.kind == "text"]
    return ResponseReading(
        text="".join(texts),
        reasoning="\n".join(p.text for p in parts if p.kind == "reasoning" and p.text),
        refusal=_refusal(message) if raw == "refusal" else None,
        calls=tuple(p.call for p in parts if p.call is not None and not p.call.server),
        server_calls=tuple(p.call for p in parts if p.call is not None and p.call.server),
        signatures=tuple(p.signature for p in parts if p.signature),
        content=tuple(parts),
        finish_raw=raw,
        finish=FINISH.get(raw, "unknown") if raw else None,
        finish_detail=_detail(message),
        ended=ended,
        usage=anthropic_usage(usage) if usage else None,
        usage_raw=message.get("usage") or None,
        stated_cost=stated_cost(message, usage),
        price_terms=price_terms(usage),
        cache_diagnosis=cache_diagnosis(message),
        model=as_text(message.get("model")),
        id=as_text(message.get("id")),
        error=error,
        problems=problems,
        other_content=any(_is_other(part) for part in parts),
    )


def _is_other(part: Part) -> bool:
    return part.kind in ("media", "other", "result") and as_object(part.raw).get("type") != "fallback"


def _refusal(message: Object) -> str | None:
    return as_text(as_object(message.get("stop_details")).get("explanation"))


def _detail(message: Object) -> str | None:
    details = as_object(message.get("stop_details"))
    words = [as_text(message.get("stop_sequence")), as_text(details.get("category"))]
    words.append(as_text(details.get("explanation")))
    return ": ".join(word for word in words if word) or None


def anthropic_usage(usage: Object) -> Usage:
    """Anthropic counts uncached input, cache reads and cache writes separately; `input` is their sum.

    Only other servers of this API state a total.
    """
    counts = Counts(usage)
    fresh = counts.first("input_tokens")
    read = counts.first("cache_read_input_tokens")
    written = counts.first("cache_creation_input_tokens")
    output = counts.first("output_tokens")
    total = counts.first("total_tokens")
    return Usage(
        None if fresh is None else whole_input(fresh, (read or 0) + (written or 0), output or 0, total),
        read,
        written,
        output,
        counts.first("output_tokens_details.thinking_tokens"),
        cache_write_1h=min(written or 0, counts.first("cache_creation.ephemeral_1h_input_tokens") or 0),
        web_searches=counts.first("server_tool_use.web_search_requests") or 0,
        problems=counts.problems,
    )


def read_anthropic_stream(events: list[Event]) -> ResponseReading:
    """Reads a stream. A stop reason ends it, even when `message_stop` was lost."""
    draft = MessageDraft()
    for event in events:
        if event.kind == "comment" or event.data.strip() in (b"", b"[DONE]"):
            continue
        value = event.value
        if event.kind in ("field", "exception"):
            draft.error = draft.error or error_in(value, in_stream=True, kind=event.name)
        elif is_object(value):
            draft.add(as_object(value), event.name)
        elif event.name == "error":
            text = event.data.decode("utf-8", "replace")
            draft.error = draft.error or error_in(text, in_stream=True)
        else:
            draft.problems.append(event.problem or f"An event at byte {event.start} is not a JSON object.")
    return draft.read()


def _is_another_call(block: Object, start: Object) -> bool:
    """Whether a block that begins is a call, and what began under its number before is another one."""
    calls = (one.get("id") for one in (block, start) if one.get("type") == "tool_use")
    return len({name for name in calls if name}) > 1


@mutable
class MessageDraft:
    """A message of which some events have come."""

    message: Object = field(default_factory=dict[str, object])
    blocks: dict[int, Object] = field(default_factory=dict[int, dict[str, object]])
    fragments: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    texts: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    begun: set[int] = field(default_factory=set[int])
    moved: dict[int, int] = field(default_factory=dict[int, int])
    """By number: where the newest call is that began under the number of another one."""
    open: set[int] = field(default_factory=set[int])
    stopped: bool = False
    error: ApiError | None = None
    problems: list[str] = field(default_factory=list[str])

    def add(self, event: Object, name: str = "") -> None:
        """Take in one event; `name` counts where the body has no type."""
        kind = as_text(event.get("type")) or name
        merge_stated(self.message, event)
        match kind:
            case "message_start":
                message = as_object(event.get("message"))
                self._begin(as_text(message.get("id")))
                self._usage(message.get("usage"))
                usage = self.message.get("usage")
                self.message.update({k: v for k, v in message.items() if k not in ("usage", "content")})
                if usage:
                    self.message["usage"] = usage
                for i, block in enumerate(as_array(message.get("content"))):
                    self.blocks[i] = dict(as_object(block))
            case "content_block_start":
                index = as_count(event.get("index"))
                index = len(self.blocks) if index is None else index
                block = as_object(event.get("content_block"))
                if index in self.begun:
                    self.problems.append(f"Content block {index} begins a second time.")
                    if _is_another_call(self.blocks[self.moved.get(index, index)], block):
                        self.moved[index] = max(self.blocks) + 1
                self.begun.add(index)
                index = self.moved.get(index, index)
                self.blocks[index] = dict(block)
                self.open.add(index)
            case "content_block_delta":
                self._delta(self._index(event), as_object(event.get("delta")))
            case "content_block_stop":
                self.open.discard(self._index(event))
            case "message_delta":
                delta = as_object(event.get("delta"))
                self.message.update({k: v for k, v in delta.items() if v is not None})
                self._usage(event.get("usage"))
                if context := event.get("context_management"):
                    self.message["context_management"] = context
            case "message_stop":
                self.stopped = True
            case "error":
                self.error = self.error or error_in(event, in_stream=True)
            case _:
                if kind != "ping" and event.get("error"):
                    self.error = self.error or error_in(event, in_stream=True)

    def _begin(self, name: str | None) -> None:
        """Note that a message with this id begins; some gateways send the start of one message twice."""
        known = self.message.get("id")
        if known and name and known != name:
            self.problems.append(f"A second message begins in the stream: {name!r} after {known!r}.")

    def _index(self, event: Object) -> int:
        """The number of the block that an event is of; of the last one when it has none."""
        index = as_count(event.get("index"))
        return max(self.blocks, default=0) if index is None else self.moved.get(index, index)

    def _usage(self, usage: object) -> None:
        if any(count is not None for count in as_object(usage).values()):
            self.message["usage"] = later_usage(as_object(self.message.get("usage")), usage)

    def _delta(self, index: int, delta: Object) -> None:
        kind = as_text(delta.get("type")) or ""
        if index not in self.blocks:
            self.problems.append(f"Content block {index} has deltas and no start.")
            types = {"input_json_delta": "tool_use", "thinking_delta": "thinking"}
            self.blocks[index] = {"type": types.get(kind, "text")}
            self.open.add(index)
        block = self.blocks[index]
        match kind:
            case "input_json_delta":
                self.fragments.setdefault(index, []).append(as_text(delta.get("partial_json")) or "")
            case "text_delta":
                self.texts.setdefault(index, []).append(as_text(delta.get("text")) or "")
                add_text(block, "text", as_text(delta.get("text")))
            case "citations_delta":
                block["citations"] = [*as_array(block.get("citations")), delta.get("citation")]
            case _:
                # thinking_delta, signature_delta, compaction_delta: fields that go on.
                for key, value in delta.items():
                    if key != "type" and isinstance(value, str):
                        add_text(block, key, value)

    def _block(self, index: int) -> Object:
        block = self.blocks[index]
        raw = "".join(self.fragments.get(index, ()))
        if not raw:
            return block
        if is_json(raw):
            return {**block, "input": parse_json(raw), "input_raw": raw}
        return {**block, "input": raw}

    def read(self) -> ResponseReading:
        """The message as far as it came."""
        if any(map(grow, (*self.texts.values(), *self.fragments.values()))):
            self.problems.append("Each piece of a content block repeats all pieces before it.")
        order = sorted(self.blocks)
        ended = self.stopped or bool(self.message.get("stop_reason"))
        cut = frozenset(i for i, index in enumerate(order) if index in self.open)
        message = {**self.message, "content": [self._block(index) for index in order]}
        # Some gateways leave out the stop of a block but end the message; then nothing was cut.
        cut = frozenset[int]() if self.stopped else cut
        return read_anthropic_message(message, ended=ended, cut=cut, error=self.error, problems=tuple(self.problems))
