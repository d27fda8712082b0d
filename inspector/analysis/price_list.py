"""The price list: genai-prices' own, or a newer one that `turntape prices --update` has stored.

genai-prices is imported at the first price, since it takes longer to load than everything else. Before 0.1.11 it knew
no prices by service tier. A suite may pin such a version: it lists nothing then, so that no cost is wrong.
"""

import json
import os
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from turntape.cassettes.counted import several
from turntape.cassettes.errors import CassetteError
from turntape.cassettes.lean_package import prepare

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot

_AGAIN = "run `turntape prices --update` again"
_SINCE = "0.1.11"
"""The first genai-prices that has prices by service tier."""


def stored_at() -> Path:
    """Where an updated list is: in `TURNTAPE_HOME`, or in `~/.turntape`."""
    return Path(os.environ.get("TURNTAPE_HOME") or Path.home() / ".turntape") / "prices.json"


def published_at() -> str:
    """Where genai-prices publishes its newest list."""
    from genai_prices.update_prices import DEFAULT_UPDATE_URL

    return DEFAULT_UPDATE_URL


def price_list() -> "DataSnapshot":
    """The list that holds now. Raises CassetteError when the stored one is damaged."""
    return _loaded(stored_at())


@cache
def _loaded(path: Path) -> "DataSnapshot":
    prepare("genai_prices")  # its content is for downloads, and imports an HTTP client
    from genai_prices.data_snapshot import DataSnapshot, get_snapshot

    if not _knows_tiers(DataSnapshot):
        return DataSnapshot(providers=[], from_auto_update=False)
    try:
        document = path.read_bytes()
    except OSError:
        return get_snapshot()
    try:
        return _snapshot(json.loads(document)["providers"])
    except (ValueError, KeyError, TypeError) as exc:
        raise CassetteError(f"the prices in {str(path)!r} cannot be read; remove the file, or {_AGAIN}") from exc


def _knows_tiers(snapshot: "type[DataSnapshot]") -> bool:
    return "price_context" in snapshot.calc.__annotations__


def _snapshot(providers: object) -> "DataSnapshot":
    """A list as genai-prices publishes it. Raises ValueError when it is none."""
    from genai_prices import types
    from genai_prices.data_snapshot import DataSnapshot

    # What `UpdatePrices.fetch` does after its download; the only way to read a list that is already here.
    read = types._providers_from_raw  # pyright: ignore[reportPrivateUsage]
    if not isinstance(providers, list) or not providers:
        raise ValueError("a price list is a list of providers")
    return DataSnapshot(read(providers), from_auto_update=True)


def store(body: bytes, source: str, now: float) -> None:
    """Keep a downloaded list from the URL `source`. Raises CassetteError when it is none, and keeps the old one."""
    from genai_prices.data_snapshot import DataSnapshot

    if not _knows_tiers(DataSnapshot):
        raise CassetteError(f"{_too_old()}; install {_SINCE} or newer to update prices")
    try:
        providers = json.loads(body)
        _snapshot(providers)
    except (ValueError, KeyError, TypeError) as exc:
        raise CassetteError(f"{source!r} answered with something else than a price list; the old one is kept") from exc
    path = stored_at()
    at = datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    document = json.dumps({"fetched_at": at, "source": source, "providers": providers})
    fresh = path.with_suffix(".new")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh.write_text(document, encoding="utf-8")
        fresh.replace(path)
    except OSError as exc:
        raise CassetteError(f"cannot write {str(path)!r}: {exc.strerror}; name a folder with TURNTAPE_HOME") from exc
    _loaded.cache_clear()


def age(today: date) -> str:
    """Where the list is from and how old it is, as a sentence without a full stop."""
    from importlib.metadata import version

    if not price_list().providers:
        return f"{_too_old()}, so nothing has a listed price; install {_SINCE} or newer"
    newest = f"newest price from {_newest(today)}"
    try:
        stored = json.loads(stored_at().read_bytes())
        fetched = datetime.fromisoformat(stored["fetched_at"]).date()
    except (OSError, ValueError, KeyError, TypeError):
        return f"prices of genai-prices {version('genai-prices')}, {newest}"
    days = (today - fetched).days
    return f"prices updated on {fetched} ({several(days, 'day')} ago), {newest}"


def _too_old() -> str:
    from importlib.metadata import version

    return f"genai-prices {version('genai-prices')} has no prices by service tier"


def _newest(today: date) -> date | str:
    """The last day up to today on which a price of the list began."""
    starts: set[date] = set()
    for provider in price_list().providers:
        for model in provider.models:
            conditional = model.prices if isinstance(model.prices, list) else []
            starts |= {start for one in conditional if (start := getattr(one.constraint, "start_date", None))}
    return max((start for start in starts if start <= today), default="an unknown day")
