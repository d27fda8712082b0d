"""Dates, clocks and ids that do not count in a request, in every form that a prompt writes them."""

import re

import pytest

from turntape.cassettes.matching.ignored_fields import (
    CLOCK_TEXT,
    MARK,
    SESSION_TEXT,
    TEXTS,
    TIMESTAMP,
    UUID,
    blanked,
    ignored_at,
)

ID = "123e4567-E89B-12d3-a456-426614174000"


def blank(text: str) -> str:
    return blanked(text, TEXTS)


@pytest.mark.parametrize(
    "when",
    [
        *("2026-11-22", "2026/11/22", "2026-1-2", "22.11.2026", "2/1/2026"),
        *("November 22, 2026", "Nov 2nd 2026", "March 1st, 2026", "May 3rd, 2026", "June 4th 2026", "22 November 2026"),
        *("Sunday, November 22, 2026", "Sun 22 Nov 2026", "Sunday, 2026-11-22"),
        *("2026-11-22 at 10:15", "2026-11-22, 10:15:59", "2026-11-22T10:15:59.123Z", "2026-11-22 10:15 UTC"),
        *("10:15", "9:05:07", "9:05 PM", "9:05 a.m.", "10:15:59+02:00", "10:15 GMT", "10:15:59.25 -0700"),
    ],
)
def test_the_date_and_the_clock_do_not_count_where_they_are_called_so(when: str) -> None:
    assert blank(f"Today is {when}!") == f"Today is {MARK}!"


@pytest.mark.parametrize(
    "month", ["January", "Feb", "March", "Apr", "May", "June", "Jul", "Aug", "September", "Oct", "Nov", "December"]
)
def test_every_month_is_known(month: str) -> None:
    assert blank(f"today is {month} 5, 2026") == blank(f"today is 5 {month} 2026") == f"today is {MARK}"


@pytest.mark.parametrize("day", ["Monday", "Tue", "Wednesday", "Thu", "Friday", "Sat", "Sunday"])
def test_every_day_is_known(day: str) -> None:
    assert blank(f"today is {day}, May 5, 2026") == f"today is {MARK}"


@pytest.mark.parametrize(
    "lead",
    [
        *("today's date is ", "Today’s date: ", "now: ", "NOW is ", "Current date: ", "current time is "),
        *("The present day is ", "current datetime=", "current timestamp: ", "Current date and time: "),
        *("current date & time is ", "current local time: ", "Current system date: ", "current time in UTC: "),
        *("**Current date:** ", '"today": '),
    ],
)
def test_a_prompt_may_name_the_date_in_many_ways(lead: str) -> None:
    assert blank(f"{lead}2026-11-22") == f"{lead}{MARK}"


@pytest.mark.parametrize(
    "text",
    [
        "the meeting of 2026-11-22",
        "born on May 5, 2026",
        "at 10:15",
        "yesterday: 2026-11-22",
        "today is the day",
        "today is 12",
        f"commit {ID}",
        "session id: 1234",
        f"obsession id: {ID}",
    ],
)
def test_any_other_date_or_id_counts(text: str) -> None:
    assert blank(text) == text


@pytest.mark.parametrize("kind", ["session", "request", "trace", "run", "conversation", "thread", "invocation"])
@pytest.mark.parametrize("form", ["{} id: ", "{}_id=", "{}-ID is ", "{}id `", '"{}_id":"', '"{}_id": "'])
def test_an_id_of_a_run_does_not_count(kind: str, form: str) -> None:
    lead = form.format(kind)

    assert blank(f"{lead}{ID}.") == f"{lead}{MARK}."


def test_each_text_is_blanked_wherever_it_is_and_as_often_as_it_is() -> None:
    text = "now: 10:15, run id: {0}, now: 10:16"

    assert blank(text.format(ID)) == f"now: {MARK}, run id: {MARK}, now: {MARK}"
    assert blank(text.format(ID)) == blank(text.format(ID.replace("1", "2")))


def test_the_texts_of_every_api_are_the_clock_and_the_session() -> None:
    assert TEXTS == (CLOCK_TEXT, SESSION_TEXT)
    assert ignored_at("chat/completions").texts[:2] == TEXTS


def test_an_endpoint_has_one_value() -> None:
    assert ignored_at("chat/completions") is ignored_at("chat/completions")


def test_the_expressions_for_users_find_ids_and_times_anywhere() -> None:
    assert re.fullmatch(UUID, ID)
    for when in ("2026-11-22T10:15", "2026-11-22 10:15:59", "2026-11-22T10:15:59.5Z", "2026-11-22T10:15:59+02:00"):
        assert re.fullmatch(TIMESTAMP, when), when
    assert not re.search(TIMESTAMP, "2026-11-22")


def test_only_a_group_named_lead_is_kept() -> None:
    assert blanked("build-7 x", (re.compile(r"build-\d"),)) == f"{MARK} x"
    assert blanked("build-7 x", (re.compile(r"(build)-\d"),)) == f"{MARK} x"
    assert blanked("build-7 x", (re.compile(r"(?P<lead>build-)\d"),)) == f"build-{MARK} x"


def test_the_mark_is_not_a_word_of_any_prompt() -> None:
    assert MARK == "⟨volatile⟩"
