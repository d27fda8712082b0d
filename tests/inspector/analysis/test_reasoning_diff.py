"""What the next request does with an answer's reasoning."""

from typing import Any

import pytest
from judged import item_call, item_output, responses

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run.labels import label_all

ASKED = {"role": "user", "content": "What is a tape?"}
SEALED = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "c2VhbGVk"}


def reasoning_after(*returned: dict[str, Any]) -> object:
    first = responses([ASKED], [SEALED, item_call()], 0, store=False, include=["reasoning.encrypted_content"])
    following: RoundTrip = responses([ASKED, *returned, item_call(), item_output()], [], 1, store=False)
    echo: Any = label_all([first, following])[0].label["client"]
    return echo["echo"]["reasoning"]


@pytest.mark.parametrize(
    ("returned", "state"),
    [
        ((SEALED,), "kept"),
        ((), "dropped"),
        (({**SEALED, "id": {}},), "kept"),
        (({**SEALED, "id": [], "encrypted_content": "b3RoZXI="},), "dropped"),
    ],
    ids=["unchanged", "left out", "an object as id", "a list as id, sealed again"],
)
def test_sealed_reasoning_is_compared_by_what_the_api_sealed(returned: tuple[dict[str, Any], ...], state: str) -> None:
    assert reasoning_after(*returned) == state
