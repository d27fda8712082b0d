"""What is recorded: nothing is paid for that cannot be kept, and nothing is lost without a word."""

import multiprocessing
import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from factories import round_trip

from turntape.cassettes import Cassette, CassetteError, Recorder
from turntape.cassettes.replay.miss import Miss
from turntape.cassettes.replay.player import Played
from turntape.cassettes.replay.session import Session
from turntape.cassettes.tape.model import Response


@pytest.fixture(autouse=True)
def not_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)  # where nothing is recorded


def recorded(session: Session, body: bytes) -> Session:
    session._keep(round_trip(body))
    return session


@pytest.mark.parametrize(
    ("answers", "failed", "why"),
    [
        ((401,), True, "errors (401); the earlier cassette stays"),
        ((429, None, 429), True, "errors (429, no connection); the earlier cassette stays"),
        ((401,), False, None),  # a test about a wrong key
        ((200, 500), True, None),
        ((302,), True, None),
    ],
)
def test_a_failed_test_that_got_only_errors_records_nothing(
    tmp_path: Path, answers: tuple[int | None, ...], failed: bool, why: str | None
) -> None:
    path = tmp_path / "a.cassette.jsonl"
    recorded(Session(path, "once"), b'"earlier"').finish()
    session = Session(path, "all")
    for status in answers:
        answer = None if status is None else Response(status, content=b"{}")
        session._keep(replace(round_trip(b'"now"'), response=answer))

    assert session.finish(failed=failed) == (0 if why else len(answers))
    assert [note.partition("gave only ")[2] for note in session.notes] == ([why] if why else [])
    assert Cassette.load(path)[0].request.body == (b'"earlier"' if why else b'"now"')
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def ask(session: Session, body: bytes = b'"asked"') -> object:
    return session.ask("POST", "https://api.openai.com/v1/chat/completions", (), body)


def no_folder(path: Path) -> None:
    path.parent.write_text("a file", encoding="utf-8")


def other_recorder(path: Path) -> None:
    recorded(Session(path, "all"), b'"other"')


def a_folder(path: Path) -> None:
    path.mkdir(parents=True)


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (no_folder, r"^cannot write the cassette '.*': (File exists|Not a directory); correct that and record again$"),
        (a_folder, r"^the cassette '.*' is a folder; remove it or give the cassette another name$"),
        (other_recorder, "^'.*' is being recorded by another test or worker; "),
    ],
)
def test_no_live_call_is_made_whose_answer_could_not_be_recorded(
    before: Callable[[Path], None], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "cassettes" / "a.cassette.jsonl"
    before(path)
    session = Session(path, "all")

    first, second = ask(session), ask(session)

    assert isinstance(first, Miss) and isinstance(second, Miss)
    assert re.match(said, str(first)) and session.refused == [str(first), str(second)]
    with pytest.raises(CassetteError, match=said):
        session.finish()


def test_a_folder_without_permission_is_found_before_the_first_live_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # who is root may write everywhere
    session = Session(tmp_path / "a.cassette.jsonl", "once")

    said = ask(session)

    assert isinstance(said, Miss)
    assert re.match("^cannot write the cassette '.*': Permission denied; correct that and record again$", str(said))


@pytest.mark.parametrize("mode", ["once", "all", "new"])
def test_a_live_call_without_an_answer_changes_no_file(mode: str, tmp_path: Path) -> None:
    path = tmp_path / "a.cassette.jsonl"
    if mode != "once":
        assert recorded(Session(path, "once"), b'"first"').finish() == 1
    before = {one.name: one.read_bytes() for one in tmp_path.iterdir()}

    session = Session(path, mode)

    assert ask(session) is None
    assert session.finish() == 0
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == before


@pytest.mark.parametrize("damaged", [True, False])
def test_a_damaged_cassette_is_not_restamped(damaged: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.cassette.jsonl"
    trip = round_trip(b'{"model":"m","messages":[{"role":"user","content":"asked"}]}')
    with Recorder(path, durable=False) as recorder:
        recorder.write(trip)
    if damaged:
        path.write_bytes(path.read_bytes() + b'{"n":1')
    before = path.read_bytes()
    session = Session(path, "restamp")
    session.ask(trip.request.method, trip.request.url, (), trip.request.body.replace(b"asked", b"said"))
    assert not session.misses

    if damaged:
        with pytest.raises(CassetteError, match="is damaged and was not rewritten: line 3 is not valid JSON"):
            session.finish()
        assert path.read_bytes() == before
    else:
        assert session.finish() == 1
        assert path.read_bytes() != before


def test_a_restamp_that_cannot_write_says_so_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.cassette.jsonl"
    trip = round_trip(b'{"model":"m","messages":[{"role":"user","content":"asked"}]}')
    with Recorder(path, durable=False) as recorder:
        recorder.write(trip)
    before = path.read_bytes()
    session = Session(path, "restamp")
    session.ask(trip.request.method, trip.request.url, (), trip.request.body.replace(b"asked", b"said"))
    monkeypatch.setattr(os, "access", lambda *_: False)  # who is root may write everywhere

    with pytest.raises(CassetteError, match="^cannot write the cassette '.*': Permission denied; correct that"):
        session.finish()
    assert path.read_bytes() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system forks no processes")
def test_a_forked_process_makes_no_live_call_and_leaves_no_file(tmp_path: Path) -> None:
    """Its answer would be lost: the file is written by the process that has opened the session."""
    session = Session(tmp_path / "a.cassette.jsonl", "once")

    def in_the_fork() -> None:
        miss = ask(session)
        os._exit(0 if isinstance(miss, Miss) and "turntape_server" in str(miss) else 1)

    process = multiprocessing.get_context("fork").Process(target=in_the_fork)
    process.start()
    process.join()

    assert process.exitcode == 0
    assert not list(tmp_path.iterdir())
    assert ask(session) is None  # this process may call
    session.finish()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system forks no processes")
def test_a_forked_process_is_answered_in_a_replay(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette.jsonl"
    recorded(Session(path, "once"), b'"asked"').finish()
    session = Session(path, "none")

    def in_the_fork() -> None:
        os._exit(0 if isinstance(ask(session), Played) else 1)

    process = multiprocessing.get_context("fork").Process(target=in_the_fork)
    process.start()
    process.join()

    assert process.exitcode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no statvfs")
@pytest.mark.parametrize(("flags", "said"), [(1, "Read-only file system"), (0, "Permission denied")])
def test_a_file_system_that_is_read_only_is_called_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: int, said: str
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=flags))

    refused = ask(Session(tmp_path / "a.cassette.jsonl", "once"))

    assert f": {said}; correct that and record again" in str(refused)


ANTHROPIC = "https://api.anthropic.com/v1/complete"


@pytest.mark.parametrize(
    ("recordings", "url", "counts"),
    [
        ([(ANTHROPIC, b'{"prompt":"a"}')], ANTHROPIC, True),
        ([("https://api.replicate.com/v1/predictions", b"{}")], "https://api.replicate.com/v1/predictions", True),
        # Its recording has answered another request, as when the client sends one more.
        ([(ANTHROPIC, b'{"prompt":"first"}')], ANTHROPIC, False),
        ([(ANTHROPIC, b'{"prompt":"b"}'), (ANTHROPIC, b'{"prompt":"b"}')], ANTHROPIC, True),
        ([("https://api.openai.com/v1/traces/ingest", b"{}")], "https://api.openai.com/v1/traces/ingest", False),
        ([("https://api.example.com/telemetry", b"{}")], "https://api.example.com/telemetry", False),
        ([(ANTHROPIC, b'{"prompt":"a"}')], "https://api.anthropic.com/v1/other", False),
    ],
)
def test_a_changed_request_to_an_llm_counts_in_an_imported_recording_too(
    tmp_path: Path, recordings: list[tuple[str, bytes]], url: str, counts: bool
) -> None:
    path = tmp_path / "a.cassette.jsonl"
    with Recorder(path, durable=False) as recorder:
        for place, body in recordings:
            recorder.write(round_trip(body, url=place, route="import"))
    session = Session(path, environ={})
    session.ask("POST", url, (), b'{"prompt":"first"}')
    session.misses.clear()

    session.ask("POST", url, (), b'{"prompt":"changed"}')

    assert bool(session.misses) is counts
