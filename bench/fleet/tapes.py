"""Tapes to ship: small tool loops of different models, with planted secrets and sentences that no row may show."""

import random
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from tests.conversations import chat, result, said, sent, user
from turntape.cassettes import Recorder, Redactor, RoundTrip

TRIPS = 12
"""The round trips of a tape."""
DAYS = 10
FIRST_DAY = 1_779_667_200.0
"""2026-05-25 in UTC: the first tape begins on this day."""
MODELS = ("gpt-5", "gpt-5-mini", "gpt-4.1", "o4-mini")
WORDS = (
    *("amber", "basil", "cedar", "delta", "ember", "flint", "grove", "harbor", "ivory"),
    *("jasper", "kelp", "lemon", "maple", "north", "ocean", "pearl", "quill"),
)


@dataclass(frozen=True)
class Tape:
    """A recording, its first half as another file, and what was planted in it."""

    path: Path
    half: Path
    planted: tuple[str, ...]


def tapes(folder: Path, count: int, seed: int = 7) -> list[Tape]:
    """Write that many tapes. The same seed gives the same requests."""
    folder.mkdir(parents=True, exist_ok=True)
    return [tape(folder, number, random.Random(seed * 1_000_003 + number)) for number in range(count)]


def tape(folder: Path, number: int, luck: random.Random) -> Tape:
    """One tape, recorded without redaction: what protects the rows must not depend on it."""
    started = FIRST_DAY + (number % DAYS) * 86_400 + luck.randrange(80_000)
    planted = [sentence(luck, kind) for kind in ("system", "user", "argument", "result", "answer", "header", "query")]
    path = folder / f"{number:05}.cassette.jsonl"
    half = folder / "halves" / path.name
    half.parent.mkdir(exist_ok=True)
    with Recorder(path, redactor=Redactor(enabled=False), durable=False, clock=lambda: started) as recorder:
        for place, trip in enumerate(loop(luck, planted)):
            recorder.write(replace(trip, started_at=started + place, run=f"run-{number % 50}"))
    lines = path.read_bytes().splitlines(keepends=True)
    half.write_bytes(b"".join(lines[: 1 + TRIPS // 2]))
    return Tape(path, half, tuple(planted))


def sentence(luck: random.Random, kind: str) -> str:
    """A text that occurs nowhere else, as a sentence or as a secret."""
    words = " ".join(luck.choice(WORDS) for _ in range(5))
    return (
        f"{kind} {words} {luck.randrange(10**9)}" if luck.random() < 0.5 else f"hush-{kind}-{luck.getrandbits(96):024x}"
    )


def loop(luck: random.Random, planted: list[str]) -> list[RoundTrip]:
    """A tool loop with twelve turns, with each kind of planted text in its place."""
    system, asked, argument, returned, answered, header, query = planted
    model = luck.choice(MODELS)
    messages = [{"role": "system", "content": f"You look words up. {system}"}, user(f"Look these up. {asked}")]
    trips: list[RoundTrip] = []
    for place in range(TRIPS):
        last = place == TRIPS - 1
        call = (f"call_{place}", "look_up", orjson.dumps({"word": f"{argument} {place}"}).decode())
        answer = said(f"{answered}") if last else said(None, call)
        usage = (120 + 60 * place + luck.randrange(40), 20 + luck.randrange(60))
        trip = chat(messages, answer, index=place, usage=usage, model=model)
        request = replace(trip.request, url=f"{trip.request.url}?trace={query}")
        ended = luck.randrange(300_000, 9_000_000)
        trip = replace(trip, request=request, first_byte_at=ended // 3, ended_at=ended)
        trips.append(sent(trip, user_agent=f"scout/1.{luck.randrange(3)}", x_session_id=header, authorization=header))
        messages = [*messages, answer, result(f"call_{place}", f"{returned} {place}")]
    return trips
