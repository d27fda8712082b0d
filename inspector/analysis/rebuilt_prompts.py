"""Finds the thread of a prompt that the client writes again for every turn, with the words of the last answer in it.

Such an agent sends no messages of the model. Its prompt grows: it holds the question, then the thoughts, calls and
results so far as text. DSPy's ReAct keeps them in fields, LangChain's classic agents in a scratchpad. A request
continues a thread if it has two things: words of the thread's last answer that its last prompt did not have, and
the whole of that prompt. A judge that quotes an answer has its own prompt, so it begins its own thread.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Literal

from turntape.cassettes.frozen import frozen

from ..wire.json_value import is_array, is_object, parse_json
from .conversation import without_space
from .remembered_text import RememberedText, remembered
from .thread_index import DISTINCTIVE, NewRequest, Scope, scope_of
from .turn import Turn

THREADS = 64
"""At most this many threads of a scope are compared with a new prompt, the latest first."""
SHORTEST = 6
"""Shorter words of an answer (in characters without white space) prove nothing."""
MOST_WORDS = 64
"""At most this many lines or values of an answer are looked for."""


@frozen
class Rebuilt:
    """The turn that a rebuilt prompt continues."""

    before: Turn
    reason: str
    tier: Literal["S", "H"]
    front: int
    """How much of the prompt a later one must begin with (in characters without white space)."""


class RebuiltPrompts:
    """The last answers of the threads, to find the one whose words a new prompt holds."""

    def __init__(self) -> None:
        self._answered: defaultdict[Scope, dict[str, tuple[Turn, frozenset[RememberedText]]]] = defaultdict(dict)
        """The last turn of each thread that answered with text only, and its words; the latest last."""
        self._fronts: dict[str, int] = {}
        """`Rebuilt.front` of each thread that was continued in this way."""

    def remember(self, turn: Turn) -> None:
        """Add the last turn of a thread."""
        known, emission = self._answered[scope_of(turn.round_trip, turn.identity)], turn.reading.emission
        known.pop(turn.thread, None)
        if emission is None or emission.calls or not emission.text:
            return
        known[turn.thread] = turn, _words(emission.text)
        if len(known) > THREADS:
            del known[next(iter(known))]

    def find(self, new: NewRequest) -> Rebuilt | None:
        """The turn whose prompt and answer the new prompt repeats."""
        known = self._answered.get(new.scope)
        if not known:
            return None
        prompt = _prompt(new)
        for before, words in reversed(known.values()):
            repeated = [word for word in words if word.is_in(prompt)]
            found = _continued(before, new, prompt, repeated, self._fronts.get(before.thread))
            if found is not None:
                self._fronts[before.thread] = found.front
                return found
        return None


def _continued(
    before: Turn, new: NewRequest, prompt: str, repeated: list[RememberedText], steps: int | None
) -> Rebuilt | None:
    """How the new prompt continues a turn whose words it repeats; `steps` is the front of the turn's own prompt."""
    # A short answer is enough in a thread that is known to be of this kind.
    least = DISTINCTIVE if steps is None else SHORTEST
    if _size(repeated) < least:
        return None
    old, instructions = _prompt(before), _instructions(before)
    if _size(word for word in repeated if not word.is_in(old) and not word.is_in(instructions)) < least:
        return None
    number = before.round_trip.index
    front = _common_front(old, prompt)
    back = _common_front(old[front:][::-1], prompt[front:][::-1])
    alike = instructions == _instructions(new) and before.tools == new.tools
    if alike and front + back >= len(old):
        reason = f"its prompt is #{number}'s with the words of the answer added"
        return Rebuilt(before, reason, "S", len(prompt) - back)
    if steps is not None and front >= steps and before.reading.request.model == new.reading.request.model:
        reason = f"its prompt begins with the steps of #{number}'s and has the words of the answer"
        return Rebuilt(before, reason, "H", len(prompt))
    return None


def _size(words: Iterable[RememberedText]) -> int:
    return sum(word.size for word in words)


def _prompt(of: Turn | NewRequest) -> str:
    """The text of a request without its system messages and without white space, which clients fold."""
    return "".join(without_space(unit.part.text) for unit in of.conversation.history if unit.kind == "text")


def _instructions(of: Turn | NewRequest) -> str:
    return "".join(without_space(part.text) for part in of.reading.request.instructions)


def _common_front(one: str, other: str) -> int:
    """How many characters at the front of both are the same."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _words(text: str) -> frozenset[RememberedText]:
    """The lines of an answer, or the texts in it when it is JSON, each without white space."""
    lines = _texts(text) or text.splitlines()
    words = (without_space(line) for line in lines[:MOST_WORDS])
    return frozenset(remembered(word) for word in words if len(word) >= SHORTEST)


def _texts(text: str) -> list[str]:
    """The lines of the texts in a JSON object; none if `text` is not one."""
    try:
        waiting: list[object] = [parse_json(text)] if text.lstrip().startswith("{") else []
    except ValueError:
        return []
    found: list[str] = []
    while waiting and len(found) < MOST_WORDS:
        one = waiting.pop()
        if isinstance(one, str):
            found += one.splitlines()
        elif is_object(one):
            waiting.extend(one.values())
        elif is_array(one):
            waiting.extend(one)
    return found
