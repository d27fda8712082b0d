"""The table of protocols."""

import pytest
from round_trips import CHAT, GEMINI, MESSAGES, exchanged

from turntape.inspector.wire.exchange import Exchange
from turntape.inspector.wire.registry import built_in, by_name, detect, traits_of
from turntape.inspector.wire.values import FinishLabel


def test_names_are_unique_and_found() -> None:
    names = [protocol.name for protocol in built_in()]
    assert len(set(names)) == len(names)
    assert all(by_name(name) is protocol for name, protocol in zip(names, built_in(), strict=True))
    assert by_name("no such protocol") is None


def test_every_finish_word_maps_to_a_known_label() -> None:
    labels = set(FinishLabel.__value__.__args__)
    assert all(set(protocol.finish.values()) <= labels for protocol in built_in())


def test_every_protocol_says_where_it_is_specified() -> None:
    assert all(protocol.spec and protocol.title for protocol in built_in())


@pytest.mark.parametrize(
    ("url", "name"),
    [(CHAT, "openai-chat"), (MESSAGES, "anthropic-messages"), (GEMINI, "gemini-generate")],
)
def test_a_path_is_enough_even_when_the_answer_is_an_error(url: str, name: str) -> None:
    found = detect(Exchange(exchanged(url, b"not json", b"no", status=502)))
    assert found is not None
    assert (found[0].name, found[1]) == (name, "generation")


def test_an_unknown_path_has_no_protocol() -> None:
    assert detect(Exchange(exchanged("https://example.com/v1/things", {"a": 1}, {"b": 2}))) is None


def test_an_unknown_name_has_the_traits_of_an_api_about_which_nothing_is_known() -> None:
    assert traits_of("openai-chat") is by_name("openai-chat")
    assert traits_of("no such protocol").name == "unknown"
    assert traits_of("no such protocol").requests.max_tools is None
