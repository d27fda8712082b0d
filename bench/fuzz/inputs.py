"""The inputs: short runs of every protocol of the fault bench; one round trip is changed, or some bytes of the file."""

import random
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from functools import cache
from typing import Any

import orjson

from turntape.cassettes.tape.compression import ZstdCompressor
from turntape.cassettes.tape.model import RoundTrip

from ..faults.clean import clean_loops
from ..faults.loop import record

TURNS = 3
ODD = (
    -1, 0, 1e300, 10**15, 2**63, "", "x", "\x1b[2J", "<script>", None, True, [], {}, [None], [[]], [{}], ["x"],
    {"type": 1}, {"type": []}, {"id": {}}, {"": None}, "9" * 5000,
)  # fmt: skip
"""What takes the place of a JSON value. What JSON cannot hold is left out when it is written."""
_SNIPPETS = (
    b"\x00",
    b"\xff\xfe",
    b"\xc3",
    b"\r",
    b"\n\n",
    b"data:",
    b'"',
    b"\\u",
    b"\\",
    b"{",
    b"[" * 400,
    b"}",
    b"1e999",
    b"-",
)


@cache
def runs() -> list[tuple[str, list[RoundTrip]]]:
    """Dialect and the first round trips of its plain story, streamed and not."""
    return [
        (loop.dialect, record(loop.loop()).trips[:TURNS]) for loop in clean_loops() if loop.name.startswith("plain ")
    ]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each value inside a JSON value, as its container and its key."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from places(value[key])


def other_values(text: bytes, chance: random.Random) -> bytes:
    """JSON text with one to three of its values replaced; other text as it is."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    for _ in range(chance.choice((1, 1, 3))):
        if found := list(places(value)):
            container, key = chance.choice(found)
            before, container[key] = container[key], deepcopy(chance.choice(ODD))
            try:
                orjson.dumps(value)
            except TypeError:
                container[key] = before
    return orjson.dumps(value)


def other_events(body: bytes, chance: random.Random) -> bytes:
    """A JSON body, or some lines of a stream, with odd values."""
    if body.lstrip()[:1] in (b"{", b"["):
        return other_values(body, chance)
    lines = body.split(b"\n")
    for _ in range(3):
        place = chance.randrange(len(lines))
        head, brace, rest = lines[place].partition(b"{")
        lines[place] = head + other_values(brace + rest, chance) if brace else head
    return b"\n".join(lines)


def other_lines(body: bytes, chance: random.Random) -> bytes:
    """Lines that are missing, come twice, or in another order."""
    lines = body.split(b"\n")
    for _ in range(chance.randrange(1, 4)):
        place, other = chance.randrange(len(lines)), chance.randrange(len(lines))
        way = chance.randrange(3)
        if way == 0 and len(lines) > 1:
            del lines[place]
        elif way == 1:
            lines.insert(place, lines[other])
        else:
            lines[place], lines[other % len(lines)] = lines[other % len(lines)], lines[place]
    return b"\n".join(lines)


def other_bytes(body: bytes, chance: random.Random) -> bytes:
    """Bytes that are flipped, missing, repeated, inserted, or cut off."""
    data = bytearray(body)
    for _ in range(chance.randrange(1, 5)):
        place = chance.randrange(len(data) + 1)
        length = chance.choice((1, 1, 2, 8, 200))
        way = chance.randrange(5)
        if way == 0 and place < len(data):
            data[place] ^= 1 << chance.randrange(8)
        elif way == 1:
            del data[place : place + length]
        elif way == 2:
            data[place:place] = data[place : place + length] * 2
        elif way == 3:
            data[place:place] = chance.choice(_SNIPPETS)
        else:
            del data[place:]
    return bytes(data)


def other_head(trip: RoundTrip, chance: random.Random) -> RoundTrip:
    """Another status, missing or odd header fields, another method or address, odd times."""
    response = trip.response
    way = chance.randrange(5)
    if way == 0 or response is None:
        return replace(trip, response=None if chance.random() < 0.3 else response, ended_at=None, first_byte_at=None)
    if way == 1:
        return replace(
            trip, response=replace(response, status=chance.choice((0, 100, 204, 299, 304, 404, 429, 599, 999)))
        )
    if way == 2:
        odd = chance.choice(
            ((), (("content-type", "\x1b"),), (("retry-after", "9" * 400),), (("date", "-1"), ("age", "x")))
        )
        return replace(trip, response=replace(response, headers=odd))
    if way == 3:
        url = chance.choice(
            ("", "/", "http://", "https://[::1", trip.request.url + "?" + "&=%" * 50, "http://a/\x00", "é")
        )
        return replace(
            trip, request=replace(trip.request, url=url, method=chance.choice(("POST", "GET", "", "x" * 200)))
        )
    return replace(trip, started_at=chance.choice((0.0, 1e9, 2.5e11)), request_at=-5, first_byte_at=-9, ended_at=-10)


type Change = Callable[[bytes, random.Random], bytes]
BODY: dict[str, Change] = {
    "odd values": other_events,
    "odd lines": other_lines,
    "odd bytes": other_bytes,
}
KINDS = (*BODY, "odd head", "odd file")


def mutated(number: int) -> tuple[str, str, list[RoundTrip], int]:
    """The input with that number: its kind, its dialect, its round trips, and the place of the changed one."""
    chance = random.Random(number)
    dialect, trips = runs()[number % len(runs())]
    kind = chance.choice(KINDS[:-1])
    place = chance.randrange(len(trips))
    trip = trips[place]
    if kind == "odd head":
        trip = other_head(trip, chance)
    elif trip.response is not None and chance.random() < 0.7:
        body = BODY[kind](trip.response.body, chance)
        trip = replace(trip, response=replace(trip.response, content=body, chunks=()))
    else:
        trip = replace(trip, request=replace(trip.request, content=BODY[kind](trip.request.body, chance)))
    return kind, dialect, [*trips[:place], trip, *trips[place + 1 :]], place


def mutated_file(number: int, data: bytes) -> tuple[bytes, str]:
    """A file like `data` with odd values, lines or bytes below its header, and the suffix for its name."""
    chance = random.Random(-number)
    head, newline, rest = data.partition(b"\n")
    change = chance.choice((_lines_with_odd_values, other_lines, other_bytes))
    data = head + newline + change(rest, chance)
    if chance.random() < 0.3:
        packed = ZstdCompressor().compress(data, ZstdCompressor.FLUSH_FRAME)
        return (other_bytes(packed, chance) if chance.random() < 0.5 else packed), ".cassette.jsonl.zst"
    return data, ".cassette.jsonl"


def _lines_with_odd_values(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    place = chance.randrange(len(lines))
    lines[place] = other_values(lines[place], chance)
    return b"\n".join(lines)
