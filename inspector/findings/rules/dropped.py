"""What a server dropped of a request that it answered: the beginning of the prompt, or reasoning."""

from collections.abc import Iterator

from ...wire.json_value import as_array, as_count, as_object, as_text
from ...wire.printable import several
from ..model_words import asks_nothing
from ..rule import Note, rule
from ..rule_context import RuleContext
from .errors import failure_place
from .usage import streamed_field

_MOST_CHARACTERS_PER_TOKEN = 8


@rule(
    "api-prompt-truncated-silently",
    "api",
    "error",
    "S",
    says="The server read fewer tokens than the request contains: it dropped the rest and answered anyway.",
    fix="Raise `num_ctx` (Ollama) or the server's context length; servers drop the beginning of the prompt first.",
    not_when=(
        "The request holds images",
        "The server had the prompt in its cache and does not count it",
    ),
)
def prompt_truncated(context: RuleContext) -> Iterator[Note]:
    said, usage = context.rejection, context.reading.usage
    if said is not None and "api-prompt-truncated-silently" in said.ids:
        if asks_nothing(context.turn):
            return  # The server has nothing to drop: the client sent no question.
        yield Note(f"the server dropped the prompt: {said.text}", (failure_place(context.turn),))
    elif usage is None or not usage.input or not context.succeeded:
        return
    elif context.parameter("truncation") == "auto":
        yield from _truncated_on_request(context, usage.input)
    elif context.protocol.answers.drops_prompt_silently or _local(context):
        yield from _half_a_window(context, usage.input) or _too_few_tokens(context, usage.input)


def _truncated_on_request(context: RuleContext, tokens: int) -> Iterator[Note]:
    before = context.previous
    then = before.reading.usage.input if before is not None and before.reading.usage else None
    grew = context.request.previous_id is not None or len(context.request.messages) > (
        context.turn.messages_before or 0
    )
    if then and tokens < 0.8 * then and grew:
        yield Note(
            f"{tokens:,} input tokens after {then:,} although the history grew: `truncation: auto` dropped items",
            (f"{context.at} usage input {tokens}", f"{context.at} request /truncation"),
        )


def _half_a_window(context: RuleContext, tokens: int) -> list[Note]:
    """A count that fell to half of a window, which is what Ollama keeps of a prompt that exceeds the window."""
    before, echo = context.previous, context.echo
    then = before.reading.usage.input if before is not None and before.reading.usage else None
    window = as_count(as_object(context.parameter("options")).get("num_ctx"))
    if not then or tokens >= then or echo is None or echo.removed or echo.state == "held":
        return []
    windows = [window] if window else [2**power for power in range(11, 21)]
    if not any(half <= tokens <= half + _KEPT for half in (one // 2 for one in windows)):
        return []
    return [
        Note(
            f"the server counted {tokens:,} input tokens after {then:,}, although the history grew: "
            "that is the half of a window, which is what the server keeps of a longer prompt",
            (f"{context.at} usage input {tokens}", f"{context.at} request"),
        )
    ]


_KEPT = 4
"""Tokens that the server keeps of the beginning beside the half (https://github.com/ollama/ollama/issues/17427, read
2026-11-23)."""


def _too_few_tokens(context: RuleContext, tokens: int) -> Iterator[Note]:
    parts = [part for message in context.request.messages for part in message.parts]
    if any(part.kind == "media" for part in parts):
        return
    size = sum(len(part.text) or (len(part.call.arguments_raw) if part.call else 0) for part in parts)
    least = size / _MOST_CHARACTERS_PER_TOKEN
    if least > 1000 and tokens < least:
        yield Note(
            f"the server counted {tokens:,} input tokens for {size:,} characters of history: most of it was dropped",
            (f"{context.at} usage input {tokens}", f"{context.at} request"),
        )


def _local(context: RuleContext) -> bool:
    host = context.exchange.host
    is_local = context.provider.local or context.reading.provider is None
    return host in ("localhost", "127.0.0.1", "::1") and is_local


@rule(
    "reasoning-removed",
    "api",
    "warning",
    "P",
    says="The API says that it removed reasoning from the request, and why.",
    fix="Send histories back unchanged, to the same model and organization; a `prefix` reason means a changed history.",
    aliases=("api-reasoning-dropped-by-server",),
)
def reasoning_dropped_by_server(context: RuleContext) -> Iterator[Note]:
    entries = as_array(context.exchange.answer_fields.get("input_transformations")) or as_array(
        streamed_field(context, "input_transformations")
    )
    for entry in entries[:1]:
        fields = as_object(entry)
        reason = as_text(fields.get("reason")) or "unknown"
        where = as_text(fields.get("path")) or ""
        client = "prefix" in reason or "model" in reason
        yield Note(
            f"the API removed {several(len(entries), 'reasoning block')} from the request: {reason} {where}".strip(),
            (f"{context.at} response input_transformations", f"{context.at} request {where}"),
            layer="client" if client else "api",
        )


RULES = (prompt_truncated, reasoning_dropped_by_server)
