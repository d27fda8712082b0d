"""Tokens from the API's counts, for backends with tokenizers that the ledger does not see."""

import json
import struct
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from conversations import TOOLS, chat, result, said, user
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_stories import STORIES, all_bytes, words

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.ledger import Figure, Ledger, ledger_of
from turntape.inspector.run.labels import label_all

type Count = Callable[[str], int]
ROLE, BEGINS = 4, 3
WORDS = ("tape", "records", "every", "round_trip", "42", "of", "{}", "an", "agent", "größe", "\n  ", "value=", "3.14")


def by_hash(seed: int) -> Count:
    """Pieces of one to six bytes, by no rule that anyone knows."""

    def count(text: str) -> int:
        data, at, tokens = text.encode(), 0, 0
        while at < len(data):
            at += 1 + (data[at] * 31 + seed) % 6
            tokens += 1
        return tokens

    return count


def text_of(random: Random, most: int) -> str:
    return " ".join(random.choice(WORDS) for _ in range(random.randint(1, most)))


def run(count: Count, seed: int, turns: int, hidden: int = 0) -> tuple[list[RoundTrip], list[list[int]]]:
    """A run of a backend, and the tokens of each piece of each prompt."""
    random = Random(seed)
    messages = [user(text_of(random, 60))]
    tool = hidden + 60 * count("a tool")
    truth, trips, truths = [tool, count(messages[0]["content"]) + ROLE], list[RoundTrip](), list[list[int]]()
    for number in range(turns):
        calls = [
            (f"call_{number}_{n}", "look_up", f'{{"word":"{text_of(random, 5)}"}}') for n in range(random.randint(0, 3))
        ]
        answer = said(text_of(random, 30), *calls)
        spoken = [count(answer["content"]), *(count(name + arguments) + 2 for _, name, arguments in calls)]
        trips.append(chat(messages, answer, index=number, usage=(sum(truth) + BEGINS, sum(spoken) + 1)))
        truths.append(list(truth))
        sent = [result(identity, text_of(random, 200)) for identity, _, _ in calls] or [user(text_of(random, 40))]
        messages = [*messages, answer, *sent]
        truth += [spoken[0] + ROLE, *spoken[1:], *(count(message["content"]) + ROLE for message in sent)]
    return trips, truths


def ledger(trips: list[RoundTrip]) -> Ledger:
    return ledger_of(label_all(trips))


@settings(max_examples=25, deadline=None)
@given(
    st.one_of(st.just(words), st.just(all_bytes), st.integers(0, 50).map(by_hash)),
    st.integers(0, 10**6),
    st.integers(1, 6),
    st.sampled_from([0, 40]),
)
def test_bounds_have_the_truth_and_sums_are_equal(count: Count, seed: int, turns: int, hidden: int) -> None:
    trips, truths = run(count, seed, turns, hidden)

    for turn, truth in zip(ledger(trips).turns, truths, strict=True):
        figures = [use.tokens for use in turn.uses if use.piece.kind != "other" and use.tokens is not None]
        assert sum(use.tokens.value for use in turn.uses if use.tokens) == turn.input
        assert [figure.low <= figure.value <= figure.high for figure in figures] == [True] * len(truth)
        for figure, tokens in list(zip(figures, truth, strict=True))[len(TOOLS) :]:
            assert figure.low <= tokens <= figure.high


@pytest.mark.parametrize("count", [words, all_bytes, by_hash(7)])
def test_estimates_are_near_the_truth(count: Count) -> None:
    trips, truths = run(count, 5, 12)

    turn, truth = ledger(trips).turns[-1], truths[-1]
    errors = sorted(
        abs(use.tokens.value - tokens) / tokens for use, tokens in zip(turn.uses, truth, strict=True) if use.tokens
    )
    assert errors[len(errors) // 2] <= 0.15


def test_a_single_result_has_what_the_answer_leaves() -> None:
    first = said(None, ("call_1", "look_up", '{"word":"tape"}'))
    messages = [user("find tape"), first, result("call_1", "word " * 500)]
    made = ledger([chat(messages[:1], first, usage=(80, 20)), chat(messages, said("x"), index=1, usage=(700, 5))])

    figure = made.turns[1].uses[-1].tokens
    assert figure is not None
    assert abs(figure.value - 600) <= 4
    assert figure.certainty == "bounded"
    assert figure.low <= 600 <= figure.high


def test_two_results_are_shared_by_their_shape() -> None:
    first = said(None, ("a", "look_up", "{}"), ("b", "look_up", "{}"))
    messages = [user("find"), first, result("a", "word " * 300), result("b", "word " * 100)]
    made = ledger([chat(messages[:1], first, usage=(80, 20)), chat(messages, said("x"), index=1, usage=(500, 5))])

    large, small = (use.tokens for use in made.turns[1].uses[-2:])
    assert large is not None and small is not None
    assert large.certainty == "estimated"
    assert large.value == pytest.approx(3 * small.value, rel=0.1)


def test_an_answer_that_the_client_left_out_leaves_one_piece_which_is_exact() -> None:
    made = ledger(
        [
            chat([user("one")], said("a"), usage=(80, 20)),
            chat([user("one"), said("a"), user("two")], said("b"), index=1, usage=(120, 9)),
            chat([user("one"), said("a"), user("two"), user("three")], said("c"), index=2, usage=(150, 9)),
        ]
    )

    assert [use.tokens.certainty for use in made.turns[-1].uses if use.tokens][-1] == "exact"


def picture(data: str) -> dict[str, object]:
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}


def test_pictures_have_what_the_api_counts_for_them() -> None:
    shown = user("x")
    shown["content"] = [{"type": "text", "text": "what do you see here, in a few words?"}, picture("iVBORw0KGgo" * 40)]
    trip = chat([shown], said("a tape"), tools=None, usage=(500, 9))
    assert trip.response is not None
    counts = json.loads(trip.response.body)
    counts["usage"]["prompt_tokens_details"] = {"image_tokens": 470}
    trip = replace(trip, response=replace(trip.response, content=json.dumps(counts).encode()))

    text, seen = ledger_of(label_all([trip])).turns[0].uses
    assert (seen.tokens, text.tokens) == (Figure.exact(470), Figure(30, 0, 30, "estimated"))


def test_a_message_alone_in_the_first_request_is_not_exact() -> None:
    """The API may have put its own text in front of it."""
    (use,) = ledger_of(label_all([chat([user("hi")], said("a tape"), tools=None, usage=(200, 9))])).turns[0].uses

    assert use.tokens == Figure(200, 0, 200, "estimated")


def test_a_definition_may_be_written_out_with_indents() -> None:
    fields = {name: {"type": "string", "description": "what it is"} for name in ("path", "since", "limit", "format")}
    tool = {"type": "function", "function": {"name": "query", "parameters": {"properties": fields}}}
    pretty = len(json.dumps(tool, indent=4))
    trip = chat([user("hi")], said("a tape"), tools=[tool], usage=(pretty + 10, 9))
    definition, _ = ledger_of(label_all([trip])).turns[0].uses

    assert definition.tokens is not None and definition.tokens.high >= pretty


def test_a_picture_has_the_tokens_of_its_size() -> None:
    header = struct.pack(">I4sII", 13, b"IHDR", 1024, 1024)
    data = b64encode(b"\x89PNG\r\n\x1a\n" + header + bytes(60)).decode()
    shown = user("x")
    shown["content"] = [{"type": "text", "text": "what do you see here, in a few words?"}, picture(data)]

    trip = chat([shown], said("a tape"), tools=None, usage=(800, 9), model="gpt-4o")
    text, seen = ledger_of(label_all([trip])).turns[0].uses
    assert seen.tokens is not None and text.tokens is not None
    assert 760 <= seen.tokens.value <= 790
    assert seen.tokens.value + text.tokens.value == 800


def test_a_new_system_prompt_takes_nothing_from_the_newest_result() -> None:
    """The API adds far more than the texts say; with another system prompt it adds the same again."""
    calls = [said(None, (f"call_{n}", "look_up", '{"word":"tape"}')) for n in range(3)]
    messages = [user("find tape")]
    for n, call in enumerate(calls):
        messages += [call, result(f"call_{n}", f"{'word ' * 40}{n}")]
    heads = [{"role": "system", "content": f"You find {what}, and say where they are."} for what in ("tapes", "reels")]
    turns = [(heads[n == 3], 1 + 2 * n, 400 + 64 * n) for n in range(4)]
    answers = [*calls, said("x")]
    made = ledger(
        [
            chat([head, *messages[:sent]], answer, index=n, usage=(count, 13))
            for n, ((head, sent, count), answer) in enumerate(zip(turns, answers, strict=True))
        ]
    )

    figures = [use.tokens for use in made.turns[-1].uses if use.tokens]
    before = [use.tokens for use in made.turns[-2].uses if use.tokens]
    assert sum(figure.value for figure in figures) == 400 + 64 * 3
    assert figures[-1].value == pytest.approx(before[-1].value, abs=4)
    assert figures[1].value == pytest.approx(before[1].value, abs=4)


@pytest.mark.parametrize("story", STORIES)
def test_bounds_of_known_runs_have_the_truth(story: str) -> None:
    made = STORIES[story]()

    for turn in ledger(made.trips).turns:
        uses = [use for use in turn.uses if use.piece.kind != "other"]
        for use, tokens in zip(uses, made.truths[turn.place], strict=True):
            # What the API adds is counted in the first definition here, and may be anywhere.
            assert use.tokens is None or use.piece.kind == "tool" or use.tokens.low <= tokens <= use.tokens.high


def test_a_system_prompt_that_is_shorter_than_before_takes_nothing_from_the_newest_result() -> None:
    """What the API adds was shown in the longer one, and does not fit into it."""
    made = STORIES["another system prompt, other tools"]()

    turn, truth = ledger(made.trips).turns[2], made.truths[2]
    newest = turn.uses[-1].tokens
    assert newest is not None
    assert newest.value == pytest.approx(truth[-1], rel=0.1)
