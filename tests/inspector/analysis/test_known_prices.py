"""What turns cost is known from one command to the next, as long as the price list and the code are the same."""

import json
import sys
from pathlib import Path

import pytest
from conversations import HELLO, chat, said

from turntape.cassettes.errors import CassetteError
from turntape.inspector.analysis import known_prices, price_list, pricing
from turntape.inspector.analysis.known_prices import KnownPrices, keeping_prices
from turntape.inspector.analysis.pricing import Cost, cost_of
from turntape.inspector.wire.parse import read


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TURNTAPE_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "known-prices.json"


def priced(model: str = "gpt-5-2025-08-07", usage: tuple[int, int] = (1000, 1000)) -> Cost | None:
    trip = chat([HELLO], said("hi"), usage=usage, model=model)
    return cost_of(trip, read(trip))


def no_list() -> object:
    raise AssertionError("the price list is loaded")


@pytest.mark.parametrize("model", ["gpt-5-2025-08-07", "claude-sonnet-4-5", "my-own-finetune-of-something"])
def test_the_second_command_knows_every_figure_without_the_list(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = priced(model)
    with keeping_prices():
        first = priced(model)
    monkeypatch.setattr(pricing, "price_list", no_list)
    with keeping_prices():
        second = priced(model)

    assert repr(first) == repr(second) == repr(listed)
    with keeping_prices(), pytest.raises(AssertionError, match="is loaded"):
        priced(model, usage=(1001, 1000))


def test_a_library_neither_reads_nor_writes(kept: Path) -> None:
    with keeping_prices():
        priced()
    kept.write_text("not even read")
    assert priced() is not None
    assert kept.read_text() == "not even read"


def test_nothing_is_known_after_the_list_has_changed(kept: Path) -> None:
    with keeping_prices():
        priced()
    (kept.parent / "prices.json").write_text("a list that cannot be read")
    price_list._loaded.cache_clear()

    with keeping_prices(), pytest.raises(CassetteError, match="cannot be read"):
        priced()


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{", '{"basis": "b"}', '{"basis": "b", "known": {"q": 1}}', '{"basis": "b", "known": {"q": [1]}}'],
)
def test_a_damaged_file_counts_as_empty(content: str, tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    path.write_text(content)
    known = KnownPrices(path, "b")

    assert "q" not in known
    known["q"] = ["1"]
    known.save()
    assert KnownPrices(path, "b")["q"] == ["1"]
    assert "q" not in KnownPrices(path, "another")


def test_the_newest_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_prices, "_MOST", 3)
    known = KnownPrices(tmp_path / "known.json", "b")
    for number in range(20):
        known[str(number)] = None
        assert len(known._kept) <= 6
    known.save()

    assert list(json.loads((tmp_path / "known.json").read_bytes())["known"]) == ["17", "18", "19"]
    assert [path.name for path in tmp_path.iterdir()] == ["known.json"]
    assert sys.platform == "win32" or (tmp_path / "known.json").stat().st_mode & 0o777 == 0o600


def test_nothing_fails_where_the_home_cannot_be_written(kept: Path) -> None:
    kept.parent.parent.joinpath("home").write_text("a file in the place of the folder")
    with keeping_prices():
        assert priced() is not None
