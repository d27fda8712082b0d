"""The error of requests without an answer."""

from pathlib import Path

import pytest

from turntape.cassettes import Player, ReplayMiss
from turntape.cassettes.replay.miss import Miss
from turntape.cassettes.vcr.errors import (
    CannotOverwriteExistingCassetteException,
    CannotOverwriteExistingRequestException,
    UnhandledHTTPRequestError,
)


def miss(path: str) -> Miss:
    with pytest.raises(Miss) as caught:
        Player([]).answer("POST", f"https://api.openai.com/v1/{path}", (), b"{}")
    return caught.value


def test_it_says_each_request_once_and_how_to_record_again(tmp_path: Path) -> None:
    misses, cassette = [miss("a"), miss("b"), miss("a")], tmp_path / "b.cassette.jsonl"

    error = CannotOverwriteExistingCassetteException(cassette, misses)

    assert isinstance(error, ReplayMiss) and UnhandledHTTPRequestError is type(error)
    assert (error.cassette, error.misses) == (cassette, misses)
    assert str(error).split("\n") == [str(misses[0]), str(misses[1])]
    cassette.touch()
    said = str(CannotOverwriteExistingCassetteException(cassette, misses)).split("\n")
    assert said[2] == f"record {str(cassette)!r} again with TURNTAPE_MODE=all, in pytest with --turntape-mode=all"


def test_its_earlier_name_here_stays() -> None:
    assert CannotOverwriteExistingRequestException is CannotOverwriteExistingCassetteException
