"""The names of the objects in a store, and the addresses of shipped recordings.

    cassettes/v1/<aa>/<sha256>.jsonl.zst         the bytes as recorded; the name is the hash of the plain content
    rows/v1/day=YYYY-MM-DD/<recording>.parquet   landing: one object for each recording
    table/v1/day=YYYY-MM-DD/all.parquet          compacted: made from the landing objects of that day
    content/v1/day=YYYY-MM-DD/<recording>.parquet  texts, only with `--content`
    forgotten/v1/<recording>                     a tombstone: the recording was deleted and must not come back
    keys/v1/<id>                                 the key of the hashes

`day` is the day in UTC on which the recording began, so a recording never moves.
"""

import re
from datetime import UTC, date, datetime

from turntape.cassettes.frozen import frozen
from turntape.cassettes.regex import regex

ROWS = "rows/v1"
TABLE = "table/v1"
CASSETTES = "cassettes/v1"
CONTENT = "content/v1"
FORGOTTEN = "forgotten/v1"
KEYS = "keys/v1"

_RECORDING = regex(r"[0-9a-f]{32}")
_DAY = regex(r"(?:rows|table|content)/v1/day=(\d{4}-\d{2}-\d{2})/([^/]+)\.parquet")


def day_of(started_at: str) -> str:
    """The day in UTC of an ISO 8601 time. Raises ValueError for another text, and for years that UTC lacks."""
    moment = datetime.fromisoformat(started_at)
    try:
        return (moment.astimezone(UTC) if moment.tzinfo else moment).date().isoformat()
    except OverflowError as exc:
        raise ValueError(f"{started_at} is not in the years 1 to 9999 of UTC") from exc


def cassette_name(content: str) -> str:
    """The object of a cassette, by the SHA-256 of its plain content."""
    return f"{CASSETTES}/{content[:2]}/{content}.jsonl.zst"


def rows_name(day: str, recording: str) -> str:
    """The landing object of a recording."""
    return f"{ROWS}/day={day}/{recording}.parquet"


def content_name(day: str, recording: str) -> str:
    """The object with the texts of a recording."""
    return f"{CONTENT}/day={day}/{recording}.parquet"


def table_name(day: str, shard: str = "all") -> str:
    """The compacted object of a day."""
    return f"{TABLE}/day={day}/{shard}.parquet"


def forgotten_name(recording: str) -> str:
    """The tombstone of a recording."""
    return f"{FORGOTTEN}/{recording}"


def day_and_stem(name: str) -> tuple[str, str] | None:
    """The day, and the recording or shard, of an object with rows; None for any other object."""
    found = _DAY.fullmatch(name)
    return (found[1], found[2]) if found and is_day(found[1]) else None


def is_day(text: str) -> bool:
    """True for a day as names have it, false for `2026-02-30`."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def is_recording(text: str) -> bool:
    """True for the name of a recording."""
    return _RECORDING.fullmatch(text) is not None


@frozen
class Address:
    """A shipped recording, or one of its round trips: `s3://bucket/prefix#RECORDING/N`."""

    store: str
    """The store, as `--to` names it."""
    recording: str | None
    """None when `cassette` names the object itself."""
    cassette: str | None = None
    """The SHA-256 of the content."""
    n: int | None = None
    """The number of the round trip; None for the whole recording."""

    def __str__(self) -> str:
        name = self.recording or cassette_name(self.cassette or "")
        joined = f"{self.store}#{name}" if self.recording else f"{self.store}/{name}"
        end = "/" if self.recording else "#"
        return joined if self.n is None else f"{joined}{end}{self.n}"


_OF_RECORDING = regex(r"(?P<store>.+)#(?P<recording>[0-9a-f]{32})(?:/(?P<n>\d+))?", re.DOTALL)
_OF_CASSETTE = regex(
    r"(?P<store>.+)/cassettes/v1/[0-9a-f]{2}/(?P<cassette>[0-9a-f]{64})\.jsonl\.zst(?:#(?P<n>\d+))?", re.DOTALL
)


def parse_address(text: str) -> Address | None:
    """The address of a shipped recording, of its cassette, or of a round trip in it; None for any other text."""
    if found := _OF_RECORDING.fullmatch(text):
        return Address(found["store"], found["recording"], n=_number(found["n"]))
    if found := _OF_CASSETTE.fullmatch(text):
        return Address(found["store"], None, found["cassette"], _number(found["n"]))
    return None


def _number(digits: str | None) -> int | None:
    return None if digits is None else int(digits)
