"""What the API counted and which model, tier and cache it used."""

import re
from collections.abc import Iterator

from turntape.cassettes.regex import regex

from ...wire.exchange import header
from ...wire.json_value import as_array, as_count, as_object, as_text
from ...wire.printable import several
from ...wire.protocols.shared.answers import stream_objects
from ...wire.stream_counts import count_breaks
from ...wire.values import Emission, RequestReading, Usage
from .. import prompt_cache
from ..finding import Severity, Tier
from ..model_names import model_name, other_size, other_size_deployed, same_model
from ..rule import Note, rule
from ..rule_context import RuleContext
from .input_growth import LESS, SHRUNK, is_plain, outgrown, shrunk, stale, summed
from .input_size import overread, underread


@rule(
    "usage-missing",
    "api",
    "info",
    "P",
    says="The answer counts no tokens.",
    fix="Ask for usage where the finding says that the request does not. Else find out what on the way drops the counts: "
    "without them the costs are unknown.",
    not_when=(
        "The answer failed",
        "The answer was cut",
    ),
    aliases=("api-usage-missing",),
)
def usage_missing(context: RuleContext) -> Iterator[Note]:
    usage = context.reading.usage
    if not context.succeeded or context.finish.effective == "cut":
        return
    if usage is not None and (usage.input is not None or usage.output is not None):
        return
    options = as_object(context.parameter("stream_options"))
    unasked = (
        context.request.streamed and context.protocol.requests.usage_on_request and not options.get("include_usage")
    )
    yield Note(
        "the stream counts no tokens, because the request does not ask for usage: set `stream_options.include_usage`"
        if unasked
        else "the answer counts no tokens",
        (f"{context.at} response",),
        layer="client" if unasked else "api",
        key=("usage",),
    )


@rule(
    "api-usage-inconsistent",
    "api",
    "warning",
    "P",
    says="The token counts contradict each other, the answer or the counts before, or are not valid counts.",
    fix="Do not trust the costs of this route; report it to the gateway.",
    not_when=(
        "The history was cut, and the input is smaller",
        "The answer holds thoughts, which the output counts too",
        "No earlier answer of the server has right counts: then it is an info",
        "The counts are those of the turn before, as of a test server: then it is an info",
        "The history holds thoughts, media or the server's own tools, which may be counted once: then it is an info",
        "The request offers tools that the API runs: the input of each of its own rounds is counted",
        "Only thoughts are counted beside an answer: then it is an info",
        "The input grew, and so did the tools, the settings, or what the API holds",
        "The request asks the API to shorten a long history",
    ),
)
def usage_inconsistent(context: RuleContext) -> Iterator[Note]:
    usage = context.reading.usage
    counts = ("counts", (context.exchange.host, context.reading.protocol))
    severity: Severity | None = None if counts in context.run.reported else "info"
    if wrong := context.reading.usage_problems:
        yield Note(
            f"not used for sums: {' '.join(wrong).removesuffix('.')}", (f"{context.at} usage",), severity=severity
        )
    if usage is None or not context.succeeded:
        return
    problem = _contradiction(context, usage)
    mild = None if problem else _all_thought(context, usage) or stale(context, usage) or shrunk(context, usage, SHRUNK)
    if problem or mild:
        yield Note(
            f"the usage contradicts itself: {problem or mild}",
            (f"{context.at} usage",),
            severity=severity if problem and not _repeats(context, usage) else "info",
        )
    elif usage.input and usage.output:
        context.run.reported.add(counts)


def _repeats(context: RuleContext, usage: Usage) -> bool:
    """True for the counts of the turn before."""
    then = context.previous.reading.usage if context.previous is not None else None
    return then is not None and (usage.input, usage.output) == (then.input, then.output)


def _contradiction(context: RuleContext, usage: Usage) -> str | None:
    """What no server can have counted."""
    cached = (usage.cache_read or 0) + (usage.cache_write or 0)
    if usage.input is not None and cached > usage.input:
        return f"{cached} cached tokens are more than the {usage.input} of the whole input"
    if usage.reasoning is not None and usage.output is not None and usage.reasoning > usage.output:
        return f"{usage.reasoning} reasoning tokens are more than the {usage.output} of the whole output"
    if usage.input == 0 and usage.output == 0 and (context.emission.text or context.emission.calls):
        return "all counts are 0 beside an answer"
    smaller = shrunk(context, usage, LESS)
    return (
        _recounted(context)
        or _uncounted(context, usage)
        or _wrong_total(as_object(context.reading.usage_raw), usage)
        or _wrong_parts(context, as_object(context.reading.usage_raw))
        or (smaller if smaller and is_plain(context.request.messages) else None)
        or outgrown(context, usage)
        or summed(context, usage)
        or _overcounted(context, usage)
        or _undercounted(context, usage)
        or underread(context, usage)
        or overread(context, usage)
    )


def _recounted(context: RuleContext) -> str | None:
    """How a stream counts its one answer twice and differently; several rounds of the API have one count each."""
    exchange, emission = context.spoken[0], context.emission
    rounds = as_array(as_object(context.reading.usage_raw).get("iterations"))
    if exchange.framing is None or emission.server_calls or len(emission.choices) > 1 or len(rounds) > 1:
        return None
    if any(tool.server for tool in context.request.tools):
        return None
    return next(count_breaks(body for _, body in stream_objects(exchange)), None)


_SAID = 20
"""Characters. A shorter text may cost no token."""


def _uncounted(context: RuleContext, usage: Usage) -> str | None:
    """What was read or written and is counted as nothing."""
    size = len(context.emission.text.strip())
    if usage.output == 0 and size >= _SAID:
        return f"no output tokens are counted beside an answer of {size:,} characters"
    if usage.input == 0:
        read = sum(len(part.text) for message in context.request.messages for part in message.parts)
        return f"no input tokens are counted for {read:,} characters of history" if read >= _SAID else None
    return None


def _all_thought(context: RuleContext, usage: Usage) -> str | None:
    """How an answer is there and only the thoughts before it are counted. Gemini does so beside its own tools."""
    size = len(context.emission.text.strip())
    if not usage.output or usage.output != usage.reasoning or size < _SAID:
        return None
    tokens = several(usage.output, "output token")
    return f"{tokens}, all of them reasoning, are counted beside an answer of {size:,} characters"


_PER_CALL, _SLACK = 100, 64
"""Tokens that a call may cost beside its name and arguments, and any answer."""


def _overcounted(context: RuleContext, usage: Usage) -> str | None:
    """How the output counts more tokens than the answer has bytes."""
    emission = context.emission
    if usage.output is None or not (usage.reasoning is not None or context.spoken[1].shows_thoughts):
        return None
    if emission.emitted not in ("text", "calls") or emission.server_calls or len(emission.choices) > 1:
        return None
    if emission.reasoning or any(part.kind not in ("text", "call") for part in emission.content):
        return None
    calls = [f"{call.name}{call.arguments_raw}" for call in emission.calls]
    size = len("".join((emission.text, *calls)).encode("utf-8", "replace"))
    tokens = usage.output - (usage.reasoning or 0)
    if tokens <= size + _SLACK + _PER_CALL * len(calls):
        return None
    return f"{tokens:,} output tokens are counted for an answer of {size:,} bytes"


_WORDS, _WORDS_A_TOKEN, _FEW_WORDS = 60, 4, 16
"""So many words are not written in a quarter of as many tokens: a token is a word at most, but for some of two.
A few words are not written in an eighth."""


def _undercounted(context: RuleContext, usage: Usage) -> str | None:
    """How the output counts far fewer tokens than the answer has words."""
    words = _count(context.emission.text)
    if usage.output is None or words < _FEW_WORDS or len(context.emission.choices) > 1:
        return None
    if usage.output * (_WORDS_A_TOKEN if words >= _WORDS else 2 * _WORDS_A_TOKEN) >= words:
        return None
    return f"{several(usage.output, 'output token')} are counted for an answer of {words:,} words"


_WORD = regex(r"(?<!\S)[A-Za-z]+[.,;:!?)]*(?!\S)")


def _count(text: str) -> int:
    """The words of a text. A list of them would take ten times its memory."""
    return sum(1 for _ in _WORD.finditer(text))


_PARTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("total_tokens", ("prompt_tokens", "completion_tokens")),
    ("total_tokens", ("input_tokens", "output_tokens")),
    ("totalTokens", ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")),
    (
        "totalTokenCount",
        ("promptTokenCount", "candidatesTokenCount", "toolUsePromptTokenCount", "thoughtsTokenCount"),
    ),
    ("totalTokenCount", ("promptTokenCount", "responseTokenCount", "toolUsePromptTokenCount", "thoughtsTokenCount")),
)
"""The field of a total, and the fields that it is the sum of."""


def _wrong_total(raw: dict[str, object], usage: Usage) -> str | None:
    """How a total contradicts its parts; parts that an API counts beside the others are allowed."""
    known = None if usage.unexplained else (usage.input or 0) + (usage.output or 0)
    for name, parts in _PARTS:
        total, counts = as_count(raw.get(name)), [as_count(raw.get(part)) for part in parts]
        if total is None or counts[0] is None or counts[1] is None:
            continue
        base = sum(count or 0 for count in counts)
        if total not in (base, base + (usage.reasoning or 0), known):
            return f"the total {total} is not the sum of its parts, {base}"
    return None


def _wrong_parts(context: RuleContext, raw: dict[str, object]) -> str | None:
    """How what was written to a cache contradicts its parts by lifetime; rounds of the API's own tools are counted apart."""
    total, parts = as_count(raw.get("cache_creation_input_tokens")), as_object(raw.get("cache_creation"))
    counts = [count for name in parts if (count := as_count(parts[name])) is not None]
    if total is None or not counts or context.emission.server_calls or sum(counts) == total:
        return None
    return f"the {total} tokens written to the cache are not the sum of their parts, {sum(counts)}"


_NO_MODELS = ("@", "ft:", "projects/", "arn:", "ag_", "ag:", "asst_")
"""How names of deployments, presets, trained models and agents begin."""
_ROUTERS = ("auto", "router", "default", "latest", "alias", "chat", "reasoner")
"""Last words of names that a provider serves by whatever is current."""


@rule(
    "api-model-substituted",
    "api",
    "warning",
    "P",
    says="Another model answered than the one that was requested.",
    fix="Pin the model if the route allows it, or use the model that the answer names.",
    not_when=(
        "A dated snapshot of the requested model answered",
        "The answer spells the same name differently: with a revision, region, vendor or precision, or shortened",
        "The request names a deployment, and not by the name of another size of the model",
        "The request names a router, or an alias that does not state another size",
    ),
)
def model_substituted(context: RuleContext) -> Iterator[Note]:
    asked, served = context.request.model, context.reading.response_model
    iterations = as_array(as_object(context.reading.usage_raw).get("iterations"))
    fallback = any(as_text(as_object(i).get("type")) == "fallback_message" for i in iterations)
    if fallback:
        yield Note(
            "a fallback model finished the turn" + (f"; {asked!r} was requested" if asked else ""),
            (f"{context.at} usage iterations",),
            key=("model", "fallback"),
        )
        return
    if not asked or not served or same_model(asked, served):
        return
    words = re.split(r"[^a-z0-9]+", asked.lower())
    routed = words[-1] in _ROUTERS or asked.startswith("openrouter/")
    before = context.previous
    earlier = before.reading.response_model if before and before.reading.request.model == asked else None
    if before and earlier and not routed and not same_model(earlier, served):
        # Whatever the name means: in the previous turn it meant another model.
        yield Note(
            f"{served!r} answered; {earlier!r} had answered #{before.round_trip.index} under the same name, {asked!r}",
            (f"#{before.round_trip.index} response model {earlier}", f"{context.at} response model {served}"),
            key=("model", asked, served),
        )
        return
    if context.provider.named_deployments or routed or asked.startswith(_NO_MODELS):
        yield from _another_size(context, asked, served)
        return
    # The name of a deployment need not contain any word of the model's name.
    tier: Tier | None = None
    if not set(_words(asked)) & set(_words(served)) and not context.provider.own_models:
        # But one that states the size of the model is not, beside one that states another size.
        if not (model_name(asked).parameters and model_name(served).parameters):
            return
        tier = "S"
    reported, once = context.run.reported, ("api-model-substituted", (asked, served))
    if once not in reported:
        reported.add(once)
        yield Note(
            f"{served!r} answered; {asked!r} was requested",
            (f"{context.at} request model {asked}", f"{context.at} response model {served}"),
            tier=tier,
        )


_LATEST = regex(r"[a-z0-9.]-latest$", re.IGNORECASE)
"""The end of an alias for the newest version of a model; the tag `:latest` of local servers names no version."""


def _another_size(context: RuleContext, asked: str, served: str) -> Iterator[Note]:
    """Another size than the one that an alias, or a deployment with the name of a model, states."""
    if _LATEST.search(asked) and not asked.startswith("openrouter/") and other_size(asked, served):
        what = f"{served!r} answered; {asked!r} was requested, which names another size"
    elif context.provider.named_deployments and other_size_deployed(asked, served):
        what = f"{served!r} answered; the deployment has the name of another model, {asked!r}"
    else:
        return
    yield Note(
        what,
        (f"{context.at} request model {asked}", f"{context.at} response model {served}"),
        tier="S",
        key=("model", asked, served),
    )


def _words(model: str) -> list[str]:
    return [word for word in re.split(r"[^a-z]+", model.lower()) if len(word) > 2]


@rule(
    "api-service-tier-changed",
    "api",
    "info",
    "P",
    says="Another service tier served the request than the one that was requested.",
    fix="Expect the prices and limits of the tier that served it.",
    not_when=(
        "The request asks for `auto`",
        "The request names no tier",
    ),
)
def service_tier(context: RuleContext) -> Iterator[Note]:
    asked = as_text(context.parameter("service_tier"))
    served = as_text(context.exchange.answer_fields.get("service_tier")) or as_text(
        as_object(context.reading.usage_raw).get("service_tier")
    )
    served = served or as_text(streamed_field(context, "service_tier"))
    if (
        asked
        and served
        and asked not in ("auto", "standard_only", served)
        and not (asked == "default" and served == "standard")
    ):
        yield Note(
            f"tier {served!r} served the request; {asked!r} was requested",
            (f"{context.at} request /service_tier", f"{context.at} response service_tier {served}"),
            key=("tier", asked, served),
        )


def streamed_field(context: RuleContext, name: str) -> object:
    for event in context.exchange.events[:2] + context.exchange.events[-2:]:
        body = as_object(event.value)
        for holder in (body, as_object(body.get("response")), as_object(body.get("message"))):
            if name in holder:
                return holder[name]
    return None


@rule(
    "api-cache-drop",
    "api",
    "warning",
    "P",
    says="The cache was hardly read although this request begins with the last one.",
    fix="Check routing and the cache's lifetime; the prefix is unchanged, so the client is not the cause.",
    not_when=(
        "The prefix changed: then the client is to blame",
        "The model changed",
        "A setting changed on which the cache depends: `tool_choice`, thinking, effort",
        "No cache mark of the request looks back as far as what was kept",
        "Fewer tokens were lost than any cache holds",
        "The cache was written behind calls of the API's own tools, which the request does not repeat",
        "The cache may have expired: then it is an info",
        "The API caches automatically and without a guarantee: then it is an info",
    ),
)
def cache_drop(context: RuleContext) -> Iterator[Note]:
    before = context.previous
    if before is None or context.reading.usage is None or before.reading.usage is None:
        return
    then, now = before.reading.usage, context.reading.usage
    kept = then.cache_read or (then.cache_write if context.protocol.caching.on_request else None)
    if not kept or now.cache_read is None or now.input is None or then.input is None:
        return
    if now.cache_read >= 0.5 * kept or now.input < then.input:
        return
    if kept - now.cache_read < prompt_cache.CACHEABLE:
        return
    if before.reading.request.model != context.request.model:
        return
    if context.has(
        "client-cache-prefix-busted", "client-system-prompt-changed", "client-tools-changed", "client-history-truncated"
    ):
        return
    if prompt_cache.settings_changed(context) or prompt_cache.out_of_reach(context):
        return
    if not then.cache_read and _written_behind(before.reading.emission, context.request):
        return
    gap = context.turn.round_trip.started_at - before.round_trip.started_at
    expired = gap > prompt_cache.lifetime(context)
    how = "" if then.cache_read else " were written to it"
    yield Note(
        f"{several(now.cache_read, 'token')} came from the cache, after {kept:,}{how} in "
        f"#{before.round_trip.index}, "
        + (
            f"{gap / 60:.0f} minutes earlier: the cache may have expired"
            if expired
            else "although the prefix is the same"
        ),
        (
            f"#{before.round_trip.index} usage {'cache_read' if then.cache_read else 'cache_write'} {kept}",
            f"{context.at} usage cache_read {now.cache_read}",
        ),
        severity="info" if expired or not context.protocol.caching.on_request else None,
    )


def _written_behind(emission: Emission | None, request: RequestReading) -> bool:
    """True when the API ran tools for the answer, whose calls the request leaves out: it wrote what they returned."""
    served = {call.id for call in emission.server_calls} if emission is not None else set[str | None]()
    return bool(served) and not served <= {call.id for call in request.calls}


def request_id(context: RuleContext) -> str | None:
    """The API's own id of the request, from its headers."""
    response = context.turn.round_trip.response
    if response is None:
        return None
    return header(response.headers, "x-request-id") or header(response.headers, "request-id")


RULES = (
    usage_missing,
    usage_inconsistent,
    model_substituted,
    service_tier,
)
AFTER = (cache_drop,)
"""Run after the rules that compare prefixes."""
