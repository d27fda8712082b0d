"""The messages of a session are handed over together, shortly after they came, and redacted together."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

import orjson

from turntape.cassettes.recording.running_session import PAUSE, Again, RunningSession
from turntape.cassettes.redaction.redactor import Redactor
from turntape.cassettes.tape.model import Frame, Request, Response, RoundTrip

OPENED = RoundTrip(Request("GET", "wss://api.openai.com/v1/realtime"), Response(101), 1000.0)
KEY = "Your key is sk-ant-api03-abcDEF123456ghiJKL789012mnoPQR345678stuVWX, keep it. "


class Lines:
    def __init__(self) -> None:
        self.made: list[bytes] = []
        self.came = asyncio.Event()
        self.again: Again | None = None

    def line(self, make: Callable[[Redactor], bytes], size: int) -> None:
        assert size >= 0
        self.made.append(make(Redactor()))
        self.came.set()

    def session(self, name: str, again: Again | None) -> None:
        self.again = again


def test_messages_are_written_after_a_pause_in_one_line() -> None:
    async def talk(lines: Lines) -> None:
        session = RunningSession(lines, OPENED)
        assert len(lines.made) == 1 and b'"opened"' in lines.made[0]
        assert lines.again is not None
        again.append(lines.again)
        session.add(Frame("client", 1, b"one", True))
        session.add(Frame("server", 2, b"two", True))
        lines.came.clear()
        await lines.came.wait()
        session.add(Frame("server", 3, b"three", True))
        session.end()

    lines = Lines()
    again: list[Again] = []
    asyncio.run(talk(lines))

    assert [make(Redactor()) for make, _ in again[0]()] == lines.made  # what another file begins with
    assert lines.again is None
    assert [item["text"] for item in orjson.loads(lines.made[1])["frames"]] == ["one", "two"]
    assert len(lines.made) == 2  # the rest is in the round trip


def test_a_secret_over_two_lines_is_found_in_the_second_too() -> None:
    async def talk(lines: Lines) -> None:
        session = RunningSession(lines, OPENED)
        parts = [KEY[at : at + 6] for at in range(0, len(KEY), 6)]
        for some in (parts[:6], parts[6:]):
            lines.came.clear()
            for part in some:
                said = orjson.dumps({"type": "response.output_text.delta", "delta": part})
                session.add(Frame("server", 1, said, True))
            await lines.came.wait()
        session.end()

    lines = Lines()
    asyncio.run(talk(lines))

    _, first, second = lines.made
    said = "".join(orjson.loads(item["text"])["delta"] for item in orjson.loads(second)["frames"])
    assert "stuVWX" not in said and said.endswith("keep it. ")
    assert b"Your k" in first


def test_a_value_that_one_side_named_is_found_when_the_other_says_it_long_after() -> None:
    value = "3f0c9a71e5b84d2296ac08f7d1b35e4c"

    async def talk(lines: Lines) -> None:
        session = RunningSession(lines, OPENED)
        said = [f"API_KEY={value}".encode(), *[b"more"] * 100, f"I use {value} now".encode()]
        for at in range(0, len(said), 50):
            lines.came.clear()
            for part in said[at : at + 50]:
                session.add(Frame("server" if b"use" in part else "client", 1, part, True))
            await lines.came.wait()
        session.end()

    lines = Lines()
    asyncio.run(talk(lines))

    assert value.encode() not in b"".join(lines.made)
    assert b"I use REDACTED-" in lines.made[-1]


def test_the_beginning_of_a_secret_waits_for_its_end() -> None:
    async def talk(lines: Lines) -> None:
        session = RunningSession(lines, OPENED)
        for piece in ("Here: sk-ant-api03-abcDEF123456", "ghiJKL789012mnoPQR345678stuVWX", ", keep it. "):
            said = orjson.dumps({"type": "response.output_text.delta", "delta": piece})
            lines.came.clear()
            session.add(Frame("server", 1, said, True))
            with suppress(TimeoutError):
                await asyncio.wait_for(lines.came.wait(), 2 * PAUSE)
        session.end()

    lines = Lines()
    asyncio.run(talk(lines))

    _, line = lines.made
    assert b"Here: " in line and b"keep it." in line
    assert b"abcDEF" not in line and b"stuVWX" not in line
