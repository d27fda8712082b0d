"""Every class can be looked up, and an unknown name suggests the nearest."""

import re

import pytest

from turntape.inspector.findings.docs import GROUPS, NAMING, FailureClass, class_of, classes, unknown
from turntape.inspector.findings.examples import EXAMPLES
from turntape.inspector.findings.rules import RULES


def test_every_rule_belongs_to_one_class_of_one_group() -> None:
    names = [one.id for one in classes()]

    assert len(names) == len(set(names))
    assert set(names) == {rule.id for rule in RULES}
    assert {one.group for one in classes()} == set(GROUPS)


def test_a_class_lists_the_tiers_and_severities_of_all_its_rules() -> None:
    one = class_of("client-pause-not-resumed")

    assert one is not None
    assert (one.tiers, one.severities, one.switch) == (("P", "S"), ("error",), None)
    assert one.as_json()["not_when"] is None


def test_the_exceptions_of_a_class_are_one_sentence_in_json() -> None:
    one = class_of("api-service-tier-changed")

    assert one is not None
    assert one.as_json()["not_when"] == "The request asks for `auto`; the request names no tier."
    assert one.as_json()["protocols"] is None


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("client-mising-tool-result", "'client-missing-tool-result'"),
        ("MODEL-REFUSAL", "'model-refusal'"),
        ("api-stream-cutt", "'api-stream-cut'"),
    ],
)
def test_an_unknown_name_suggests_the_nearest(name: str, nearest: str) -> None:
    assert f"the nearest is {nearest}" in unknown(name)


def test_a_name_that_is_like_nothing_suggests_nothing() -> None:
    assert "nearest" not in unknown("qqqqqqq")


@pytest.mark.parametrize("one", classes(), ids=lambda one: one.id)
def test_every_class_has_an_example(one: FailureClass) -> None:
    assert one.example is not None, "add what it looks like to inspector/findings/examples.py"
    assert one.example.message
    assert one.example.evidence
    assert all(re.match(r"#\d+ \S", place) for place in one.example.evidence)


def test_every_example_belongs_to_a_class() -> None:
    assert set(EXAMPLES) <= {one.id for one in classes()}


@pytest.mark.parametrize("one", classes(), ids=lambda one: one.id)
def test_an_id_that_begins_with_a_layer_is_of_that_layer(one: FailureClass) -> None:
    first = one.id.partition("-")[0]

    assert first not in NAMING or first == one.rule.layer


def test_a_former_id_names_the_class() -> None:
    one = class_of("api-invalid-request")

    assert one is not None
    assert one.id == "request-rejected"
    assert one is class_of("request-rejected")
    assert one.as_json()["aliases"] == ["api-invalid-request"]


def test_no_two_classes_share_an_id_or_a_former_one() -> None:
    names = [name for one in classes() for name in one.names]

    assert len(names) == len(set(names))
