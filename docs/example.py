"""Writes docs/example.cassette.jsonl: a coding agent that goes wrong, for the walkthrough, the screens and the tests.

    python docs/example.py [FILE]

Anthropic's Messages API, streamed, with its cache: a call for a title, a main thread, a subagent, an overloaded API.
The limit of output tokens is too low for the file that the model wants to write, so the API cuts the call off. The
client runs the incomplete call anyway, and the model tries again. The client also writes the time of day into the
system prompt, so the cache is lost when the minute ends.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from turntape.cassettes import Recorder
from turntape.cassettes.tape.model import Chunk, Request, Response, RoundTrip

START = 1_763_635_226.0
"""2025-11-20, 10:40:26 UTC. The minute ends between turn 3 and turn 4."""
EVENT = 120_000
"""Microseconds between two events of a stream: about 80 tokens a second."""
MODEL, SMALL = "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001"
HEADERS = (
    ("content-type", "application/json"),
    ("anthropic-version", "2023-06-01"),
    ("x-api-key", "redacted:8c1f0a"),
    ("user-agent", "coding-agent/2.3"),
)
TEXTS = Path(__file__).with_name("example")
"""The texts of the conversation: system prompt, source file, test output, test data."""


def text(name: str) -> str:
    """One of the texts."""
    return (TEXTS / name).read_text(encoding="utf-8")


def tool(name: str, description: str, **properties: str) -> dict[str, Any]:
    schema = {key: {"type": kind} for key, kind in properties.items()}
    return {
        "name": name,
        "description": description,
        "input_schema": {"type": "object", "properties": schema, "required": list(schema)},
    }


GREP = tool(
    "grep",
    "Search files for a regular expression. Gives file, line number and line of each match, at most 200.",
    pattern="string",
    path="string",
)
READ = tool("read_file", "Read up to 400 lines of a file, beginning at a line.", path="string", line="integer")
EDIT = tool(
    "edit_file",
    "Replace one passage of a file. `old` must occur exactly once, with its indentation.",
    path="string",
    old="string",
    new="string",
)
WRITE = tool("write_file", "Create a file, or replace its whole content.", path="string", content="string")
TEST = tool("run_tests", "Run the tests below a path and give the test runner's output.", path="string")
TASK = tool(
    "task",
    "Start another agent with its own conversation. It can search and read. Gives its report.",
    prompt="string",
)
TOOLS = [GREP, READ, EDIT, WRITE, TEST, TASK]


@dataclass
class Clock:
    now: float = START


@dataclass
class Conversation:
    """A thread as its client keeps it."""

    clock: Clock
    system: str
    """`{time}` in it is replaced by the time of each request."""
    tools: list[dict[str, Any]]
    model: str = MODEL
    max_tokens: int = 1024
    caches: bool = False
    """Whether the client asks for the prompt cache."""
    messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    cached: int = 0
    """How many tokens of the last request the API holds in its cache."""
    seen: str = ""
    """The system prompt of the last request."""
    count: int = 0

    def user(self, *content: dict[str, Any] | str) -> None:
        """The client adds a message: texts, or results of tools."""
        blocks = [{"type": "text", "text": one} if isinstance(one, str) else one for one in content]
        self.messages.append({"role": "user", "content": blocks})

    def prompt(self) -> str:
        """The system prompt as it is sent now."""
        return self.system.replace("{time}", datetime.fromtimestamp(self.clock.now, UTC).strftime("%H:%M"))

    def request(self) -> Request:
        mark = {"cache_control": {"type": "ephemeral"}} if self.caches else {}
        *earlier, last = self.messages
        *blocks, end = last["content"]
        messages = [*earlier, {**last, "content": [*blocks, {**end, **mark}]}]
        system = [{"type": "text", "text": self.prompt(), **mark}]
        body = {"model": self.model, "max_tokens": self.max_tokens, "system": system, "messages": messages}
        if self.tools:
            body["tools"] = self.tools
        return Request("POST", "https://api.anthropic.com/v1/messages", HEADERS, orjson.dumps({**body, "stream": True}))

    def refused(self, status: int, kind: str, message: str) -> RoundTrip:
        """The API answers with an error, as one JSON body."""
        data = orjson.dumps({"type": "error", "error": {"type": kind, "message": message}})
        response = Response(status, "", (("content-type", "application/json"),), data, (Chunk(len(data), 310_000),))
        trip = RoundTrip(
            self.request(), response, self.clock.now, request_at=900, first_byte_at=300_000, ended_at=310_000
        )
        self.clock.now += 2.3
        return trip

    def answered(self, *content: dict[str, Any], stop: str = "tool_use", wait: float = 1.2) -> RoundTrip:
        """The API answers with these blocks, event by event; the client needs `wait` seconds for its tools."""
        request = self.request()
        self.count += 1
        output = self.max_tokens if stop == "max_tokens" else sum(len(orjson.dumps(one)) for one in content) // 4
        name = f"msg_01{self.model[7:9]}{len(request.body):05d}{self.count:02d}"
        events = list(_events(name, self.model, content, stop, self._usage(len(request.body) // 4), output))
        pieces = [f"event: {event['type']}\ndata: {orjson.dumps(event).decode()}\n\n".encode() for event in events]
        first, step = 680_000 + len(request.body) * 20, EVENT
        chunks = tuple(Chunk(len(piece), first + step * at) for at, piece in enumerate(pieces))
        headers = (
            ("content-type", "text/event-stream; charset=utf-8"),
            ("request-id", f"req_011{len(request.body):06d}"),
        )
        response = Response(200, "OK", headers, b"".join(pieces), chunks)
        trip = RoundTrip(
            request, response, self.clock.now, request_at=900, first_byte_at=first, ended_at=chunks[-1].at + 1_000
        )
        self.clock.now += chunks[-1].at / 1e6 + wait
        self.messages.append({"role": "assistant", "content": [_echoed(one) for one in content]})
        return trip

    def _usage(self, tokens: int) -> dict[str, int]:
        """Input tokens as the API counts them: read from the cache, written to it, neither."""
        if not self.caches:
            return {"input_tokens": tokens, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
        read = self.cached if self.seen == self.prompt() else 0
        self.cached, self.seen = tokens - 4, self.prompt()
        return {"input_tokens": 4, "cache_read_input_tokens": read, "cache_creation_input_tokens": tokens - 4 - read}


def _echoed(block: dict[str, Any]) -> dict[str, Any]:
    """What this client sends back: the arguments of a cut call are not valid JSON, and become empty."""
    return {**block, "input": block["input"] if isinstance(block["input"], dict) else {}} if "input" in block else block


def _events(
    name: str, model: str, content: tuple[dict[str, Any], ...], stop: str, usage: dict[str, int], output: int
) -> Iterator[dict[str, Any]]:
    message = {"id": name, "type": "message", "role": "assistant", "model": model, "content": []}
    end = {"stop_reason": None, "stop_sequence": None, "usage": {**usage, "output_tokens": 1}}
    yield {"type": "message_start", "message": {**message, **end}}
    for index, block in enumerate(content):
        kind = block["type"]
        if kind == "thinking":
            yield {
                "type": "content_block_start",
                "index": index,
                "content_block": {**block, "thinking": "", "signature": ""},
            }
            for piece in _pieces(block["thinking"], 28):
                yield _delta(index, {"type": "thinking_delta", "thinking": piece})
            yield _delta(index, {"type": "signature_delta", "signature": block["signature"]})
        elif kind == "text":
            yield {"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}}
            for piece in _pieces(block["text"], 18):
                yield _delta(index, {"type": "text_delta", "text": piece})
        else:
            given = block["input"]
            text = given if isinstance(given, str) else orjson.dumps(given).decode()
            yield {"type": "content_block_start", "index": index, "content_block": {**block, "input": {}}}
            for piece in _pieces(text, 40):
                yield _delta(index, {"type": "input_json_delta", "partial_json": piece})
        yield {"type": "content_block_stop", "index": index}
    delta = {"stop_reason": stop, "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": {**usage, "output_tokens": output}}
    yield {"type": "message_stop"}


def _pieces(text: str, length: int) -> Iterator[str]:
    yield from (text[at : at + length] for at in range(0, len(text), length))


def _delta(index: int, delta: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def say(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def think(text: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": text, "signature": f"Eq{len(text)}sigAAbbCCdd=="}


def call(number: int, name: str, **arguments: object) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number:02d}{name[:4]}", "name": name, "input": arguments}


def cut(block: dict[str, Any], length: int) -> dict[str, Any]:
    """A call of which only the beginning arrived."""
    return {**block, "input": orjson.dumps(block["input"]).decode()[:length]}


def result(of: dict[str, Any], text: str, *, error: bool = False) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": of["id"], "content": text, **({"is_error": True} if error else {})}


def agent() -> Iterator[RoundTrip]:
    """The run, round trip by round trip, in the order in which they ended."""
    clock = Clock()
    task = "The tests of the date parser have been failing since Monday. Find out why and fix it."
    title = Conversation(clock, "Name this conversation in at most five words.", [], SMALL, 64)
    title.user(f"The user wrote: {task}")
    main = Conversation(clock, text("system_prompt.txt"), TOOLS, caches=True)
    main.user(task)
    run, look = call(1, "run_tests", path="tests"), call(2, "grep", pattern="def parse_date", path="src")
    thought = think(
        "They passed last week and nobody changed the parser. New test data, or today's date. Run them first."
    )
    yield main.answered(thought, say("I'll run the tests and look for the parser."), run, look, wait=3.1)
    yield title.answered(say("Failing date parser tests"), stop="end_turn")

    main.user(result(run, text("failure.txt")), result(look, GREP_PARSER))
    read = call(3, "read_file", path="src/statements/dates.py", line=1)
    prompt = (
        "Which dates in tests/data have a year with two digits? List the years, and the century that the tests expect."
    )
    explore = call(4, "task", prompt=prompt)
    yield main.answered(say("A two-digit year is read into the wrong century: 31 becomes 1931."), read, explore)

    helper = Conversation(clock, "You search a repository and report. You do not edit files.", [GREP, READ])
    helper.user(prompt)
    search = call(5, "grep", pattern=r"\d\d\.\d\d\.\d\d\b", path="tests/data")
    yield helper.answered(search)
    helper.user(result(search, GREP_DATA))
    open_it = call(6, "read_file", path="tests/data/nordbank_loans.csv", line=1)
    yield helper.answered(open_it)
    helper.user(result(open_it, text("nordbank_loans.csv")))
    yield helper.answered(say(REPORT), stop="end_turn")

    main.user(result(read, text("dates.py.txt")), result(explore, REPORT))
    whole = text("dates.py.txt").replace("PIVOT = 30", "PIVOT = 68")
    write = cut(call(7, "write_file", path="src/statements/dates.py", content=whole), 3900)
    yield main.answered(say("The pivot year is 30; POSIX has 68. I'll rewrite the module."), write, stop="max_tokens")

    missing = "error: write_file() is missing its arguments 'path' and 'content'"
    main.user(result(write, missing, error=True))
    again = cut(call(8, "write_file", path="src/statements/dates.py", content=whole), 3880)
    yield main.answered(say("The arguments got lost. I'll write the whole module again."), again, stop="max_tokens")

    main.user(result(again, missing, error=True))
    yield main.refused(529, "overloaded_error", "Overloaded")
    old = 'PIVOT = 30\n"""Two digits above this mean 19xx, the others 20xx."""'
    small = call(9, "edit_file", path="src/statements/dates.py", old=old, new=old.replace("30", "68"))
    yield main.answered(say("I'll replace only the line that is wrong."), small)

    main.user(result(small, "src/statements/dates.py: replaced 1 passage (line 8)"))
    check = call(10, "run_tests", path="tests")
    yield main.answered(check, wait=2.9)
    main.user(result(check, PASSED))
    yield main.answered(say(END), stop="end_turn")


GREP_PARSER = "src/statements/dates.py:34: def parse_date(text: str, formats: Iterable[str] = ()) -> date:"
GREP_DATA = """tests/data/nordbank_loans.csv: 24 lines
tests/data/kreditkasse_2019.csv: 112 lines
tests/data/ostsee_2024.csv: 9 lines
"""
REPORT = (
    "nordbank_loans.csv was added on Monday. Its loans were opened from 98 to 25 and end from 26 to 35; the tests "
    "expect 1998 to 2025 and 2026 to 2035. All other files hold years from 17 to 25, which are read correctly."
)
PASSED = """tests/test_dates.py ............                                        [ 41%]
tests/test_reader.py .........                                          [ 72%]
tests/test_bookings.py ........                                         [100%]

29 passed in 1.79s
"""
END = (
    "The pivot year for two digits was 30, so loans that end in 2031 or later were read as 1931 or later. It is 68 "
    "now, as in POSIX, and all tests pass."
)


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("example.cassette.jsonl")
    path.unlink(missing_ok=True)
    with Recorder(path, tool="turntape", clock=lambda: START) as recorder:
        for index, trip in enumerate(agent()):
            recorder.write(_placed(trip, index))


def _placed(trip: RoundTrip, index: int) -> RoundTrip:
    return replace(trip, index=index, upstream="anthropic", route="base_url", run="example")


if __name__ == "__main__":
    main()
