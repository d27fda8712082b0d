"""A long body is searched by another process, with the same result; where none can be had, it is searched here."""

import os
import pickle
import subprocess
import sys
from threading import Thread

import pytest
from factories import round_trip
from waiting import eventually

from turntape.cassettes.redaction.redactor import Redactor, patient_redactor
from turntape.cassettes.redaction.search_process import LEAST, SearchElsewhere

KEY = b"sk-proj-abcDEF123456ghiJKL789012mnoPQR345678stuVWX"
LONG = b"words of a history that is long " * (LEAST // 32)


@pytest.mark.parametrize("body", [LONG, LONG + KEY + b" and MYSECRET42"], ids=["clean", "secrets"])
def test_the_result_is_that_of_a_search_here(body: bytes) -> None:
    redactor = Redactor(("MYSECRET[0-9]+",), salt="ab")

    clean = SearchElsewhere().clean(redactor, body, stream=False)

    assert clean == redactor.body(body)
    assert (clean is body) == (body is LONG)


def test_only_long_bodies_are_searched_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[int] = []
    redactor = patient_redactor()

    def clean(self: SearchElsewhere, of: Redactor, body: bytes, stream: bool) -> bytes:
        searched.append(len(body))
        return body

    monkeypatch.setattr(SearchElsewhere, "clean", clean)
    monkeypatch.setattr(Redactor, "cleaned_here", lambda self, body, stream=False: b"here")

    assert redactor.with_salt("cd").body(LONG) is LONG
    assert redactor.body(b"short") == b"here"
    assert searched == [len(LONG)]


def test_what_cannot_be_searched_elsewhere_is_searched_here(monkeypatch: pytest.MonkeyPatch) -> None:
    redactor = patient_redactor()
    monkeypatch.setattr("turntape.cassettes.redaction.search_process._COMMAND", (sys.executable, "-c", ""))

    assert SearchElsewhere().clean(redactor, LONG, stream=False) is None
    assert redactor.body(LONG + KEY) == redactor.cleaned_here(LONG + KEY, stream=False) != LONG + KEY


def test_a_redactor_is_sent_without_what_it_remembers() -> None:
    redactor = patient_redactor()
    redactor.request_body(b"x" * 20_000)

    sent = pickle.loads(pickle.dumps(redactor))

    assert sent.elsewhere is None and not sent._earlier
    assert sent.fingerprint(KEY) == redactor.fingerprint(KEY)


ENDLESS = "import sys, time; sys.stdin.buffer.read(); time.sleep(600)"


def test_who_gives_up_waits_for_no_search_and_withholds_what_was_not_searched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("turntape.cassettes.redaction.search_process._COMMAND", (sys.executable, "-c", ENDLESS))
    redactor = patient_redactor()
    elsewhere = redactor.elsewhere
    assert elsewhere is not None
    stopper = Thread(target=lambda: (eventually(lambda: elsewhere._process), redactor.give_up()))
    stopper.start()

    during = redactor.round_trip(round_trip(b"{}", LONG + KEY))
    stopper.join()
    after = redactor.round_trip(round_trip(b"k" * 20_000 + KEY, b"short " + KEY))

    assert during.response is not None and after.response is not None
    assert during.response.body.strip(b"*")[:9] == b"REDACTED-" and KEY not in after.request.body
    assert len(during.response.body) == len(LONG + KEY)
    reason = "turntape was stopped before the search for secrets ended"
    assert during.faults == after.faults == (f"{reason}; a text of this round trip is withheld and is not kept",)
    assert after.response.body.startswith(b"short sk-proj-REDACTED")


ASKS = """
import os, sys
from turntape.cassettes.redaction import search_process
process = search_process.subprocess.Popen([*search_process._COMMAND, str(os.getpid())], stdin=sys.stdin)
print(process.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there a process has no parent to look at")
def test_a_search_ends_when_nobody_waits_for_it() -> None:
    with subprocess.Popen([sys.executable, "-c", ASKS], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as asking:
        assert asking.stdout is not None
        search = int(asking.stdout.readline())
        asking.kill()
        asking.wait()
        eventually(lambda: not _runs(search))  # its input is still open


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
