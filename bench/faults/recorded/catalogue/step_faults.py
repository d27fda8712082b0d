"""Steps of an agent, each a call and its result, that the client writes twice, joins or turns round."""

from copy import deepcopy
from typing import Any

from ..loops import Loop
from .edits import calling, pick
from .table import CACHE, LOST, Places, Table

STEP = Table()


def _step(loop: Loop, salt: str, size: int | None = None) -> tuple[int, slice] | None:
    """A turn with calls, and what the next request adds for it."""
    if not loop.full:
        return None
    spans: list[tuple[int, slice]] = []
    for place in calling(loop):
        lengths = [len(loop.shape.history(turn.request)) for turn in loop.turns[place : place + 2]]
        if len(lengths) == 2 and lengths[1] - lengths[0] == (size or lengths[1] - lengths[0]) > 1:
            spans.append((place, slice(*lengths)))
    return pick(loop, spans, salt)


def _later(loop: Loop, place: int) -> Places:
    return {*range(place + 1, len(loop.turns))}


@STEP("a step is in the history twice", "client",
      "client-duplicated-call client-history-duplicated client-forged-answer client-duplicate-tool-result",
      also=f"{LOST} client-foreign-history")  # fmt: skip
def doubled(loop: Loop) -> Places:
    found = _step(loop, "doubled")
    if found is None:
        return None
    place, span = found
    for turn in loop.turns[place + 1 :]:
        history = loop.shape.history(turn.request)
        history[span.stop : span.stop] = deepcopy(history[span])
    return _later(loop, place)


@STEP("a result is before its call", "client",
      "client-history-reordered client-results-not-adjacent client-orphan-tool-result client-missing-tool-result",
      also=LOST)  # fmt: skip
def turned(loop: Loop) -> Places:
    found = _step(loop, "turned", 2)
    if found is None:
        return None
    place, span = found
    for turn in loop.turns[place + 1 :]:
        history = loop.shape.history(turn.request)
        history[span] = history[span][::-1]
    return _later(loop, place)


@STEP("the calls of two answers are in one", "client", "client-history-reordered",
      also=f"{LOST} client-reasoning-dropped client-results-not-adjacent")  # fmt: skip
def joined(loop: Loop) -> Places:
    history = loop.shape.history(loop.turns[-1].request) if loop.full else []
    steps = [entry for entry in history if isinstance(entry, dict) and isinstance(entry.get("tool_calls"), list)]
    if len(steps) < 2:
        return None
    first, second = steps[-2:]
    first["tool_calls"] += second["tool_calls"]
    history[:] = [entry for entry in history if entry is not second]
    return {len(loop.turns) - 1}


@STEP(
    "the system prompt goes away", "client", "client-system-prompt-lost", also=f"{CACHE} client-system-prompt-changed"
)
def prompt_lost(loop: Loop) -> Places:
    asked = [loop.shape.system(turn.request) for turn in loop.turns]
    shown = [str(place.value) for place in asked if place is not None]
    if len(shown) < max(2, len(loop.turns)) or len(set(shown)) > 1 or not shown[0].strip():
        return None
    for turn in loop.turns[1:]:
        _without_prompt(loop, turn.request)
    return {1} if all(loop.shape.system(turn.request) is None for turn in loop.turns[1:]) else None


def _without_prompt(loop: Loop, request: dict[str, Any]) -> None:
    for key in ("system", "instructions", "systemInstruction", "system_instruction"):
        request.pop(key, None)
    history = loop.shape.history(request)
    history[:] = [entry for entry in history if entry.get("role") not in ("system", "developer")]
