"""A long body is searched by another process, with the same result; where none can be had, it is searched here."""

import pickle
import sys

import pytest

from turntape.cassettes.redaction.redactor import Redactor, patient_redactor
from turntape.cassettes.redaction.search_process import LEAST, cleaned_elsewhere

KEY = b"sk-proj-abcDEF123456ghiJKL789012mnoPQR345678stuVWX"
LONG = b"words of a history that is long " * (LEAST // 32)


@pytest.mark.parametrize("body", [LONG, LONG + KEY + b" and MYSECRET42"], ids=["clean", "secrets"])
def test_the_result_is_that_of_a_search_here(body: bytes) -> None:
    redactor = Redactor(("MYSECRET[0-9]+",), salt="ab")

    clean = cleaned_elsewhere(redactor, body, stream=False)

    assert clean == redactor.body(body)
    assert (clean is body) == (body is LONG)


def test_only_long_bodies_are_searched_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[int] = []
    redactor = patient_redactor()
    assert redactor.elsewhere is cleaned_elsewhere

    def elsewhere(of: Redactor, body: bytes, stream: bool) -> bytes:
        searched.append(len(body))
        return body

    redactor.elsewhere = elsewhere
    monkeypatch.setattr(Redactor, "cleaned_here", lambda self, body, stream=False: b"here")

    assert redactor.with_salt("cd").body(LONG) is LONG
    assert redactor.body(b"short") == b"here"
    assert searched == [len(LONG)]


def test_what_cannot_be_searched_elsewhere_is_searched_here(monkeypatch: pytest.MonkeyPatch) -> None:
    redactor = patient_redactor()
    monkeypatch.setattr("turntape.cassettes.redaction.search_process._COMMAND", (sys.executable, "-c", ""))

    assert cleaned_elsewhere(redactor, LONG, stream=False) is None
    assert redactor.body(LONG + KEY) == redactor.cleaned_here(LONG + KEY) != LONG + KEY


def test_a_redactor_is_sent_without_what_it_remembers() -> None:
    redactor = patient_redactor()
    redactor.request_body(b"x" * 20_000)

    sent = pickle.loads(pickle.dumps(redactor))

    assert sent.elsewhere is None and not sent._recent
    assert sent.fingerprint(KEY) == redactor.fingerprint(KEY)
