"""Every streamed answer of the corpus that can be edited reads the same when it goes out unedited in new frames."""

from collections import Counter
from dataclasses import replace

import pytest

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.wire.exchange import Exchange
from turntape.inspector.wire.parse import read_exchange
from turntape.inspector.wire.registry import built_in
from turntape.inspector.wire.rewrite import NotEditable, document, remade
from turntape.inspector.wire.values import Reading

from .corpus import ABSENT, files, read_file

PROTOCOLS = {protocol.name for protocol in built_in() if protocol.rewrite is not None}
LEFT_OUT = 3
"""Streams that say what frames of ours cannot: refused, never altered."""


def said(reading: Reading) -> tuple[object, ...]:
    emission, finish = reading.emission, reading.finish
    assert emission and finish
    calls = [(call.name, call.id, call.arguments) for call in emission.calls]
    return emission.text, emission.reasoning, emission.signatures, calls, finish.raw, reading.usage


def again(trip: RoundTrip) -> Reading:
    assert trip.response
    body = b"".join(remade(trip, document(trip)))
    return read_exchange(Exchange(replace(trip, response=replace(trip.response, content=body))))


@pytest.mark.skipif(not files(), reason=ABSENT)
def test_an_unedited_answer_reads_as_it_did() -> None:
    outcomes: Counter[str] = Counter()
    for path in files():
        for recorded in read_file(path):
            exchange = Exchange(recorded.round_trip)
            if not recorded.generation or exchange.framing is None:
                continue
            reading = read_exchange(exchange)
            if reading.protocol not in PROTOCOLS or not reading.is_generation:
                continue
            try:
                assert said(again(recorded.round_trip)) == said(reading), recorded.cassette
                outcomes["same"] += 1
            except NotEditable:
                outcomes["refused"] += 1

    assert outcomes["same"] > 1000
    assert outcomes["refused"] <= LEFT_OUT
