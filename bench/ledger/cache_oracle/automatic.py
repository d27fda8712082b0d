"""Caches that keep what they like: grids, units, slots, and caches that promise nothing.

Rules: caching.md of the project's references, section 5, 3 to 6 (read 2026-11-22).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from .prompt import Block, Counts, Prompt, Token, common


@dataclass(slots=True)
class _Kept:
    """A prompt that was sent, with the tokens of its answer."""

    tokens: list[Token]
    dies: float


class GridCache:
    """OpenAI before GPT-5.6, Groq, xAI, Mistral, vLLM: the common prefix, cut down to whole steps.

    `minimum` is the shortest prefix that is read, `whole` allows a read of all tokens but one at most when False.
    """

    def __init__(
        self,
        step: int = 128,
        minimum: int = 1024,
        lifetime: float = 300.0,
        *,
        keeps_output: bool = True,
        own: int = 0,
    ) -> None:
        self._step = step
        self._minimum = minimum
        self._lifetime = lifetime
        self._keeps_output = keeps_output
        self._own = own
        self._kept: dict[tuple[str, str], list[_Kept]] = {}

    def answer(self, prompt: Prompt, output: Sequence[Block] = ()) -> Counts:
        """What the cache reads for a request; afterwards it holds the request and, if it keeps it, the answer."""
        kept = self._kept.setdefault((prompt.model, prompt.scope), [])
        tokens = prompt.flat()
        shared = max((common(one.tokens, tokens) for one in kept if prompt.at < one.dies), default=0)
        shared = min(shared, prompt.size - 1)
        read = shared - shared % self._step
        read = read if read >= self._minimum else 0
        read = max(read, min(self._own, prompt.size))
        for one in kept:
            if prompt.at < one.dies and common(one.tokens, tokens) >= max(read, 1):
                one.dies = prompt.at + self._lifetime
        said = [token for block in output for token in block.tokens()] if self._keeps_output else []
        kept.append(_Kept(tokens + said, prompt.at + self._lifetime))
        return Counts(read, 0, prompt.size - read)


class UnitCache:
    """DeepSeek: whole units, ended by the end of an input, the end of an output, or a common prefix of two requests."""

    def __init__(self, step: int = 128, *, keeps_output: bool = True) -> None:
        self._step = step
        self._keeps_output = keeps_output
        self._units: list[list[Token]] = []
        self._sent: list[list[Token]] = []

    def answer(self, prompt: Prompt, output: Sequence[Block] = ()) -> Counts:
        tokens = prompt.flat()
        whole = [unit for unit in self._units if tokens[: len(unit)] == unit]
        shared = max((len(unit) for unit in whole), default=0)
        read = shared - shared % self._step
        for earlier in self._sent:
            fork = common(earlier, tokens)
            if 0 < fork < len(earlier):
                self._units.append(tokens[:fork])  # a third request may read what two have in common
        said = [token for block in output for token in block.tokens()] if self._keeps_output else []
        self._units += [tokens, tokens + said]
        self._sent.append(tokens + said)
        return Counts(read, 0, prompt.size - read)


class SlotCache:
    """llama.cpp: one slot holds the last request and its answer without the last token, which was never fed."""

    def __init__(self) -> None:
        self._slot: list[Token] = []

    def answer(self, prompt: Prompt, output: Sequence[Block] = ()) -> Counts:
        tokens = prompt.flat()
        read = min(common(self._slot, tokens), prompt.size - 1)
        said = [token for block in output for token in block.tokens()]
        self._slot = (tokens + said)[: len(tokens) + max(0, len(said) - 1)]
        return Counts(read, 0, prompt.size - read)


class WhimCache:
    """Gemini without a named cache: any share of the common prefix, also nothing. `shares` says which, in turn."""

    def __init__(self, minimum: int = 1024, shares: Sequence[float] = (1.0, 0.0, 0.6)) -> None:
        self._minimum = minimum
        self._shares = shares
        self._asked = 0
        self._sent: list[list[Token]] = []

    def answer(self, prompt: Prompt, output: Sequence[Block] = ()) -> Counts:
        tokens = prompt.flat()
        shared = max((common(earlier, tokens) for earlier in self._sent), default=0)
        share = self._shares[self._asked % len(self._shares)]
        self._asked += 1
        read = int(min(shared, prompt.size - 1) * share)
        read = read if read >= self._minimum else 0
        self._sent.append(tokens)
        return Counts(read, 0, prompt.size - read)
