"""VCR of Ruby: `http_interactions` in YAML or JSON. The recordings of betamax (Python) have the same form.

Read of VCR 6.4.0 (https://github.com/vcr/vcr/blob/master/lib/vcr/structs.rb, read 2026-11-23) and of recordings since
6.1.0. An interaction has the fields of vcrpy's. A body is under `string`, as text or as bytes (`!binary`), or under
`base64_string`; `recorded_at` is a date of HTTP. That of betamax 0.9.0 is ISO 8601, in UTC (seen in its recordings).
"""

import re
from collections.abc import Iterator
from pathlib import Path

from ..regex import regex
from ..tape.model import RoundTrip
from .documents import items, json_document, mapping, yaml_document
from .format import Format, Origin
from .messages import Dates, Encodings
from .vcrpy import interaction

NAME = "ruby-vcr"
_YAML = regex(rb"^http_interactions: *(?:\[\])?\r?$", re.MULTILINE)
_JSON = regex(rb'^\s*\{.{0,400}?"http_interactions"\s*:\s*\[', re.DOTALL)


def sniff(data: bytes) -> bool:
    return bool(_JSON.match(data[:4096]) or _YAML.search(data))


def read(data: bytes, path: Path) -> Iterator[RoundTrip]:
    """The interactions of a file, in file order."""
    document = json_document(data, path) if data.lstrip()[:1] == b"{" else yaml_document(data, path)
    whole = Origin(NAME, path, "its top")
    found = items(mapping(document, whole, "the file").get("http_interactions"), whole, "'http_interactions'")
    dates, encodings = Dates(), Encodings()
    for place, item in enumerate(found):
        origin = Origin(NAME, path, f"http_interactions[{place}]")
        yield interaction(mapping(item, origin, "it"), origin, dates, encodings)


RUBY_VCR = Format(NAME, "VCR (Ruby), betamax", sniff, read)
