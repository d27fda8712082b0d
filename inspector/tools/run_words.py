"""The words for a tool run, the same in every view and export."""

from .tool_run import SeenAs, ToolRun

SEEN: dict[SeenAs, str] = {
    "equal": "seen whole",
    "structured": "only the structured content was seen",
    "text": "only the text was seen",
    "cut": "a part of it was seen",
    "file": "the name of a file was seen instead",
    "changed": "other text was seen",
    "dropped": "not shown to the model",
    "replaced": "the client's own words were seen instead",
    "other": "the result of another run was seen",
    "empty": "nothing to see",
}
"""What the model saw of a result."""
UNSEEN = "not seen yet"
"""For a result that no recorded request has."""
WHOLE = frozenset[SeenAs | None]({"equal", "empty", None})
"""What needs no attention: the model saw the result, or there was none to see, or nothing later was recorded."""
_LOST = {"error_mark": "error mark", "structured": "structured content"}


def seen_words(run: ToolRun) -> str:
    """What the model saw of the result, and which kinds of content it did not see; empty without a result."""
    if run.outcome not in ("answered", "failed"):
        return ""
    if run.seen_as is None:
        return UNSEEN if run.joined else ""
    lost = [_LOST.get(kind, kind) for kind in run.lost if kind != "text" or run.seen_as not in ("cut", "structured")]
    hidden = [kind for kind in lost if not (kind == "structured content" and run.seen_as == "text")]
    return SEEN[run.seen_as] + (f", without its {_and(hidden)}" if hidden and run.seen_as != "dropped" else "")


def outcome_words(run: ToolRun) -> str:
    """How a run ended; empty for a result that is not an error."""
    match run.outcome:
        case "answered":
            return "the tool reported an error" if run.is_error else ""
        case "failed":
            return "the server answered with an error"
        case "cancelled":
            return "the client gave up"
        case "unanswered":
            return "no answer"
        case "input_required":
            return "the server asked for input and got none"


def joined_words(run: ToolRun) -> str:
    """How sure it is which call of the model a run belongs to; empty when an id proves it."""
    if run.joined == "exact":
        return ""
    return f"joined by {run.by}" if run.joined == "inferred" else "no call of the model"


def alone_words(run: ToolRun) -> str:
    """Why a run is shown with its own round trip and not with a turn."""
    return "no call of the model" if run.joined is None else "call in the file before"


def _and(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
