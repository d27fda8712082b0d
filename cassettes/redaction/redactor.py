"""Replaces secrets before a recorder writes, so that none reaches the disk.

Request headers are stored by allow-list; a field outside it keeps its name and gets a fingerprint as its value.
In bodies, known key shapes are replaced by the same number of bytes, so that lengths, chunk boundaries and framing
stay valid. A secret that is split over two chunks is found because the joined body is searched. A fingerprint is a
salted HMAC: it distinguishes the keys within one file and cannot be compared with anything outside it.
"""

import hashlib
import hmac
import os
import re
import secrets
import struct
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Self, cast
from urllib.parse import unquote

from ..errors import CassetteError
from ..settings import read_settings
from ..tape.delta import common_prefix, common_suffix
from ..tape.model import Frame, Headers, RoundTrip
from .secrets_table import (
    CREDENTIAL_WORDS,
    CREDENTIALS,
    REQUEST_HEADERS,
    REQUEST_PREFIXES,
    ROOTS,
    SECRET_PARAMETERS,
    URL_HEADERS,
)

_MARK = b"REDACTED"
_FINGERPRINT = re.compile(rb"REDACTED-[0-9a-f]{8}\**")
"""A mark with its fingerprint and the padding after it."""
_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_QUERY = re.compile(r"([?&#;])([^=&#;]+)=([^&#;]*)")
_USERINFO = re.compile(r"^([a-z][a-z0-9+.-]*://)[^/@]*@", re.IGNORECASE)
_ESCAPES = b"nrtbf"
_BEFORE = re.compile(rb"(?:\\u[0-9a-fA-F]{4}|%[0-9a-fA-F]{2}|(?:\x1b|\\u001[bB]|\\x1[bB]|\\033|\\e)\[[0-9;]{0,16}m)\Z")
"""An encoded character that ends in a word character: a JSON escape, a percent-encoded byte, a terminal colour."""
_NAMES_A_CREDENTIAL = re.compile("|".join(CREDENTIAL_WORDS))
_BASE64_RUN = 64
_BASE64 = re.compile(rb"[A-Za-z0-9+/_=-]*")
_RULER = re.compile(rb"[_=-]{4}")
_LONGEST_KEY = 400
"""The length of the longest key, with its prefix; a longer match is encoded data."""
_LONGEST = 8192
"""The length of the longest secret that is found by its shape; private keys come close."""
_LARGE = 2 * _LONGEST
"""Bodies that share at least this many first bytes with an earlier one are searched only where they differ."""


class Redactor:
    """Replaces secrets in headers, URLs and bodies. The same salt gives the same fingerprints.

    `extra` are the user's own patterns (regular expressions); `allow_headers` are the names of request header fields
    that are stored unchanged. Raises CassetteError for a pattern that does not compile.
    """

    def __init__(
        self,
        extra: tuple[str, ...] = (),
        salt: str | None = None,
        allow_headers: tuple[str, ...] = (),
        enabled: bool = True,
    ) -> None:
        self.salt = salt if salt is not None else secrets.token_hex(8)
        self.enabled = enabled
        self._key = self.salt.encode()
        self._recent: deque[tuple[bytes, bytes]] = deque(maxlen=4)
        """The last large request bodies: as received, and as written."""
        self._allowed = REQUEST_HEADERS | {name.lower() for name in allow_headers}
        try:
            self._extra = tuple(re.compile(pattern.encode()) for pattern in extra)
        except re.error as exc:
            raise CassetteError(
                f"the redaction pattern {exc.pattern!r} is not a valid regular expression: {exc.msg}; "
                "fix it in turntape.toml"
            ) from exc

    @classmethod
    def from_config(cls, path: str | os.PathLike[str] | None = None, salt: str | None = None) -> Self:
        """A redactor as `turntape.toml`, or `[tool.turntape]` of `pyproject.toml`, in the working directory says.

        Keys: `redact` (list of regular expressions), `allow_headers` (list of names). Raises CassetteError when the
        file is not valid TOML, has an unknown key, or a value has the wrong type.
        """
        settings = read_settings(path)
        return cls(settings.redact, salt, settings.allow_headers)

    def with_salt(self, salt: str) -> Self:
        """The same rules with another salt, for example that of a file to append to."""
        other = copy(self)
        other.salt, other._key = salt, salt.encode()
        other._recent = deque(maxlen=4)
        return other

    def fingerprint(self, secret: str | bytes) -> str:
        """Eight hexadecimal digits that identify a secret within this salt."""
        data = secret.encode(errors="surrogateescape") if isinstance(secret, str) else secret
        return hmac.new(self._key, data, hashlib.sha256).hexdigest()[:8]

    def _replacement(self, name: str, value: str) -> str:
        scheme, space, rest = value.partition(" ")
        if space and name.endswith(("authorization", "-auth")) and scheme.isalpha() and len(scheme) <= 10:
            return f"{scheme} REDACTED-{self.fingerprint(rest)}"
        return f"REDACTED-{self.fingerprint(value)}"

    def headers(self, headers: Headers, response: bool = False) -> Headers:
        """Header fields for the disk; names and order are kept."""
        if not self.enabled:
            return headers
        return tuple((name, self._header(name.lower(), value, response)) for name, value in headers)

    def _header(self, name: str, value: str, response: bool) -> str:
        if name in ("set-cookie", "cookie"):
            return "; ".join(
                f"{part.partition('=')[0].strip()}=REDACTED-{self.fingerprint(part)}" for part in value.split(";")[:1]
            )
        if name.startswith("aws4-") or (name == "authorization" and value.startswith("AWS4-")):
            return f"{value.partition(' ')[0]} REDACTED-{self.fingerprint(value)}"
        family = name.startswith(REQUEST_PREFIXES) and not _NAMES_A_CREDENTIAL.search(name)
        kept = response or name in self._allowed or family
        if name in CREDENTIALS or not kept:
            return self._replacement(name, value)
        if name in URL_HEADERS:
            value = self.url(value)
        clean = self.body(value.encode("utf-8", "surrogateescape"))
        return clean.decode("utf-8", "surrogateescape")

    def url(self, url: str) -> str:
        """A URL without credentials: known parameters, user and password, and key shapes anywhere in it."""
        if not self.enabled:
            return url
        url = _USERINFO.sub(r"\1", url)
        url = _QUERY.sub(self._parameter, url)
        return self.body(url.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")

    def _parameter(self, match: re.Match[str]) -> str:
        separator, name, value = match.groups()
        if unquote(name).lower() not in SECRET_PARAMETERS or not value:
            return match.group()
        return f"{separator}{name}=REDACTED-{self.fingerprint(unquote(value))}"

    def body(self, body: bytes) -> bytes:
        """A body without known key shapes, of the same length."""
        return self._cleaned(body) if self.enabled else body

    def request_body(self, body: bytes) -> bytes:
        """As `body`, for the bodies of one run: what an earlier body contains is not searched again.

        Not thread-safe.
        """
        if not self.enabled or len(body) < _LARGE or self._extra:
            return self.body(body)
        clean = self._cleaned_after_earlier(body)
        self._recent.append((body, clean))
        return clean

    def _cleaned_after_earlier(self, body: bytes) -> bytes:
        if not self._recent:
            return self._cleaned(body)
        # Of those that share as much, the newest: its end is most likely the same too.
        shared, place = max((common_prefix(raw, body), place) for place, (raw, _) in enumerate(self._recent))
        if shared < _LARGE:
            return self._cleaned(body)
        earlier, before = self._recent[place]
        tail = common_suffix(earlier, body, min(len(earlier), len(body)) - shared)
        # A secret is shorter than _LONGEST. One that ends before `start` is in both bodies, and one that crosses
        # `start` begins after `start - _LONGEST`, where the new search begins. The same holds at the other end.
        start = shared - _LONGEST
        stop = min(len(body) - tail + _LONGEST, len(body))
        begin = start - _LONGEST
        middle = self._cleaned(body[begin : stop + _LONGEST])
        rest = len(body) - stop
        return before[:start] + middle[start - begin : stop - begin] + before[len(before) - rest :]

    def _cleaned(self, body: bytes) -> bytes:
        spans: dict[int, tuple[int, int]] = {}
        for root, shapes in ROOTS:
            at = body.find(root)
            while at >= 0:
                following = at + len(root)
                for shape in shapes:
                    if shape.keep and not _starts_word(body, at):
                        continue
                    match = shape.pattern.match(body, at)
                    if match is not None and not (shape.keep and _in_base64(body, at, match.end())):
                        start, end = match.span(1) if match.re.groups else match.span()
                        spans.setdefault(start, (end, shape.keep))
                        following = end
                        break
                at = body.find(root, following)
        for pattern in self._extra:
            for match in pattern.finditer(body):
                spans.setdefault(match.start(), (match.end(), 0))
        if not spans:
            return body
        out = bytearray()
        done = 0
        for start, (end, keep) in sorted(spans.items()):
            if start < done:
                continue
            out += body[done:start] + self._mask(body[start:end], keep)
            done = end
        return bytes(out + body[done:])

    def _mask(self, secret: bytes, keep: int) -> bytes:
        mark = b"REDACTED-" + self.fingerprint(secret).encode()
        kept = secret[:keep] if len(secret) >= keep + len(mark) else b""
        room = len(secret) - len(kept)
        if room < len(mark):
            return (_MARK + b"*" * room)[:room]
        return kept + mark + b"*" * (room - len(mark))

    def normalise(self, body: bytes) -> bytes:
        """A redacted body with one constant in place of every fingerprint, so that it is the same for any key.

        The padding after a fingerprint is removed too, since another key may have another length.
        """
        return _FINGERPRINT.sub(b"REDACTED", body) if _MARK in body else body

    def round_trip(self, trip: RoundTrip) -> RoundTrip:
        """A round trip for the disk: every part of it redacted."""
        if not self.enabled:
            return trip
        request = trip.request
        response = trip.response
        return replace(
            trip,
            request=replace(
                request,
                url=self.url(request.url),
                headers=self.headers(request.headers),
                content=self.request_body(request.body),
            ),
            response=response
            and replace(
                response,
                reason=self._text(response.reason),
                headers=self.headers(response.headers, response=True),
                trailers=self.headers(response.trailers, response=True),
                content=self._answer(response.body, response.headers),
            ),
            failure=trip.failure and replace(trip.failure, message=self._text(trip.failure.message)),
            frames=tuple(self._frame(frame) for frame in trip.frames),
            faults=tuple(self._text(fault) for fault in trip.faults),
            extra={key: self._value(value) for key, value in trip.extra.items()},
        )

    def command(self, words: Sequence[str]) -> tuple[str, ...]:
        """A command line without secrets: key shapes, and the values of options and variables named as credentials."""
        if not self.enabled:
            return tuple(words)
        clean: list[str] = []
        is_secret = False
        for word in words:
            name, equals, value = word.partition("=")
            named = _NAMES_A_CREDENTIAL.search(name.lower()) is not None
            if is_secret and not word.startswith("-"):
                clean.append(f"REDACTED-{self.fingerprint(word)}")
                is_secret = False
                continue
            if named and equals and value:
                clean.append(f"{name}=REDACTED-{self.fingerprint(value)}")
            else:
                clean.append(self._text(word))
            is_secret = named and not equals and word.startswith("--")
        return tuple(clean)

    def _value(self, value: object) -> object:
        """A JSON value with its strings redacted."""
        match value:
            case str():
                return self._text(value)
            case dict():
                return {key: self._value(item) for key, item in cast(dict[str, object], value).items()}
            case list() | tuple():
                return [self._value(item) for item in cast(list[object], value)]
            case _:
                return value

    def _text(self, text: str) -> str:
        return self.body(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")

    def _frame(self, frame: Frame) -> Frame:
        return replace(frame, data=self.body(frame.data))

    def _answer(self, body: bytes, headers: Headers) -> bytes:
        clean = self.body(body)
        if clean == body:
            return body
        event_stream = any(
            name.lower() == "content-type" and "vnd.amazon.eventstream" in value for name, value in headers
        )
        return b"".join(_with_new_crcs(clean)) if event_stream else clean


def _starts_word(body: bytes, at: int) -> bool:
    """True when no word character is right before `at`; the letter of a JSON escape does not count as one."""
    if at == 0 or body[at - 1] not in _WORD:
        return True
    if at >= 2 and body[at - 2] == 0x5C and body[at - 1] in _ESCAPES:
        return True
    return _BEFORE.search(body[max(at - 24, 0) : at]) is not None


def _in_base64(body: bytes, start: int, end: int) -> bool:
    """True when a match is deep inside an encoded image or signature, where it is a coincidence.

    Encoded data is before it, and is also after it, unless the match is longer than any key.
    """
    if not _encoded(body[max(start - _BASE64_RUN, 0) : start]):
        return False
    if end - start > _LONGEST_KEY:
        return _RULER.search(body, start, end) is None
    return _encoded(body[end : end + _BASE64_RUN])


def _encoded(piece: bytes) -> bool:
    """True when all of `piece` is base64; a line of dashes does not count."""
    return len(piece) == _BASE64_RUN and _BASE64.fullmatch(piece) is not None and _RULER.search(piece) is None


def _with_new_crcs(body: bytes) -> Iterator[bytes]:
    """AWS event-stream frames with a new message CRC.

    https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html (read 2026-11-21): a frame is its
    length, the length of the headers, the CRC of these 8 bytes, headers, payload, and the CRC of everything before.
    """
    at = 0
    while len(body) - at >= 16:
        size = struct.unpack_from(">I", body, at)[0]
        if size < 16 or at + size > len(body):
            break
        content = body[at : at + size - 4]
        yield content + struct.pack(">I", zlib.crc32(content))
        at += size
    yield body[at:]
