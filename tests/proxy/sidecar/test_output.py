"""Labels are written whatever a model emits."""

import orjson
import pytest

from turntape.proxy.sidecar.output import send


def test_a_label_is_a_word_and_an_object(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    send("3", {"text": "é"}, now=True)

    assert capfdbinary.readouterr().out == '3 {"text":"é"}\n'.encode()


def test_half_of_a_surrogate_pair_and_a_huge_integer_cost_no_label(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    send("3", {"id": "a\udcc3b", "count": 2**70}, now=True)

    head, _, value = capfdbinary.readouterr().out.partition(b" ")
    assert head == b"3"
    assert orjson.loads(value) == {"id": "a?b", "count": float(2**70)}
