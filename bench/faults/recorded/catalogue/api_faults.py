"""Layer 2 in recorded loops: labels, errors, counts, ids and streams that the API gets wrong."""

from collections.abc import Callable
from copy import deepcopy

from turntape.cassettes.tape.model import Failure

from ..loops import Loop, Turn
from ..shapes import Place
from .edits import (
    attempts,
    calling,
    change_call,
    cut,
    end,
    fails,
    has_text,
    last,
    parallel,
    pick,
    results_for,
    sibling,
    stop_after,
)
from .table import Places, Table

API = Table()
ENDS = "client-treated-truncated-as-final client-no-retry-on-transient client-tool-calls-not-dispatched"


# Finish words


@API("calls under the word for a complete answer", "api", "api-finish-label-disagrees")
def calls_under_stop(loop: Loop) -> Places:
    if "calls" not in loop.shape.FINISH:
        return None
    place = pick(loop, calling(loop), "stop")
    assert place is not None
    loop.shape.finish(loop.turns[place].answer).set(loop.shape.FINISH["stop"])
    return {place}


@API("text under the word for calls", "api", "api-finish-label-disagrees")
def text_under_calls(loop: Loop) -> Places:
    if "calls" not in loop.shape.FINISH or not has_text(loop):
        return None
    loop.shape.finish(last(loop).answer).set(loop.shape.FINISH["calls"])
    return {end(loop)}


@API("no finish word", "api", "api-finish-missing api-stream-cut")
def no_word(loop: Loop) -> Places:
    if loop.shape.protocol in ("openai-responses", "gemini-interactions") or not has_text(loop):
        return None
    loop.shape.finish(last(loop).answer).set(None)
    return {end(loop)}


@API("cut off at the output cap", "api", "api-length-truncated", also=ENDS)
def capped(loop: Loop) -> Places:
    if not has_text(loop):
        return None
    answer = last(loop).answer
    if loop.shape.protocol == "openai-responses":
        loop.shape.finish(answer).set("incomplete")
        for whole in _wholes(last(loop)):
            whole["incomplete_details"] = {"reason": "max_output_tokens"}
    elif "length" in loop.shape.FINISH:
        loop.shape.finish(answer).set(loop.shape.FINISH["length"])
    else:
        return None
    return {end(loop)}


def _wholes(turn: Turn) -> list[dict[str, object]]:
    values = turn.answer.values
    return [v["response"] if isinstance(v.get("response"), dict) else v for v in values]


@API("a call cut off at the output cap", "api", "api-length-truncated-tool-call", also=ENDS)
def capped_call(loop: Loop) -> Places:
    place = pick(loop, calling(loop), "capped")
    assert place is not None
    turn = loop.turns[place]
    if loop.shape.protocol == "openai-responses":
        loop.shape.finish(turn.answer).set("incomplete")
        for whole in _wholes(turn):
            whole["incomplete_details"] = {"reason": "max_output_tokens"}
    elif "length" in loop.shape.FINISH:
        loop.shape.finish(turn.answer).set(loop.shape.FINISH["length"])
    else:
        return None
    stop_after(loop, place)
    return {place}


@API("stopped by a filter", "api", "api-content-filter", also=ENDS)
def filtered(loop: Loop) -> Places:
    if "filter" not in loop.shape.FINISH or not has_text(loop):
        return None
    loop.shape.finish(last(loop).answer).set(loop.shape.FINISH["filter"])
    return {end(loop)}


# What the server should enforce


@API("no call although one was required", "api", "tool-choice-violated")
def choice_ignored(loop: Loop) -> Places:
    turn = last(loop)
    if not has_text(loop) or not loop.shape.tools(turn.request) or not loop.full:
        return None
    return {end(loop)} if loop.shape.tool_choice(turn.request) else None


@API("parallel calls although they were forbidden", "api", "parallel-calls-when-forbidden")
def parallel_anyway(loop: Loop) -> Places:
    place = pick(loop, parallel(loop), "parallel")
    if place is None or not all(loop.shape.one_call_only(turn.request) for turn in loop.turns):
        return None
    return {place}


# Ids, indexes, counts, models


@API("two calls of one answer under one id", "api", "api-duplicate-tool-call-id",
     also="client-duplicated-call client-missing-tool-result client-duplicate-tool-result")  # fmt: skip
def one_id(loop: Loop) -> Places:
    place = pick(loop, parallel(loop), "one id")
    if place is None or not loop.shape.with_ids or not loop.full:
        return None
    first, second = loop.shape.answered(loop.turns[place].answer)[:2]
    identity, results = first.identity, results_for(loop, place, 1)
    if not identity or not results or not change_call(loop, place, 1, lambda c: c.id.set(identity)):
        return None
    for _, result in results:
        assert result.id is not None
        result.id.value = identity
    return {place}


@API("the id of an earlier call again", "api", "api-duplicate-tool-call-id",
     also="client-duplicated-call client-missing-tool-result client-duplicate-tool-result")  # fmt: skip
def earlier_id(loop: Loop) -> Places:
    places = calling(loop)
    if len(places) < 2 or not loop.shape.with_ids or not loop.full:
        return None
    identity = loop.shape.answered(loop.turns[places[0]].answer)[0].identity
    results = results_for(loop, places[-1], 0)
    if not identity or not results or not change_call(loop, places[-1], 0, lambda c: c.id.set(identity)):
        return None
    for _, result in results:
        assert result.id is not None
        result.id.value = identity
    return {places[0], places[-1]}


@API("a call with an empty id", "api", "api-call-without-id", also="client-empty-content client-missing-tool-result")
def empty_id(loop: Loop) -> Places:
    place = pick(loop, [p for p in calling(loop) if p not in parallel(loop)], "empty id")
    if place is None or not loop.shape.with_ids or not loop.full:
        return None
    results = results_for(loop, place, 0)
    if not results or not change_call(loop, place, 0, lambda c: c.id.set("")):
        return None
    for _, result in results:
        assert result.id is not None
        result.id.value = ""
    return {place}


@API("all calls of a stream at one index", "api", "api-tool-call-index-collision", also="call-args-not-json")
def one_index(loop: Loop) -> Places:
    places = [p for p in parallel(loop) if len({i.value for i in loop.shape.indexes(loop.turns[p].answer)}) > 1]
    place = pick(loop, places, "index")
    if place is None:
        return None
    for index in loop.shape.indexes(loop.turns[place].answer):
        index.value = 0
    return {place}


@API("no counts", "api", "usage-missing")
def no_usage(loop: Loop) -> Places:
    place = pick(loop, list(range(len(loop.turns))), "usage")
    assert place is not None
    counts = loop.shape.usage(loop.turns[place].answer)
    for count in counts:
        del count.holder[count.key]
    for event in loop.turns[place].answer.values:
        event.pop("amazon-bedrock-invocationMetrics", None)
    loop.turns[place].without = ("token-count",)
    return {place} if counts else None


NEGATIVE = ("prompt_tokens", "input_tokens", "promptTokenCount", "inputTokens", "tokens", "total_input_tokens")


@API("a negative count", "api", "api-usage-inconsistent")
def negative(loop: Loop) -> Places:
    place = pick(loop, list(range(len(loop.turns))), "negative")
    assert place is not None
    counts = [c.value for c in loop.shape.usage(loop.turns[place].answer) if isinstance(c.value, dict)]
    done = False
    for count in counts:
        inner = count["tokens"] if isinstance(count.get("tokens"), dict) else count
        for name in NEGATIVE:
            if isinstance(inner.get(name), int | float) and inner[name] > 0:
                inner[name] = -5
                done = True
    return {place} if done else None


@API("the input counts as nothing", "api", "api-usage-inconsistent")
def uncounted(loop: Loop) -> Places:
    done = False
    for count in (place.value for place in loop.shape.usage(last(loop).answer)):
        for name in NEGATIVE if isinstance(count, dict) else ():
            if isinstance(count.get(name), int) and count[name] > 0:
                count[name], done = 0, True
    return {end(loop)} if done else None


@API("the input is the sum over the run", "api", "api-usage-inconsistent")
def summed_up(loop: Loop) -> Places:
    place = end(loop)
    before = _inputs(loop, loop.turns[place - 1])
    counted = _inputs(loop, loop.turns[place])
    if not place or not before or before[0].value < LARGE:
        return None
    for one in counted:
        one.value += before[0].value
        for name in TOTALS:
            if isinstance(one.holder.get(name), int):
                one.holder[name] += before[0].value
    return {place} if counted else None


LARGE = 1000
"""Tokens."""
TOTALS = ("total_tokens", "totalTokenCount", "totalTokens")


def _inputs(loop: Loop, turn: Turn) -> list[Place]:
    counts = [place.value for place in loop.shape.usage(turn.answer) if isinstance(place.value, dict)]
    counts += [inner for count in counts for inner in count.values() if isinstance(inner, dict)]
    return [Place(count, name) for count in counts for name in INPUTS if isinstance(count.get(name), int)]


INPUTS = ("prompt_tokens", "input_tokens", "promptTokenCount", "inputTokens", "total_input_tokens")


@API("the end of a call is missing, and nobody says so", "api",
     "call-args-not-json api-truncated-call-mislabelled api-length-truncated-tool-call", also=ENDS)  # fmt: skip
def end_missing(loop: Loop) -> Places:
    for place in calling(loop):
        call = loop.shape.answered(loop.turns[place].answer)[-1]
        if not loop.turns[place].streamed or not call.known or not isinstance(whole := call.arguments.get(), str):
            continue
        call.arguments.set(whole.rstrip()[:-1])
        stop_after(loop, place)
        return {place}
    return None


@API("another model answered", "api", "api-model-substituted")
def other_model(loop: Loop) -> Places:
    place = pick(loop, list(range(len(loop.turns))), "model")
    assert place is not None
    asked, served = loop.shape.model(loop.turns[place].request), loop.shape.served(loop.turns[place].answer)
    other = sibling(asked.value) if asked is not None else None
    if not served or other is None:
        return None
    served.set(other)
    return {place}


@API("an answer without a choice", "api", "api-no-choice",
     also="api-finish-missing")  # fmt: skip
def no_choice(loop: Loop) -> Places:
    return {end(loop)} if loop.shape.none(last(loop).answer) else None


# Streams and bodies


@API("a stream that ends early", "api", "api-stream-cut", also=ENDS)
def cut_stream(loop: Loop) -> Places:
    turn = last(loop)
    return {end(loop)} if turn.streamed and cut(loop, turn, 0.5) else None


@API("a stream that ends early, unnoticed", "api", "api-stream-cut api-finish-missing", also=ENDS)
def cut_quietly(loop: Loop) -> Places:
    turn = last(loop)
    return {end(loop)} if turn.streamed and cut(loop, turn, 0.5, noticed=False) else None


@API("a stream that ends inside a call, then whole", "api", "api-stream-cut")
def cut_and_again(loop: Loop) -> Places:
    place = pick(loop, [p for p in calling(loop) if loop.turns[p].streamed], "cut call")
    if place is None:
        return None
    broken = deepcopy(loop.turns[place])
    if not cut(loop, broken, 0.7):
        return None
    loop.turns[place].gap = 3.0
    loop.turns.insert(place, broken)
    return {place}


@API("a body that ends early", "api", "api-stream-cut api-malformed-stream", also=ENDS)
def cut_body(loop: Loop) -> Places:
    turn = last(loop)
    return {end(loop)} if not turn.streamed and cut(loop, turn, 0.5) else None


@API("an error inside a stream", "api", "api-error-in-200-stream", also=f"{ENDS} api-overloaded")
def error_inside(loop: Loop) -> Places:
    turn = last(loop)
    if not turn.streamed or turn.answer.kind == "array":
        return None
    pieces = turn.answer.pieces()
    event = loop.shape.error_event(turn.answer, "The server had an error while processing your request.")
    turn.body = b"".join(pieces[: max(1, len(pieces) // 2)]) + event
    return {end(loop)}


@API("an error under status 200", "api", "api-error-in-200-stream", also=f"{ENDS} api-overloaded")
def error_under_200(loop: Loop) -> Places:
    turn = last(loop)
    if turn.streamed:
        return None
    fails(loop, turn, 500, "The server had an error while processing your request.")
    turn.status = 200
    return {end(loop)} if loop.shape.protocol not in ("bedrock-converse", "bedrock-invoke", "cohere-v2") else None


@API("an event that is not JSON", "api", "api-malformed-stream")
def bad_event(loop: Loop) -> Places:
    place = pick(loop, [n for n, t in enumerate(loop.turns) if t.answer.kind == "sse" and len(t.answer.pieces()) > 3],
                 "not JSON")  # fmt: skip
    if place is None:
        return None
    pieces = loop.turns[place].answer.pieces()
    loop.turns[place].body = b"".join([*pieces[:2], b'data: {"choices": [\n\n', *pieces[2:]])
    return {place}


# Errors


def _error(status: int, message: str, kind: str = "", body: object = None) -> Callable[[Loop], Places]:
    def inject(loop: Loop) -> Places:
        fails(loop, last(loop), status, message, body, kind=kind)
        return {end(loop)}

    return inject


HTML = "<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center></body></html>"
API("status 500 at the end", "api", "api-overloaded", also=ENDS)(_error(500, "The server had an error."))
API("status 503 at the end", "api", "api-overloaded", also=ENDS)(_error(503, "The server is currently overloaded."))
API("an HTML page under 502", "api", "api-overloaded", also=ENDS)(_error(502, "", "text/html", HTML))
API("status 429 at the end", "api", "api-rate-limited", also=ENDS)(_error(429, "Rate limit reached. Try again later."))
API("a full window", "client api", "api-context-full", also=f"{ENDS} request-rejected")(
    _error(400, "This model's maximum context length is 8192 tokens. However, your messages resulted in 9204 tokens.")
)
API("a model that crashed, under status 400", "api", "api-overloaded", also=ENDS)(
    _error(400, "The model has crashed without additional information.")
)
API("a wrong key", "client", "access-refused", also=ENDS)(_error(401, "Incorrect API key provided."))


@API("status 503, then an answer", "api", "api-overloaded")
def once_overloaded(loop: Loop) -> Places:
    place = end(loop)
    attempts(loop, place, 503, "The server is currently overloaded.", [4.0])
    return {place}


@API("nothing came back", "api", "api-unreachable api-stream-cut", also=ENDS)
def unreachable(loop: Loop) -> Places:
    turn = last(loop)
    turn.unreached, turn.failure = True, Failure("refused", "the connection was refused")
    return {end(loop)}
