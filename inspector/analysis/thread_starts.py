"""Why a new thread begins: a subagent, a compaction, a side call, or the main thread of a run."""

from ..wire.values import Reading
from .thread_index import DISTINCTIVE, NewRequest, Place, ThreadIndex, has_answer
from .turn import Edge, EdgeKind, Turn

SIDE_PARTS = 3
"""The messages of a side call have at most this many parts, reasoning not counted."""
SIDE_OUTPUT = 1024
"""A request that limits its output to this many tokens asks for a small answer."""
SIDE_ANSWER = 200
"""The answer of a side call before the main thread has at most this many characters: a title, or a class."""
COMPACTED_MESSAGES = 3
"""A compacted history has the summary in one of this many first messages."""

_NAMED: dict[str, tuple[EdgeKind, str]] = {
    "subagent": ("subagent", "its headers say that it belongs to a subagent"),
    "compaction": ("compaction", "its headers say that it compacts a history"),
    "side_call": ("side_call", "its headers say that it is a side call"),
}


def starting_edge(index: ThreadIndex, new: NewRequest) -> Edge:
    """The edge of the first turn of a new thread."""
    return (
        _named(index, new)
        or _subagent(index, new)
        or _compaction(index, new)
        or _side_call(index, new)
        or _quote(index, new)
        or Edge("main", reason="no earlier thread leads to it")
    )


def _named(index: ThreadIndex, new: NewRequest) -> Edge | None:
    """The kind that the client names in its headers."""
    kind = new.identity.kind or ("subagent" if new.identity.parent else None)
    if kind not in _NAMED:
        return None
    main = index.main_turn(new.run)
    named, reason = _NAMED[kind]
    return Edge(named, main.round_trip.index if main else None, main.thread if main else None, reason)


def _subagent(index: ThreadIndex, new: NewRequest) -> Edge | None:
    """Its first message has the task that a call of another thread names."""
    text = _first_text(new.reading)
    for thread, number, task in reversed(index.tasks[new.run]):
        if text is not None and task.is_in(text):
            return Edge("subagent", number, thread, f"its task is in the arguments of a call of #{number}")
    return None


def _compaction(index: ThreadIndex, new: NewRequest) -> Edge | None:
    """Its history begins with a summary that another thread wrote."""
    thread, number = _quoted(index, new) or (None, 0)
    if thread is None or not _is_compacted(index, new, thread):
        return None
    return Edge("compaction", number, thread, f"its history begins with what #{number} wrote", "S")


def _quote(index: ThreadIndex, new: NewRequest) -> Edge | None:
    """A judge, a chain or another agent gets the answer of a thread in a separate prompt."""
    found = _quoted(index, new)
    return Edge("main", reason=f"its prompt quotes the answer of #{found[1]}, but not its history") if found else None


def _quoted(index: ThreadIndex, new: NewRequest) -> Place | None:
    """The latest answer that is in one of the first messages."""
    messages = new.reading.request.messages[:COMPACTED_MESSAGES]
    text = "\n".join(part.text for message in messages for part in message.parts if message.role != "system")
    if len(text) < 2 * DISTINCTIVE:
        return None
    answers = reversed(index.answers[new.run])
    return next(((thread, number) for thread, number, said in answers if said.is_in(text)), None)


def _is_compacted(index: ThreadIndex, new: NewRequest, wrote: str) -> bool:
    """Whether the agent of a longer history continues: the main thread with its tools, or the thread that wrote."""
    main, writer = index.main_turn(new.run), index.last[wrote]
    if main is not None and new.tools:
        return new.tools == main.tools and has_answer(main.reading)
    same = new.reading.request.instructions == writer.reading.request.instructions
    return same and not new.tools and not writer.tools and has_answer(writer.reading)


def _side_call(index: ThreadIndex, new: NewRequest) -> Edge | None:
    """A short request beside the main thread, for a title or a classification."""
    main, request = index.main_turn(new.run), new.reading.request
    forced = request.tool_choice is not None and request.tool_choice.mode == "named" and len(request.tools) == 1
    if main is None or (request.tools and not forced) or _parts(new.reading) > SIDE_PARTS:
        return None
    small = request.max_output is not None and request.max_output <= SIDE_OUTPUT
    if not small and not forced and request.model == index.main[new.run][1]:
        return None
    why = "it limits the answer to a few tokens" if small else "it uses another model or forces one tool"
    reason = f"a short history without the agent's tools; {why}"
    return Edge("side_call", main.round_trip.index, main.thread, reason, "S")


def early_side_call(main: Turn, early: Turn) -> Edge | None:
    """The edge of a turn before the run's main thread began with `main`, when it only named or classified its task.

    Nothing was known of the agent when it came. A first step of the agent itself, such as a plan, has a longer answer.
    """
    request, emission = early.reading.request, early.reading.emission
    if early.edge.kind != "main" or early.number != 1 or emission is None or len(emission.text) > SIDE_ANSWER:
        return None
    if request.tools or _parts(early.reading) > SIDE_PARTS or not _same_task(main.reading, early.reading):
        return None
    if request.instructions == main.reading.request.instructions and _first_text(early.reading) == _first_text(
        main.reading
    ):
        return None  # The same prompt, once without tools.
    reason = f"a short answer about the task with which #{main.round_trip.index} begins, without the agent's tools"
    return Edge("side_call", None, main.thread, reason, "S")


def _same_task(main: Reading, early: Reading) -> bool:
    """Whether the messages of a request have a text of the first message of the user in another one."""
    first = next((message for message in main.request.messages if message.role == "user"), None)
    asked = [part.text.strip() for part in (first.parts if first is not None else ()) if part.kind == "text"]
    messages = (message for message in early.request.messages if message.role == "user")
    said = [part.text for message in messages for part in message.parts if part.kind == "text"]
    return any(
        text in other if len(text) >= DISTINCTIVE else text and text == other.strip()
        for text in asked
        for other in said
    )


def _first_text(reading: Reading) -> str | None:
    """The text of the first user message."""
    for message in reading.request.messages:
        if message.role == "user":
            return "\n".join(part.text for part in message.parts if part.kind == "text") or None
    return None


def _parts(reading: Reading) -> int:
    parts = (part for message in reading.request.messages for part in message.parts)
    return sum(part.kind not in ("reasoning", "other") and bool(part.text or part.kind != "text") for part in parts)
