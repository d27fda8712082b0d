"""The models hold every key that turntape prints, and lose none."""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import orjson
import pytest
from conversations import CALL, HELLO, TOOLS, chat, loop, result, said, user
from corpus import corpus
from pydantic import BaseModel, ValidationError

from turntape.cassettes.tape.model import Failure, RoundTrip
from turntape.cassettes.tape.reader import Cassette
from turntape.inspector import CheckReport, FailureClassInfo, RoundTripLabel, RunDiff
from turntape.inspector.check.budgets import Budgets
from turntape.inspector.check.check import Asked, Report, check
from turntape.inspector.compare.run_diff import compare
from turntape.inspector.findings.docs import classes
from turntape.inspector.run.labels import label_all
from turntape.inspector.views.json.check_formats import as_json
from turntape.inspector.views.json.show_json import dumps, show_json

EXAMPLE = Path(__file__).parents[4] / "docs" / "example.cassette.jsonl"


def holds(model: type[BaseModel], printed: bytes | str) -> BaseModel:
    """The object, after proof that the model knows each of its keys and changes no value."""
    made = model.model_validate_json(printed)
    assert made.model_dump(mode="json") == json.loads(printed)
    return made


def odd_runs() -> Iterator[list[RoundTrip]]:
    """Runs in which the keys take their rarer values."""
    first = said("I look.", CALL)
    yield loop()
    yield [
        chat([HELLO], first),
        chat([user("other"), first, result("call_1", "x")], said("by"), index=1, finish="length"),
    ]
    overloaded = chat([HELLO], status=529, error={"error": {"message": "overloaded", "type": "server_error"}})
    yield [overloaded, chat([HELLO], said("x"), index=1)]
    yield [chat([HELLO], failure=Failure("refused", "connection refused"))]
    yield [chat([HELLO], said(None, ("c", "look_up", '{"word":'), ("d", "look_up", "[1]")), tools=TOOLS)]
    other = chat([HELLO], said("x"))
    yield [replace(other, request=replace(other.request, method="GET", url="https://api.openai.com/v1/models"))]


@pytest.mark.parametrize("trips", odd_runs())
def test_a_line_of_show_is_a_round_trip_label(trips: list[RoundTrip]) -> None:
    for line in show_json(trips, hints=True):
        holds(RoundTripLabel, line)


def test_the_lines_of_the_example_are_round_trip_labels() -> None:
    lines = [holds(RoundTripLabel, line) for line in show_json(Cassette.load(EXAMPLE), hints=True)]

    assert len(lines) > 2


@pytest.mark.skipif(corpus.folder() is None, reason=corpus.ABSENT)
def test_the_labels_of_recorded_traffic_are_round_trip_labels() -> None:
    """Two cassettes of each API; `make corpus` reads them all."""
    count = 0
    for path in corpus.files():
        for _, rows in islice(groupby(corpus.read_file(path), key=lambda row: row.cassette), 2):
            trips = [replace(row.round_trip, index=n, started_at=60.0 * n) for n, row in enumerate(rows)]
            for one in label_all(trips, hints=True, advice=True):
                holds(RoundTripLabel, dumps(one.label))
                count += 1

    assert count > 100


@pytest.mark.parametrize("key", sorted(RoundTripLabel.model_fields))
def test_a_label_without_one_of_its_keys_is_not_valid(key: str) -> None:
    label: dict[str, Any] = orjson.loads(next(iter(show_json(loop()))))
    del label[key]

    with pytest.raises(ValidationError, match=key):
        RoundTripLabel.model_validate_json(dumps(label))


def test_a_key_of_a_later_version_is_ignored() -> None:
    label = orjson.loads(next(iter(show_json(loop()))))

    assert RoundTripLabel.model_validate_json(dumps({**label, "later": 1})).index == 0


def test_a_word_that_is_not_in_the_table_is_not_valid() -> None:
    label = orjson.loads(next(iter(show_json(loop()))))
    label["api"]["finish"] = "done"

    with pytest.raises(ValidationError, match="finish"):
        RoundTripLabel.model_validate_json(dumps(label))


def test_the_json_of_check_is_a_check_report() -> None:
    asked = Asked(fail_on="info", hints=True, lint=True, budgets=Budgets(turns=1))
    checked = tuple(check(f"run {n}", trips, asked) for n, trips in enumerate(odd_runs()))
    report = holds(CheckReport, as_json(Report(asked, checked, (("gone.jsonl", "no such file"),))))

    assert isinstance(report, CheckReport)
    assert report.failed
    assert report.files[0].budgets[0].state == "broken"
    assert any(one.findings for one in report.files)


def test_the_json_of_diff_is_a_run_diff() -> None:
    other = [chat([HELLO], said("It is a strip of film."))]

    same = holds(RunDiff, dumps(compare(loop(), loop()).as_json()))
    different = holds(RunDiff, dumps(compare(loop(), other).as_json()))

    assert isinstance(same, RunDiff) and same.same
    assert isinstance(different, RunDiff) and different.first is not None
    assert different.first.layer == "model" and different.first.differences


def test_the_json_of_explain_is_a_failure_class_info() -> None:
    for one in classes():
        holds(FailureClassInfo, dumps(one.as_json()))
