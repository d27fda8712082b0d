"""Writes docs/example.cassette.jsonl: a coding agent that goes wrong, for the walkthrough, the screens and the tests.

    python docs/example.py [FILE]

Anthropic's Messages API, streamed, with its cache: a call for a title, a main thread, a subagent, an overloaded API.
The limit of output tokens is too low for the edit that the model wants to make, so the API cuts the call off; the
client runs what came of it all the same, and the model tries again.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from turntape.cassettes import Recorder
from turntape.cassettes.tape.model import Chunk, Request, Response, RoundTrip

START = 1_763_635_200.0
"""2025-11-20, 10:40:00 UTC."""
MODEL, SMALL = "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001"
HEADERS = (
    ("content-type", "application/json"),
    ("anthropic-version", "2023-06-01"),
    ("x-api-key", "redacted:8c1f0a"),
    ("user-agent", "coding-agent/2.3"),
)
SYSTEM = (
    "You are a coding agent in a user's repository. Work in small steps. Read before you edit. Run the tests after "
    "every edit. Say what you did in one sentence at the end.\n\n"
    + "\n".join(
        f"- {rule}"
        for rule in (
            "Use grep before you read whole files.",
            "Never edit generated files.",
            "Keep the style of the file you are in.",
            "When a test fails twice, stop and explain.",
            "Give large searches to a task of its own.",
        )
    )
    + "\n\n"
    + "The repository: a library that reads dates out of log lines. " * 90
)


def tool(name: str, description: str, **properties: str) -> dict[str, Any]:
    schema = {key: {"type": kind} for key, kind in properties.items()}
    return {
        "name": name,
        "description": description,
        "input_schema": {"type": "object", "properties": schema, "required": list(schema)},
    }


GREP = tool("grep", "Search the files of the repository for a regular expression.", pattern="string", path="string")
READ = tool("read_file", "Read a file, from a line on.", path="string", line="integer")
EDIT = tool("edit_file", "Replace the content of a file.", path="string", content="string")
TEST = tool("run_tests", "Run the tests and give their output.", path="string")
TASK = tool("task", "Give a task of its own to another agent and get its report.", prompt="string")
TOOLS = [GREP, READ, EDIT, TEST, TASK]

PARSER = '''def parse_date(text: str, day_first: bool = False) -> date:
    """The date in `text`. Raises ValueError when there is none."""
    for pattern in PATTERNS:
        found = pattern.search(text)
        if found is None:
            continue
        year, month, day = (int(part) for part in found.groups())
        if day_first:
            month, day = day, month
        if year < 100:
            year += 1900 if year > 30 else 2000
        return date(year, month, day)
    raise ValueError(f"no date in {text!r}")
'''
FAILURE = """tests/test_dates.py F...F                                  [100%]

E       AssertionError: assert datetime.date(1931, 3, 1) == datetime.date(2031, 3, 1)
E        +  where datetime.date(1931, 3, 1) = parse_date('01.03.31', day_first=True)

FAILED tests/test_dates.py::test_two_digit_years - AssertionError
FAILED tests/test_dates.py::test_log_of_the_future - AssertionError
2 failed, 3 passed in 0.41s
"""
CASES = "\n".join(
    f"def test_{name}_{year}() -> None:\n    assert parse_date({text!r}) == date({year}, {month}, {day})\n"
    for year in range(1998, 2032)
    for name, text, month, day in (("iso", f"{year}-03-01", 3, 1), ("us", f"03/01/{year % 100:02d}", 3, 1))
)


@dataclass
class Clock:
    now: float = START


@dataclass
class Conversation:
    """A thread as its client keeps it."""

    clock: Clock
    system: str
    tools: list[dict[str, Any]]
    model: str = MODEL
    max_tokens: int = 1024
    messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    cached: int = 0
    """How many tokens the API holds of what was sent so far."""
    count: int = 0

    def user(self, *content: dict[str, Any] | str) -> None:
        blocks = [{"type": "text", "text": one} if isinstance(one, str) else one for one in content]
        self.messages.append({"role": "user", "content": blocks})

    def request(self) -> Request:
        system = [{"type": "text", "text": self.system, "cache_control": {"type": "ephemeral"}}]
        body = {"model": self.model, "max_tokens": self.max_tokens, "system": system, "messages": self.messages}
        if self.tools:
            body["tools"] = self.tools
        return Request("POST", "https://api.anthropic.com/v1/messages", HEADERS, orjson.dumps({**body, "stream": True}))

    def refused(self, status: int, kind: str, message: str) -> RoundTrip:
        """The API says no, as one JSON body."""
        data = orjson.dumps({"type": "error", "error": {"type": kind, "message": message}})
        response = Response(status, "", (("content-type", "application/json"),), data, (Chunk(len(data), 310_000),))
        started, self.clock.now = self.clock.now, self.clock.now + 2.3
        return RoundTrip(self.request(), response, started, request_at=900, first_byte_at=300_000, ended_at=310_000)

    def answered(self, *content: dict[str, Any], stop: str = "tool_use", lost: bool = False) -> RoundTrip:
        """The API answers with these blocks, event by event. `lost` is a cache that did not hold any more."""
        request = self.request()
        whole = len(request.body) // 4
        read = 0 if lost else min(self.cached, whole)
        fresh = 12 if whole - read > 12 else 0
        usage = {
            "input_tokens": fresh,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": whole - read - fresh,
        }
        self.cached = whole
        self.count += 1
        output = self.max_tokens if stop == "max_tokens" else sum(len(orjson.dumps(one)) for one in content) // 4
        events = list(
            _events(f"msg_{self.model[7:9]}{self.count:02d}{whole}", self.model, content, stop, usage, output)
        )
        pieces = [f"event: {event['type']}\ndata: {orjson.dumps(event).decode()}\n\n".encode() for event in events]
        first, step = 780_000 + whole * 20, 34_000
        chunks = tuple(Chunk(len(piece), first + step * at) for at, piece in enumerate(pieces))
        headers = (("content-type", "text/event-stream; charset=utf-8"), ("request-id", f"req_{whole:06d}"))
        response = Response(200, "OK", headers, b"".join(pieces), chunks)
        started, self.clock.now = self.clock.now, self.clock.now + chunks[-1].at / 1e6 + 1.2
        self.messages.append({"role": "assistant", "content": [_echoed(one) for one in content]})
        return RoundTrip(
            request, response, started, request_at=900, first_byte_at=first, ended_at=chunks[-1].at + 1_000
        )


def _echoed(block: dict[str, Any]) -> dict[str, Any]:
    """What this client sends back: the arguments of a cut call do not parse, and become empty."""
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
    """A call of which only the beginning came."""
    return {**block, "input": orjson.dumps(block["input"]).decode()[:length]}


def result(of: dict[str, Any], text: str, *, error: bool = False) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": of["id"], "content": text, **({"is_error": True} if error else {})}


def agent() -> Iterator[RoundTrip]:
    """The run, round trip by round trip, in the order in which they ended."""
    clock = Clock()
    task = "The tests of the date parser fail since Monday. Find out why and mend it."
    title = Conversation(clock, "Name this conversation in at most five words.", [], SMALL, 64)
    title.user(f"The user wrote: {task}")
    main = Conversation(clock, SYSTEM, TOOLS)
    main.user(task)
    run, look = call(1, "run_tests", path="tests"), call(2, "grep", pattern="def parse_date", path="src")
    thought = think("Tests that began to fail on a day smell of a date in them. I run them, and see where it is read.")
    yield main.answered(thought, say("I run the tests and look for the parser."), run, look)
    yield title.answered(say("Failing date parser tests"), stop="end_turn")

    main.user(result(run, FAILURE), result(look, "src/dates/parser.py:41: def parse_date(text: str, day_first …"))
    read = call(3, "read_file", path="src/dates/parser.py", line=1)
    prompt = "List every test in tests/ that uses a year with two digits, with the century that it expects."
    explore = call(4, "task", prompt=prompt)
    yield main.answered(say("Two digits of a year are read into the wrong century."), read, explore)

    helper = Conversation(clock, "You search a repository and report. You edit nothing.", [GREP, READ])
    helper.user(prompt)
    search = call(5, "grep", pattern=r"/\d\d'", path="tests")
    yield helper.answered(search)
    helper.user(result(search, "tests/test_dates.py: 34 matches"))
    open_it = call(6, "read_file", path="tests/test_dates.py", line=1)
    yield helper.answered(open_it)
    helper.user(result(open_it, CASES))
    report = "34 tests use two digits. All years from 98 to 99 expect 19xx, and all from 00 to 31 expect 20xx."
    yield helper.answered(say(report), stop="end_turn")

    main.user(result(read, PARSER), result(explore, report))
    content = PARSER.replace("year > 30", "year > 68") + "\n\n" + CASES
    edit = cut(call(7, "edit_file", path="src/dates/parser.py", content=content), 3900)
    yield main.answered(
        say("The pivot year is 30; POSIX has 68. I write the file with its tests."), edit, stop="max_tokens"
    )

    main.user(result(edit, "error: edit_file() misses its arguments 'path' and 'content'", error=True))
    again = cut(call(8, "edit_file", path="src/dates/parser.py", content=content), 3880)
    main.system = SYSTEM + "\n\nIt is 10:42."
    yield main.answered(
        say("The arguments were lost. I write the whole file again."), again, stop="max_tokens", lost=True
    )

    main.user(result(again, "error: edit_file() misses its arguments 'path' and 'content'", error=True))
    yield main.refused(529, "overloaded_error", "Overloaded")
    small = call(9, "edit_file", path="src/dates/parser.py", content=PARSER.replace("year > 30", "year > 68"))
    yield main.answered(say("I write the function alone, without the tests."), small)

    main.user(result(small, "wrote 14 lines"))
    check = call(10, "run_tests", path="tests")
    yield main.answered(check)
    main.user(result(check, "5 passed in 0.38s\n"))
    end = "The pivot year for two digits was 30, so 2031 became 1931; it is 68 now, as in POSIX, and all tests pass."
    yield main.answered(say(end), stop="end_turn")


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("example.cassette.jsonl")
    path.unlink(missing_ok=True)
    with Recorder(path, tool="turntape", clock=lambda: START) as recorder:
        for index, trip in enumerate(agent()):
            recorder.write(_placed(trip, index))


def _placed(trip: RoundTrip, index: int) -> RoundTrip:
    from dataclasses import replace

    return replace(trip, index=index, upstream="anthropic", route="base_url", run="example")


if __name__ == "__main__":
    main()
