import ast
import re
from pathlib import Path

import pytest

from turntape.cassettes.regex import regex

ROOT = Path(__file__).parents[2]


def test_an_expression_is_compiled_when_it_is_first_used_and_once() -> None:
    broken = regex("(")
    with pytest.raises(re.error, match="unterminated"):
        broken.search("a")
    found = regex("A(b)", re.IGNORECASE)
    assert found.search is found.search
    assert (found.pattern, found.groups, found.sub("-", "xabx")) == ("A(b)", 1, "x-x")
    assert regex(rb"a+").fullmatch(b"aa")


def test_every_expression_that_is_written_out_can_be_compiled() -> None:
    texts = [text for floor in ("cassettes", "inspector") for text in _expressions(ROOT / floor)]
    assert len(texts) > 200
    for text in texts:
        re.compile(text)


LITERAL = re.compile(r"""\bregex\(\s*([rb]*(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))[,)]""")


def _expressions(folder: Path) -> list[str | bytes]:
    """What is one literal in `regex(…)`, found in the text: a tree of every module takes too long."""
    return [ast.literal_eval(one) for file in folder.rglob("*.py") for one in LITERAL.findall(file.read_text("utf-8"))]
