"""go-vcr: `interactions` in YAML or JSON, each with a `url`, a numeric `code` and a `duration`.

Read of go-vcr 4 (https://github.com/dnaeon/go-vcr/blob/v4/pkg/cassette/cassette.go, read 2026-11-30) and of recordings
of version 1 and 2. The file begins with its version, where that of vcrpy ends with it. Go undoes gzip before the
body is recorded; then `uncompressed` is true and the header is gone. The date is that of the answer.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ..regex import regex
from ..tape.model import RoundTrip
from .documents import Fields, items, json_document, mapping, status_code, text, yaml_document
from .format import Format, Origin
from .messages import Dates, Encodings
from .vcrpy import interaction

NAME = "go-vcr"
_YAML = regex(rb"^(?:\xef\xbb\xbf)?(?:---\r?\n)?version: *\d+\r?\ninteractions: *(?:\[\])?\r?$", re.MULTILINE)
_JSON = regex(rb'^\s*\{\s*"version"\s*:\s*\d+\s*,\s*"interactions"\s*:\s*\[', re.IGNORECASE)
_PLACE = regex(rb'"(ur[il])"\s*:')
_DURATION = regex(r"([0-9.]+)(h|ms|m|s|us|µs|μs|ns)")
_MICROSECONDS = {"h": 3.6e9, "m": 6e7, "s": 1e6, "ms": 1e3, "us": 1.0, "µs": 1.0, "μs": 1.0, "ns": 1e-3}
_LONGEST = 1e13
"""In microseconds: about four months. What is longer is not how long an answer took."""


def sniff(data: bytes) -> bool:
    if _YAML.match(data[:4096]):
        return True
    place = _PLACE.search(data) if _JSON.match(data[:4096]) else None
    return place is not None and place[1] == b"url"  # in JSON, vcrpy begins with the version too, and has a `uri`


def read(data: bytes, path: Path) -> Iterator[RoundTrip]:
    """The interactions of a file, in file order."""
    document = json_document(data, path) if data.lstrip()[:1] == b"{" else yaml_document(data, path)
    whole = Origin(NAME, path, "its top")
    found = items(mapping(document, whole, "the file").get("interactions") or [], whole, "'interactions'")
    dates, encodings = Dates(), Encodings()
    for place, item in enumerate(found):
        origin = Origin(NAME, path, f"interactions[{place}]")
        fields = mapping(item, origin, "it")
        asked = mapping(fields.get("request"), origin, "'request'")
        answer = mapping(fields.get("response"), origin, "'response'")
        trip = interaction(_as_vcr(asked, answer, origin), origin, dates, encodings)
        yield replace(trip, ended_at=_microseconds(answer.get("duration")))


def _as_vcr(asked: Fields, answer: Fields, origin: Origin) -> Fields:
    """The interaction under the names that the other tools of its kind use."""
    code = status_code(answer.get("code"), origin)
    line = answer.get("status")
    reason = line.removeprefix(str(code)).strip() if isinstance(line, str) else ""
    return {
        "request": {**asked, "uri": text(asked, "url", origin)},
        "response": {**answer, "status": {"code": code, "message": reason}, "http_version": answer.get("proto")},
    }


def _microseconds(said: object) -> int | None:
    """A duration as Go writes it (`1m2.5s`; in JSON a number of nanoseconds), or None."""
    if isinstance(said, int | float) and not isinstance(said, bool):
        spent = said / 1000
    elif isinstance(said, str) and (parts := list(_DURATION.finditer(said))):
        try:
            spent = sum(float(part[1]) * _MICROSECONDS[part[2]] for part in parts)
        except ValueError:
            return None
    else:
        return None
    return round(spent) if 0 < spent < _LONGEST else None


GO_VCR = Format(NAME, "go-vcr", sniff, read)
