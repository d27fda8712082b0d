from conversations import CALL, HELLO, chat, result, said

from turntape.inspector.analysis.items import emitted_items, items_of, rolling
from turntape.inspector.wire.parse import read


def history(*messages: dict[str, object]) -> list[int]:
    return items_of(read(chat(list(messages))).request.messages)


def test_the_spelling_of_a_text_does_not_count() -> None:
    assert history(HELLO) == history({"role": "user", "content": [{"type": "text", "text": HELLO["content"]}]})


def test_markers_of_caching_do_not_count() -> None:
    marked = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}

    assert history({"role": "user", "content": [marked]}) == history({"role": "user", "content": "x"})


def test_what_was_said_and_by_whom_counts() -> None:
    assert history(HELLO) != history({"role": "assistant", "content": HELLO["content"]})
    assert history(HELLO, said(None, CALL)) != history(HELLO, said(None, ("call_1", "look_up", '{"word":"top"}')))


def test_an_answer_is_the_items_that_a_client_appends() -> None:
    answered = read(chat([HELLO], said("I look.", CALL))).emission
    assert answered is not None

    assert emitted_items(answered) == history(HELLO, said("I look.", CALL))[1:]


def test_arguments_are_compared_by_value_and_results_by_text() -> None:
    spaced = said(None, ("call_1", "look_up", '{ "word": "tape" }'))

    assert history(HELLO, said(None, CALL), result("call_1", "r")) == history(HELLO, spaced, result("other", "r"))


def test_a_rolling_hash_stands_for_each_prefix() -> None:
    assert rolling([1, 2, 3])[:3] == rolling([1, 2, 4])[:3]
    assert rolling([1, 2, 3])[3] != rolling([1, 2, 4])[3]
