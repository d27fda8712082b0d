"""A closed recording as it is shipped: its whole lines, their hash, and the hash of every beginning of it."""

from base64 import b64encode
from dataclasses import field
from hashlib import sha256
from pathlib import Path
from typing import Self

from turntape.cassettes.errors import CassetteError, FormatError
from turntape.cassettes.frozen import frozen
from turntape.cassettes.tape.compression import MAGIC, Decompression, compressor
from turntape.cassettes.tape.named_file import opened
from turntape.cassettes.tape.reader import Cassette, read_header
from turntape.cassettes.tape.recording_id import recording_id

from ..store.names import day_of

STEP = 6
"""Bytes kept of the hash of each beginning."""


@frozen(kw_only=True)
class Recording:
    """The plain bytes of a recording up to its last whole line, and what names it."""

    path: Path
    plain: bytes = field(repr=False)
    stored: bytes | None = field(repr=False)
    """The file's own compressed bytes, when they hold exactly the plain ones."""
    recording: str
    day: str
    content: str
    """SHA-256 of the plain bytes."""
    beginnings: tuple[bytes, ...] = field(repr=False)
    """SHA-256 of the bytes up to the end of each line."""

    @classmethod
    def read(cls, path: Path) -> Self:
        """Raises CassetteError when the file cannot be read, FormatError when it is not a cassette."""
        try:
            with opened(path) as file:
                data = file.read()
        except OSError as exc:
            raise CassetteError(f"cannot read the cassette {str(path)!r}: {exc.strerror}; check the name") from exc
        plain, whole = _plain(data)
        cut = plain.rfind(b"\n") + 1
        if not cut:
            raise FormatError(f"{str(path)!r} holds no whole line of a recording; record again")
        whole = whole and cut == len(plain)
        plain = plain[:cut]
        header = read_header(plain[: plain.index(b"\n")], path)
        started, salt = header.get("started_at"), header.get("salt")
        if not isinstance(started, str) or not isinstance(salt, str):
            raise FormatError(f"{str(path)!r} has no `started_at` and `salt` in its header; it cannot be named")
        try:
            day = day_of(started)
        except ValueError as exc:
            raise FormatError(f"{str(path)!r} has {started!r} as its time; it must be ISO 8601") from exc
        beginnings = _beginnings(plain)
        return cls(
            path=path,
            plain=plain,
            stored=data if whole else None,
            recording=recording_id(header),
            day=day,
            content=beginnings[-1].hex(),
            beginnings=beginnings,
        )

    @property
    def steps(self) -> str:
        """The hashes of all beginnings, each cut to 6 bytes, as base64."""
        return b64encode(b"".join(one[:STEP] for one in self.beginnings)).decode()

    def cassette(self) -> Cassette:
        """The recording, parsed."""
        return Cassette.from_bytes(self.plain, self.path)

    def compressed(self) -> bytes:
        """The bytes of its object: a zstd file."""
        if self.stored is not None:
            return self.stored
        stream = compressor()
        return stream.compress(self.plain) + stream.flush()


def _plain(data: bytes) -> tuple[bytes, bool]:
    """The plain bytes of a file, and whether the file is a whole compressed one."""
    if not data.startswith(MAGIC):
        return data, False
    stream = Decompression()
    plain, taken = stream.feed(data, final=True)
    return plain, taken == len(data) and not stream.inside and not stream.problems


def _beginnings(plain: bytes) -> tuple[bytes, ...]:
    running = sha256()
    found: list[bytes] = []
    for line in plain.split(b"\n")[:-1]:
        running.update(line + b"\n")
        found.append(running.copy().digest())
    return tuple(found)
