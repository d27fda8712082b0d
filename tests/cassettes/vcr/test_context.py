"""`use_cassette` decides as vcrpy does: what is answered, what passes, what is stored, and what is an error."""

import asyncio
import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import requests
from vcr_recordings import URL, ask, interaction

from turntape.cassettes import Cassette, CassetteError, vcr
from turntape.cassettes.importers.conversion import convert, planned
from turntape.cassettes.vcr.errors import CannotOverwriteExistingCassetteException
from turntape.proxy.scripted.server import ScriptedServer


def test_each_recording_answers_once_in_order_whatever_asks() -> None:
    with vcr.use_cassette("a.json") as cassette:
        assert (ask(), ask("anything"), ask(url=f"{URL}?kind=x")) == ("one", "two", "other")
        assert requests.get("https://www.example.org/index.html", timeout=5).text == "page"
        assert (cassette.play_count, cassette.all_played, len(cassette)) == (4, True, 4)


@vcr.use_cassette("a.json")
def a_function() -> str:
    return ask()


@vcr.use_cassette("a.json")
async def a_coroutine() -> str:
    async with httpx.AsyncClient() as client:
        return (await client.post(URL)).text


@vcr.use_cassette("a.json")
def a_generator() -> Any:
    yield ask()


async def an_async_context() -> str:
    async with vcr.use_cassette("a.json"):
        return ask()


@vcr.use_cassette("a.json", inject_cassette=True)
def an_injected(cassette: vcr.Cassette) -> str:
    assert not cassette.all_played
    return ask()


@vcr.VCR(cassette_library_dir=".", path_transformer=lambda _: "a.json").use_cassette
def a_bare_decorator() -> str:
    return ask()


@pytest.mark.parametrize(
    "play",
    [
        a_function,
        lambda: asyncio.run(a_coroutine()),
        lambda: next(a_generator()),
        lambda: asyncio.run(an_async_context()),
        an_injected,
        a_bare_decorator,
    ],
)
def test_every_way_to_use_a_cassette_plays_it_from_its_start(play: Callable[[], str]) -> None:
    assert [play(), play()] == ["one", "one"]


def test_a_decorated_function_keeps_its_arguments_and_its_signature() -> None:
    def called(cassette: vcr.Cassette, one: int, *, two: int) -> tuple[int, int, int]:
        return len(cassette), one, two

    async def awaited(cassette: vcr.Cassette, one: int, *, two: int) -> tuple[int, int, int]:
        return len(cassette), one, two

    def pieces(cassette: vcr.Cassette, one: int, *, two: int) -> Any:
        yield len(cassette), one, two

    async def async_pieces(cassette: vcr.Cassette, one: int, *, two: int) -> Any:
        yield len(cassette), one, two

    async def first(pieces: Any) -> Any:
        return [piece async for piece in pieces][0]

    use = vcr.use_cassette("a.json", inject_cassette=True)
    assert use(called)(1, two=2) == (4, 1, 2)
    assert asyncio.run(use(awaited)(1, two=2)) == (4, 1, 2)
    assert next(use(pieces)(1, two=2)) == (4, 1, 2)
    assert asyncio.run(first(use(async_pieces)(1, two=2))) == (4, 1, 2)
    assert list(inspect.signature(use(called)).parameters) == ["one", "two"]
    assert list(inspect.signature(vcr.use_cassette("a.json")(called)).parameters) == ["cassette", "one", "two"]
    assert use(called).__name__ == "called"


def same_thing(asked: Any, recorded: Any) -> None:
    assert json.loads(asked.body).get("b") == json.loads(recorded.body or b"{}").get("b")


@pytest.mark.parametrize(
    ("options", "body", "url", "answered"),
    [
        ({"match_on": ["method", "path"]}, "x", "http://other.example/v1/things", True),
        ({}, "x", "http://other.example/v1/things", False),
        ({"match_on": ["uri", "body"]}, '{"b":2, "a":1}', URL, True),
        ({"match_on": ["uri", "raw_body"]}, '{"b":2, "a":3}', URL, False),
        ({"match_on": ["mine"]}, '{"b": 2}', URL, True),
        ({"match_on": ["mine"]}, '{"b": 3}', URL, False),
        ({"match_on": ["body"], "filter_post_data_parameters": ["c"]}, '{"a": 1, "b": 2, "c": 3}', URL, True),
        ({"filter_query_parameters": ["n"]}, "x", f"{URL}?n=5", True),
        ({"before_record_request": lambda _: None, "ignore_hosts": []}, "x", "http://127.0.0.1:9/", None),
        ({"ignore_localhost": True}, "x", "http://127.0.0.1:9/", None),
    ],
)
def test_what_a_request_is_compared_by(options: dict[str, Any], body: str, url: str, answered: bool | None) -> None:
    my = vcr.VCR(**options)
    my.register_matcher("mine", same_thing)
    if answered:
        with my.use_cassette("a.json"):
            assert ask(body, url) == "one"
    elif answered is None:  # it is sent to the network, where nobody listens
        with my.use_cassette("a.json") as cassette, pytest.raises(httpx.ConnectError):
            ask(body, url)
        assert cassette.play_count == 0
    else:
        with my.use_cassette("a.json"):
            assert "no recorded round trip answers POST /things" in ask(body, url)


def test_a_swallowed_request_to_an_llm_is_an_error_and_one_to_another_place_is_not() -> None:
    with vcr.use_cassette("a.json"):
        assert httpx.get("https://www.example.org/other.html").status_code == 400
    said = pytest.raises(
        CannotOverwriteExistingCassetteException, match=r"POST /chat/completions.*\n.*a\.cassette\.jsonl"
    )
    with said, vcr.use_cassette("a.json"):
        httpx.post("https://api.openai.com/v1/chat/completions", json={"model": "gpt-5", "messages": []})


def test_an_answer_is_given_again_with_allow_playback_repeats() -> None:
    with vcr.use_cassette("a.json", allow_playback_repeats=True) as cassette:
        assert [ask() for _ in range(4)] == ["one", "two", "one", "one"]
        assert cassette.allow_playback_repeats


def test_the_functions_of_the_suite_change_what_is_played() -> None:
    def hide(request: Any) -> Any:
        return None if "kind" in request.uri else request

    def shout(response: dict[str, Any]) -> dict[str, Any] | None:
        response["body"]["string"] = response["body"]["string"].upper()
        return None if response["body"]["string"] == b"PAGE" else response

    with vcr.use_cassette("a.json", before_record_request=hide, before_record_response=shout) as cassette:
        assert (ask(), len(cassette)) == ("ONE", 2)
        assert [answer["body"]["string"] for answer in cassette.responses] == [b"ONE", b"TWO"]


def test_what_is_recorded_is_what_the_suite_keeps(recorded: Path) -> None:
    with ScriptedServer() as server:
        url = f"{server.url}/v1/chat/completions"
        sent = {"model": "gpt-5", "messages": [{"role": "user", "content": "hi"}], "user": "me"}

        def drop(request: Any) -> Any:
            return None if request.path.endswith("models") else request

        my = vcr.VCR(before_record_request=drop, filter_post_data_parameters=[("user", "somebody")])
        with my.use_cassette("new/b.yaml") as cassette:
            httpx.get(f"{server.url}/v1/models")
            text = httpx.post(url, json=sent).text
            assert cassette.dirty and len(cassette) == 1
    trips = list(Cassette.load(recorded / "new/b.cassette.jsonl"))
    assert [json.loads(trip.request.body)["user"] for trip in trips] == ["somebody"]
    with my.use_cassette("new/b.yaml", match_on=["uri", "body"]):
        assert httpx.post(url, json=sent).text == text


@pytest.mark.parametrize("stays", [True, False])
def test_a_recording_that_an_exception_ended_is_kept_where_the_suite_says_so(recorded: Path, stays: bool) -> None:
    with ScriptedServer() as server:
        url = f"{server.url}/v1/chat/completions"
        (recorded / "b.yaml").touch()  # what vcrpy recorded does not matter when everything is recorded again
        with (
            pytest.raises(KeyError),
            vcr.use_cassette("b.yaml", record_mode="all", record_on_exception=stays) as cassette,
        ):
            httpx.post(url, json={"model": "gpt-5", "messages": [{"role": "user", "content": "hi"}]})
            assert (cassette.record_mode, cassette.rewound) == ("all", False)
            raise KeyError
    assert (recorded / "b.cassette.jsonl").exists() is stays


def test_telemetry_is_answered_only_if_it_was_recorded(recorded: Path) -> None:
    url = "https://eu.posthog.com/batch"
    said = [interaction("{}", "stored", url), interaction("{}", "page", "https://www.example.org/page")]
    (recorded / "b.json").write_text(json.dumps({"version": 1, "interactions": said}))
    assert all(done.target for done in convert(planned([recorded / "b.json"])))
    with vcr.use_cassette("b.json"):
        assert ask(url=url) == "stored"
        with pytest.raises(httpx.ConnectError, match=r"eu\.posthog\.com is blocked"):
            ask(url=f"{url}/other")


def test_what_cannot_be_used_is_said(recorded: Path) -> None:
    (recorded / "b.yaml").write_text("interactions: []\n")
    with pytest.raises(CassetteError, match=r"turntape import b\.yaml"), vcr.use_cassette("b.yaml"):
        pass
    with pytest.raises(TypeError, match="no option 'matchon'"):
        vcr.use_cassette("a.json", matchon=["uri"])
    with pytest.raises(Exception, match="the matcher 'mine' is not known"), vcr.use_cassette("a", match_on=["mine"]):
        pass
    context = vcr.use_cassette("a.json")
    with context, pytest.raises(CassetteError, match="open already"), context:
        pass
