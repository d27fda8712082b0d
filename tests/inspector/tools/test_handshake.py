"""The handshake of a session, by what is known of it: how it begins, ends, and is refused."""

from dataclasses import replace
from typing import Any

import pytest
from tool_stories import KEY
from tool_wire import answers, asks, fails, initialize

from turntape.inspector.tools.handshake import (
    cancelled_start,
    flaw_of_handshake,
    hasty,
    is_about_handshake,
    is_about_version,
    is_unconfirmed,
    never_confirmed,
    opened,
    unlisted_version,
)
from turntape.inspector.tools.session_state import Session, WireNote
from turntape.inspector.tools.tool_messages import ToolMessage

MODERN = "2026-07-28"
INITIALIZE = initialize(0)


def message(data: dict[str, Any], at: float = 1.0, index: int = 3) -> ToolMessage:
    return ToolMessage("s", "files", "client", at, data, b"", index, 0)


START = message(INITIALIZE)


def session(**known: Any) -> Session:
    """A session whose handshake began at 1.0 and was answered at 2.0."""
    return Session("files", **{"start": START, "starts": 1, "ready_at": 2.0, "version": "2025-11-25", **known})


def note(kind: Any, what: str = "initialize", detail: str = "", index: int = 3) -> WireNote:
    return WireNote(kind, "files", index, what, detail)


@pytest.mark.parametrize(
    ("version", "exists"),
    [
        *((one, True) for one in ("2024-10-07", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN)),
        *((one, True) for one in ("2026-07-29", "2031-01-01", "DRAFT-2026-v1")),
        *((one, False) for one in ("2025-01-01", "latest", "2031-1-1", "DRAFT", "2031-01-01x", "")),
    ],
)
def test_a_version_that_mcp_has_or_may_have(version: str, exists: bool) -> None:
    asked, again = message(initialize(0, version)), Session("files")
    result = message(answers(0, protocolVersion=version, capabilities={}), at=2.0)

    wrong = None if exists else f"says version {version!r}, which MCP does not have"
    assert flaw_of_handshake(session(ready_at=None), asked, again=True) == wrong
    assert list(opened(again, asked, result, None)) == ([] if exists else [note("version_unknown", f'"{version}"')])
    assert (again.ready_at, again.offers) == (2.0, {})


def test_a_long_version_is_cut_and_an_absent_one_is_the_answers_fault_alone() -> None:
    long = message(initialize(0, "v" * 50))
    assert flaw_of_handshake(session(), long, again=False) == f"says version '{'v' * 39}…', which MCP does not have"

    absent = message(asks(0, "initialize"))
    assert flaw_of_handshake(session(), absent, again=False) is None
    assert list(opened(Session("files"), absent, message(answers(0)), None)) == [note("version_unknown", "null")]


@pytest.mark.parametrize(
    ("ready_at", "at", "again", "late"),
    [(2.0, 3.0, True, True), (2.0, 3.0, False, False), (2.0, 2.0, True, False), (None, 3.0, True, False)],
)
def test_a_second_handshake_comes_after_the_first(ready_at: float | None, at: float, again: bool, late: bool) -> None:
    found = flaw_of_handshake(session(ready_at=ready_at), message(INITIALIZE, at), again=again)

    assert found == ("comes after the handshake of the session" if late else None)
    assert flaw_of_handshake(session(ready_at=ready_at), message(asks(1, "ping"), at), again=again) is None


NOT_OVER: list[dict[str, Any]] = [
    {"start": None},
    {"ready_at": None},
    {"confirmed": True},
    {"starts": 2},
    {"version": MODERN},
]
"""Where nobody waits for the end of the handshake."""


@pytest.mark.parametrize("known", NOT_OVER)
def test_a_handshake_that_the_client_need_not_end(known: dict[str, Any]) -> None:
    assert not is_unconfirmed(session(**known))
    assert list(never_confirmed(session(served=True, **known))) == []


def test_a_client_that_never_says_that_the_handshake_is_over() -> None:
    assert is_unconfirmed(session()) and not is_unconfirmed(session(served=True))
    assert list(never_confirmed(session())) == [], "the server may wait for it"
    assert list(never_confirmed(session(served=True))) == [note("never_confirmed")]
    for kind in ("not_ready", "own_notice_wrong", "request_wrong"):
        assert list(never_confirmed(session(served=True, noted={kind}))) == [], "reported already"
    assert list(never_confirmed(session(served=True, noted={"garbage"}))) == [note("never_confirmed")]


@pytest.mark.parametrize(
    ("known", "found"),
    [
        ({"cancelled": {"0": (1.5, None)}}, True),
        ({"cancelled": {"0": (1.0, None)}}, True),
        ({"cancelled": {"0": (2.0, None)}}, True),
        ({"cancelled": {"0": (0.5, None)}}, False),
        ({"cancelled": {"0": (2.5, None)}}, False),
        ({"cancelled": {"0": (9.0, None)}, "ready_at": None}, True),
        ({"cancelled": {"1": (1.5, None)}}, False),
        ({"cancelled": {"0": (1.5, None)}, "starts": 2}, False),
        ({"cancelled": {"0": (1.5, None)}, "start": None}, False),
        ({"cancelled": {"0": (1.5, None)}, "noted": {"start_cancelled"}}, False),
    ],
)
def test_a_start_that_is_cancelled_before_its_answer(known: dict[str, Any], found: bool) -> None:
    assert list(cancelled_start(session(**known))) == [note("start_cancelled", "")] * found


@pytest.mark.parametrize(
    ("versions", "supported", "odd"),
    [(["2025-11-25", 7, MODERN], ("2025-11-25", MODERN), False), ([], (), True), (None, (), False), ("x", (), False)],
)
def test_the_versions_that_a_server_names(versions: object, supported: tuple[str, ...], odd: bool) -> None:
    one, asked = Session("files"), message(asks(1, "server/discover"))
    answer = message(answers(1, supportedVersions=versions))

    odd_note = note("answer_odd", "server/discover", "names no version that the server has")
    assert list(opened(one, asked, answer, None)) == [odd_note] * odd
    assert list(opened(one, asked, answer, None)) == [], "once"
    assert one.supported == supported and one.ready_at is None
    assert list(opened(Session("files"), asked, message(fails(1)), None)) == []


def test_a_handshake_that_the_server_refuses() -> None:
    one, later = Session("files"), replace(START, index=5)
    refused = message(fails(0, "not today"))
    assert list(opened(one, START, refused, None)) == list(opened(one, later, message(fails(0, "no")), None)) == []
    assert one.start_failed == note("start_failed", detail="not today"), "the first one"

    list(opened(one, later, message(answers(0, protocolVersion=MODERN), at=7.0), None))
    assert (one.start_failed, one.ready_at) == (None, 7.0)

    wrong = Session("files")
    assert list(opened(wrong, START, refused, "has no id")) == [] and wrong.start_failed is None
    silent = Session("files")
    assert list(opened(silent, START, message({"id": 0}), None)) == []
    assert silent.start_failed == note("start_failed")


def test_a_second_handshake_that_the_server_refuses_is_the_clients() -> None:
    one, refused = session(), message(fails(0, "again?"))
    said = note("request_wrong", detail="comes after the handshake of the session")

    assert list(opened(one, message(INITIALIZE, at=2.0), refused, None)) == []
    assert list(opened(one, message(INITIALIZE, at=3.0), refused, None)) == [said]
    assert list(opened(one, message(INITIALIZE, at=4.0), refused, None)) == [] and one.start_failed is None


@pytest.mark.parametrize(
    ("known", "found"),
    [
        ({}, True),
        ({"first": None}, False),
        ({"first": message(asks(1, "tools/list"), 2.0, 4)}, False),
        ({"ready_at": None}, False),
        ({"starts": 2}, False),
        ({"version": MODERN}, False),
        ({"noted": {"not_ready"}}, False),
        ({"noted": {"own_notice_wrong"}}, False),
    ],
)
def test_a_request_before_the_end_of_the_handshake(known: dict[str, Any], found: bool) -> None:
    one = session(**{"first": message(asks(1, "tools/list"), 1.5, 4), **known})
    how = "comes before the server has answered `initialize`"

    assert list(hasty(one)) == [note("own_notice_wrong", "tools/list", how, 4)] * found


@pytest.mark.parametrize(
    ("said", "open_", "complete"),
    [
        ("Received request before initialization was complete", True, True),
        ("Bad Request: Server not initialized", True, True),
        ("the server is not yet initialised", True, True),
        ("Client must be initialized first", True, False),
        ("send notifications/initialized", True, False),
        ("Expected initialize, got tools/list", True, False),
        ("the tool was initialized", False, False),
        ("x" * 1_985 + " must initialize", False, False),
        ("x" * 1_984 + " must initialize", True, False),
        ("it broke", False, False),
    ],
)
def test_errors_about_the_handshake(said: str, open_: bool, complete: bool) -> None:
    assert is_about_handshake(session(), said) == open_
    assert is_about_handshake(session(confirmed=True, ready_at=None), said) == open_
    assert is_about_handshake(session(confirmed=True), said) == complete


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("Unsupported protocol version (supported: 2025-06-18)", True),
        ("Invalid MCP-Protocol-Version header", True),
        ("supports only the protocol version 2025-06-18", True),
        ("protocol version 2025-11-25 is not supported", True),
        ("MCP-Protocol-Version: unknown", True),
        ("x" * 1_980 + " unknown protocol version", False),
        (f"Unsupported protocol version: this server has only {MODERN}", False),
        (f"Unsupported protocol version 2025-11-25: this server has {MODERN}", True),
        ("Invalid session", False),
        ("protocol version 2025-11-25", False),
    ],
)
def test_errors_about_the_version(said: str, found: bool) -> None:
    assert is_about_version(said) == found


def test_a_request_in_a_version_that_its_server_does_not_name() -> None:
    def asked(version: object, method: str = "tools/list") -> ToolMessage:
        return message(asks(1, method, _meta={f"{KEY}protocolVersion": version}))

    one = session(supported=("2025-11-25", "2025-06-18"))
    listed = "2025-11-25, 2025-06-18"
    assert unlisted_version(one, asked(MODERN)) == f"says version '{MODERN}', and its server has only {listed}"
    assert unlisted_version(one, asked("2025-06-18")) is None
    assert unlisted_version(one, asked(7)) is None
    assert unlisted_version(one, asked(MODERN, "server/discover")) is None
    assert unlisted_version(session(), asked(MODERN)) is None
    many = unlisted_version(session(supported=("x" * 40,) * 3), asked(MODERN))
    assert many is not None and many.endswith(f"only {'x' * 40}, {'x' * 18}")
