"""What the footer of a landing object says of the recording that it was made from."""

from base64 import b64decode
from typing import Self

from turntape.cassettes.frozen import frozen

from ..rows.arrow import metadata_in
from ..rows.schema import VERSION
from ..store.store import Store
from .recording import STEP, Recording

_KEY = "turntape."


@frozen(kw_only=True)
class Footer:
    """The version of a recording that a store has."""

    content: str
    """SHA-256 of its plain bytes."""
    lines: int
    steps: str
    """As `Recording.steps`."""
    has_cassette: bool
    """False when only the rows were shipped."""
    has_texts: bool
    earlier: tuple[str, ...] = ()
    """The contents of shorter versions that were shipped before."""

    @classmethod
    def of(cls, recording: Recording, *, has_cassette: bool, has_texts: bool, earlier: tuple[str, ...]) -> Self:
        """The footer of a recording that is about to be shipped."""
        return cls(
            content=recording.content,
            lines=len(recording.beginnings),
            steps=recording.steps,
            has_cassette=has_cassette,
            has_texts=has_texts,
            earlier=earlier,
        )

    @property
    def metadata(self) -> dict[str, str]:
        """As it is written into a Parquet footer."""
        return {
            f"{_KEY}schema": str(VERSION),
            f"{_KEY}content": self.content,
            f"{_KEY}lines": str(self.lines),
            f"{_KEY}steps": self.steps,
            f"{_KEY}cassette": str(int(self.has_cassette)),
            f"{_KEY}texts": str(int(self.has_texts)),
            f"{_KEY}earlier": ",".join(self.earlier),
        }

    @classmethod
    def parse(cls, metadata: dict[str, str]) -> Self:
        """Raises KeyError or ValueError when it is not the footer of a landing object."""
        earlier = metadata[f"{_KEY}earlier"]
        return cls(
            content=metadata[f"{_KEY}content"],
            lines=int(metadata[f"{_KEY}lines"]),
            steps=metadata[f"{_KEY}steps"],
            has_cassette=metadata[f"{_KEY}cassette"] == "1",
            has_texts=metadata[f"{_KEY}texts"] == "1",
            earlier=tuple(earlier.split(",")) if earlier else (),
        )

    @property
    def contents(self) -> tuple[str, ...]:
        """The contents of all versions that were shipped."""
        return (self.content, *self.earlier)

    def begins(self, recording: Recording) -> bool:
        """True when this version is a beginning of `recording`."""
        if not 0 < self.lines <= len(recording.beginnings):
            return False
        return recording.beginnings[self.lines - 1].hex() == self.content

    def continues(self, recording: Recording) -> bool:
        """True when `recording` is a beginning of this version."""
        lines = len(recording.beginnings)
        known = b64decode(self.steps)[(lines - 1) * STEP : lines * STEP]
        return lines <= self.lines and known == recording.beginnings[-1][:STEP]


@frozen
class Landed:
    """A landing object: what its footer says, and which version of the object that is."""

    footer: Footer | None
    """None for an object that cannot be read; it must be written again."""
    etag: str | None


def landed(store: Store, name: str) -> Landed | None:
    """The landing object of that name; None when there is none."""
    end = store.tail(name)
    if end is None:
        return None
    try:
        return Landed(Footer.parse(metadata_in(end.data)), end.etag)
    except (KeyError, ValueError, OSError):
        whole = store.get(name)  # the footer is longer than what was read, or damaged
    if whole is None:
        return None
    try:
        return Landed(Footer.parse(metadata_in(whole.data)), whole.etag)
    except (KeyError, ValueError, OSError):
        return Landed(None, whole.etag)
