"""A user's own function names secrets; where it fails, the text is withheld, and that is said."""

import gzip
import zlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from factories import round_trip

from turntape.cassettes import Cassette, CassetteError, Recorder, Redactor
from turntape.cassettes.redaction.own_function import imported


def herons(text: str) -> list[str]:
    return [word for word in text.split('"') if word.startswith("Heron")]


def failing(text: str) -> list[str]:
    if "Heron" in text:
        raise ValueError("no, Heron-1 is not for you")
    return []


def test_what_the_function_names_is_masked_wherever_it_is() -> None:
    redactor = Redactor(salt="s", function=herons)

    assert redactor.body(b'{"a":"Heron-123456789","b":"Gull"}') == b'{"a":"REDACTED*******","b":"Gull"}'
    assert redactor.url("https://a.example/?q=Gull") == "https://a.example/?q=Gull"
    assert redactor.headers((("x-title", "Heron-1"),)) == (("x-title", "REDACTE"),)
    stream = b"".join(b'data: {"delta":"%s"}\n\n' % piece for piece in (b"Her", b"on-1", b"2345"))
    assert b"on-1" not in redactor.answer(stream, ()) and len(redactor.answer(stream, ())) == len(stream)
    assert redactor.with_salt("t").body(b'"Heron-1"') == b'"REDACTE"'


def test_a_function_may_give_one_text_or_nothing() -> None:
    assert Redactor(function=lambda text: "Gull").body(b"a Gull, a Gull") == b"a REDA, a REDA"
    assert Redactor(function=lambda text: ("", "Gull")).body(b"a Gull") == b"a REDA"
    assert Redactor(function=lambda text: ()).body(b"a Gull") == b"a Gull"


@pytest.mark.parametrize("function", [failing, lambda text: None, lambda text: [1], lambda text: [None]])
def test_a_text_for_which_it_fails_is_withheld(function: Callable[[str], Iterable[str]]) -> None:
    clean = Redactor(salt="s", function=function).body(b"a Heron and more words")

    assert clean.startswith(b"REDACTED-") and len(clean) == 22 and b"Heron" not in clean


def test_the_round_trip_says_it_and_recording_continues(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    with Recorder(path, redactor=Redactor(function=failing), durable=False) as recorder:
        for text in (b'{"a":"Gull"}', b'{"a":"Heron"}', b'{"a":"Gull"}'):
            recorder.write(round_trip(text))

    trips = list(Cassette.load(path))
    assert [bool(trip.faults) for trip in trips] == [False, True, False]
    assert trips[1].faults[-1] == (
        "the redaction function failed (ValueError); a text of this round trip is withheld and is not kept"
    )
    assert b"Heron" not in path.read_bytes()


def test_it_may_fail_for_a_body_that_is_stored_encoded() -> None:
    packed = zlib.compress(b"a Heron and more words")[:-1] + b"x"
    trip = round_trip(packed)
    encoded = replace(trip, request=replace(trip.request, headers=(("content-encoding", "deflate"),)))

    clean = Redactor(salt="s", function=failing).round_trip(encoded)

    assert clean.request.body.startswith(b"REDACTED-") and len(clean.request.body) == len(packed)
    assert "the redaction function failed (ValueError)" in clean.faults[-1]


def test_a_packed_body_with_a_secret_is_replaced_and_another_stays() -> None:
    for text, kept in ((b"token sk-ant-api03-abcDEF123456ghiJKL789012", False), (b"a Gull and more", True)):
        for packed, encoding in ((zlib.compress(text)[:-1] + b"x", "deflate"), (gzip.compress(text), "own")):
            trip = round_trip(packed)
            encoded = replace(trip, request=replace(trip.request, headers=(("content-encoding", encoding),)))

            assert (Redactor(salt="s").round_trip(encoded).request.body == packed) is kept


def test_it_is_imported_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "our_secrets.py").write_text("def find(text):\n    return ['Gull']\nNUMBER = 1\n")
    (tmp_path / "turntape.toml").write_text('redact_function = "our_secrets:find"')

    assert Redactor.from_config().body(b"a Gull") == b"a REDA"
    for wrong in ("our_secrets", "our_secrets:none", "no_such_module_here:find", "our_secrets:NUMBER", ":find"):
        with pytest.raises(CassetteError, match="write 'module:function'"):
            imported(wrong)


@pytest.mark.parametrize("name", ["os:system", "subprocess:getoutput", "subprocess:Popen", "their_module:run"])
def test_a_function_of_python_itself_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """`turntape.toml` of a repository that somebody else wrote must not hand each text to a shell."""
    (tmp_path / "their_module.py").write_text("from subprocess import getoutput as run\n")
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(CassetteError, match="is a function of Python itself"):
        imported(name)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        (".:find", "", "TypeError"),
        ("a." * 3000 + "b:find", "", "cannot be imported"),
        ("wrong_words:find", "def find(", "SyntaxError"),
        ("failing_words:find", "raise RuntimeError('no licence')", "RuntimeError: no licence"),
    ],
)
def test_a_module_that_fails_when_it_is_imported_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, why: str
) -> None:
    (tmp_path / f"{name.partition(':')[0]}.py"[-60:]).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(CassetteError, match=why):
        imported(name)
