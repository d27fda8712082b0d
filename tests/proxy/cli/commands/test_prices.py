"""`turntape prices` as a user runs it; --update against a server on loopback."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import override

import pytest
from conversations import HELLO, chat, said
from recordings import record

from turntape.inspector.analysis import price_list
from turntape.inspector.run.unpriced import PriceReport, Unpriced
from turntape.proxy.cli import main
from turntape.proxy.cli.commands.prices import _text

PROVIDERS = [
    {
        "id": "openai",
        "name": "Acme",
        "api_pattern": "https://acme",
        "models": [{"id": "acme-7b", "match": {"starts_with": "acme-7b"}, "prices": {"input_mtok": 1}}],
    }
]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a cassette of one listed and one private model."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TURNTAPE_HOME", str(tmp_path / "home"))
    turns = [chat([HELLO], said("hi")), chat([HELLO], said("hi"), model="acme-7b", index=1)]
    record(tmp_path / "run.cassette.jsonl", turns).close()
    yield tmp_path
    price_list._loaded.cache_clear()


@pytest.fixture
def served() -> Iterator[tuple[str, list[tuple[int, bytes]]]]:
    """A URL on loopback, and the answers that it gives."""
    answers: list[tuple[int, bytes]] = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = answers.pop(0)
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        @override
        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answer)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/data.json", answers
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_unpriced_models_and_the_line_for_the_settings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prices", "run.cassette.jsonl"]) == 0

    *lines, age = capsys.readouterr().out.splitlines()
    assert lines == [
        "1 model without a price:",
        "  acme-7b-2025-08-07  1 request at openai, 100 tokens in, 10 out",
        "",
        "Give them one in turntape.toml, in US dollars per million tokens:",
        "",
        "[prices]",
        '"acme-7b-2025-08-07" = { input = "?", output = "?" }',
        "",
    ]
    assert age.startswith("prices of genai-prices ")


def test_with_the_line_in_the_settings_every_model_has_a_price(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "turntape.toml").write_text('[prices]\n"acme-7b-2025-08-07" = { input = 1, output = 2 }\n')

    assert main(["prices", "run.cassette.jsonl"]) == 0
    assert capsys.readouterr().out.startswith("every model has a price (2 requests)\n")


def test_the_line_as_it_is_asks_for_amounts(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "turntape.toml").write_text('[prices]\n"acme-7b" = { input = "?", output = "?" }\n')

    assert main(["prices", "run.cassette.jsonl"]) == 2
    assert "is '?'; write US dollars per million tokens, a number such as 1.25" in capsys.readouterr().err


def test_without_a_cassette_it_says_how_old_the_prices_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prices"]) == 0

    [line] = capsys.readouterr().out.splitlines()
    assert "newest price from" in line


def test_for_a_script(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prices", "run.cassette.jsonl", "--json", "-o", "out"]) == 0

    assert json.loads((project / "out").read_text()) == {
        "model": "acme-7b-2025-08-07",
        "provider": "openai",
        "turns": 1,
        "input": 100,
        "output": 10,
        "files": ["run.cassette.jsonl"],
        "line": '"acme-7b-2025-08-07" = { input = "?", output = "?" }',
        "fees": [],
    }
    assert "newest price from" in capsys.readouterr().err


def test_an_update_is_stored_and_used(
    served: tuple[str, list[tuple[int, bytes]]], project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url, answers = served
    answers.append((200, json.dumps(PROVIDERS).encode()))

    assert main(["prices", "--update", "--from", url]) == 0
    assert capsys.readouterr().out.startswith("prices updated on ")
    assert json.loads((project / "home" / "prices.json").read_text())["source"] == url

    # A later run needs no download: the private model has its price, and the listed one is not on this list.
    assert main(["prices", "run.cassette.jsonl", "--json"]) == 0
    assert [json.loads(line)["model"] for line in capsys.readouterr().out.splitlines()] == ["gpt-5-2025-08-07"]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [((404, b"no"), "cannot download prices from"), ((200, b"<html>"), "something else than a price list")],
)
def test_a_failed_update_keeps_the_prices(
    served: tuple[str, list[tuple[int, bytes]]],
    answer: tuple[int, bytes],
    problem: str,
    project: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    url, answers = served
    answers.append(answer)

    assert main(["prices", "--update", "--from", url]) == 2
    assert problem in capsys.readouterr().err
    assert not (project / "home" / "prices.json").exists()


def test_a_url_needs_update(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prices", "--from", "http://127.0.0.1:9/"]) == 2
    assert "add --update" in capsys.readouterr().err


def test_a_url_of_another_kind_is_refused(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prices", "--update", "--from", (project / "list.json").as_uri()]) == 2
    assert "write a URL with http:// or https://" in capsys.readouterr().err


def test_a_file_that_cannot_be_read_does_not_hide_the_models_of_the_others(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "a.cassette.jsonl").write_bytes(b"")

    assert main(["prices", str(project), "nothing.jsonl"]) == 2
    said = capsys.readouterr()
    assert "acme-7b" in said.out
    empty, absent = said.err.splitlines()
    assert "a.cassette.jsonl' is empty" in empty and "nothing.jsonl" in absent


def test_a_fee_without_a_price_is_listed_with_its_model() -> None:
    report = PriceReport(turns=3, models={("gemini", "g-3", True): Unpriced("g-3", "gemini", 2, fees=["Google Maps"])})

    shown = "\n".join(_text(report, "prices of today", asked=True))

    assert "1 model with fees that have no known price" in shown and "  g-3  2 requests at gemini: Google Maps" in shown
    assert "[prices]" not in shown and "every model has a price" not in shown
