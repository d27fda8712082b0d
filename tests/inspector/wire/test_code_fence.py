"""A text that is one block of code."""

import pytest

from turntape.inspector.wire.code_fence import unfenced

BLOCKS = {
    '```json\n{"a": 1}\n```': ("json", '{"a": 1}'),
    '  ```\n{"a": 1}```\n\n': ("", '{"a": 1}'),
    "```c++ \n\n  x = 1;\n  y = 2;\n\n```": ("c++", "  x = 1;\n  y = 2;"),
    "```\n\n```": ("", ""),
    "```\nfirst\n```\nand\n```\nsecond\n```": ("", "first\n```\nand\n```\nsecond"),
}
OTHERS = ("", "```", "``````", '{"a": 1}', "```json {}```", "Here:\n```\n{}\n```", "```\n{}\n``` so", "```a b\n{}\n```")


@pytest.mark.parametrize(("text", "found"), BLOCKS.items())
def test_the_content_of_a_block_is_read_with_its_language(text: str, found: tuple[str, str]) -> None:
    assert unfenced(text) == found


@pytest.mark.parametrize("text", OTHERS)
def test_any_other_text_is_not_a_block(text: str) -> None:
    assert unfenced(text) is None


def test_a_model_that_writes_only_line_breaks_takes_no_time() -> None:
    assert unfenced("```json" + "\n" * 1_000_000) is None
    assert unfenced("```json" + "\n" * 1_000_000 + "```") == ("json", "")
