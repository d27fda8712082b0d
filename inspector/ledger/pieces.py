"""The pieces of a run by their numbers, and what is known of tools and threads."""

from dataclasses import field

from turntape.cassettes.frozen import frozen, mutable

from ..analysis.turn import Edge
from .contents import Content


@frozen
class First:
    """Where a content was first sent."""

    thread: str
    turn: int
    place: int


@mutable
class Pieces:
    """The contents of a run, and what is known of its tools and threads."""

    contents: list[Content] = field(default_factory=list[Content])
    """By the number of the piece."""
    firsts: list[First] = field(default_factory=list[First])
    numbers: dict[tuple[str, bytes, int], int] = field(default_factory=dict[tuple[str, bytes, int], int])
    called: set[str] = field(default_factory=set[str])
    """The names of the tools that the model called."""
    servers: dict[str, str] = field(default_factory=dict[str, str])
    """The server of each tool that was seen on the tools' own wire, by the tool's name there."""
    servers_by_call: dict[str, str] = field(default_factory=dict[str, str])
    starts: dict[str, tuple[Edge, str]] = field(default_factory=dict[str, tuple[Edge, str]])
    """Why each thread began, and its task."""

    def number(self, first: First, content: Content, occurrence: int) -> int:
        """The number of this content's piece; the same content twice in one prompt is two pieces."""
        key = (first.thread, content.digest, occurrence)
        number = self.numbers.setdefault(key, len(self.contents))
        if number == len(self.contents):
            self.contents.append(content)
            self.firsts.append(first)
        return number
