"""The label of a round trip that is not a turn."""

from typing import Any

import pytest
from round_trips import exchanged

from turntape.inspector.run.labels import label_all

URL = "https://api.openai.com/v1/embeddings"
ASKED = {"model": "text-embedding-3-small", "input": "hello"}
USED = {"prompt_tokens": 8, "total_tokens": 8}


@pytest.mark.parametrize(("usage", "tokens"), [(USED, 8), (None, None)])
def test_what_is_not_a_turn_has_its_usage_and_cost(usage: dict[str, int] | None, tokens: int | None) -> None:
    answer: dict[str, Any] = {"object": "list", "model": ASKED["model"], "data": [], "usage": usage}
    (row,) = label_all([exchanged(URL, ASKED, {key: value for key, value in answer.items() if value is not None})])
    label: dict[str, Any] = dict(row.label)

    assert (label["turn"], label["findings"], label["tool_runs"]) == (None, [], [])
    assert (label["usage"] and label["usage"]["input"]) == tokens
    assert (label["cost_usd"] is None) is (tokens is None)
