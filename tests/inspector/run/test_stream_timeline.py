"""An answer as it was at a time."""

from viewing import EXAMPLE

from turntape.inspector.run.run_index import Run
from turntape.inspector.run.stream_timeline import arrived, length

RUN = Run.load(EXAMPLE)


def test_nothing_is_there_before_the_first_byte() -> None:
    reading = arrived(RUN.detail(0), 100_000)

    assert reading.emission is None
    assert reading.finish is None


def test_the_text_grows_and_the_whole_is_the_reading_itself() -> None:
    detail = RUN.detail(0)
    texts = [
        (arrived(detail, at).emission or detail.reading.emission).text  # type: ignore[union-attr]
        for at in range(1_800_000, 2_400_000, 100_000)
    ]

    assert all(later.startswith(earlier) for earlier, later in zip(texts, texts[1:], strict=False))
    assert texts[0] != texts[-1]
    assert arrived(detail, length(detail)) is detail.reading


def test_half_an_answer_does_not_make_a_finding() -> None:
    half = arrived(RUN.detail(0), 1_900_000)

    assert half.finish is not None and half.finish.effective == "cut"
    assert RUN.detail(0).reading.finish is not None
