"""The price list: the bundled one, a stored one, a damaged one, and how old it is."""

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from turntape.cassettes.errors import CassetteError
from turntape.inspector.analysis import price_list as module
from turntape.inspector.analysis.price_list import age, price_list, published_at, store, stored_at

URL = "http://127.0.0.1/data.json"
NOW = datetime(2026, 11, 20, tzinfo=UTC).timestamp()
LATER, TODAY, FUTURE = "2026-03-02", date(2026, 11, 22), "2031-01-01"
PROVIDERS = [
    {
        "id": "acme",
        "name": "Acme",
        "api_pattern": "https://acme",
        "models": [
            {
                "id": "acme-7b",
                "match": {"equals": "acme-7b"},
                "prices": [
                    {"prices": {"input_mtok": 1}},
                    {"constraint": {"start_date": "2026-01-01"}, "prices": {"input_mtok": 4}},
                    {"constraint": {"start_date": LATER}, "prices": {"input_mtok": 2}},
                    {"constraint": {"start_date": FUTURE}, "prices": {"input_mtok": 3}},
                ],
            }
        ],
    }
]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("TURNTAPE_HOME", str(tmp_path / "home"))
    yield tmp_path / "home"
    module._loaded.cache_clear()


def providers() -> list[str]:
    return [provider.id for provider in price_list().providers]


def test_without_a_stored_list_the_bundled_one_holds() -> None:
    assert {"openai", "anthropic"} <= set(providers())
    assert age(TODAY).startswith("prices of genai-prices 0.")
    assert ", newest price from 202" in age(TODAY)


def test_a_stored_list_replaces_it(home: Path) -> None:
    store(json.dumps(PROVIDERS).encode(), URL, NOW)

    assert providers() == ["acme"]
    assert stored_at() == home / "prices.json"
    assert age(TODAY) == f"prices updated on 2026-11-20 (2 days ago), newest price from {LATER}"
    assert age(date(2026, 11, 21)) == f"prices updated on 2026-11-20 (1 day ago), newest price from {LATER}"


def test_a_list_that_is_stored_holds_at_once_and_says_where_it_is_from(home: Path) -> None:
    assert "openai" in providers()

    store(json.dumps(PROVIDERS).encode(), URL, NOW)

    assert providers() == ["acme"]
    kept = json.loads(stored_at().read_bytes())
    assert (kept["fetched_at"], kept["source"], kept["providers"]) == ("2026-11-20T00:00:00Z", URL, PROVIDERS)


def test_the_newest_list_is_read_with_tls() -> None:
    assert published_at().startswith("https://")


def test_the_list_is_in_the_home_folder_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TURNTAPE_HOME")

    assert stored_at() == Path.home() / ".turntape" / "prices.json"


@pytest.mark.parametrize("body", [b"", b"<html>", b"{}", b"[]", b'[{"id": 1}]', b'"text"', b"3"])
def test_anything_else_is_not_stored(home: Path, body: bytes) -> None:
    store(json.dumps(PROVIDERS).encode(), URL, NOW)

    with pytest.raises(CassetteError, match="answered with something else than a price list; the old one is kept"):
        store(body, URL, NOW)

    assert providers() == ["acme"]
    assert [file.name for file in home.iterdir()] == ["prices.json"]


@pytest.mark.parametrize("text", ["", "{", "{}", "[]", '{"providers": []}', '{"providers": 3}'])
def test_a_damaged_list_is_one_sentence_with_the_way_out(home: Path, text: str) -> None:
    home.mkdir()
    stored_at().write_text(text)

    with pytest.raises(CassetteError, match=r"cannot be read; remove the file, or run `turntape prices --update`"):
        price_list()


def test_a_folder_that_cannot_be_written_is_one_sentence(home: Path) -> None:
    home.write_text("a file")

    with pytest.raises(CassetteError, match="name a folder with TURNTAPE_HOME"):
        store(json.dumps(PROVIDERS).encode(), URL, NOW)


def test_a_version_without_tiers_lists_nothing_and_says_so(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def calc(self: object, usage: object, model_ref: str, provider_id: str | None) -> None: ...

    monkeypatch.setattr("genai_prices.data_snapshot.DataSnapshot.calc", calc)
    module._loaded.cache_clear()

    assert providers() == []
    assert age(TODAY).endswith(" has no prices by service tier, so nothing has a listed price; install 0.1.11 or newer")
    with pytest.raises(CassetteError, match=r"service tier; install 0\.1\.11 or newer to update prices"):
        store(json.dumps(PROVIDERS).encode(), URL, NOW)
    assert not home.exists()
