"""Replays per second in process, against a bare mock transport that returns the same bytes, through the openai SDK."""

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import httpx2
from openai import OpenAI

from turntape.cassettes import Recorder, ReplayTransport, Request, Response, RoundTrip

BAR = 0.95
URL = "https://api.openai.com/v1/chat/completions"
ANSWER = json.dumps(
    {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes"}}],
    }
).encode()


def recorded(turns: list[dict[str, object]]) -> ReplayTransport:
    kind = (("content-type", "application/json"),)
    sent = [httpx2.Request("POST", URL, json=turn).content for turn in turns]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "replay.cassette.jsonl"
        with Recorder(path) as recorder:
            for body in sent:
                recorder.write(RoundTrip(Request("POST", URL, content=body), Response(200, "", kind, ANSWER), 0.0))
        return ReplayTransport(path)


def timed(client: OpenAI, turn: dict[str, object]) -> float:
    begun = time.perf_counter()
    client.chat.completions.create(**turn)  # type: ignore[call-overload]
    return time.perf_counter() - begun


def ratio(turns: list[dict[str, object]], rounds: int) -> float:
    """The bare transport's median time over ours; each request goes to both, in changing order."""
    ours: list[float] = []
    bares: list[float] = []
    bare = httpx2.MockTransport(
        lambda _: httpx2.Response(200, content=ANSWER, headers={"content-type": "application/json"})
    )
    for number in range(rounds + 1):
        replayed = OpenAI(api_key="k", http_client=httpx2.Client(transport=recorded(turns)))
        mocked = OpenAI(api_key="k", http_client=httpx2.Client(transport=bare))
        for place, turn in enumerate(turns):
            pairs = ((replayed, ours), (mocked, bares))
            for client, times in pairs if place % 2 else reversed(pairs):
                times.append(timed(client, turn))
        if number == 0:
            # The first round warms up.
            ours.clear()
            bares.clear()
    return statistics.median(bares) / statistics.median(ours)


def main() -> int:
    missed = 0
    for count, rounds in ((10, 30), (1000, 1)):
        turns: list[dict[str, object]] = [
            {"model": "m", "messages": [{"role": "user", "content": f"{n} " + "word " * 6000}]} for n in range(count)
        ]
        value = ratio(turns, rounds)
        missed += value < BAR
        said = "ok" if value >= BAR else "MISSED"
        print(f"in process, {count:>4} turns of 30 KB: {value:.2f}x of a bare mock transport (bar {BAR})  {said}")
    return missed


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
