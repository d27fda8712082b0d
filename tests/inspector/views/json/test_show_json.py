import json

import orjson
from conversations import HELLO, chat, loop, said

from turntape.inspector.views.json.show_json import show_json


def test_one_object_a_round_trip_in_order_of_number() -> None:
    first, second = loop()

    lines = [orjson.loads(line) for line in show_json([second, first])]

    assert [line["index"] for line in lines] == [0, 1]


def test_what_orjson_refuses_is_still_written() -> None:
    """A model may emit half of an emoji, and numbers of any size."""
    arguments = '{"half": "\\ud83d", "big": 12345678901234567890123}'

    [line] = show_json([chat([HELLO], said(None, ("c", "look_up", arguments)))])

    [call] = json.loads(line)["model"]["tool_calls"]
    assert call["arguments_raw"] == arguments
