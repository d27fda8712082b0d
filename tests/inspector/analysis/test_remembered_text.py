import pytest

from turntape.inspector.analysis import remembered_text
from turntape.inspector.analysis.remembered_text import remembered


def test_a_few_pages_are_kept_whole() -> None:
    assert len(remembered("x" * 20_000).front) == 16_384


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered_text, "LONG", 10)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("said", ["0123456", "0123456789 and much more"])
def test_a_text_is_found_where_the_whole_of_it_is(said: str) -> None:
    text = remembered(said)

    assert text.is_in(said) and text.is_in(f"before {said} after") and text.is_in(f"{said[:12]}, {said}")
    assert [text.is_in(one) for one in (said[:-1], f"{said[:-1]}? and so on", "")] == [False, False, False]


@pytest.mark.usefixtures("short")
def test_of_a_long_text_only_the_beginning_is_kept() -> None:
    assert remembered("0123456789 and much more").front == "0123456789"


@pytest.mark.usefixtures("short")
def test_a_text_that_begins_alike_everywhere_does_not_take_time_that_grows_with_its_square(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hashed: list[int] = []
    monkeypatch.setattr(remembered_text, "hash", lambda text: hashed.append(len(text)) or -len(hashed), raising=False)
    one = remembered("a" * 1000 + "b")

    assert not one.is_in("a" * 9000)
    assert 2 < len(hashed) < 20


@pytest.mark.usefixtures("short")
def test_a_text_of_exactly_the_length_that_is_kept_is_compared_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered_text, "hash", lambda text: 0 / 0 if len(text) < 10 else 1, raising=False)

    assert remembered("0123456789").is_in("before 0123456789")
    assert remembered("0123456789a").is_in("0123456789 0123456789a") is True
