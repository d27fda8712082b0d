"""The tables of what breaks the rules of MCP."""

from typing import get_args

import pytest

from turntape.inspector.findings.rules.tool_clients import _BREACHES as OF_CLIENTS
from turntape.inspector.findings.rules.tool_protocol import _BREACHES as OF_SERVERS
from turntape.inspector.findings.tool_breach import Breach, after_answer, after_request, in_message
from turntape.inspector.tools.session_state import NoteKind, WireNote


def note(what: str = "ping", before: int | None = None) -> WireNote:
    return WireNote("ask_wrong", "files", 7, what, "has no id", before)


def test_what_both_sides_do_wrong_is_an_info_for_one() -> None:
    for kind in OF_CLIENTS.keys() & OF_SERVERS.keys():
        assert OF_CLIENTS[kind].mild != OF_SERVERS[kind].mild
    assert OF_CLIENTS.keys() | OF_SERVERS.keys() <= {*get_args(NoteKind.__value__)}


@pytest.mark.parametrize("breach", [*OF_CLIENTS.values(), *OF_SERVERS.values()])
@pytest.mark.parametrize("before", [None, 3])
def test_each_breach_has_words_and_evidence_in_the_round_trip_of_the_note(breach: Breach, before: int | None) -> None:
    one = note(before=before)

    assert len(breach.words(one)) > 10
    assert any(place.startswith(("#7 request", "#7 response")) for place in breach.evidence(one))


def test_what_a_server_sends_unasked_is_in_a_response_over_http() -> None:
    assert in_message(note()) == ("#7 request",)
    assert in_message(note(before=3)) == ("#7 response",)


def test_what_a_request_contradicts_comes_first() -> None:
    assert after_answer(note(before=3)) == ("#3 response", "#7 request")
    assert after_request(note(before=3)) == ("#3 request", "#7 request")
    assert after_answer(note()) == after_request(note()) == ("#7 request",)


def test_a_breach_is_mild_always_or_for_the_methods_that_are_spared() -> None:
    def judged(**fields: object) -> list[bool]:
        breach = Breach(lambda _: "", after_answer, **fields)  # pyright: ignore[reportArgumentType]
        return [breach.is_mild(note(what)) for what in ("ping", "roots/list")]

    assert judged() == [False, False]
    assert judged(mild=True) == [True, True]
    assert judged(spared=frozenset({"ping"})) == [True, False]
