"""The conditions of `--break-on`."""

import pytest

from turntape.proxy.breakpoints.condition import Condition, parse


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [("tool=send_email", "tool", "send_email"), ("finding=model-*", "finding", "model-*"), ("turn=3", "turn", "3"),
     ("turn=*", "turn", "*"), ("tool=a=b", "tool", "a=b")],
)  # fmt: skip
def test_a_condition_is_read(text: str, kind: str, value: str) -> None:
    condition = parse(text)

    assert (condition.kind, condition.value) == (kind, value)
    assert str(condition) == text


@pytest.mark.parametrize(
    "text", ["send_email", "tool=", "=x", "model=gpt-5", "turn=0", "turn=x", "turn=²", "turn=" + "9" * 5000, ""]
)
def test_any_other_text_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="is not"):
        parse(text)


def test_names_are_met_by_pattern() -> None:
    assert Condition("tool", "send_*").first(["wait", "send_mail", "send_sms"]) == "send_mail"
    assert Condition("tool", "send").first(["send_mail"]) is None
