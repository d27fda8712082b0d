"""The page of findings."""

from dataclasses import replace

import pytest
from conversations import HELLO, chat, said, user

from turntape.inspector.findings.finding import Finding, Severity
from turntape.inspector.run.rows import Rows
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.pages.blocks import Goto
from turntape.inspector.views.tui.pages.findings_page import findings_page

LONG = ("#0 finish max_tokens", "#0 call toolu_0123456789", "#1 request /messages/4")


def rows(*given: tuple[Severity, ...], evidence: tuple[str, ...] = ()) -> Rows:
    """Two threads of one turn each, with findings of these severities."""
    trips = [chat([HELLO], said("x")), chat([user("other")], said("y"), index=1)]
    made = Rows()
    made.put(
        replace(
            row,
            findings=tuple(
                Finding(f"id-{severity}", "client", severity, "P", f"it is {severity}", evidence, "fix it")
                for severity in found
            ),
        )
        for row, found in zip(Run.of(trips).rows.all, given, strict=True)
    )
    return made


def text(found: Rows, width: int = 80) -> list[str]:
    return list(findings_page(found).laid_out(width, {}).text())


def test_errors_come_first_and_the_head_counts_them() -> None:
    shown = text(rows(("info", "warning"), ("error", "error")))

    assert shown[0] == "2 errors · 1 warning · 1 info   first in turn 1 of t2 (#1)"
    heads = [line for line in shown if "id-" in line]
    assert [line.split()[3] for line in heads] == ["id-error", "id-error", "id-warning", "id-info"]
    assert [line.split("turn ")[1][:7] for line in heads] == ["1 of t2", "1 of t2", "1 of t1", "1 of t1"]


def test_with_notes_only_the_first_of_them_is_named() -> None:
    assert text(rows((), ("info",)))[0] == "1 info   first in turn 1 of t2 (#1)"


def test_a_run_without_findings_says_so() -> None:
    assert text(rows((), ())) == ["✓ no problems were found"]


def test_the_evidence_is_shown_to_its_end_on_a_narrow_page() -> None:
    shown = text(rows(("error",), (), evidence=LONG), 34)

    assert [line for line in shown if line.startswith(("see", "     "))] == [
        "see  #0 finish max_tokens · #0",
        "     call toolu_0123456789 · #1",
        "     request /messages/4",
    ]


def test_a_finding_leads_to_its_first_evidence_that_is_in_the_run() -> None:
    page = findings_page(rows(("error",), (), evidence=("#9 request", "#1 request /messages/4")))

    assert [block.goto for block in page.blocks if block.goto] == [Goto(1, "/messages/4")]
    without = findings_page(rows(("error",), ()))
    assert [block.goto for block in without.blocks if block.goto] == [Goto(0, "finding:0")]


def test_a_finding_that_repeats_another_says_where_that_is() -> None:
    page = findings_page(rows(("error",), ("error",), evidence=("#1 request",)))
    shown = [line for line in page.laid_out(80, {}).text() if line]

    assert shown[2:4] == ["it is error", "fix  fix it"]
    assert shown[5:] == [
        "✗ ▶ client id-error  turn 1 of t2  $0.00022",
        "the same as in turn 1 of t1",
        "see  #1 request",
    ]


@pytest.mark.parametrize("number", [1, 25])
def test_what_could_not_be_read_of_the_file_comes_first(number: int) -> None:
    problems = [f"round trip {at} cannot be read" for at in range(number)]
    text = list(findings_page(Rows(), problems).laid_out(80, {}).text())

    assert "the file is damaged" in text[0] and f"{number} problem" in text[0]
    assert sum("cannot be read" in line for line in text) == min(number, 20)
    assert any("5 more" in line for line in text) == (number > 20)
    assert any("in the rest of it" in line for line in text)
    assert "damaged" not in "".join(findings_page(Rows()).laid_out(80, {}).text())
