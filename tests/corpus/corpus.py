"""The corpus of recorded traffic, read into round trips. It lies beside the repository, never in it."""

import base64
import csv
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turntape.cassettes.tape.model import Request, Response, RoundTrip

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def folder() -> Path | None:
    """Where the corpus lies, or None when it is absent."""
    beside = Path(__file__).resolve().parents[2].parent / "shared" / "corpus"
    path = Path(os.environ.get("TURNTAPE_CORPUS") or beside)
    return path if (path / "INDEX.tsv").is_file() else None


ABSENT = "the corpus is not here: set TURNTAPE_CORPUS to its folder"


@dataclass(frozen=True, slots=True)
class Recorded:
    """One line of the corpus."""

    cassette: str
    api: str
    generation: bool
    fidelity: str
    round_trip: RoundTrip


def files() -> list[Path]:
    """The files of the corpus in a fixed order; none when it is absent."""
    path = folder()
    return sorted(path.glob("*.jsonl.zst")) if path else []


def read_file(path: Path) -> Iterator[Recorded]:
    """The lines of one file, in order."""
    with zstd.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines):
            yield _recorded(json.loads(line), number)


def index() -> dict[str, dict[str, str]]:
    """The rows of INDEX.tsv by cassette."""
    path = folder()
    if path is None:
        return {}
    with (path / "INDEX.tsv").open(encoding="utf-8", newline="") as stream:
        return {row["file"]: row for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)}


def _recorded(line: dict[str, Any], number: int) -> Recorded:
    request, response = line["request"], line.get("response")
    return Recorded(
        cassette=line["cassette"],
        api=line["api"],
        generation=line["kind"] == "gen",
        fidelity=line["fidelity"],
        round_trip=RoundTrip(
            request=Request(request["method"], request["url"], _headers(request), _body(request)),
            response=Response(response["status"], headers=_headers(response), content=_body(response))
            if response
            else None,
            started_at=0.0,
            index=number,
        ),
    )


def _headers(message: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    headers = message.get("headers") or {}
    pairs = headers.items() if isinstance(headers, dict) else headers
    return tuple(
        (name, item)
        for name, value in pairs
        for item in (value if isinstance(value, list) else [value])
        if isinstance(item, str)
    )


def _body(message: dict[str, Any]) -> bytes:
    if encoded := message.get("body_b64"):
        return base64.b64decode(encoded)
    body = message.get("body") or ""
    return body.encode("utf-8", "surrogatepass") if isinstance(body, str) else json.dumps(body).encode()
