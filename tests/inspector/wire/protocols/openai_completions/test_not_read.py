"""Every field of OpenAI's legacy completions is read, or listed with what happens to it."""

from round_trips import exchanged, sse
from sdk_types import Json, field_samples, fields, literals, not_covered, since

from turntape.inspector.wire.parse import read
from turntape.inspector.wire.protocols.openai_chat.answer import FINISH
from turntape.inspector.wire.protocols.openai_completions.not_read import NOT_READ

URL = "http://localhost:8080/v1/completions"
FIRST: Json = {"index": 9, "text": "so far", "finish_reason": None}
OTHER: Json = {"index": 8, "text": "another", "finish_reason": "stop"}
COUNTED: Json = {"prompt_tokens": 100, "completion_tokens": 100}

pytestmark = since("openai", 3, 54)


def answer(body: Json) -> list[object]:
    """What is read of an answer as one body and as a stream."""
    readings = [read(exchanged(URL, {"prompt": "x"}, one)) for one in (body, sse(body))]
    return [(r.emission, r.finish, r.usage, r.response_id, r.response_model, r.error) for r in readings]


def test_every_field_of_an_answer_is_read_or_listed() -> None:
    from openai.types import Completion

    def is_read(field: Json) -> bool:
        return answer({"choices": [FIRST], **field}) != answer({"choices": [FIRST]})

    assert not_covered(field_samples(Completion), is_read, NOT_READ["answer"]) == []


def test_every_field_of_a_choice_is_read_or_listed() -> None:
    from openai.types import CompletionChoice

    def is_read(field: Json) -> bool:
        return answer({"choices": [{**FIRST, **field}, OTHER]}) != answer({"choices": [FIRST, OTHER]})

    assert not_covered(field_samples(CompletionChoice), is_read, NOT_READ["choice"]) == []


def test_every_count_is_read_or_listed() -> None:
    from openai.types import CompletionUsage

    def is_read(field: Json) -> bool:
        base = {"choices": [FIRST]}
        return answer({**base, "usage": {**COUNTED, **field}}) != answer({**base, "usage": COUNTED})

    assert not_covered(field_samples(CompletionUsage), is_read, NOT_READ["usage"]) == []


def test_every_finish_word_has_a_label() -> None:
    from openai.types import CompletionChoice

    words = literals(fields(CompletionChoice)["finish_reason"])
    assert words and [word for word in words if word not in FINISH] == []
