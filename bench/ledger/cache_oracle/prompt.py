"""A request as a cache sees it: blocks of tokens in prompt order, some with a mark."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

type Level = Literal["tools", "system", "messages"]
type Token = tuple[str, int]

FIVE_MINUTES = 300.0
HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of a prompt. Two blocks with the same text, level and size are the same tokens."""

    text: str
    size: int
    """How many tokens it has."""
    mark: float | None = None
    """The lifetime in seconds of the cache entry that ends with this block; None when the block has no mark."""
    level: Level = "messages"

    def tokens(self) -> Iterator[Token]:
        return ((f"{self.level}/{self.text}", place) for place in range(self.size))


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request."""

    blocks: tuple[Block, ...]
    at: float = 0.0
    """When it was sent, in seconds."""
    tail: int = 3
    """Tokens that the API adds after the last block."""
    model: str = "model"
    scope: str = ""
    """What else keeps caches apart: workspace, key, region."""
    salts: tuple[tuple[Level, str], ...] = ()
    """Settings that change the cache from a level on: `("messages", "tool_choice=none")`."""
    server_tools: int = 0
    """How often the API itself called the model again for its own tools."""

    @property
    def size(self) -> int:
        return sum(block.size for block in self.blocks) + self.tail

    def flat(self) -> list[Token]:
        """All tokens in order, without the tail."""
        return [token for block in self.blocks for token in block.tokens()]


@dataclass(frozen=True, slots=True)
class Counts:
    """What a cache did with one request, in tokens."""

    read: int
    written: int
    fresh: int
    written_hour: int = 0
    """The part of `written` that lives for an hour or longer."""

    @property
    def input(self) -> int:
        return self.read + self.written + self.fresh

    @property
    def figures(self) -> tuple[int, int, int]:
        return self.read, self.written, self.fresh


def common(one: list[Token], other: list[Token]) -> int:
    """How many tokens two prompts share at their beginning."""
    pairs: Iterable[tuple[Token, Token]] = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
