"""Replays per second in process, against a bare mock transport that returns the same bytes, through the openai SDK."""

import json
import statistics
import time

import httpx2
from openai import OpenAI

from turntape.cassettes import ReplayTransport, Request, Response, RoundTrip

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


def rate(transport: httpx2.BaseTransport | ReplayTransport, turns: list[dict[str, object]]) -> float:
    with OpenAI(api_key="k", http_client=httpx2.Client(transport=transport)) as client:
        start = time.perf_counter()
        for turn in turns:
            client.chat.completions.create(**turn)  # type: ignore[call-overload]
        return len(turns) / (time.perf_counter() - start)


def recorded(turns: list[dict[str, object]]) -> ReplayTransport:
    kind = (("content-type", "application/json"),)
    sent = [httpx2.Request("POST", URL, json=turn).content for turn in turns]
    return ReplayTransport(
        [RoundTrip(Request("POST", URL, content=s), Response(200, "", kind, ANSWER), 0.0) for s in sent]
    )


def main() -> None:
    for count, rounds in ((10, 15), (1000, 3)):
        turns = [
            {"model": "m", "messages": [{"role": "user", "content": f"{n} " + "word " * 6000}]} for n in range(count)
        ]
        ratios: list[float] = []
        for _ in range(rounds):
            bare = httpx2.MockTransport(
                lambda _: httpx2.Response(200, content=ANSWER, headers={"content-type": "application/json"})
            )
            base = rate(bare, turns)
            ratios.append(rate(recorded(turns), turns) / base)
        print(f"in process, {count:>4} turns of 30 KB: {statistics.median(ratios):.2f} x of a bare mock transport")


if __name__ == "__main__":
    main()
