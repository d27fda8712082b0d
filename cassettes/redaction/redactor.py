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
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from itertools import accumulate
from typing import Self, cast
from urllib.parse import unquote

from ..errors import CassetteError
from ..framing.aws_event_stream import with_new_crcs
from ..settings import Settings, read_settings
from ..tape.bounds import NOT_KEPT
from ..tape.content_encoding import MOST_ENCODINGS, PACKED, as_far_as_it_decodes
from ..tape.model import Frame, Headers, Request, Response, RoundTrip, Side
from .body_search import Spans, shaped
from .earlier_bodies import MEDIUM, EarlierBodies
from .every_spelling import cover, in_every_spelling
from .field_names import (
    CREDENTIAL_WORDS,
    CREDENTIALS,
    REQUEST_HEADERS,
    REQUEST_PREFIXES,
    SECRET_PARAMETERS,
    URL_HEADERS,
)
from .marks import MARK, WHOLE_MARK, touches_mark, with_equal_marks, without_marks
from .named_values import named
from .not_searched import NotSearched
from .own_function import FindSecrets, imported, named_by
from .random_words import random_words
from .repeated_values import places_of, repeatable, replaced
from .search_process import SearchElsewhere
from .sent_keys import over_messages, places, sent_keys
from .service_names import under_services
from .spelled_out import Segments

_REPLACED = re.compile(r"(?:^|[ =])REDACTED-[0-9a-f]{8}$")
"""The end of a header field or a parameter that is replaced already."""
_QUERY = re.compile(r"([?&#;])([^=&#;]+)=([^&#;]*)")
_USERINFO = re.compile(r"^([a-z][a-z0-9+.-]*://)[^/@]*@", re.IGNORECASE)
_COOKIE = re.compile(r"\s*([\w.$:-]{1,64})\s*=+\s*[^=\s]")
"""The name of a cookie and the beginning of its value; a value alone may end in equals signs."""
_NAMES_A_CREDENTIAL = re.compile("|".join(CREDENTIAL_WORDS))
_SHORT = 1024
"""The length of the longest text that is remembered, and how many are."""
_MOST_TEXTS = 512
_SIDES: tuple[Side, ...] = ("client", "server")
_LONG_NAME = 28
"""The length of a field's name from which on it may be a key: of a line that was meant to have a name before it."""


def _compiled(patterns: Sequence[str], remedy: str) -> tuple[re.Pattern[bytes], ...]:
    found: list[re.Pattern[bytes]] = []
    for pattern in patterns:
        try:
            found.append(re.compile(pattern.encode()))
        except re.error as exc:
            raise CassetteError(
                f"the redaction pattern {pattern!r} is not a valid regular expression: {exc.msg}; {remedy}"
            ) from exc
    return tuple(found)


class Redactor:
    """Replaces secrets in headers, URLs and bodies. The same salt gives the same fingerprints.

    `extra` are the user's own patterns (regular expressions); `allow_headers` are the names of request header fields
    that are stored unchanged. `entropy`: words that look random are secrets too. `function` names further secrets in a
    text; a text for which it fails is withheld. `keep` are regular expressions: a value that one of them matches as a
    whole stays, unless `extra` or `function` finds it. Raises CassetteError for a pattern that does not compile.
    """

    def __init__(
        self,
        extra: tuple[str, ...] = (),
        salt: str | None = None,
        allow_headers: tuple[str, ...] = (),
        enabled: bool = True,
        *,
        entropy: bool = False,
        function: FindSecrets | None = None,
        keep: Sequence[str] = (),
    ) -> None:
        self.salt = salt if salt is not None else secrets.token_hex(8)
        self.enabled = enabled
        self.elsewhere: SearchElsewhere | None = None
        """Searches long bodies in the place of the calling thread; None when nothing does."""
        self._key = self.salt.encode()
        self._earlier = EarlierBodies()
        self._entropy, self._function = entropy, function
        self._sent: tuple[bytes, ...] = ()
        """The keys in the header of the request whose texts are searched."""
        self._repeats = True
        """Whether a value that is found by its name is searched for where it has none."""
        self._known: tuple[bytes, ...] = ()
        """Secrets that were found by their name in what came before."""
        self._failures: list[str] = []
        """Why texts were not searched, since it was last reported."""
        self._texts: dict[tuple[tuple[bytes, ...], str], str] = {}
        """Short texts, with the values that they were searched for, and what they are on the disk."""
        self._allowed = REQUEST_HEADERS | {name.lower() for name in allow_headers}
        self._extra = _compiled(extra, "fix it in turntape.toml")
        self._keep = _compiled(keep, "fix it where redact_keep is set")

    @classmethod
    def from_config(cls, path: str | os.PathLike[str] | None = None, salt: str | None = None) -> Self:
        """A redactor as `turntape.toml`, or `[tool.turntape]` of `pyproject.toml`, in the working directory says.

        Keys: `redact` (list of regular expressions), `allow_headers` (list of names), `redact_entropy` (true or false),
        `redact_function` ("module:function"), `redact_keep` (list of regular expressions). Raises CassetteError when
        the file is not valid TOML, has an unknown key, a value has the wrong type, or there is no such function.
        """
        settings = read_settings(path)
        return cls.from_settings(settings, salt)

    @classmethod
    def from_settings(cls, settings: Settings, salt: str | None = None, more: tuple[str, ...] = ()) -> Self:
        """A redactor with these settings and `more` patterns. Raises CassetteError as `from_config` does."""
        function = imported(settings.redact_function) if settings.redact_function else None
        return cls(
            (*more, *settings.redact),
            salt,
            settings.allow_headers,
            entropy=settings.redact_entropy,
            function=function,
            keep=settings.redact_keep,
        )

    def keeping(self, patterns: Sequence[str]) -> Self:
        """The same rules, and values that one of these regular expressions matches as a whole stay too.

        Raises CassetteError for one that does not compile.
        """
        if not patterns:
            return self
        other = self.with_salt(self.salt)
        other._keep = (*self._keep, *_compiled(patterns, "fix it where redact_keep is set"))
        return other

    def with_salt(self, salt: str) -> Self:
        """The same rules with another salt, for example that of a file to append to."""
        other = copy(self)
        other.salt, other._key = salt, salt.encode()
        other._earlier = EarlierBodies()
        other._failures = []
        other._texts = {}
        other.elsewhere = self.elsewhere  # which a copy does not have
        return other

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "elsewhere": None, "_earlier": EarlierBodies(), "_texts": {}}

    def without_repeats(self) -> Self:
        """The same rules, and a value that has a name stays where it has none, as in an older recording."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, _repeats=False)
        return other

    def give_up(self) -> None:
        """Search no long body any more: those that wait for it are withheld. Any thread may call this."""
        if self.elsewhere is not None:
            self.elsewhere.give_up()

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
        return tuple(
            (name if len(name) < _LONG_NAME else self._text(name), self._header(name.lower(), value, response))
            for name, value in headers
        )

    def _header(self, name: str, value: str, response: bool) -> str:
        if _REPLACED.search(value):
            return value
        if name in ("set-cookie", "cookie"):
            first = value.partition(";")[0]
            named = _COOKIE.match(first)
            return f"{named[1]}=REDACTED-{self.fingerprint(first)}" if named else self._replacement("", value)
        if name.startswith("aws4-") or (name == "authorization" and value.startswith("AWS4-")):
            return f"{value.partition(' ')[0]} REDACTED-{self.fingerprint(value)}"
        family = name.startswith(REQUEST_PREFIXES) and not _NAMES_A_CREDENTIAL.search(name)
        kept = response or name in self._allowed or family
        if name in CREDENTIALS or not kept:
            return self._replacement(name, value)
        if name in URL_HEADERS:
            value = self.url(value)
        return self._text(value)

    def url(self, url: str) -> str:
        """A URL without credentials: known parameters, user and password, and key shapes anywhere in it."""
        if not self.enabled:
            return url
        url = _USERINFO.sub(r"\1", url)
        url = _QUERY.sub(self._parameter, url)
        return self._text(url)

    def _parameter(self, match: re.Match[str]) -> str:
        separator, name, value = match.groups()
        if unquote(name).lower() not in SECRET_PARAMETERS or not value or _REPLACED.fullmatch(value):
            return match.group()
        return f"{separator}{name}=REDACTED-{self.fingerprint(unquote(value))}"

    def body(self, body: bytes) -> bytes:
        """A body without known key shapes, of the same length."""
        return self._cleaned(body) if self.enabled else body

    def request_body(self, body: bytes) -> bytes:
        """As `body`, for the bodies of one run: what an earlier body contains is not searched again.

        Not thread-safe.
        """
        if not self.enabled or len(body) < MEDIUM or self._extra or self._function or body.startswith(PACKED):
            return self.body(body)
        clean = self._earlier.cleaned_after(body, lambda part, known: self.after(known)._cleaned(part), self._sent)
        self._earlier.add(body, clean, self._sent)
        return clean

    def _packed(self, body: bytes, encoding: str | None = None) -> bytes | None:
        """A body that is stored encoded, masked as a whole when a secret can be read in it; else None."""
        inner = body
        for _ in range(MOST_ENCODINGS):
            inner = as_far_as_it_decodes(inner, encoding)
            if not inner:
                break
            if self._searched(inner, stream=True) != inner:
                return self._mask(body, 0)
            encoding = None
        return None

    def _stored(self, part: Request | Response, clean: bytes) -> bytes:
        """The clean body of a part; one that was not decoded, although a header names its encoding, is looked into."""
        named = ",".join(value for name, value in part.headers if name.lower() == "content-encoding")
        if not named or part.encoding is not None or not part.body:
            return clean
        try:
            masked = self._packed(part.body, named)
        except NotSearched as exc:
            self._failures.append(str(exc))
            masked = self._mask(part.body, 0)
        return clean if masked is None else masked

    def _cleaned(self, body: bytes, stream: bool = False) -> bytes:
        if WHOLE_MARK.fullmatch(body):
            return body
        try:
            masked = self._packed(body) if body.startswith(PACKED) else None
            return self._searched(body, stream) if masked is None else masked
        except NotSearched as exc:
            self._failures.append(str(exc))
            return self._mask(body, 0)

    def _searched(self, body: bytes, stream: bool) -> bytes:
        if self.elsewhere is not None and len(body) >= self.elsewhere.least:
            clean = self.elsewhere.clean(self, body, stream)
            if clean is not None:
                return clean
        return self.cleaned_here(body, stream)

    def cleaned_here(self, body: bytes, stream: bool) -> bytes:
        """A body without secrets, searched by this thread; `stream` when one may be spread over several events.

        Raises NotSearched for a function of the user's that fails.
        """
        secrets = list(in_every_spelling(body, self._found, stream))
        if not secrets:
            return body
        if again := self._said_again(body, secrets):
            secrets += in_every_spelling(body, again, stream)
        out = bytearray(body)
        taken = bytearray(len(body))
        for segments, keep in secrets:
            if any(taken.find(1, start, end) >= 0 for start, end in segments):
                cover(out, taken, segments)
                continue
            mask = self._mask(b"".join(body[start:end] for start, end in segments), keep)
            done = 0
            for start, end in segments:
                out[start:end] = mask[done : done + end - start]
                taken[start:end] = b"\1" * (end - start)
                done += end - start
        return bytes(out)

    def _said_again(self, body: bytes, secrets: list[tuple[Segments, int]]) -> Callable[[bytes], Spans] | None:
        """Finds the secrets that were found by the name before them where they have none."""
        if not self._repeats:
            return None
        values = repeatable(
            b"".join(body[start:end] for start, end in segments) for segments, keep in secrets if not keep
        )
        new = [value for value in values if value not in self._sent and value not in self._known]
        return (lambda text: places_of(new, text)) if new else None

    def _found(self, body: bytes) -> Spans:
        """The secrets in a body, each in one piece. One that is known by its shape counts before one by its name."""
        marked, body = body, without_marks(body)
        spans = shaped(body)
        others = [named(body), under_services(body), *([random_words(body)] if self._entropy else [])]
        for start, span in (each for found in others for each in found.items()):
            # What touches a mark was left when the rest of the word was replaced, so that a person can read it.
            if not (touches_mark(marked, body, start - 1) or touches_mark(marked, body, span[0])):
                spans.setdefault(start, span)
        for key in self._sent:
            spans = {start: (end, 0) for start, end in places(key, body)} | spans
        spans = places_of(self._known, body) | spans
        if self._keep:
            spans = {start: span for start, span in spans.items() if not self._is_kept(body[start : span[0]])}
        if self._function is not None:
            spans = named_by(self._function, body) | spans
        for pattern in self._extra:
            for match in pattern.finditer(body):
                if match.end() > match.start():
                    spans.setdefault(match.start(), (match.end(), 0))
        return spans

    def _is_kept(self, value: bytes) -> bool:
        return any(pattern.fullmatch(value) for pattern in self._keep)

    def _mask(self, secret: bytes, keep: int) -> bytes:
        mark = b"REDACTED-" + self.fingerprint(secret).encode()
        kept = secret[:keep] if len(secret) >= keep + len(mark) else b""
        room = len(secret) - len(kept)
        if room < len(mark):
            return (MARK + b"*" * room)[:room]
        return kept + mark + b"*" * (room - len(mark))

    def normalise(self, body: bytes) -> bytes:
        """A redacted body with one constant in place of every fingerprint, so that it is the same for any key.

        The padding after a fingerprint is removed too, since another key may have another length.
        """
        return with_equal_marks(body)

    def knowing(self, headers: Headers) -> Self:
        """The same rules for the texts of one exchange: the keys in the header of its request are secrets in them."""
        sent = sent_keys(headers)
        if not sent:
            return self
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, _sent=sent, _failures=[])
        return other

    def after(self, known: tuple[bytes, ...]) -> Self:
        """The same rules where these secrets may be said again. What fails is noted in the same place."""
        if not known:
            return self
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, _known=tuple(dict.fromkeys((*self._known, *known))))
        return other

    def round_trip(self, trip: RoundTrip) -> RoundTrip:
        """A round trip for the disk: every part of it redacted."""
        return self.knowing(trip.request.headers)._clean(trip) if self.enabled else trip

    def _clean(self, trip: RoundTrip) -> RoundTrip:
        request = trip.request
        response = trip.response
        body = self.request_body(request.body)
        after = self.after(replaced(request.body, body))
        clean = replace(
            trip,
            run=trip.run and self._text(trip.run),
            request=replace(
                request,
                url=self.url(request.url),
                headers=self.headers(request.headers),
                content=self._stored(request, body),
            ),
            response=response
            and replace(
                response,
                reason=self._text(response.reason),
                headers=self.headers(response.headers, response=True),
                trailers=self.headers(response.trailers, response=True),
                content=self._stored(response, after.answer(response.body, response.headers)),
            ),
            failure=trip.failure and replace(trip.failure, message=self._text(trip.failure.message)),
            frames=after.frames(trip.frames),
            faults=tuple(self._text(fault) for fault in trip.faults),
            extra={key: self._value(value) for key, value in trip.extra.items()},
        )
        failures, self._failures = self._failures, []
        if not failures:
            return clean
        said = f"{failures[0]}; a text of this round trip is withheld and {NOT_KEPT}"
        return replace(clean, faults=(*clean.faults, said))

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
        if not self.enabled:
            return text
        if (known := self._texts.get(((*self._sent, *self._known), text))) is not None:
            return known
        clean = self.body(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")
        if len(text) <= _SHORT and self._function is None:  # which may fail, or answer otherwise the next time
            if len(self._texts) >= _MOST_TEXTS:
                self._texts.clear()
            self._texts[(*self._sent, *self._known), text] = clean
        return clean

    def frames(self, frames: Sequence[Frame]) -> tuple[Frame, ...]:
        """WebSocket messages of one session."""
        return self.messages(frames)[0]

    def messages(self, frames: Sequence[Frame]) -> tuple[tuple[Frame, ...], tuple[bytes, ...]]:
        """WebSocket messages, and the values that were found by their name in them: what follows may say them again.

        The messages of one side are one stream, since a secret may be spread over several.
        """
        if not self.enabled:
            return tuple(frames), ()
        places = {side: [n for n, frame in enumerate(frames) if frame.sender == side] for side in _SIDES}
        said = {side: b"\n".join(frames[place].data for place in own) for side, own in places.items()}
        joined = {side: self._cleaned(text, stream=True) for side, text in said.items()}
        named = {side: replaced(text, joined[side]) for side, text in said.items()}
        values = tuple(dict.fromkeys((*named["client"], *named["server"])))
        for side, text in said.items():
            if new := tuple(value for value in values if value not in named[side]):
                joined[side] = self.after(new)._cleaned(text, stream=True)
        clean: dict[int, bytes] = {}
        masks = {key: self._mask(key, 0) for key in self._sent if not self._is_kept(key)}
        for side, own in places.items():
            sizes = [len(frames[place].data) for place in own]
            ends = accumulate(size + 1 for size in sizes)
            parts = [joined[side][end - size - 1 : end - 1] for size, end in zip(sizes, ends, strict=True)]
            clean |= zip(own, over_messages(parts, masks), strict=True)
        return tuple(replace(frame, data=clean[place]) for place, frame in enumerate(frames)), values

    def answer(self, body: bytes, headers: Headers) -> bytes:
        """The body of an answer, of the same length; a secret may be spread over the events of a stream."""
        if not self.enabled:
            return body
        clean = self._cleaned(body, stream=True)
        if clean == body:
            return body
        event_stream = any(
            name.lower() == "content-type" and "vnd.amazon.eventstream" in value for name, value in headers
        )
        return b"".join(with_new_crcs(clean)) if event_stream else clean


def patient_redactor() -> Redactor:
    """A redactor as the settings say, for a process whose other threads must not wait while a long body is searched."""
    made = Redactor.from_config()
    made.elsewhere = SearchElsewhere()
    return made
