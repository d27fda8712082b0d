"""`turntape check` for machines: JSON, JUnit XML, and the annotations of GitHub Actions."""

import json
from collections.abc import Iterator, Mapping
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from turntape.cassettes.regex import regex

from ...check.check import Asked, Checked, Found, Report
from ...findings.finding import SEVERITIES, Severity
from ...run.turn_label import money
from ...wire.printable import safe

_NOT_XML = regex("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, not even escaped."""


def as_json(report: Report) -> str:
    """One object: files, findings, budgets, and whether it failed."""
    value = {
        "failed": report.failed,
        "fail_on": report.asked.fail_on,
        "files": [_file(one, report.asked) for one in report.checked],
        "unread": [{"file": name, "problem": sentence} for name, sentence in report.unread],
    }
    return json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "backslashreplace").decode() + "\n"


def _file(one: Checked, asked: Asked) -> dict[str, object]:
    return {
        "file": one.name,
        "failed": bool(one.failing(asked) or one.broken),
        "round_trips": one.round_trips,
        "turns": one.turns,
        "attempts": one.attempts,
        "threads": one.threads,
        "input": one.input,
        "cost_usd": money(one.cost),
        "unpriced": one.unpriced,
        "findings": [found.as_json() for found in one.findings],
        "budgets": [verdict.as_json() for verdict in one.verdicts],
        "problems": list(one.problems),
    }


def junit(report: Report) -> str:
    """JUnit XML: a suite a cassette, in it a case for every class that was looked for and every budget.

    A case fails when a finding of its class is severe enough; milder ones are in its output.
    """
    suites = Element("testsuites", name="turntape check")
    for one in report.checked:
        _suite(suites, one, report.asked)
    for name, sentence in report.unread:
        suite = SubElement(suites, "testsuite", name=_text(name))
        case = SubElement(suite, "testcase", classname=_text(name), name="cassette", time="0")
        SubElement(case, "error", message=_text(sentence), type="CassetteError").text = _text(sentence)
        _counted(suite)
    for count in ("tests", "failures", "errors", "skipped"):
        suites.set(count, str(sum(int(suite.get(count, "0")) for suite in suites)))
    suites.set("time", "0")
    indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(suites, encoding="unicode") + "\n"


def _suite(suites: Element, one: Checked, asked: Asked) -> None:
    suite = SubElement(suites, "testsuite", name=_text(one.name))
    by_class: dict[str, list[Found]] = {row.id: [] for row in asked.classes}
    for found in one.findings:
        by_class.setdefault(found.finding.id, []).append(found)
    for name, alike in by_class.items():
        case = SubElement(suite, "testcase", classname=_text(one.name), name=name, time="0")
        failing = [found for found in alike if asked.fails(found.finding)]
        if failing:
            first = failing[0].finding
            failure = SubElement(case, "failure", message=_text(first.message), type=f"{first.layer}.{first.severity}")
            failure.text = _text("\n\n".join(map(_reported, failing)))
        if milder := [found for found in alike if found not in failing]:
            SubElement(case, "system-out").text = _text("\n\n".join(map(_reported, milder)))
    for verdict in one.verdicts:
        name = verdict.budget + (f" ({verdict.run})" if verdict.run else "")
        case = SubElement(suite, "testcase", classname=_text(one.name), name=_text(name), time="0")
        if verdict.state == "broken":
            failure = SubElement(case, "failure", message=_text(verdict.says), type="budget")
            failure.text = _text("\n".join([verdict.says, *verdict.evidence]))
        elif verdict.state == "unknown":
            SubElement(case, "skipped", message=_text(verdict.says))
    if one.problems:
        SubElement(suite, "system-err").text = _text("\n".join(one.problems))
    _counted(suite)


def _counted(suite: Element) -> None:
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    for count, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(count, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("time", "0")


def _reported(found: Found) -> str:
    finding = found.finding
    lines = [f"#{found.index} {finding.layer} {finding.severity} {finding.id}: {finding.message}"]
    lines += [f"  run  {found.run}"] if found.run else []
    lines += [f"  at   {' · '.join(finding.evidence)}"] if finding.evidence else []
    lines += [f"  because of {', '.join(finding.because_of)}"] if finding.because_of else []
    lines += [f"  fix  {finding.fix}"] if finding.fix else []
    return "\n".join(lines)


def _text(text: str) -> str:
    return safe(_NOT_XML.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


_COMMAND: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "notice"}


def github(report: Report, lines: Mapping[str, Mapping[int, int]] | None = None) -> Iterator[str]:
    """Workflow commands of GitHub Actions, the most severe first, because it shows ten of each kind.

    `lines` says, file by file, the line of each round trip.
    """
    for one in report.checked:
        places = (lines or {}).get(one.name, {})
        for found in sorted(one.findings, key=_severity_rank):
            finding = found.finding
            reported = [finding.message, f"at {' · '.join(finding.evidence)}" if finding.evidence else "", finding.fix]
            if found.run:
                reported.append(f"in run {found.run}")
            if finding.because_of:
                reported.append(f"because of {', '.join(finding.because_of)}")
            title = f"{finding.layer}: {finding.id}"
            message = "\n".join(text for text in reported if text)
            yield _annotation(_COMMAND[finding.severity], one.name, places.get(found.index), title, message)
        for verdict in one.verdicts:
            if verdict.state != "kept":
                command = "error" if verdict.state == "broken" else "warning"
                yield _annotation(command, one.name, None, verdict.budget, verdict.says)
    for name, sentence in report.unread:
        yield _annotation("error", name, None, "not read", sentence)


def _severity_rank(found: Found) -> tuple[int, bool]:
    return -SEVERITIES.index(found.finding.severity), bool(found.finding.because_of)


def _annotation(command: str, file: str, line: int | None, title: str, message: str) -> str:
    properties = [("file", file), *([("line", str(line))] if line else []), ("title", title)]
    shown = ",".join(f"{name}={_property(value)}" for name, value in properties)
    return f"::{command} {shown}::{_data(message)}"


def _data(text: str) -> str:
    return safe(text).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
