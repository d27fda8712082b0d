"""Our reading of the corpus beside an independent one: one row a cassette, counted by fact and protocol."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from turntape.inspector.wire.parse import read
from turntape.inspector.wire.values import Reading

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
    "cohere-v1-generate": "cohere-v1",
    "anthropic-complete": "anthropic-complete",
    "alephalpha-complete": "alephalpha-complete",
    "bedrock-agent": "bedrock-agent",
    "huggingface-inference": "text-generation",
    "replicate-predictions": "replicate-predictions",
    "sagemaker-invoke": "text-generation",
    "watsonx-text": "watsonx-text",
    "watsonx-text_stream": "watsonx-text",
    "openai-assistants": "openai-assistants",
}
"""The corpus's names for APIs and the protocol that we read them by; the families below cover the others."""

FAMILIES = {"-chat": "openai-chat", "-responses": "openai-responses", "-completions": "openai-completions"}


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why our count and theirs differ; `ours` and `theirs` are patterns for the whole value."""

    protocol: str
    fact: str
    ours: str
    theirs: str
    why: str


EXPLANATIONS: tuple[Explanation, ...] = (
    Explanation(
        "bedrock-agent", "prev_response_id", "1", "0",
        "a session is server-held history too: we name it as what the request continues",
    ),
    Explanation(
        "openai-assistants", "prev_response_id", "1", "0",
        "a thread is server-held history too: we name it as what the request continues",
    ),
    Explanation(
        "openai-assistants", "finish_reasons", "(stop)?", "completed(,requires_action)?(,stop)?",
        "they also take the status from later polls of the run, which we read as stored answers",
    ),
    Explanation(
        "openai-assistants", "tool_calls_in_response", "0", "1",
        "the calls are of the code interpreter, which the API runs on its own",
    ),
    Explanation(
        "openai-responses", "finish_reasons", "", "completed",
        "they also take the status from later polls of a background response, which we read as stored answers",
    ),
    Explanation(
        "openai-responses", "tool_calls_in_response", "2", "1",
        "a tool search that the client executes is a call that the client must answer",
    ),
    Explanation(
        "bedrock-invoke", "generations", "0", "1",
        "an embedding through an inference profile is not a generation",
    ),
    Explanation(
        "bedrock-invoke", "finish_reasons", "INTERVENED", "",
        "a guardrail that stopped the stream says so beside the model's own fields, where they do not look",
    ),
)  # fmt: skip
"""The rows that differ from INDEX.tsv: everything else must be equal."""

STATES = frozenset({"queued", "in_progress", "starting", "processing", "not_finished"})
"""Statuses of an answer still in the making: no verdicts, so they are compared on neither side."""

CONTINUES = "/submit_tool_outputs"
"""Tool results make the run continue: that is a generation for us, and none for the index."""


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
            if reading.is_generation and not recorded.round_trip.request.url.endswith(CONTINUES):
                self.faults.append(f"#{recorded.round_trip.index} is not a generation, and was read as one")
            return
        self.numbers["expected"] += 1
        self.numbers["protocol"] += reading.protocol == expected
        self.numbers["generations"] += reading.is_generation
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

    @property
    def explanation(self) -> Explanation | None:
        """The row of `EXPLANATIONS` for a difference, or None."""
        for row in EXPLANATIONS:
            if (row.protocol, row.fact) != (self.protocol, self.fact):
                continue
            if re.fullmatch(row.ours, self.ours) and re.fullmatch(row.theirs, self.theirs):
                return row
        return None


_ROWS: dict[str, dict[str, str]] = {}


def _row(cassette: str) -> dict[str, str]:
    if not _ROWS:
        _ROWS.update(index())
    return _ROWS[f"{cassette}.jsonl"]


def compare(counts: Counts) -> Iterator[Compared]:
    """The facts of one cassette against its row in the index."""
    row = _row(counts.cassette)
    for fact in FACTS:
        if fact == "finish_reasons":
            ours, theirs = counts.finishes - STATES, their_finishes(row[fact]) - STATES
            total = len(ours | theirs)
            yield Compared(
                counts.cassette, counts.protocol, fact, ",".join(sorted(ours)), ",".join(sorted(theirs)),
                len(ours & theirs), total,
            )  # fmt: skip
            continue
        ours_n = counts.numbers[fact]
        theirs_n = counts.numbers["expected"] if fact == "protocol" else int(row[fact])
        yield Compared(
            counts.cassette, counts.protocol, fact, str(ours_n), str(theirs_n),
            min(ours_n, theirs_n), max(ours_n, theirs_n),
        )  # fmt: skip


_ASIDE = ("native:", "int:", "refusal-", "incomplete:")


def their_finishes(words: str) -> set[str]:
    """The API's own words in a row: native words, token ids and refusal marks are beside them there."""
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
