"""The cost of a turn: stated by the answer, or computed by the price list, or unknown."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from conversations import HELLO, chat, said

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.analysis.pricing import Cost, CostParts, cost, cost_of, listed_cost
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.values import Reading, StatedCost, Usage

NOVEMBER = datetime(2026, 11, 20, tzinfo=UTC).timestamp()


def turn(stated: StatedCost | None = None, *, model: str = "gpt-5-2025-08-07") -> tuple[RoundTrip, Reading]:
    """A turn of a thousand tokens in and a thousand out, at an answer that states this cost."""
    trip = chat([HELLO], said("hi"), usage=(1000, 1000), model=model)
    return trip, replace(read(trip), stated_cost=stated)


def test_a_known_model_is_priced_by_its_tokens() -> None:
    trip = chat([HELLO], said("hi"), usage=(1_000_000, 0))
    twice = chat([HELLO], said("hi"), usage=(2_000_000, 0))
    price, double = cost(trip, read(trip)), cost(twice, read(twice))

    assert price is not None and price > 0
    assert double == 2 * price
    assert isinstance(price, Decimal)


def test_an_unknown_model_is_unpriced_and_not_free() -> None:
    trip = chat([HELLO], said("hi"), model="my-own-finetune-of-something")

    assert cost_of(trip, read(trip)) is None
    assert cost(trip, read(trip)) is None


def test_a_turn_without_usage_is_unpriced() -> None:
    trip = chat([HELLO], said("hi"), usage=None)

    assert cost(trip, read(trip)) is None


def test_the_price_list_gives_the_part_of_the_input() -> None:
    # On that day a million tokens of gpt-5 cost $1.25 in and $10 out.
    assert cost_of(*turn()) == Cost(Decimal("0.01125"), "listed", Decimal("0.00125"))


def test_the_cost_that_the_answer_states_comes_first() -> None:
    given = turn(StatedCost(Decimal("0.5"), Decimal("0.1")))

    assert cost_of(*given) == Cost(Decimal("0.5"), "stated", Decimal("0.1"))
    assert cost(*given) == Decimal("0.5")
    assert listed_cost(*given) == Decimal("0.01125")


def test_a_stated_sum_has_the_listed_share_of_the_input() -> None:
    assert cost_of(*turn(StatedCost(Decimal("0.9")))) == Cost(Decimal("0.9"), "stated", Decimal("0.1"))


def test_a_stated_cost_needs_neither_a_listed_model_nor_usage() -> None:
    trip, reading = turn(StatedCost(Decimal("0.9")), model="acme-1")

    assert cost_of(trip, reading) == Cost(Decimal("0.9"), "stated", None)
    assert cost_of(trip, replace(reading, usage=None)) == Cost(Decimal("0.9"), "stated", None)


def test_a_stated_zero_is_a_price() -> None:
    assert cost_of(*turn(StatedCost(Decimal(0)))) == Cost(Decimal(0), "stated", Decimal(0))


def test_a_stated_value_without_an_amount_is_passed_over() -> None:
    found = cost_of(*turn(StatedCost(None, problems=("cost is 'x'.",))))

    assert found is not None
    assert found.source == "listed"


def listed(model: str, provider: str, usage: Usage, **terms: str) -> Decimal | None:
    """What the price list asks for this usage."""
    trip, reading = turn(model=model)
    trip = replace(trip, started_at=NOVEMBER)
    return listed_cost(trip, replace(reading, provider=provider, response_model=model, usage=usage, price_terms=terms))


def test_what_is_kept_for_an_hour_costs_more() -> None:
    usage = Usage(100_000, 0, 100_000, 0)

    assert listed("claude-sonnet-4-5", "anthropic", usage) == Decimal("0.375")
    assert listed("claude-sonnet-4-5", "anthropic", replace(usage, cache_write_1h=100_000)) == Decimal("0.6")


def test_searches_have_a_fee() -> None:
    usage = Usage(100_000, None, None, 0)

    assert listed("claude-sonnet-4-5", "anthropic", replace(usage, web_searches=2)) == Decimal("0.32")


def test_sound_has_its_own_price() -> None:
    plain = listed("gpt-realtime", "openai", Usage(100_000, None, None, 1000))
    heard = listed("gpt-realtime", "openai", Usage(100_000, None, None, 1000, input_audio=100_000))
    spoken = listed("gpt-realtime", "openai", Usage(100_000, None, None, 1000, output_audio=1000))

    assert plain is not None and heard is not None and spoken is not None
    assert heard > plain
    assert spoken > plain


def test_the_terms_of_the_answer_change_the_price() -> None:
    usage = Usage(100_000, None, None, 0)

    assert listed("gpt-5", "openai", usage) == Decimal("0.125")
    assert listed("gpt-5", "openai", usage, service_tier="flex") == Decimal("0.0625")
    assert listed("gpt-5", "openai", usage, service_tier="standard") == Decimal("0.125")


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings file of a project that the test works in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "turntape.toml"


def private(usage: Usage, model: str = "acme-7b") -> Cost | None:
    """The cost of a private model with this usage."""
    trip, reading = turn(model=model)
    return cost_of(trip, replace(reading, response_model=model, usage=usage))


def test_the_settings_price_a_private_model(settings: Path) -> None:
    settings.write_text("prices.Acme-7B = {input = 10, output = 100, cache_read = 1, cache_write = 20}")

    cost = private(Usage(1_000_000, 200_000, 300_000, 10_000))

    assert cost == Cost(Decimal("12.2"), "settings", Decimal("11.2"))


def test_cached_tokens_cost_as_the_input_where_the_settings_do_not_say(settings: Path) -> None:
    settings.write_text("prices.acme-7b = {input = 10, output = 100}")

    assert private(Usage(1_000_000, 200_000, 300_000, 0)) == Cost(Decimal(10), "settings", Decimal(10))


def test_a_private_model_costs_as_a_listed_one(settings: Path) -> None:
    settings.write_text('prices.acme-7b = {like = "openai/gpt-5"}')

    assert private(Usage(1000, None, None, 1000)) == Cost(Decimal("0.01125"), "settings", Decimal("0.00125"))


def test_a_model_like_one_that_is_not_listed_is_unpriced(settings: Path) -> None:
    settings.write_text('prices.acme-7b = {like = "openai/gpt-none"}')

    assert private(Usage(1000, None, None, 1000)) is None


def test_a_name_comes_before_a_pattern(settings: Path) -> None:
    settings.write_text(
        'prices."acme-*" = {input = 1, output = 1}\n'
        "prices.acme-7b = {input = 2, output = 2}\n"
        'prices."acme-9*" = {input = 3, output = 3}\n'
    )
    million = Usage(1_000_000, None, None, 0)

    found = [private(million, model) for model in ("acme-7b", "acme-8b", "acme-9b", "acmee")]

    assert [one and one.amount for one in found] == [2, 1, 1, None]


def test_the_settings_come_before_the_price_list_and_after_the_answer(settings: Path) -> None:
    settings.write_text('prices."gpt-5*" = {input = 1000, output = 0}')

    assert cost_of(*turn()) == Cost(Decimal(1), "settings", Decimal(1))
    assert cost_of(*turn(StatedCost(Decimal("0.5"), Decimal(0)))) == Cost(Decimal("0.5"), "stated", Decimal(0))


def test_a_price_needs_counts(settings: Path) -> None:
    settings.write_text("prices.acme-7b = {input = 10, output = 100}")

    assert private(Usage(1000, None, None, None)) is None
    assert private(Usage(None, None, None, 1000)) is None


def test_a_gateway_asks_what_the_vendor_asks() -> None:
    assert listed("anthropic/claude-haiku-4.5", "vercel", Usage(1_000_000, None, None, 0)) == Decimal(1)
    assert listed("acme/claude-haiku-4.5", "vercel", Usage(1_000_000, None, None, 0)) is None


def test_the_cost_is_divided_by_kind_of_token() -> None:
    # claude-sonnet-4-5: a million tokens cost $3, from the cache $0.30, into it $3.75 or for an hour $6; $15 out.
    usage = Usage(1_000, 600, 100, 50, cache_write_1h=40)
    trip, reading = turn(model="claude-sonnet-4-5")
    found = cost_of(trip, replace(reading, usage=usage, provider="anthropic"))

    assert found is not None
    assert found.parts is not None
    assert found.parts == CostParts(
        Decimal("0.00018"),
        Decimal("0.000225") + Decimal("0.00024"),
        Decimal("0.0009"),
        Decimal("0.00075"),
        Decimal(0),
    )
    assert found.parts.total == found.amount


def test_a_long_prompt_has_the_prices_of_its_tier_in_all_kinds() -> None:
    # Above 200,000 tokens of input: $6 a million, $0.60 from the cache.
    trip, reading = turn(model="claude-sonnet-4-5")
    found = cost_of(trip, replace(reading, usage=Usage(300_000, 200_000, None, 10), provider="anthropic"))

    assert found is not None
    assert found.parts is not None
    assert (found.parts.cache_read, found.parts.fresh) == (Decimal("0.12"), Decimal("0.6"))


def test_a_stated_cost_is_divided_like_the_listed_one() -> None:
    parts = CostParts(*map(Decimal, ("1", "2", "1", "4", "2")))

    assert parts.scaled(Decimal(5), None) == CostParts(*map(Decimal, ("0.5", "1", "0.5", "2", "1")))
    assert parts.scaled(Decimal(5), Decimal(2)) == CostParts(*map(Decimal, ("0.5", "1", "0.5", "2", "1")))
    assert parts.scaled(Decimal(14), Decimal(8)) == CostParts(*map(Decimal, ("2", "4", "2", "4", "2")))


def test_a_cost_whose_shares_nobody_knows_is_not_divided() -> None:
    free = CostParts(*(Decimal(0),) * 5)

    assert free.scaled(Decimal(1), None) is None
    assert free.scaled(Decimal(0), None) == free

    inputs = CostParts(Decimal(0), Decimal(0), Decimal(1), Decimal(0), Decimal(0))
    assert inputs.scaled(Decimal(5), Decimal(1)) is None, "four dollars are for output, which cost nothing"
    assert inputs.scaled(Decimal(5), Decimal(5)) == replace(inputs, fresh=Decimal(5))


def asked(model: str, usage: Usage, provider: str = "openai") -> Cost | None:
    trip, reading = turn(model=model)
    return cost_of(trip, replace(reading, usage=usage, provider=provider))


def test_sound_that_was_cached_has_a_price_of_its_own() -> None:
    # A million tokens: text $4, sound $32, both $0.40 from the cache; out, text $16 and sound $64.
    said = asked("gpt-realtime", Usage(1000, 900, 0, 100, input_audio=500, cached_audio=450, output_audio=50))
    unsaid = asked("gpt-realtime", Usage(1000, 900, 0, 100, input_audio=500, output_audio=50))

    assert said is not None and unsaid is not None
    assert said.input == (Decimal(50) * 4 + 50 * 32) / 1_000_000 + Decimal("0.00036")
    # Where the answer does not say, all text was cached, and of the sound what must have been.
    assert unsaid.input == Decimal(100) * 32 / 1_000_000 + Decimal("0.00036")
    assert said.amount - (said.input or 0) == Decimal("0.004")


def test_a_picture_in_an_answer_costs_more_than_its_text() -> None:
    picture = asked("gemini-2.5-flash-image", Usage(0, output=1290, output_image=1290), "google")
    text = asked("gemini-2.5-flash-image", Usage(0, output=1290), "google")

    assert picture is not None and text is not None
    assert picture.amount == 12 * text.amount == Decimal("0.0387")


def test_a_model_that_is_priced_by_the_second_has_no_price_for_tokens() -> None:
    assert asked("whisper-1", Usage(1000, output=1000)) is None


def test_more_tokens_for_an_hour_than_were_written_are_not_priced() -> None:
    odd = asked("claude-sonnet-4-5", Usage(1000, 0, 100, 0, cache_write_1h=900), "anthropic")
    sound = asked("claude-sonnet-4-5", Usage(1000, 0, 100, 0, cache_write_1h=100), "anthropic")

    assert odd == sound is not None


def test_searches_are_a_fee_beside_the_tokens() -> None:
    without = asked("gpt-4o", Usage(1000, output=10))
    found = asked("gpt-4o", Usage(1000, output=10, web_searches=2, file_searches=4))

    assert without is not None and found is not None and found.parts is not None
    assert found.amount - without.amount == found.parts.other == Decimal("0.03")
    assert found.input == without.input
