"""Our reading of the corpus beside an independent one: one row a cassette, counted by fact and protocol."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from turntape.inspector.reader import read
from turntape.inspector.reading import Reading

from .corpus import Recorded, index, read_file

FACTS = (
    "protocol",
    "generations",
    "streaming",
    "tools_in_request",
    "tool_calls_in_response",
    "finish_reasons",
    "error_statuses",
    "errors_in_200",
    "prev_response_id",
)
RAW_FACTS = ("protocol", "generations", "error_statuses")
"""What can be compared where a cassette holds endpoints that we keep raw."""

PROTOCOLS: dict[str, str] = {
    "anthropic-messages": "anthropic-messages",
    "local-anthropic-messages": "anthropic-messages",
    "gemini-generate": "gemini-generate",
    "gemini-stream": "gemini-generate",
    "vertex-generate": "gemini-generate",
    "vertex-stream": "gemini-generate",
    "gemini-interactions": "gemini-interactions",
    "bedrock-converse": "bedrock-converse",
    "bedrock-converse-stream": "bedrock-converse",
    "bedrock-invoke": "bedrock-invoke",
    "bedrock-invoke-stream": "bedrock-invoke",
    "ollama-chat": "ollama-chat",
    "ollama-generate": "ollama-generate",
    "cohere-v2": "cohere-v2",
    "cohere-v1-chat": "cohere-v1",
    "mistral": "mistral-chat",
    "portkey-completions": "openai-chat",
    "groq": "openai-chat",
    "openrouter": "openai-chat",
    "ollama-openai-compat": "openai-chat",
    "gemini-openai-compat": "openai-chat",
    # Read raw, as DESIGN says of everything else.
    "cohere-v1-generate": "cohere-v1",
    "anthropic-complete": "unknown",
    "alephalpha-complete": "unknown",
    "bedrock-agent": "unknown",
    "huggingface-inference": "unknown",
    "replicate-predictions": "unknown",
    "sagemaker-invoke": "unknown",
    "watsonx-text": "unknown",
    "watsonx-text_stream": "unknown",
    "openai-assistants": "openai-assistants",
}
"""The corpus's names for APIs and the protocol that we read them by; the families below cover the others."""

FAMILIES = {"-chat": "openai-chat", "-responses": "openai-responses", "-completions": "openai-completions"}

OUTSIDE = frozenset({"unknown", "openai-assistants"})
"""Generations by the corpus's count that turntape keeps raw or counts as another kind of endpoint."""


def expected_protocol(api: str) -> str:
    """The protocol for one of the corpus's API names."""
    if found := PROTOCOLS.get(api):
        return found
    return next((name for end, name in FAMILIES.items() if api.endswith(end)), "unknown")


@dataclass(slots=True)
class Counts:
    """What one cassette holds, in the terms of INDEX.tsv."""

    cassette: str
    protocol: str = ""
    numbers: Counter[str] = field(default_factory=Counter[str])
    finishes: set[str] = field(default_factory=set[str])
    faults: list[str] = field(default_factory=list[str])

    def add(self, recorded: Recorded, reading: Reading) -> None:
        """Count one round trip."""
        expected = expected_protocol(recorded.api)
        self.protocol = self.protocol or (expected if recorded.generation else "")
        status = recorded.round_trip.response.status if recorded.round_trip.response else 0
        for problem in reading.problems:
            if " could not be read: " in problem:
                self.faults.append(f"#{recorded.round_trip.index}: {problem}")
        self.numbers["error_statuses"] += status >= 400
        if not recorded.generation:
            if reading.is_generation:
                self.faults.append(f"#{recorded.round_trip.index} is no generation, and was read as one")
            return
        self.numbers["expected"] += 1
        self.numbers["protocol"] += reading.protocol == expected or (expected in OUTSIDE and not reading.is_generation)
        self.numbers["generations"] += reading.is_generation
        self.numbers["outside"] += expected in OUTSIDE
        self.numbers["streaming"] += reading.streamed
        self.numbers["tools_in_request"] += bool(reading.request.tools)
        self.numbers["errors_in_200"] += reading.error is not None and status < 400
        self.numbers["prev_response_id"] += reading.request.previous_id is not None
        if reading.emission is not None:
            self.numbers["tool_calls_in_response"] += bool(reading.emission.calls)  # theirs counts answers
        if reading.finish is not None and reading.finish.raw is not None:
            self.finishes.add(reading.finish.raw)
            self.finishes.update(_other_choices(reading.finish.detail or ""))


def _other_choices(detail: str) -> list[str]:
    for piece in detail.split("; "):
        if piece.startswith("finish reasons of the choices: "):
            return piece.split(": ", 1)[1].split(", ")
    return []


def count(path: Path) -> dict[str, Counts]:
    """The cassettes of one file."""
    found: dict[str, Counts] = {}
    for recorded in read_file(path):
        counts = found.setdefault(recorded.cassette, Counts(recorded.cassette))
        counts.add(recorded, read(recorded.round_trip))
    return found


@dataclass(frozen=True, slots=True)
class Compared:
    """One fact of one cassette: ours, theirs, and how much of it agrees."""

    cassette: str
    protocol: str
    fact: str
    ours: str
    theirs: str
    agreed: int
    total: int


_ROWS: dict[str, dict[str, str]] = {}


def _row(cassette: str) -> dict[str, str]:
    if not _ROWS:
        _ROWS.update(index())
    return _ROWS[f"{cassette}.jsonl"]


def compare(counts: Counts) -> Iterator[Compared]:
    """The facts of one cassette against its row in the index."""
    row = _row(counts.cassette)
    for fact in RAW_FACTS if counts.numbers["outside"] else FACTS:
        if fact == "finish_reasons":
            ours, theirs = counts.finishes, their_finishes(row[fact])
            total = len(ours | theirs)
            yield Compared(
                counts.cassette, counts.protocol, fact, ",".join(sorted(ours)), ",".join(sorted(theirs)),
                len(ours & theirs), total,
            )  # fmt: skip
            continue
        ours_n = counts.numbers[fact]
        if fact == "protocol":
            theirs_n = counts.numbers["expected"]
        elif fact == "generations":
            theirs_n = int(row[fact]) - counts.numbers["outside"]
        else:
            theirs_n = int(row[fact])
        yield Compared(
            counts.cassette, counts.protocol, fact, str(ours_n), str(theirs_n),
            min(ours_n, theirs_n), max(ours_n, theirs_n),
        )  # fmt: skip


_ASIDE = ("native:", "int:", "refusal-", "incomplete:")


def their_finishes(words: str) -> set[str]:
    """The API's own words in a row: native words, token ids and refusal marks stand beside them there."""
    found: set[str] = set()
    for word in filter(None, words.split(",")):
        if word == "(empty string)":
            found.add("")
        elif word.startswith("status:"):
            found.add(word.removeprefix("status:"))
        elif word in ("int:1", "int:2"):  # Gemini's enums as numbers
            found.add(word.removeprefix("int:"))
        elif not word.startswith(_ASIDE):
            found.add(word.removeprefix("object:").removeprefix("block:"))
    return found
