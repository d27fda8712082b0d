"""What the answers of endpoints other than generation count, and what that costs."""

import json
from decimal import Decimal

import pytest
from judged import trip

from turntape.cassettes.tape.model import Request, Response, RoundTrip
from turntape.inspector.analysis.pricing import cost, cost_of
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.values import Usage

OPENAI = "https://api.openai.com/v1"
GOOGLE = "https://generativelanguage.googleapis.com/v1beta/models"
BEDROCK = "https://bedrock-runtime.us-east-1.amazonaws.com/model"


def asked(url: str, request: object, answer: object, usage: Usage, price: str | None) -> object:
    return pytest.param(trip(url, request, answer), usage, price, id=url.rpartition("://")[2][-44:])


@pytest.mark.parametrize(
    ("given", "usage", "price"),
    [
        asked(
            f"{OPENAI}/embeddings",
            {"model": "text-embedding-3-small", "input": "a strip"},
            {"data": [], "model": "text-embedding-3-small", "usage": {"prompt_tokens": 1000, "total_tokens": 1000}},
            Usage(1000),
            "0.00002",
        ),
        asked(
            "https://api.voyageai.com/v1/embeddings",
            {"model": "voyage-of-nobody", "input": "a strip"},
            {"data": [], "model": "voyage-of-nobody", "usage": {"total_tokens": 7}},
            Usage(7),
            None,
        ),
        asked(
            f"{GOOGLE}/gemini-embedding-001:embedContent",
            {"content": {"parts": [{"text": "a strip"}]}},
            {"embedding": {"values": [0.1]}, "usageMetadata": {"promptTokenCount": 1000, "totalTokenCount": 1000}},
            Usage(1000),
            "0.00015",
        ),
        asked(
            f"{BEDROCK}/amazon.titan-embed-text-v2%3A0/invoke",
            {"inputText": "a strip"},
            {"embedding": [0.1], "inputTextTokenCount": 1000},
            Usage(1000),
            "0.00002",
        ),
        asked(
            f"{OPENAI}/images/generations",
            {"model": "gpt-image-1.5", "prompt": "a strip"},
            {
                "data": [{"b64_json": ""}],
                "usage": {
                    "input_tokens": 100,
                    "input_tokens_details": {"image_tokens": 40, "text_tokens": 60},
                    "output_tokens": 1000,
                    "total_tokens": 1100,
                },
            },
            Usage(100, output=1000, input_image=40, output_image=1000),
            # $5 for a million tokens of text, $8 of a picture, $32 of a new one.
            "0.03262",
        ),
        asked(
            f"{OPENAI}/audio/transcriptions",
            {"model": "whisper-1"},
            {"text": "a strip", "usage": {"type": "duration", "seconds": 30}},
            Usage(audio_seconds=30.0),
            "0.003",
        ),
        asked(
            f"{OPENAI}/audio/transcriptions",
            {"model": "gpt-4o-transcribe"},
            {
                "text": "a strip",
                "usage": {
                    "type": "tokens",
                    "input_tokens": 100,
                    "input_token_details": {"audio_tokens": 90, "text_tokens": 10},
                    "output_tokens": 20,
                    "total_tokens": 120,
                },
            },
            Usage(100, output=20, input_audio=90),
            "0.000765",
        ),
        asked(
            f"{OPENAI}/audio/speech", {"model": "tts-1", "input": "a strip " * 100}, {}, Usage(characters=800), "0.012"
        ),
        # Characters are not what this model is billed by: it is unpriced, not free.
        asked(f"{OPENAI}/audio/speech", {"model": "gpt-4o-mini-tts", "input": "a"}, {}, Usage(characters=1), None),
        asked(
            "https://api.cohere.com/v2/rerank",
            {"model": "rerank-v3.5", "query": "a", "documents": ["b"]},
            {"results": [], "meta": {"billed_units": {"search_units": 1}}},
            Usage(rerank_searches=1),
            None,
        ),
        asked(
            "https://openrouter.ai/api/v1/embeddings",
            {"model": "openai/text-embedding-3-small", "input": "a"},
            {"data": [], "usage": {"prompt_tokens": 5, "total_tokens": 5, "cost": 0.0000001}},
            Usage(5),
            "1E-7",
        ),
    ],
)
def test_an_answer_says_what_it_counts(given: RoundTrip, usage: Usage, price: str | None) -> None:
    reading = read(given)

    assert reading.problems == ()
    assert reading.usage == usage
    assert cost(given, reading) == (None if price is None else Decimal(price))


def test_a_stream_of_a_picture_counts_at_its_end() -> None:
    usage = {"input_tokens": 10, "output_tokens": 1000, "total_tokens": 1010}
    events = [{"type": "image_generation.partial_image"}, {"type": "image_generation.completed", "usage": usage}]
    content = b"".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in events)
    given = RoundTrip(
        Request("POST", f"{OPENAI}/images/generations", (), b'{"model": "gpt-image-1", "stream": true}'),
        Response(200, headers=(("content-type", "text/event-stream"),), content=content),
        1.79e9,
    )

    assert read(given).usage == Usage(10, output=1000, output_image=1000)
    assert cost(given, read(given)) == Decimal("0.04005")


@pytest.mark.parametrize(
    ("path", "answer", "status"),
    [
        ("moderations", {"results": [{"flagged": False}]}, 200),
        ("embeddings", [[0.1]], 200),
        ("embeddings", {"error": {"message": "no"}, "usage": {"prompt_tokens": 5}}, 429),
        ("files", {"id": "file-1", "usage": {"prompt_tokens": 5}}, 200),
        ("rerank", {"results": []}, 200),
    ],
)
def test_what_counts_nothing_has_no_cost(path: str, answer: object, status: int) -> None:
    given = trip(f"{OPENAI}/{path}", {"model": "text-embedding-3-small"}, answer, status=status)

    assert read(given).usage is None
    assert cost_of(given, read(given)) is None


def test_a_wrong_count_is_reported_and_not_used() -> None:
    given = trip(f"{OPENAI}/embeddings", {"model": "text-embedding-3-small"}, {"usage": {"prompt_tokens": -4}})

    assert read(given).usage_problems == ("usage.prompt_tokens is -4, which is not a count of tokens.",)
    assert cost(given, read(given)) is None
