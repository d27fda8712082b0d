"""Caches that keep what a request marks: Claude on every platform, Nova, and GPT-5.6 and later.

Rules: caching.md of the project's references, section 5, 1 and 2 (read 2026-11-22).
"""

from dataclasses import dataclass, replace

from .prompt import HOUR, Counts, Prompt

type Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A prefix in the cache."""

    size: int
    lifetime: float
    dies: float


class MarkedCache:
    """A cache with explicit entries. `minimum` and the limits are of the model."""

    def __init__(
        self,
        minimum: int = 1024,
        look_back: int | None = 20,
        most_marks: int = 4,
        most_reads: int = 4,
        implicit: float | None = None,
    ) -> None:
        """`most_marks` are written and `most_reads` looked for, the last ones of a request.

        `implicit` is the lifetime of an entry that the API makes at the end of every request; None: it makes none.
        """
        self._minimum = minimum
        self._look_back = look_back
        self._most_marks = most_marks
        self._most_reads = most_reads
        self._implicit = implicit
        self._entries: dict[Key, Entry] = {}

    def answer(self, prompt: Prompt) -> Counts:
        """What the cache reads and writes for a request."""
        prompt = self._with_implicit(prompt)
        every = [place for place, block in enumerate(prompt.blocks) if block.mark is not None]
        marks, looked_for = every[-self._most_marks :], every[-self._most_reads :]
        keys = [self._key(prompt, place) for place in range(len(prompt.blocks))]
        sizes = [sum(block.size for block in prompt.blocks[: place + 1]) for place in range(len(prompt.blocks))]
        hit = self._hit(looked_for, keys, sizes, prompt.at)
        read = sizes[hit] if hit is not None else 0
        written = self._write(prompt, marks, keys, sizes, read)
        self._refresh(looked_for, keys, prompt.at, hit)
        end = read + sum(size for size, _ in written)
        hour = sum(size for size, lifetime in written if lifetime >= HOUR)
        return Counts(read, end - read, prompt.size - end, hour)

    def _with_implicit(self, prompt: Prompt) -> Prompt:
        if self._implicit is None or not prompt.blocks or prompt.blocks[-1].mark is not None:
            return prompt
        return replace(prompt, blocks=(*prompt.blocks[:-1], replace(prompt.blocks[-1], mark=self._implicit)))

    def _key(self, prompt: Prompt, place: int) -> Key:
        """The whole prefix up to a block, with the settings that count from its levels on."""
        blocks = prompt.blocks[: place + 1]
        levels = ("tools", "system", "messages")
        reached = max(levels.index(block.level) for block in blocks)
        salts = tuple(salt for level, salt in prompt.salts if levels.index(level) <= reached)
        return (prompt.model, prompt.scope, salts, *((block.level, block.text, block.size) for block in blocks))

    def _hit(self, marks: list[int], keys: list[Key], sizes: list[int], now: float) -> int | None:
        """The longest live entry that a mark finds when it looks back."""
        found: list[int] = []
        for mark in reversed(marks):
            last = 0 if self._look_back is None else max(0, mark - self._look_back + 1)
            for place in range(mark, last - 1, -1):
                entry = self._entries.get(keys[place])
                if entry is not None and now < entry.dies and sizes[place] >= self._minimum:
                    found.append(place)
                    break
        return max(found, default=None)

    def _write(
        self, prompt: Prompt, marks: list[int], keys: list[Key], sizes: list[int], read: int
    ) -> list[tuple[int, float]]:
        """Make an entry at each mark; returns the tokens written for each, with their lifetime."""
        written: list[tuple[int, float]] = []
        done = read
        for mark in marks:
            lifetime = prompt.blocks[mark].mark or 0.0
            if sizes[mark] < self._minimum:
                continue
            if sizes[mark] > done:
                written.append((sizes[mark] - done, lifetime))
                done = sizes[mark]
            if sizes[mark] > read:
                self._entries[keys[mark]] = Entry(sizes[mark], lifetime, prompt.at + lifetime)
        return written

    def _refresh(self, marks: list[int], keys: list[Key], now: float, hit: int | None) -> None:
        """A read makes the entry live on, and the shorter ones at the request's marks too."""
        if hit is None:
            return
        for place in {hit, *(mark for mark in marks if mark <= hit)}:
            entry = self._entries.get(keys[place])
            if entry is not None and now < entry.dies:
                self._entries[keys[place]] = replace(entry, dies=now + entry.lifetime)
