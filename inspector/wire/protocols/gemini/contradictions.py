"""How the chunks of a Gemini stream contradict each other."""

from collections.abc import Iterator

from ...exchange import Exchange
from ...json_value import Object, as_array, as_object
from .parts import get


def contradictions(exchange: Exchange) -> Iterator[str]:
    """One sentence for each way in which the stream, or a whole answer, contradicts itself."""
    yield from _blocked_and_answered(exchange)
    first: Object | None = None
    words: list[object] = []
    late = own = False
    spoken = 0
    for event in exchange.events:
        body = as_object(event.value)
        chunk = as_object(body.get("response")) or body
        candidates = [as_object(candidate) for candidate in as_array(chunk.get("candidates"))]
        own = own or any(map(_ran, candidates))
        spoken += any(map(_says, candidates))
        if any(map(_says, candidates)):
            first = first or chunk
            late = late or bool(words)
            if _is_another(first, chunk):
                models = f"{get(chunk, 'modelVersion')!r} after {get(first, 'modelVersion')!r}"
                yield f"a second answer begins in it, of {models}"
                return
        words += [word for one in candidates if (word := get(one, "finishReason"))]
    # With its own tools the API ends each round with a word; early models put one into each chunk.
    if late and not own and len(words) < spoken:
        yield f"more of the answer comes after its finish word {words[0]!r}"


_UNBLOCKED = (None, 0, "", "BLOCK_REASON_UNSPECIFIED", "BLOCKED_REASON_UNSPECIFIED")


def _blocked_and_answered(exchange: Exchange) -> Iterator[str]:
    """A prompt that a filter blocked, and an answer to it all the same."""
    reasons = (get(as_object(get(body, "promptFeedback")), "blockReason") for body in _chunks(exchange))
    reason = next((one for one in reasons if one not in _UNBLOCKED), None)
    candidates = (as_object(one) for body in _chunks(exchange) for one in as_array(body.get("candidates")))
    if reason is not None and any(map(_says, candidates)):
        yield f"the prompt is blocked ({reason}), and an answer to it comes"


def _chunks(exchange: Exchange) -> Iterator[Object]:
    for value in exchange.bodies:
        body = as_object(value)
        yield as_object(body.get("response")) or body


def _is_another(first: Object, chunk: Object) -> bool:
    """True for a chunk of another answer: its id and its model both differ."""
    pairs = ((get(first, key), get(chunk, key)) for key in ("responseId", "modelVersion"))
    return all(one and other and one != other for one, other in pairs)


def _ran(candidate: Object) -> bool:
    """True for a piece of a tool that the API runs itself."""
    parts = map(as_object, as_array(as_object(candidate.get("content")).get("parts")))
    return "groundingMetadata" in candidate or any(
        get(part, key) for part in parts for key in ("executableCode", "codeExecutionResult", "toolCall")
    )


def _says(candidate: Object) -> bool:
    parts = map(as_object, as_array(as_object(candidate.get("content")).get("parts")))
    return any(part.get("text") or get(part, "functionCall") for part in parts)
