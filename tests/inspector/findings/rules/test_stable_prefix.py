"""What a client should not change during a run, and what a change costs."""

from dataclasses import replace
from typing import Any

import orjson
import pytest
from conversations import CALL, HELLO, TOOLS, chat, result, said, user
from judged import (
    anthropic,
    asked,
    given,
    ids,
    item_call,
    item_output,
    judged,
    lines,
    only,
    responses,
    spoke,
    use,
    words,
)

from turntape.cassettes.tape.model import RoundTrip

FIRST = said("Let me look.", CALL)
GIVEN = result("call_1", "a strip")
DONE = said("done")
SYSTEM = {"role": "system", "content": "You are a lexicon."}
FIND = {"type": "function", "function": {"name": "find", "parameters": {"type": "object", "properties": {}}}}


def continues(*history: dict[str, Any], **fields: Any) -> RoundTrip:
    return chat([HELLO, *history], DONE, index=1, **fields)


def test_a_clock_in_the_system_prompt_is_reported_for_what_it_is() -> None:
    then = {"role": "system", "content": "Now: 2026-05-28T10:00Z. You are a lexicon."}
    now = {"role": "system", "content": "Now: 2026-05-28T10:07Z. You are a lexicon."}

    one = only(
        "client-system-prompt-changed",
        chat([then, HELLO], FIRST),
        chat([now, HELLO, FIRST, GIVEN], DONE, index=1),
    )

    assert "a date or a clock" in one.message


def test_the_same_system_prompt_is_nobodys() -> None:
    assert ids(chat([SYSTEM, HELLO], FIRST), chat([SYSTEM, HELLO, FIRST, GIVEN], DONE, index=1)) == set()


@pytest.mark.parametrize(
    ("then", "now", "said_of_it"),
    [
        ([*TOOLS, FIND], [FIND, *TOOLS], "only their order changed"),
        (TOOLS, [*TOOLS, FIND], "find added"),
        ([*TOOLS, FIND], TOOLS, "find removed"),
        ([FIND], [{**FIND, "function": {**FIND["function"], "description": "new"}}], "the definition of find changed"),
        (
            [FIND],
            [{**FIND, "function": {"name": "find", "parameters": {"properties": {}, "type": "object"}}}],
            "only the order of keys changed",
        ),
    ],
)
def test_each_way_in_which_tools_change_has_its_words(then: list[Any], now: list[Any], said_of_it: str) -> None:
    opened = chat([HELLO], said(None, CALL), tools=then)
    following = chat([HELLO, said(None, CALL), GIVEN], DONE, tools=now, index=1)

    assert said_of_it in only("client-tools-changed", opened, following).message


def counted(messages: list[dict[str, Any]], answer: dict[str, Any], index: int, cached: int, whole: int = 5000) -> Any:
    trip = chat(messages, answer, index=index, usage=(whole, 10))
    assert trip.response is not None
    body = trip.response.body.replace(b'"cached_tokens":0', f'"cached_tokens":{cached}'.encode())
    return chat(messages, None, index=index, error=orjson.loads(body))


def test_a_changed_beginning_breaks_the_cache_even_if_it_was_never_read() -> None:
    """A client that changes the beginning each time never lets a cache warm up."""
    opened = counted([user("07:00 what is a tape?")], FIRST, 0, 0)
    following = counted([user("07:01 what is a tape?"), FIRST, GIVEN], DONE, 1, 0)

    assert only("client-cache-prefix-busted", opened, following).layer == "client"


def test_a_request_that_only_grows_breaks_nothing() -> None:
    assert ids(counted([HELLO], FIRST, 0, 0), counted([HELLO, FIRST, GIVEN], DONE, 1, 4800)) == set()


def test_where_no_cache_is_at_stake_a_changed_beginning_is_a_word_and_no_warning() -> None:
    opened = counted([user("07:00 what is a tape, and what does it hold?")], FIRST, 0, 0, 300)
    following = counted([user("07:01 what is a tape, and what does it hold?"), FIRST, GIVEN], DONE, 1, 0, 300)
    usage = {"input_tokens": 5000, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    unmarked = anthropic([asked("07:00 what is a tape, and what does it hold?")], [use()], usage=usage)
    unmarked_too = anthropic(
        [asked("07:01 what is a tape, and what does it hold?"), spoke(use()), asked(given())],
        [words("x")],
        1,
        usage=usage,
    )

    assert only("client-cache-prefix-busted", opened, following).severity == "info"
    assert only("client-cache-prefix-busted", unmarked, unmarked_too).severity == "info"


def test_settings_and_models_that_change_are_reported_and_blamed_mildly() -> None:
    reported = judged(
        chat([HELLO], FIRST, temperature=1.0),
        chat([HELLO, FIRST, GIVEN], DONE, index=1, temperature=0.2, model="gpt-5-mini"),
    )

    assert {(one.id, one.severity) for one in reported} == {
        ("client-sampling-params-changed", "info"),
        ("client-model-changed", "info"),
    }


def test_a_forced_first_step_is_not_a_change_of_settings() -> None:
    assert ids(chat([HELLO], FIRST, tool_choice="required"), continues(FIRST, GIVEN)) == set()


def system(then: str, now: str) -> list[str]:
    """What is reported when the system prompt changes between two turns."""
    one, two = ({"role": "system", "content": text} for text in (then, now))
    trips = chat([one, HELLO], FIRST), chat([two, HELLO, FIRST, GIVEN], DONE, index=1)
    return lines(*trips, only="client-system")


def test_a_system_prompt_that_changes_is_quoted_around_the_place() -> None:
    front, back = "You are a lexicon of sailors and their many ropes. ", " Answer in a few plain words, please."

    assert system(f"{front}Be brief.{back}", f"{front}Be kind.{back}") == [
        (
            "#1 client-system-prompt-changed (client, info, P): the system prompt changes at character 54: "
            "'…heir many ropes. Be brief. Answer in a few plain w…' became '…heir many ropes. Be kind. Answer in "
            "a few plain wo…' | #0 request system, #1 request system"
        ),
    ]
    assert system("Be brief.", "Be brief, please.") == [
        (
            "#1 client-system-prompt-changed (client, info, P): the system prompt changes at character 8: "
            "'Be brief.' became 'Be brief, please.' | #0 request system, #1 request system"
        ),
    ]
    assert system("Be brief.", "Be  brief.\n") == []


@pytest.mark.parametrize(
    ("was", "became", "what"),
    [
        ("on 2026-05-28.", "on 2026-05-29.", "a date or a clock"),
        ("at 10:07.", "at 11:07.", "a date or a clock"),
        ("of 2025 x", "of 2026 x", "a date or a clock"),
        ("January", "February", "a date or a clock"),
        ("March", "April", "a date or a clock"),
        ("in May x", "in June", "a date or a clock"),
        ("July", "August", "a date or a clock"),
        ("September", "October", "a date or a clock"),
        ("October", "November", "a date or a clock"),
        ("November", "December", "a date or a clock"),
        ("run 5f3c9a1b-77aa", "run 6f3c9a1b-77aa", "an id"),
        ("run 5f3c9a1b5f3c9a1b", "run 6f3c9a1b5f3c9a1b", "an id"),
        ("in /home/a/b", "in /home/c/b", "a path"),
        ("has 7 files", "has 8 files", "a number"),
        ("Be brief", "Be kind", None),
    ],
)
def test_a_change_of_the_system_prompt_is_named_for_what_it_looks_like(was: str, became: str, what: str | None) -> None:
    for one, other in ((was, became), (became, was)):
        [reported] = system(one, other)
        assert (f"which looks like {what}" in reported) if what else ("looks like" not in reported)


def test_a_billing_header_in_the_system_prompt_may_change() -> None:
    def billed(number: int) -> list[dict[str, Any]]:
        return [words(f"x-anthropic-billing-header: cch={number}"), words("You are a lexicon.")]

    first = anthropic([asked("hi")], [words("x")], system=billed(1))
    second = anthropic([asked("hi"), spoke(words("x")), asked("and?")], [words("y")], 1, system=billed(2))
    other = anthropic([asked("hi"), spoke(words("x")), asked("and?")], [words("y")], 1, system=[words("Be kind.")])

    assert "client-system-prompt-changed" not in ids(first, second)
    assert "client-system-prompt-changed" in ids(first, other)


def test_a_system_prompt_that_goes_away_is_a_change_unless_the_api_holds_it() -> None:
    gone = chat([HELLO, FIRST, GIVEN], DONE, index=1)
    opened = responses([{"role": "user", "content": "hi"}], [], instructions="Be brief.")
    held = responses([item_output()], [], 1, previous_response_id="resp_0")
    other = responses([item_output()], [], 1, previous_response_id="resp_0", instructions="Be kind.")

    assert "client-system-prompt-changed" in ids(chat([SYSTEM, HELLO], FIRST), gone)
    assert "client-system-prompt-changed" not in ids(opened, held)
    assert "client-system-prompt-changed" in ids(opened, other)


def tools(then: list[Any] | None, now: list[Any] | None, *history: dict[str, Any]) -> list[str]:
    opened = chat([HELLO], said("Let me look."), tools=then)
    return lines(opened, chat([HELLO, *(history or [said("Let me look."), user("and?")])], DONE, tools=now, index=1),
                 only="client-tools-changed")  # fmt: skip


def offered(*names: str) -> list[Any]:
    return [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in names]


def test_tools_that_change_are_named() -> None:
    assert tools(offered("a", "b"), offered("b", "a")) == [
        (
            "#1 client-tools-changed (client, info, P): the tools changed: only their order changed | #0 "
            "request tools, #1 request tools"
        ),
    ]
    assert tools(offered("a"), offered("a", "g", "f", "e", "d", "c", "b")) == [
        (
            "#1 client-tools-changed (client, info, P): the tools changed: b, c, d, e, f and 1 more added | #0 "
            "request tools, #1 request tools"
        ),
    ]
    assert tools(offered("a", "g", "f", "e", "d", "c", "b"), offered("a")) == [
        (
            "#1 client-tools-changed (client, info, P): the tools changed: b, c, d, e, f and 1 more removed | #0 "
            "request tools, #1 request tools"
        ),
    ]
    assert tools(offered("a", "b"), offered("a", "b")) == []
    changed = [{"type": "function", "function": one["function"] | {"description": "x"}} for one in offered(*"bcde")]
    assert tools(offered(*"abcde"), [*offered("a"), *changed]) == [
        (
            "#1 client-tools-changed (client, info, P): the tools changed: the definitions of b, c, d "
            "and 1 more changed | #0 request tools, #1 request tools"
        ),
    ]


def test_a_tool_that_goes_away_although_the_history_calls_it_is_an_error() -> None:
    def called(*names: str) -> list[dict[str, Any]]:
        made = [(f"c_{name}", name, "{}") for name in names]
        return [said(None, *made), *(result(f"c_{name}", "x") for name in names)]

    def went(now: list[Any] | None, *names: str) -> list[str]:
        call, *results = called(*names)
        trips = (
            chat([HELLO], call, tools=offered("a", "b", "c")),
            chat([HELLO, call, *results], DONE, index=1, tools=now),
        )
        return lines(*trips, only="client-tools-changed")

    assert went(offered("c"), "b", "a") == [
        (
            "#1 client-tools-changed (client, info, P): the tools changed: a, b removed, although the "
            "history calls 'a' | #0 request tools, #1 request tools"
        ),
    ]
    assert went(None, "a") == [
        (
            "#1 client-tools-changed (client, info, P): the tools changed: a, b, c removed, although the "
            "history calls 'a' | #0 request tools, #1 request tools"
        ),
    ]
    assert went(offered("a", "b"), "a") == [
        (
            "#1 client-tools-changed (client, info, P): the tools changed: c removed | #0 request tools, "
            "#1 request tools"
        ),
    ]


def test_tools_that_the_api_holds_need_not_be_sent_again() -> None:
    opened = responses([{"role": "user", "content": "hi"}], [item_call()])
    held = responses([item_output()], [], 1, previous_response_id="resp_0", tools=[])
    fewer = responses([{"role": "user", "content": "hi"}, item_call(), item_output()], [], 1, tools=[])

    assert "client-tools-changed" not in ids(opened, held)
    assert "client-tools-changed" in ids(opened, fewer)


CALL2, RESULT2 = ("call_2", "look_up", '{"word":"reel"}'), result("call_2", "a spool")
BEGUN, AGAIN = user("07:00 what is a tape, and what for?"), user("07:01 what is a tape, and what for?")


def busted(
    *,
    first: dict[str, Any] = BEGUN,
    history: list[dict[str, Any]] | None = None,
    then: int = 4000,
    now: int | None = 0,
    whole: int = 5000,
    model: str = "gpt-5",
    extra: dict[str, Any] | None = None,
) -> list[str]:
    """What is said of a prefix that changed, by what was read from the cache before and after."""
    two = chat(
        history or [AGAIN, FIRST, GIVEN], DONE, index=1, model=model, usage=(5000, 10) if now is not None else None
    )
    assert two.response is not None
    body = orjson.loads(two.response.body) | (extra or {})
    if now is not None:
        body["usage"]["prompt_tokens_details"]["cached_tokens"] = now
    two = replace(two, response=replace(two.response, content=orjson.dumps(body), chunks=()))
    return lines(counted([first], FIRST, 0, then, whole), two, only="client-cache-prefix-busted")


def test_a_broken_prefix_is_reported_with_what_it_cost() -> None:
    assert busted() == [
        (
            "#1 client-cache-prefix-busted (client, warning, P): the request differs from #0 within its cached "
            "prefix; 5,000 input tokens were not read from the cache | #0 request /messages/0/content, #1 "
            "request /messages/0/content"
        ),
    ]
    assert busted(now=1000) == [
        (
            "#1 client-cache-prefix-busted (client, warning, P): the request differs from #0 within its cached "
            "prefix; 4,000 input tokens were not read from the cache | #0 request /messages/0/content, #1 "
            "request /messages/0/content"
        ),
    ]
    assert busted(now=None) == [
        (
            "#1 client-cache-prefix-busted (client, warning, P): the request differs from #0 within its cached "
            "prefix | #0 request /messages/0/content, #1 request /messages/0/content"
        ),
    ]
    assert busted(model="gpt-4o") == []
    assert busted(whole=1023)[0].startswith("#1 client-cache-prefix-busted (client, info, P)")
    assert busted(whole=1024, then=0)[0].startswith("#1 client-cache-prefix-busted (client, warning, P)")


@pytest.mark.parametrize("name", ["diagnostics", "prompt_cache_diagnostics"])
@pytest.mark.parametrize("reason", ["cache_miss_reason", "cache_miss"])
@pytest.mark.parametrize("word", ["type", "reason"])
def test_what_the_api_says_of_a_miss_is_quoted(name: str, reason: str, word: str) -> None:
    [line] = busted(extra={name: {reason: {word: "prefix_mismatch"}}})

    assert "; the API says prefix_mismatch |" in line


@pytest.mark.parametrize(
    ("then", "now", "reported"),
    [
        (4500, 4499, False),
        (4500, 4050, False),
        (4500, 4049, True),
        (4000, 4000, False),
        (3999, 3999, True),
        (0, 0, True),
    ],
)
def test_a_prefix_that_is_read_nearly_as_far_as_before_is_whole(then: int, now: int, reported: bool) -> None:
    """Of 5,000 tokens, at least four fifths; and nine tenths of what was read last."""
    assert bool(busted(then=then, now=now)) is reported


def marked(text: str, index: int, read: int, written: int) -> RoundTrip:
    ask = {"role": "user", "content": [words(text) | {"cache_control": {"type": "ephemeral"}}]}
    usage = {"input_tokens": 100, "cache_read_input_tokens": read, "cache_creation_input_tokens": written}
    history = [ask] if not index else [ask, spoke(use()), asked(given())]
    return anthropic(history, [use()] if not index else [words("x")], index, usage=usage)


@pytest.mark.parametrize(("read", "reported"), [(4900, False), (2500, True)])
def test_where_writing_is_counted_the_cache_holds_what_was_written_and_read(read: int, reported: bool) -> None:
    trips = marked("07:00 hi", 0, 2500, 2500), marked("07:01 hi", 1, read, 100)

    assert ("client-cache-prefix-busted" in ids(*trips)) is reported


def test_a_prefix_that_the_api_holds_cannot_break() -> None:
    usage = {
        "input_tokens": 5000,
        "output_tokens": 5,
        "total_tokens": 5005,
        "input_tokens_details": {"cached_tokens": 0},
    }
    opened = responses([{"role": "user", "content": "hi"}], [])
    assert opened.response is not None
    body = orjson.loads(opened.response.body) | {"usage": usage}
    opened = replace(opened, response=replace(opened.response, content=orjson.dumps(body), chunks=()))
    held = responses([item_output()], [], 1, previous_response_id="resp_0", instructions="Be kind.")

    assert "client-cache-prefix-busted" not in ids(opened, held)


def test_the_place_of_the_departure_is_the_likeliest_cause() -> None:
    inserted = [HELLO, user("It is 07:01."), FIRST, GIVEN]
    call = said("Let me look.", ("call_1", "look_up", '{ "word": "tape" }'))

    assert busted(first=HELLO, history=inserted) == [
        (
            "#1 client-cache-prefix-busted (client, warning, P): the request differs from #0 within its cached "
            "prefix; 5,000 input tokens were not read from the cache | #1 request /messages/1/content | "
            "because of client-history-reordered"
        ),
    ]
    assert busted(first=HELLO, history=[HELLO, call, GIVEN]) == []
    assert busted(first=HELLO, history=[HELLO, call, GIVEN], then=0) == []
    assert busted(first=HELLO, history=[HELLO, call, GIVEN], now=None) == []
    assert busted(first=HELLO, history=[HELLO, said("I look.", CALL), GIVEN]) == []


def test_an_earlier_call_in_another_spelling_breaks_the_prefix() -> None:
    spelled = said("Let me look.", ("call_1", "look_up", '{ "word": "tape" }'))
    first = counted([HELLO, FIRST, GIVEN], DONE, 0, 4000)

    def departs(*history: dict[str, Any]) -> list[str]:
        second = counted([*history, DONE, user("Why?")], DONE, 1, 0)
        return [line.partition(" | ")[2] for line in lines(first, second, only="client-cache-prefix")]

    place = "#0 request /messages/1/tool_calls/0, #1 request /messages/1/tool_calls/0"
    assert departs(HELLO, spelled, GIVEN) == [f"{place} | because of client-assistant-mutated"]
    assert departs(HELLO, FIRST, GIVEN) == []


def test_a_prefix_that_breaks_in_the_system_prompt_or_the_tools_is_blamed_on_the_change() -> None:
    one, two = ({"role": "system", "content": text} for text in ("Be brief.", "Be kind."))
    by_prompt = counted([one, HELLO], FIRST, 0, 4000), counted([two, HELLO, FIRST, GIVEN], DONE, 1, 0)
    other = chat([HELLO, FIRST, GIVEN], DONE, index=1, usage=(5000, 10), tools=[*TOOLS, FIND])
    by_tools = counted([HELLO], FIRST, 0, 4000), other

    assert lines(*by_prompt, only="client-cache") == [
        (
            "#1 client-cache-prefix-busted (client, warning, P): the request differs from #0 within its cached "
            "prefix; 5,000 input tokens were not read from the cache | #1 request | because of "
            "client-system-prompt-changed"
        ),
    ]
    assert lines(*by_tools, only="client-cache") == [
        (
            "#1 client-cache-prefix-busted (client, warning, P): the request differs from #0 within its cached "
            "prefix; 5,000 input tokens were not read from the cache | #1 request | because of client-tools-changed"
        ),
    ]


def uncached(then: str, now: str, *, at: str = "user") -> list[str]:
    if at == "user":
        trips = counted([user(then)], FIRST, 0, 0, 300), counted([user(now), FIRST, GIVEN], DONE, 1, 0, 300)
    else:
        trips = counted([HELLO], FIRST, 0, 0, 300), counted([HELLO, user(now), FIRST, GIVEN], DONE, 1, 0, 300)
    return lines(*trips, only="client-cache-prefix")


def test_without_a_cache_a_change_of_what_the_user_said_is_quoted() -> None:
    assert uncached("07:00 what is a tape, and what for?", "07:01 what is a tape, and what for?") == [
        (
            "#1 client-cache-prefix-busted (client, info, P): the request changes the messages of #0: '07:00 "
            "what is a tape, and what for?' became '07:01 what is a tape, and what for?' | #0 request "
            "/messages/0/content, #1 request /messages/0/content"
        ),
    ]
    # That a message comes before the answer it was not there for is another finding.
    assert uncached("", "It is 07:01.", at="before the answer") == []
    assert uncached("07:00 what is a tape?", "07:00 what is a tape?") == []
    clock = {"role": "system", "content": "It is 07:01."}
    first = counted([HELLO], FIRST, 0, 0, 300)
    assert lines(first, counted([HELLO, clock, FIRST, GIVEN], DONE, 1, 0, 300), only="client-cache-prefix") == []


def test_without_a_cache_a_change_that_another_rule_reports_is_not_reported_again() -> None:
    one, two = ({"role": "system", "content": text} for text in ("Be brief.", "Be kind."))
    trips = (
        counted([one, BEGUN], FIRST, 0, 0, 300),
        counted([two, AGAIN, FIRST, GIVEN], DONE, 1, 0, 300),
    )

    assert "client-cache-prefix-busted" not in ids(*trips)


def growing(*, tokens: int = 2048, marker: bool = False, count: int = 3, counts: bool = True) -> list[str]:
    trips: list[RoundTrip] = []
    history = [asked("hi")]
    for n in range(count):
        usage = {"input_tokens": tokens}
        one = anthropic(history, [words(f"x{n}")], n, usage=usage)
        if not counts:
            assert one.response is not None
            body = orjson.loads(one.response.body)
            del body["usage"]
            one = replace(one, response=replace(one.response, content=orjson.dumps(body), chunks=()))
        trips.append(one)
        history = [*history, spoke(words(f"x{n}")), asked("and?")]
        if marker and n == 0:
            history[0] = {"role": "user", "content": [words("hi") | {"cache_control": {"type": "ephemeral"}}]}
    return lines(*trips, only="client-no-cache")


def test_a_run_that_grows_without_a_cache_is_reported_at_its_third_turn() -> None:
    assert growing() == [
        (
            "#2 client-no-cache-control (client, info, S): 3 growing requests, the last with 2,048 input tokens, "
            "and none is cached | #2 request, #2 usage cache_read 0"
        ),
    ]
    assert growing(count=2) == []
    assert len(growing(count=5)) == 1
    assert growing(tokens=2047) == []
    assert growing(marker=True) == []
    assert growing(counts=False) == []


SAMPLING = (
    "temperature top_p top_k reasoning reasoning_effort verbosity text response_format seed service_tier thinking "
    "generationConfig inferenceConfig options frequency_penalty presence_penalty"
)


@pytest.mark.parametrize("name", SAMPLING.split())
def test_a_parameter_of_sampling_that_changes_is_named(name: str) -> None:
    fields: tuple[dict[str, Any], dict[str, Any]] = ({name: 1}, {name: 2})
    trips = chat([HELLO], FIRST, **fields[0]), continues(FIRST, GIVEN, **fields[1])

    assert lines(*trips, only="client-sampl") == [
        f"#1 client-sampling-params-changed (client, info, P): changed since #0: {name} "
        f"(1, now 2) | #0 request, #1 request /{name}"
    ]


def test_all_parameters_that_change_are_named_and_three_are_shown() -> None:
    first = chat([HELLO], FIRST, max_tokens=5, parallel_tool_calls=True)
    second = continues(FIRST, GIVEN, max_tokens=6, parallel_tool_calls=False, seed=1, top_p=1, top_k=1, temperature=1)

    assert lines(first, second, only="client-sampling") == [
        (
            "#1 client-sampling-params-changed (client, info, P): changed since #0: temperature (not set, "
            "now 1), top_p (not set, now 1), top_k (not set, now 1), seed (not set, now 1), the output cap (5, now 6), "
            "parallel calls (true, now false) | #0 request, #1 request /temperature, #1 request /top_p, "
            "#1 request /top_k"
        ),
    ]
    assert lines(first, continues(FIRST, GIVEN, max_tokens=6, parallel_tool_calls=True), only="client-sampling") == [
        "#1 client-sampling-params-changed (client, info, P): changed since #0: the output cap (5, now 6) | #0 request",
    ]


def test_a_handoff_may_change_settings_prompt_and_tools() -> None:
    hand = said(None, ("call_1", "transfer_to_billing", "{}"))
    first = chat([SYSTEM, HELLO], hand, temperature=1)
    second = chat(
        [{"role": "system", "content": "You bill."}, HELLO, hand, GIVEN], DONE, index=1, tools=[FIND], temperature=0
    )

    assert not {one for one in ids(first, second) if one.startswith("client-")} - {"model-unknown-tool"}


def test_another_model_is_named_and_worse_between_a_call_and_its_result() -> None:
    talk = chat([HELLO], said("Well."))

    assert lines(chat([HELLO], FIRST), continues(FIRST, GIVEN, model="gpt-5-mini"), only="client-model") == [
        (
            "#1 client-model-changed (client, info, P): the request names the model 'gpt-5-mini'; #0 named 'gpt-5' | "
            "#0 request model, #1 request model"
        ),
    ]
    assert lines(talk, continues(said("Well."), user("and?"), model="gpt-5-mini"), only="client-model") == [
        (
            "#1 client-model-changed (client, info, P): the request names the model 'gpt-5-mini'; #0 named 'gpt-5' | "
            "#0 request model, #1 request model"
        ),
    ]
    assert lines(chat([HELLO], FIRST), continues(FIRST, GIVEN), only="client-model") == []
    failed = chat([HELLO], status=500, error={"error": {"message": "no", "type": "server_error"}})
    assert lines(failed, chat([HELLO], DONE, index=1, model="gpt-5-mini"), only="client-model") == [
        (
            "#1 client-model-changed (client, info, P): the request names the model 'gpt-5-mini'; #0 named 'gpt-5' | "
            "#0 request model, #1 request model"
        ),
    ]


def test_a_model_that_changes_for_a_result_and_is_rejected_is_worse() -> None:
    rejected: dict[str, Any] = {"status": 400, "error": {"error": {"message": "no", "type": "invalid_request_error"}}}

    def severity(answer: dict[str, Any], *history: dict[str, Any]) -> str:
        second = chat([HELLO, answer, *history], index=1, model="gpt-5-mini", **rejected)
        return only("client-model-changed", chat([HELLO], answer), second).severity

    assert severity(FIRST, GIVEN) == "warning"
    assert severity(said("Well."), user("and?")) == "info"


def test_a_request_that_names_no_model_changes_none() -> None:
    one = continues(FIRST, GIVEN)
    body = orjson.loads(one.request.body)
    del body["model"]
    second = replace(one, request=replace(one.request, content=orjson.dumps(body)))

    assert "client-model-changed" not in ids(chat([HELLO], FIRST), second)


def test_a_prefix_that_breaks_in_the_history_is_blamed_on_the_change_and_shown_at_what_came_in() -> None:
    cut = busted(first=user("07:00 hi"), history=[user("07:01 ho"), FIRST, GIVEN])
    mixed = [HELLO, FIRST, user("It is 07:01."), result("call_1", "[cleared]"), said("Once more.", CALL2), RESULT2]

    assert cut[0].endswith("| because of client-user-text-changed")
    opened = counted([HELLO, FIRST, GIVEN], said("Once more.", CALL2), 0, 4000)
    [line] = lines(opened, counted(mixed, DONE, 1, 0), only="client-cache-prefix-busted")
    assert "| #1 request /messages/2/content | because of client-tool-result-rewritten" in line


def test_a_count_without_input_does_not_hide_a_change() -> None:
    first = chat([BEGUN], FIRST)
    assert first.response is not None
    body = orjson.loads(first.response.body) | {"usage": {"completion_tokens": 5}}
    first = replace(first, response=replace(first.response, content=orjson.dumps(body), chunks=()))

    assert "client-cache-prefix-busted" in ids(first, chat([AGAIN, FIRST, GIVEN], DONE, index=1))


def test_clearing_old_results_is_not_a_fault_unless_the_counts_show_that_a_cache_was_lost() -> None:
    rows, marker = "row of a long table " * 40, "[Old tool result content cleared]"
    second = said(None, ("call_2", "look_up", '{"word":"b"}'))

    def found(then: int, became: str = marker) -> list[tuple[str, str, tuple[str, ...]]]:
        one = counted([HELLO, FIRST, result("call_1", rows)], second, 0, then)
        history = [HELLO, FIRST, result("call_1", became), second, result("call_2", "x")]
        trips = one, counted(history, DONE, 1, 0)
        return [(f.id, f.severity, f.because_of) for f in judged(*trips) if f.id.startswith("client-")]

    root, cause = "client-tool-result-rewritten", ("client-tool-result-rewritten",)
    busts = "client-cache-prefix-busted"
    assert found(0) == [(root, "info", ()), (busts, "info", cause)]
    assert found(4000) == [(root, "info", ()), (busts, "warning", cause)]
    assert found(0, "It gave nothing.") == [(root, "warning", ()), (busts, "warning", cause)]
