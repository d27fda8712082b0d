"""Our cost of every recorded answer that states its own is the stated one."""

from decimal import Decimal

import pytest

from corpus import corpus
from corpus.prices import priced, stated, verdict


@pytest.mark.skipif(corpus.folder() is None, reason=corpus.ABSENT)
def test_every_cost_that_an_answer_states_is_ours_within_two_percent() -> None:
    answers = list(priced())

    assert len(answers) > 400
    assert [one for one in answers if verdict(one.ours, one.stated) or one.source != "stated"] == []


@pytest.mark.parametrize(
    ("body", "amount"),
    [
        (b'{"usage":{"cost":0.5}}', "0.5"),
        (b'data: {"usage":{"cost":1}}\n\ndata: {"usage":{"cost":2e-3}}\n\n', "0.002"),
        (b'{"usage":{"cost":0.1,"is_byok":true,"cost_details":{"upstream_inference_cost":0.4}}}', "0.5"),
        (b'{"usage":{"cost":0.1,"is_byok":false,"cost_details":{"upstream_inference_cost":0.1}}}', "0.1"),
        (b'{"usage":{"cost":{"input_tokens_cost":1,"total_cost":3}}}', "3"),
        (b'{"usage":{"cost_in_usd_ticks":20000000000}}', "2"),
        (b'{"copilot_usage":{"total_nano_aiu":3000000000}}', "0.03"),
        (b'{"cost":{"diem":0,"usd":7}}', "7"),
        (b'{"choices":[],"cost":"0.25"}', "0.25"),
    ],
)
def test_the_second_reader_finds_a_stated_cost(body: bytes, amount: str) -> None:
    assert stated(body) == Decimal(amount)


def test_the_second_reader_finds_no_cost_where_there_is_none() -> None:
    assert stated(b'{"usage":{"prompt_tokens":3}}') is None


@pytest.mark.parametrize(
    ("ours", "column"), [(None, "missing"), ("1.02", None), ("1.021", "> 2 %"), ("0.9", "> 2 %"), ("0.89", "> 10 %")]
)
def test_an_answer_counts_in_one_column(ours: str | None, column: str | None) -> None:
    assert verdict(None if ours is None else Decimal(ours), Decimal(1)) == column
