"""How a path or a message is recognised as a turn of an installed API."""

from collections.abc import Iterator

import pytest

from turntape.cassettes.apis import lookup
from turntape.cassettes.apis.interface import Api, SessionTurns, Shape


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    lookup.forget()
    yield
    lookup.forget()


def installed(monkeypatch: pytest.MonkeyPatch, *apis: Api) -> None:
    monkeypatch.setattr(lookup, "_apis", lambda: apis)


@pytest.mark.parametrize(
    ("end", "path", "fits"),
    [
        ("/talk", "/v1/talk", True),
        ("/talk", "/v1/small-talk", False),
        ("/talk", "/v1/talk/t_1", False),
        (".talk", "/v1/xtalk", False),
        ("/talks/*", "/v1/talks/t_1", True),
        ("/talks/*", "/v1/talks", False),
        ("/talks/*", "/v1/talks/t_1/items", False),
        ("/talks/*/more", "/v1/talks/t_1/more", True),
        ("/run/@**", "/run/@cf/meta/llama", True),
        ("/run/@**", "/run/cf/meta/llama", False),
    ],
)
def test_a_star_is_a_segment_and_two_for_several(
    end: str, path: str, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, Api(turn_paths=("/never", end)))

    assert lookup.is_turn_path(path) is lookup.is_recorded_path(path) is fits


def test_other_paths_are_recorded_and_are_not_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, Api(other_paths=("/embed",)))

    assert lookup.is_recorded_path("/v1/embed")
    assert not lookup.is_turn_path("/v1/embed")


def test_without_an_api_no_path_is_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch)

    assert not lookup.is_turn_path("/chat/completions")
    assert not lookup.asks_for_a_turn(b"{}")


def test_any_api_can_recognise_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = [SessionTurns(lambda m, w=w: m == b"ask " + w, lambda m, w=w: m == b"answer " + w) for w in (b"a", b"b")]
    installed(monkeypatch, Api(), *(Api(session_turns=one) for one in turns))

    asked = [lookup.asks_for_a_turn(message) for message in (b"ask a", b"ask b", b"answer a")]
    answered = [lookup.answers_a_turn(message) for message in (b"answer a", b"answer b", b"ask a")]

    assert asked == answered == [True, True, False]


def shape(word: bytes, named: str | None = "") -> Api:
    """An API whose exchanges hold `word`, and whose streams name `named`."""
    return Api(
        shape=Shape(
            request=lambda method, headers, body: word in body,
            answer=lambda event: event == b"done " + word,
            endless=lambda method, headers, body: method == "GET" and word in body,
            opening=lambda beginning: named,
        )
    )


def test_any_api_can_recognise_a_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, Api(), shape(b"a"), shape(b"b"))

    assert [lookup.is_recorded_shape("POST", (), body) for body in (b"a", b"b", b"c")] == [True, True, False]
    assert [lookup.ends_an_answer(event) for event in (b"done a", b"done b", b"a")] == [True, True, False]
    assert [lookup.is_endless(method, (), b"b") for method in ("GET", "POST")] == [True, False]


@pytest.mark.parametrize(
    ("named", "found"), [(("", ""), ""), (("", None), None), ((None, "/x"), "/x"), (("", "/x"), "/x"), ((), "")]
)
def test_a_stream_is_open_while_an_api_cannot_decide(
    named: tuple[str | None, ...], found: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, *(shape(b"", one) for one in named))

    assert lookup.opening(b"") == found
