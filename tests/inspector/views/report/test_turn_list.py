"""The list of turns in the report."""

import re
from dataclasses import replace
from decimal import Decimal

from conversations import HELLO, chat, loop, said, user

from turntape.inspector.findings.finding import Finding
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.report.findings_list import findings
from turntape.inspector.views.report.turn_list import emitted_words, groups, turn_line


def test_a_refused_request_has_no_price_and_an_unknown_model_is_unpriced() -> None:
    error = {"error": {"message": "overloaded", "type": "server_error"}}
    trips = [chat([HELLO], status=529, error=error), chat([HELLO], said("x"), index=1, model="some-model-of-ours")]
    refused, unknown = (str(turn_line(place, row, Decimal(0))) for place, row in enumerate(Run.of(trips).rows.all))

    assert '<span class="dim">no cost</span>' in refused and "unpriced" not in refused
    assert "unpriced" in unknown


def test_an_attempt_is_named_beside_the_number_of_its_turn() -> None:
    error = {"error": {"message": "overloaded", "type": "server_error"}}
    rows = Run.of([chat([HELLO], status=529, error=error), chat([HELLO], said("x"), index=1)]).rows.all

    first, second = (str(turn_line(0, row, Decimal(0))) for row in rows)
    assert ">1</span>" in first and ">1·2</span>" in second


def test_a_line_says_what_the_calls_do_and_how_the_text_begins() -> None:
    calls = [("a", "look_up", "{}"), ("b", "look_up", '{"word":"x"}'), ("c", "note", "{}")]
    rows = Run.of([chat([HELLO], said(None, *calls)), chat([HELLO, said("x"), HELLO], said("y"), index=1)]).rows.all

    assert [emitted_words(row) for row in rows] == ["look_up, look_up x, note", "“y”"]
    acting, speaking = (str(turn_line(0, row, Decimal(0))) for row in rows)
    assert '<span class="plain">look_up, look_up x, note</span>' in acting
    assert '<span class="good">“y”</span>' in speaking
    cut = replace(rows[1], emitted="reasoning_only", said="so far")
    assert emitted_words(cut) == "reasoning only: so far" and '<span class="warn">' in str(
        turn_line(0, cut, Decimal(0))
    )


def test_an_error_of_the_api_is_shown_at_the_api_and_the_model_emitted_nothing() -> None:
    error = {"error": {"message": "overloaded", "type": "server_error"}}
    (row,) = Run.of([chat([HELLO], status=529, error=error)]).rows.all
    line = str(turn_line(0, row, Decimal(0)))

    assert emitted_words(row) == ""
    assert '<span class="bad">529 overloaded</span>' in line and "client" not in line and "?" not in line


def test_the_head_of_a_thread_has_its_task() -> None:
    rows = Run.of([chat([HELLO], said("x")), chat([user("Read <src>.")], said("y"), index=1)]).rows

    heads = [str(group.head) for group in groups(rows)]
    assert len(heads) == 2
    assert "“Read &lt;src&gt;.”" in heads[1]


def test_the_worst_findings_come_first() -> None:
    rows = Run.of(loop()).rows
    for place, severity in enumerate(("info", "error")):
        found = Finding.from_json({"id": "x", "layer": "api", "severity": severity, "tier": "P", "message": "wrong"})
        rows.all[place] = replace(rows.all[place], findings=(found,))

    assert re.findall(r'data-severity="(\w+)"', "".join(map(str, findings(rows)))) == ["error", "info"]
