"""What a check says of recordings: roots before consequences, only what was asked, valid for machines."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from xml.etree import ElementTree

import pytest
from conversations import CALL, HELLO, chat, loop, result, said, user

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.check.budgets import Budgets
from turntape.inspector.check.check import Asked, Checked, Found, Report, check, rooted
from turntape.inspector.findings.finding import Finding, Layer, Severity
from turntape.inspector.views.json.check_formats import as_json, github, junit
from turntape.inspector.views.text.check_text import check_text
from turntape.inspector.views.text.terminal_text import plain, width_of

REJECTED = {
    "error": {
        "message": "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
        "'tool_call_id'. The following tool_call_ids did not have response messages: call_1",
        "type": "invalid_request_error",
    }
}


def lost() -> list[RoundTrip]:
    """A result that never came, and the rejection that follows from it."""
    first = said(None, CALL)
    return [chat([HELLO], first), chat([HELLO, first, user("go on")], index=1, status=400, error=REJECTED)]


def report(trips: Iterable[RoundTrip], name: str = "run.cassette.jsonl", **asked: object) -> Report:
    wanted = Asked(**asked)  # type: ignore[arg-type]
    return Report(wanted, (check(name, trips, wanted),))


def ids(given: Report) -> list[str]:
    return [found.finding.id for one in given.checked for found in one.findings]


def shown(given: Report, width: int = 80) -> str:
    return "\n".join(plain(line) for line in check_text(given, width))


def finding(
    name: str, severity: Severity = "error", because_of: tuple[str, ...] = (), layer: Layer = "client"
) -> Finding:
    return Finding(name, layer, severity, "P", f"{name} said", (f"#0 {name}",), f"fix {name}", because_of)


def test_a_clean_run_passes() -> None:
    given = report(loop())

    assert (ids(given), given.failed) == ([], False)
    assert shown(given).startswith("✓ run.cassette.jsonl  2 turns")
    assert "passed  no findings" in shown(given)


def test_a_root_comes_before_what_follows_from_it() -> None:
    text = shown(report(lost()))
    lines = text.splitlines()

    root = next(i for i, line in enumerate(lines) if "client-missing-tool-result" in line)
    because = next(i for i, line in enumerate(lines) if line.strip() == "because of this:")
    consequence = next(i for i, line in enumerate(lines) if "request-rejected" in line)
    assert root < because < consequence
    assert len(lines[consequence]) - len(lines[consequence].lstrip()) > len(lines[root]) - len(lines[root].lstrip())
    for piece in ("▶ client", "error, proven", "turn 1 of t1, #0", "no result for call_1", "#0 call call_1", "fix"):
        assert piece in text


def test_only_ignore_and_fail_on_choose() -> None:
    assert ids(report(lost())) == ["client-missing-tool-result", "request-rejected"]
    assert ids(report(lost(), only=frozenset({"request-rejected"}))) == ["request-rejected"]
    assert ids(report(lost(), only=frozenset({"model"}))) == []
    assert ids(report(lost(), ignore=frozenset({"client-missing-tool-result"}))) == ["request-rejected"]
    capped = [chat([HELLO], said("half"), finish="length")]
    assert "api-length-truncated" in ids(report(capped))
    assert not report(capped).failed
    assert report(capped, fail_on="warning").failed


def test_a_finding_whose_root_was_ignored_is_listed_alone_and_names_it() -> None:
    text = shown(report(lost(), ignore=frozenset({"client-missing-tool-result"})))

    assert "because of client-missing-tool-result" in text
    assert "because of this" not in text


def test_hints_and_lint_are_looked_for_when_asked_or_named() -> None:
    sorry = [chat([HELLO], said("I'm sorry, but I can't help with that."))]

    assert "model-refused-in-text" not in ids(report(sorry))
    assert "model-refused-in-text" in ids(report(sorry, hints=True))
    assert ids(report(sorry, only=frozenset({"model-refused-in-text"}))) == ["model-refused-in-text"]
    assert "param-without-description" in ids(report(sorry, lint=True))
    assert ids(report(sorry, only=frozenset({"param-without-description"}))) == ["param-without-description"]


def test_budgets_hold_for_each_run_of_a_cassette() -> None:
    trips = [chat([HELLO], said("x"), index=0, run="a"), chat([HELLO], said("x"), index=1, run="b")]
    given = report(trips, budgets=Budgets(turns=1))

    assert [(v.run, v.state) for v in given.checked[0].verdicts] == [("a", "kept"), ("b", "kept")]
    assert not given.failed
    broken = report(loop(), budgets=Budgets(turns=1, cost=Decimal("0.0001")))
    assert broken.failed
    assert [v.budget for v in broken.checked[0].broken] == ["max-cost", "max-turns"]
    assert "2 budgets broken" in shown(broken)


def test_echoes_of_echoes_are_nested_and_circles_are_broken() -> None:
    chain = [
        Found(finding("echo2", because_of=("echo1",)), 2, thread="t1"),
        Found(finding("root", "warning"), 0, thread="t1"),
        Found(finding("echo1", because_of=("root",)), 1, thread="t1"),
        Found(finding("a", because_of=("b",)), 3),
        Found(finding("b", because_of=("a",)), 4),
    ]

    trees = rooted(chain)

    def reported(node: object) -> object:
        return (node.found.finding.id, [reported(consequence) for consequence in node.consequences])  # type: ignore[attr-defined]

    assert [reported(tree) for tree in trees] == [("b", [("a", [])]), ("root", [("echo1", [("echo2", [])])])]


def test_an_echo_hangs_under_the_latest_root_of_its_own_thread() -> None:
    given = [
        Found(finding("root"), 0, thread="t1"),
        Found(finding("root"), 5, thread="t1"),
        Found(finding("root"), 6, thread="t2"),
        Found(finding("consequence", because_of=("root",)), 7, thread="t1"),
    ]

    assert [(n.found.index, len(n.consequences)) for n in rooted(given)] == [(0, 0), (5, 1), (6, 0)]


def test_many_findings_of_a_class_are_not_all_shown_whole_but_all_named() -> None:
    trips = [chat([HELLO, user(str(i))], said("x"), index=i, usage=None) for i in range(9)]
    text = shown(report(trips))

    assert text.count("the answer counts no tokens") == 2
    assert "and 7 more: #2, #3, #4, #5, #6, #7, #8" in text


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    budgets = Budgets(Decimal("0.0001"), 1, Decimal(1))
    trips = [
        *lost(),
        *(chat([HELLO, user("日本" * 90)], said("x", ("q" * 90, "n" * 90, "{")), index=2 + i) for i in range(3)),
    ]
    given = report(trips, name="x" * 90 + ".cassette.jsonl", budgets=budgets, hints=True, lint=True)
    given = Report(given.asked, given.checked, (("gone" * 40, "cannot read it " * 20),))

    assert max(width_of(line) for line in shown(given, width).splitlines()) <= width


def test_nothing_from_the_wire_drives_the_terminal_or_breaks_a_format() -> None:
    evil = "\x1b[2J\x00\ud800]]>&<'\"\ra\u202eb%\r\n::error::,:"
    made = Found(Finding("model-refusal", "model", "error", "P", evil, (evil,), "fix it"), 0)
    one = Checked("a:b,c%.jsonl", 1, 1, 1, 0, None, (made,), (), (evil,))
    given = Report(Asked(), (one,), ((evil, evil),))

    assert "\x1b" not in shown(given)
    assert json.loads(as_json(given).encode())["files"][0]["findings"][0]["message"].startswith("\x1b[2J")
    root = ElementTree.fromstring(junit(given).encode())  # refuses what XML cannot hold
    assert root.find(".//failure") is not None
    assert not {"\x1b", "\r", "\u202e"} & set(junit(given) + "".join(github(given)))
    lines = list(github(given, {"a:b,c%.jsonl": {0: 2}}))
    assert all(len(line.encode().splitlines()) == 1 for line in lines)
    assert lines[0].startswith("::error file=a%3Ab%2Cc%25.jsonl,line=2,title=model%3A model-refusal::")
    assert "%25%0A::error::,:" in lines[0]


def test_junit_has_one_case_a_cassette_and_class() -> None:
    budgets = Budgets(cost=Decimal(1), turns=1)
    wanted = Asked(budgets=budgets)
    capped = chat([HELLO], said("half"), finish="length")
    given = Report(
        wanted, (check("a.jsonl", lost(), wanted), check("b.jsonl", [capped], wanted)), (("c.jsonl", "is none"),)
    )
    root = ElementTree.fromstring(junit(given).encode())

    suites = root.findall("testsuite")
    assert [suite.get("name") for suite in suites] == ["a.jsonl", "b.jsonl", "c.jsonl"]
    for suite in suites[:2]:
        names = [case.get("name") for case in suite]
        assert len(names) == len(set(names))
        assert set(names) == {one.id for one in wanted.classes} | {"max-cost", "max-turns"}
    failed = [(s.get("name"), case.get("name")) for s in suites for case in s if case.find("failure") is not None]
    assert failed == [
        ("a.jsonl", "client-missing-tool-result"),
        ("a.jsonl", "request-rejected"),
        ("a.jsonl", "max-turns"),
    ]
    milder = suites[1].find("testcase[@name='api-length-truncated']/system-out")
    assert milder is not None and "raise the cap" in (milder.text or "").lower()
    for count, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert root.get(count) == str(len(root.findall(f".//testcase/{tag}")))
    assert root.get("tests") == str(len(root.findall(".//testcase")))
    assert root.find("testsuite[@name='c.jsonl']/testcase/error") is not None


def test_a_budget_that_is_not_known_is_skipped_in_junit_and_does_not_fail() -> None:
    given = report([chat([HELLO], said("x"), usage=None)], budgets=Budgets(cost=Decimal(1)))

    assert not given.failed
    assert ElementTree.fromstring(junit(given).encode()).find(".//testcase[@name='max-cost']/skipped") is not None
    assert any(line.startswith("::warning") and "max-cost" in line for line in github(given))


def test_github_annotations_are_one_a_finding_the_most_severe_first() -> None:
    trips = [*lost(), chat([HELLO], said("half"), finish="length", index=2)]
    lines = list(github(report(trips)))

    commands = [re.match(r"::(\w+) ", line)[1] for line in lines]  # type: ignore[index]
    assert commands == sorted(commands, key=["error", "warning", "notice"].index)
    assert len(lines) == len(ids(report(trips)))
    assert "because of client-missing-tool-result" in next(line for line in lines if "request-rejected" in line)


def test_json_has_every_finding_with_its_turn() -> None:
    value = json.loads(as_json(report(lost())))

    assert value["failed"] is True
    [file] = value["files"]
    first, second = file["findings"]
    assert (first["id"], first["index"], first["thread"], first["turn"]) == ("client-missing-tool-result", 0, "t1", 1)
    assert second["because_of"] == ["client-missing-tool-result"]
    assert file["cost_usd"] == "0.000225"


def test_a_check_keeps_no_bodies() -> None:
    """Round trips are let go as they are read: a run of 118 MB must not stay in memory."""
    alive, most = 0, 0

    class Body(bytes):
        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    def trips() -> Iterator[RoundTrip]:
        nonlocal alive, most
        history = [HELLO]
        for number in range(60):
            call = (f"call_{number}", "look_up", '{"word":"tape"}')
            trip = chat(history, said(None, call), index=number)
            history = [*history, said(None, call), result(call[0], f"result {number}")]
            alive += 1
            most = max(most, alive)
            yield replace(trip, request=replace(trip.request, content=Body(trip.request.body)))

    check("long", trips(), Asked())

    assert 0 < most < 12


def test_a_class_is_chosen_and_left_out_by_its_former_id_too() -> None:
    for name in ("request-rejected", "api-invalid-request"):
        assert ids(report(lost(), only=frozenset({name}))) == ["request-rejected"]
        assert "request-rejected" not in ids(report(lost(), ignore=frozenset({name})))
        assert [one.id for one in Asked(only=frozenset({name})).classes] == ["request-rejected"]
        assert "request-rejected" not in [one.id for one in Asked(ignore=frozenset({name})).classes]


def test_a_finding_below_the_former_id_of_its_root_is_below_its_root() -> None:
    root = replace(finding("request-rejected"), aliases=("api-invalid-request",))
    echo = finding("client-retry-storm", because_of=("api-invalid-request",))

    [node] = rooted([Found(root, 0), Found(echo, 1)])
    assert [one.found.finding.id for one in node.consequences] == ["client-retry-storm"]


def test_the_fix_is_printed_at_the_first_finding_of_a_class() -> None:
    alike = [Found(finding("client-empty-content"), n, thread="t1", turn=n + 1) for n in range(4)]
    one = Checked("a", 4, 4, 1, 0, None, tuple(alike), ())
    lines = shown(Report(Asked(), (one,))).splitlines()

    fixes = [place for place, line in enumerate(lines) if "fix client-empty-content" in line]
    heads = [place for place, line in enumerate(lines) if "▶ client client-empty-content" in line]
    assert len(fixes) == 1
    assert heads[0] < fixes[0] < heads[1]


def test_a_recording_without_turns_is_not_without_a_price() -> None:
    empty = Checked("a", 0, 0, 0, 0, None, (), ())

    assert shown(Report(Asked(), (empty,))).splitlines()[0] == "✓ a  0 turns"
    assert "unpriced" in shown(Report(Asked(), (replace(empty, turns=1, attempts=1, unpriced=1),)))
    assert "1 turn · no cost" in shown(Report(Asked(), (replace(empty, turns=1, attempts=1),)))


def test_the_run_is_named_once_or_with_each_finding_of_several() -> None:
    alone = [replace(trip, run="nightly") for trip in lost()]
    text = shown(report(alone))
    assert "unpriced · run nightly" in " ".join(text.split()) or "· run nightly" in text
    assert "run nightly, turn" not in text

    both = [*alone, *(replace(trip, run="other", index=trip.index + 2) for trip in lost())]
    text = shown(report(both), 100)
    assert "· 2 runs" in text
    assert "run nightly, turn 1 of t1, #0" in text
    assert "run other, turn 1 of t2, #2" in text
    assert "run" not in shown(report(lost())).splitlines()[0].replace("run.cassette", ""), "a run without a name"


def test_attempts_are_counted_beside_turns() -> None:
    overloaded = {"error": {"message": "Overloaded", "type": "overloaded_error"}}
    retried = report([chat([HELLO], status=529, error=overloaded), chat([HELLO], said("so"), index=1)])

    assert (retried.checked[0].turns, retried.checked[0].attempts) == (1, 2)
    assert "1 turn · 1 more attempt" in shown(retried)
    assert json.loads(as_json(retried))["files"][0]["attempts"] == 2


def test_each_finding_names_its_run_in_junit_and_on_github() -> None:
    broken = [said(None, ("call_1", "look_up", "{"))] * 2
    trips = [chat([HELLO], one, index=n, run=f"run {n}") for n, one in enumerate(broken)]
    given = report(trips)

    assert "  run  run 0" in junit(given)
    assert "  run  run 1" in junit(given)
    assert any("%0Ain run run 1" in line for line in github(given))
    assert "in run" not in "".join(github(report([chat([HELLO], broken[0])])))
