"""Replay in process, as rates side by side: the openai SDK over a bare mock transport, and a plain httpx client over
vcrpy and cassetter with body matching, answers in one piece and streamed; and how long cassettes of 1, 10 and 100 MB
take to load, against vcrpy's YAML.

The times are those of the processor, in pairs in changing order, so that other work on the machine counts little. Both
libraries are in the dependency group `bench`, which `make bench` installs.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import httpx2
import orjson
from openai import OpenAI

from turntape.cassettes import Cassette, Player, Recorder, ReplayTransport, Request, Response, RoundTrip

BAR = 0.95
URL = "https://api.openai.com/v1/chat/completions"
JSON = {"content-type": "application/json"}
ANSWER = json.dumps(
    {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes"}}],
    }
).encode()
STREAM = {"content-type": "text/event-stream"}
EVENTS = b"".join(
    b'data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":'
    b'{"content":"twenty letters here "}}]}\n\n'
    for _ in range(100)
)
COUNTS = ((10, 30), (100, 6), (1000, 1))
"""How many turns are recorded, and how often they are played."""
SAMPLE = 40
"""A library that scans gets only this many of the turns."""
SIZES = (1, 10, 100)
"""Megabytes of request bodies."""

type Turn = dict[str, object]


def turns_of(count: int, *, streamed: bool = False) -> list[Turn]:
    """Requests of 30 KB each."""
    more = {"stream": True} if streamed else {}
    return [
        {"model": "m", "messages": [{"role": "user", "content": f"{n} " + "word " * 6000}], **more}
        for n in range(count)
    ]


def answer_to(body: bytes) -> tuple[dict[str, str], bytes]:
    """The headers and the body of the answer."""
    return (STREAM, EVENTS) if b'"stream":true' in body.replace(b" ", b"") else (JSON, ANSWER)


def record(path: Path, bodies: list[bytes]) -> None:
    with Recorder(path, durable=False) as recorder:
        for body in bodies:
            headers, answer = answer_to(body)
            recorder.write(
                RoundTrip(
                    Request("POST", URL, tuple(JSON.items()), body),
                    Response(200, "", tuple(headers.items()), answer),
                    1.0,
                )
            )


def recorded(turns: list[Turn]) -> ReplayTransport:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "replay.cassette.jsonl"
        record(path, [httpx2.Request("POST", URL, json=turn).content for turn in turns])
        return ReplayTransport(path)


def timed(client: OpenAI, turn: Turn) -> float:
    begun = time.process_time()
    client.chat.completions.create(**turn)  # type: ignore[call-overload]
    return time.process_time() - begun


def against_a_mock(turns: list[Turn], rounds: int) -> float:
    """The bare transport's median time over ours; each request goes to both, in changing order."""
    ours: list[float] = []
    bares: list[float] = []
    bare = httpx2.MockTransport(lambda _: httpx2.Response(200, content=ANSWER, headers=JSON))
    for number in range(rounds + 1):
        replayed = OpenAI(api_key="k", http_client=httpx2.Client(transport=recorded(turns)))
        mocked = OpenAI(api_key="k", http_client=httpx2.Client(transport=bare))
        for place, turn in enumerate(turns):
            pairs = ((replayed, ours), (mocked, bares))
            for client, times in pairs if place % 2 else reversed(pairs):
                times.append(timed(client, turn))
        if number == 0 and rounds > 1:
            # The first round warms up.
            ours.clear()
            bares.clear()
    return statistics.median(bares) / statistics.median(ours)


# Against libraries that replay httpx. Each is given a folder and the requests, and yields a client.


@contextmanager
def turntape(folder: Path, turns: list[Turn]) -> Generator[httpx.Client]:
    record(folder / "ours.cassette.jsonl", [httpx.Request("POST", URL, json=turn).content for turn in turns])
    with httpx.Client(transport=ReplayTransport(folder / "ours.cassette.jsonl")) as client:
        yield client


def vcr_yaml(path: Path, bodies: list[bytes]) -> None:
    """A cassette as vcrpy writes it."""
    import yaml

    asked = {name: [value] for name, value in JSON.items()}
    found: list[dict[str, object]] = []
    for body in bodies:
        headers, answer = answer_to(body)
        plain = {name: [value] for name, value in headers.items()}
        found.append(
            {
                "request": {"body": body.decode(), "headers": asked, "method": "POST", "uri": URL},
                "response": {
                    "body": {"string": answer.decode()},
                    "headers": plain,
                    "status": {"code": 200, "message": "OK"},
                },
            }
        )
    with path.open("w") as file:
        yaml.dump({"interactions": found, "version": 1}, file, Dumper=yaml.CDumper)


@contextmanager
def vcrpy(folder: Path, turns: list[Turn]) -> Generator[httpx.Client]:
    import vcr  # pyright: ignore[reportMissingImports] - of the group bench

    path = folder / "vcr.yaml"
    vcr_yaml(path, [httpx.Request("POST", URL, json=turn).content for turn in turns])
    with vcr.use_cassette(str(path), record_mode="none", match_on=["method", "uri", "body"]), httpx.Client() as client:
        yield client


@contextmanager
def cassetter(folder: Path, turns: list[Turn]) -> Generator[httpx.Client]:
    import cassetter as library

    path = folder / "cassetter.yaml"
    made = library.Cassette(path, record_mode=library.RecordMode.ALL)
    made.load()
    plain = {name: [value] for name, value in JSON.items()}
    for turn in turns:
        body = httpx.Request("POST", URL, json=turn).content
        headers, answer = answer_to(body)
        made.record("POST", URL, plain, body, 200, {name: [value] for name, value in headers.items()}, answer)
    made.save()
    how: Any = {"record_mode": "none", "match_on": ["method", "uri", "json_body"], "intercept": ["httpx"]}
    with library.use_cassette(path, **how), httpx.Client() as client:
        yield client


LIBRARIES: dict[str, Callable[[Path, list[Turn]], Any]] = {"vcrpy": vcrpy, "cassetter": cassetter}
MODULES = {"vcrpy": "vcr", "cassetter": "cassetter"}


def missing(name: str) -> bool:
    if find_spec(MODULES[name]) is not None:
        return False
    print(f"against {name}: skipped, {name} is not installed")
    return True


def post(client: httpx.Client, turn: Turn) -> float:
    expected = EVENTS if turn.get("stream") else ANSWER
    begun = time.process_time()
    with client.stream("POST", URL, json=turn) as response:
        got = b"".join(response.iter_bytes())
    spent = time.process_time() - begun
    assert got == expected
    return spent


def against(name: str, turns: list[Turn]) -> float:
    """Its median time over ours, on the same requests, in changing order."""
    step = max(1, len(turns) // SAMPLE)
    asked = turns[::step]
    times: dict[str, list[float]] = {"ours": [], name: []}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        ours = stack.enter_context(turntape(Path(folder), turns))
        theirs = stack.enter_context(LIBRARIES[name](Path(folder), turns))
        for place, turn in enumerate(asked):
            pairs = (("ours", ours), (name, theirs))
            for which, client in pairs if place % 2 else reversed(pairs):
                times[which].append(post(client, turn))
    return statistics.median(times[name]) / statistics.median(times["ours"])


def bodies_of(megabytes: int) -> Iterator[bytes]:
    """An agent's requests, each with the whole history, with this size in megabytes together."""
    done, messages = 0, [{"role": "user", "content": "begin"}]
    while done < megabytes * 1_000_000:
        messages.append({"role": "user", "content": f"{len(messages)} " + "word " * 400})
        body = orjson.dumps({"model": "m", "messages": messages[-250:]})
        done += len(body)
        yield body


def loading(megabytes: int) -> tuple[float, float, float]:
    """Seconds until a cassette can answer: ours, and vcrpy's; and the size of ours over the size of vcrpy's."""
    from vcr.persisters.filesystem import FilesystemPersister  # pyright: ignore[reportMissingImports]
    from vcr.serializers import yamlserializer  # pyright: ignore[reportMissingImports]

    bodies = list(bodies_of(megabytes))
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = Path(folder) / "ours.cassette.jsonl", Path(folder) / "vcr.yaml"
        record(ours, bodies)
        vcr_yaml(theirs, bodies)
        begun = time.perf_counter()
        Player(Cassette.load(ours))
        middle = time.perf_counter()
        FilesystemPersister.load_cassette(theirs, yamlserializer)
        ended = time.perf_counter()
        return middle - begun, ended - middle, ours.stat().st_size / theirs.stat().st_size


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    missed = 0
    for count, rounds in COUNTS:
        value = against_a_mock(turns_of(count), rounds)
        missed += value < BAR
        said = "ok" if value >= BAR else "MISSED"
        print(f"in process, {count:>4} turns of 30 KB: {value:.2f}x of a bare mock transport (bar {BAR})  {said}")
    for name in LIBRARIES:
        if missing(name):
            continue
        for count, streamed in ((count, streamed) for count, _ in COUNTS for streamed in (False, True)):
            value = against(name, turns_of(count, streamed=streamed))
            missed += value < 1
            said = "ok" if value >= 1 else "MISSED"
            kind, library = "streams" if streamed else "JSON", f"{name} {version(name)}"
            said = f"{value:.1f}x the rate of {library} matching bodies  {said}"
            print(f"in process, {count:>4} turns of 30 KB, {kind}: {said}", flush=True)
    if not missing("vcrpy"):
        for size in SIZES:
            ours, theirs, share = loading(size)
            said = f"{ours:.2f} s against {theirs:.2f} s, {theirs / ours:.0f}x as fast, {share:.3f} of the size"
            missed += theirs < ours
            print(f"loading {size:>3} MB of requests: {said} of vcrpy's YAML  {'ok' if theirs >= ours else 'MISSED'}")
    return missed


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
