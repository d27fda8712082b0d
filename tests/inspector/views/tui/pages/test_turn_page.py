"""The page of a turn."""

from conversations import HELLO, chat, loop, said

from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.pages.turn_page import turn_page


def head(run: Run) -> str:
    block = turn_page(run.detail(0), run.rows, 0).blocks[0]
    return "\n".join("".join(text for text, _ in line) for line in block.body(100))  # type: ignore[operator]


def test_a_cost_that_the_api_stated_is_marked() -> None:
    answer = {"model": "gpt-5", "choices": [{"index": 0, "message": said("so"), "finish_reason": "stop"}]}
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7, "cost": 0.25}

    assert "$0.250 (stated by the API)" in head(Run.of([chat([HELLO], error=answer | {"usage": usage})]))
    assert "stated" not in head(Run.of(loop()))


def test_a_refused_turn_has_no_tokens_and_no_unknown_cost() -> None:
    refused = head(Run.of([chat([HELLO], error={"error": {"message": "no"}}, status=429)]))

    assert "no tokens were counted" in refused and "unpriced" not in refused and "?" not in refused
    assert "unpriced" in head(Run.of([chat([HELLO], said("x"), model="unheard-of")]))
