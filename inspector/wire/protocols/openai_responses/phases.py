"""The phases of an answer's messages: a comment on the way, or the final answer.

OpenAI asks for them back with the messages: openai 3.54.0 says so at `EasyInputMessage.phase`.
"""

from collections.abc import Iterator

from ...exchange import Exchange
from ...json_value import Object, as_object, as_text, objects_in
from ..shared.parts import text_of


def phases(exchange: Exchange) -> Iterator[tuple[str, str]]:
    """The text of each message that has a phase, with it."""
    for item in _items(exchange):
        phase = as_text(item.get("phase"))
        if phase is not None:
            yield text_of(item.get("content")), phase


def _items(exchange: Exchange) -> list[Object]:
    if exchange.framing is None:
        return objects_in(exchange.answer_fields.get("output"))
    done = (as_object(event.value) for event in exchange.events)
    return [as_object(event.get("item")) for event in done if event.get("type") == "response.output_item.done"]
