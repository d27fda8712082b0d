"""The process that reads along: a label a line, a summary at the end, and an end of its own in every case."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conversations import chat, result, said, user

from turntape.cassettes import Recorder, RoundTrip

CALL = ("c1", "look_up", '{"word":"a"}')


def recorded(path: Path) -> list[RoundTrip]:
    begun = [user("go")]
    called = said(None, CALL)
    trips = [chat(begun, called), chat([*begun, called, result("c1", "b")], said("done"))]
    with Recorder(path) as recorder:
        for trip in trips:
            recorder.write(trip)
    return trips


def read_along(path: Path, told: str, *options: str) -> tuple[dict[str, Any], int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "turntape.proxy.sidecar.labeller_process", str(path), *options],
        input=told,
        capture_output=True,
        text=True,
        timeout=60,
    )
    lines = [line.partition(" ") for line in done.stdout.splitlines()]
    return {head: json.loads(value) for head, _, value in lines}, done.returncode, done.stderr


def test_each_round_trip_gets_a_label_and_the_run_a_summary(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    recorded(path)

    told, code, err = read_along(path, "2\n")

    assert (code, err) == (0, "")
    assert told.keys() == {"0", "1", "summary"}
    assert [told[n]["turn"] for n in ("0", "1")] == [1, 2]
    # What the client did is known from the next request, so the first label is said again.
    assert told["0"]["client"]["outcome"] == "dispatched"
    assert (told["summary"]["turns"], told["summary"]["tool_calls"]) == (2, 1)


def test_the_console_says_a_line_a_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    recorded(path)

    _, _, plain = read_along(path, "2\n", "--console")
    _, _, coloured = read_along(path, "2\n", "--console", "--colour")

    assert plain.count("\n") == coloured.count("\n") == 2
    assert "look_up" in plain.splitlines()[0]
    assert "\x1b[" in coloured and "\x1b[" not in plain


@pytest.mark.parametrize("told", ["", "1\n"])
def test_it_ends_when_the_proxy_is_gone_or_has_no_more(told: str, tmp_path: Path) -> None:
    """The end of its input without a number: the proxy died. What is in the file is labelled all the same."""
    path = tmp_path / "run.cassette.jsonl"
    recorded(path)

    labels, code, _ = read_along(path, told)

    assert code == 0
    assert {"0", "1", "summary"} <= labels.keys()


def test_what_never_comes_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    recorded(path)

    labels, code, _ = read_along(path, "7\n")

    assert code == 0
    assert labels["summary"]["round_trips"] == 2


def test_a_file_that_is_no_cassette_is_one_error_line(tmp_path: Path) -> None:
    path = tmp_path / "no.jsonl"
    path.write_text("no cassette\n")

    told, code, err = read_along(path, "1\n")

    assert (code, err, list(told)) == (1, "", ["error"])
    assert told["error"]["message"].startswith("FormatError: ")
