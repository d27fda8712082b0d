"""Views as packed data."""

import json
import zlib
from base64 import b64decode
from typing import Any

from turntape.inspector.views.report.markup import NOTHING, joined, span, tag
from turntape.inspector.views.report.packed import BLOCK, LONG, Blocks, Texts, node, packed


def opened(block: str | None) -> Any:
    assert block is not None
    return json.loads(zlib.decompress(b64decode(block)))


def test_a_view_is_json_and_a_fragment_leaves_no_trace() -> None:
    view = tag("p", "so ", joined((span("dim good", "it"), NOTHING, "")), class_="warn", title="why", hidden=True)

    assert node(view) == ["p.warn", {"title": "why", "hidden": ""}, "so ", ["span.dim.good", "it"]]
    assert node(joined((span("a", "b"), "c"))) == ["", ["span.a", "b"], "c"]


def test_a_long_text_is_a_number_wherever_it_is() -> None:
    texts = Texts()
    long, short = "x" * LONG, "x" * (LONG - 1)

    assert node(tag("p", long, short, title=long), texts) == ["p", {"title": 0}, 0, short]
    assert node(tag("p", "y" * LONG), texts) == ["p", 1]
    assert (texts.new, texts.size, texts.count) == ([long, "y" * LONG], 2 * LONG, 2)
    assert node(tag("p", long)) == ["p", long]


def test_control_characters_are_visible_in_long_and_short_texts() -> None:
    texts = Texts()

    assert node(tag("p", "\x1b[31m", "\u202e" + "z" * LONG), texts) == ["p", "\\x1b[31m", 0]
    assert texts.new == ["\\x202e" + "z" * LONG]


def test_no_recorded_text_can_end_the_script_element() -> None:
    assert set(packed({"text": "</script><!--"})).isdisjoint("<>-")


def test_a_block_ends_when_it_has_enough_text_and_a_known_text_is_not_in_the_next() -> None:
    blocks = Blocks()
    big = "b" * BLOCK
    first = blocks.add({"view": node(tag("p", big), blocks.texts)})
    assert blocks.add({"view": node(tag("p", big, "a" * LONG), blocks.texts)}) is None
    second = blocks.close()

    assert opened(first) == {"views": [{"view": ["p", 0]}], "texts": [big]}
    assert opened(second) == {"views": [{"view": ["p", 0, 1]}], "texts": ["a" * LONG]}
    assert (blocks.first_places, blocks.first_texts) == ([0, 1], [0, 1])
    assert blocks.close() is None
