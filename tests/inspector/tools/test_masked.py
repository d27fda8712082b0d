import pytest

from turntape.inspector.tools.masked import is_masked

KEY = "export KEY=sk-live-9f31ab77c2d0 # rotate in May\nexport REGION=eu"


@pytest.mark.parametrize(
    ("seen", "masked"),
    [
        ("export KEY=[REDACTED] # rotate in May\nexport REGION=eu", True),
        ("export KEY=*** # rotate in May\nexport REGION=<masked>", True),
        ("[secret removed] # rotate in May export REGION=eu", True),
        (KEY, False),
        ("export KEY=[REDACTED] # rotate in June\nexport REGION=eu", False),
        ("[REDACTED]", True),
        ("export KEY= # rotate in May\nexport REGION=eu", False),
    ],
)
def test_a_text_with_hidden_parts(seen: str, masked: bool) -> None:
    assert is_masked(KEY, seen) == masked


def test_marks_that_the_tool_wrote_itself_hide_nothing() -> None:
    assert not is_masked("name=*** age=41", "name=*** age=42")
    assert not is_masked("a" * 900, "[redacted]")
