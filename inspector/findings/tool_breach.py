"""How notes of a tool's wire become findings: for each kind its words, its severity, and where the evidence is."""

from collections.abc import Callable

from turntape.cassettes.frozen import frozen

from ..tools.session_state import WireNote

type Evidence = tuple[str, ...]


def in_result(note: WireNote) -> Evidence:
    """In what the server's answer holds."""
    return (f"#{note.index} response /result",)


def in_answer(note: WireNote) -> Evidence:
    """In the server's answer as a whole."""
    return (f"#{note.index} response",)


def in_request(note: WireNote) -> Evidence:
    """In what is recorded as a request: a message of either side that answers nothing."""
    return (f"#{note.index} request",)


def in_message(note: WireNote) -> Evidence:
    """In what the server sent unasked. Over HTTP, that is in the response to a request that the note names."""
    return in_request(note) if note.before is None else in_answer(note)


def after_answer(note: WireNote) -> Evidence:
    """In a request of the client, after an answer that it contradicts."""
    return (*(() if note.before is None else (f"#{note.before} response",)), f"#{note.index} request")


def after_request(note: WireNote) -> Evidence:
    """In a request of the client, after another one that it contradicts."""
    return (*(() if note.before is None else (f"#{note.before} request",)), f"#{note.index} request")


@frozen
class Breach:
    """A way to break the rules of MCP."""

    words: Callable[[WireNote], str]
    """What the side did, without its name."""
    evidence: Callable[[WireNote], Evidence]
    mild: bool = False
    """Whether it is an info, because the other side can go on as if nothing had happened."""
    spared: frozenset[str] = frozenset()
    """The methods for which alone it is an info."""

    def is_mild(self, note: WireNote) -> bool:
        """Whether what the note says is an info."""
        return self.mild or note.what in self.spared
