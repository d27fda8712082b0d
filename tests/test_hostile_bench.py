"""What enemies try, in short; `make hostile` tries all of it, with a real Chromium."""

import socket
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent))  # bench is not installed


from bench.hostile.clients import other_users
from bench.hostile.files import MARKUP, TERMINAL, tape, turntape
from bench.hostile.outcome import Outcome, table
from bench.hostile.pages import ATTEMPTS, chromium, judged, visit


def test_the_table_counts_what_was_tried() -> None:
    outcomes = [
        Outcome("page", "recorder", "fetch", True, "403"),
        Outcome("page", "recorder", "form", False, "200"),
        Outcome("page", "recorder", "image", None, "no browser"),
    ]

    lines = table(outcomes)

    assert [line.split()[3] for line in lines[:3]] == ["held", "BROKEN", "not"]
    assert lines[-1] == "1 of 2 attempts had no effect; 1 were not tried"


@pytest.mark.parametrize(
    ("said", "asked", "recorded", "held"),
    [
        ("refused: Failed to fetch", 0, 0, True),
        ("read: nothing", 0, 0, True),
        ("read: ", 0, 0, True),
        ('read: {"id"', 0, 0, False),
        ("refused: Failed to fetch", 1, 0, False),
        ("refused: Failed to fetch", 0, 1, False),
        ("unfinished", 0, 0, False),
    ],
)
def test_a_page_had_an_effect_when_it_read_sent_or_recorded_something(
    said: str, asked: int, recorded: int, held: bool
) -> None:
    assert judged("page", "recorder", "fetch", said, asked, recorded).held is held


@pytest.mark.skipif(chromium() is None, reason="there is no Chromium here")
def test_a_page_is_read_when_its_script_has_ended_however_late_the_answer_comes() -> None:
    browser = chromium()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def refuse() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1 << 16)
                time.sleep(1)
                connection.sendall(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n")

        thread = threading.Thread(target=refuse)
        thread.start()
        said = visit(browser or "", ATTEMPTS["websocket"], f"http://127.0.0.1:{server.getsockname()[1]}/")
        thread.join()

    assert said == "refused: refused"


def test_a_program_without_the_token_gets_nothing(tmp_path: Path) -> None:
    outcomes = list(other_users(tmp_path))

    assert len(outcomes) == 6
    assert [one for one in outcomes if not one.held] == []


def test_no_control_character_of_a_recording_reaches_the_terminal(tmp_path: Path) -> None:
    tape(tmp_path / "a.cassette.jsonl", "".join(TERMINAL.values()))

    done = turntape("show", str(tmp_path / "a.cassette.jsonl"))

    assert done.returncode == 0
    assert not {char for char in done.stdout.decode() if ord(char) < 32 or 127 <= ord(char) < 160} - {"\n"}


def test_no_markup_of_a_recording_is_markup_in_its_report(tmp_path: Path) -> None:
    tape(tmp_path / "a.cassette.jsonl", "".join(MARKUP.values()))

    done = turntape("report", str(tmp_path / "a.cassette.jsonl"), "-o", str(tmp_path / "a.html"))

    assert done.returncode == 0
    page = (tmp_path / "a.html").read_text()
    assert "<script>document.title" not in page and "<img src=x" not in page and "<svg onload" not in page
