"""Findings that repeat one before them."""

from dataclasses import replace

from turntape.inspector.findings.finding import Finding
from turntape.inspector.views.vocabulary.repeats import repeats

REFUSED = Finding("api-overloaded", "api", "error", "P", "503", ("#2 status",), "wait")


def test_the_same_words_at_another_place_repeat_the_first() -> None:
    again = replace(REFUSED, evidence=("#3 status",))

    assert repeats([REFUSED, again, again]) == [None, 0, 0]


def test_other_words_or_another_fix_or_class_repeat_nothing() -> None:
    others = [replace(REFUSED, message="529"), replace(REFUSED, fix="stop"), replace(REFUSED, id="api-other")]

    assert repeats([REFUSED, *others]) == [None] * 4
    assert repeats([]) == []
