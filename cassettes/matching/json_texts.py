"""The strings in a JSON value."""

from collections.abc import Callable
from typing import cast


def with_texts(value: object, change: Callable[[str], str]) -> object:
    """The value with another text for each string; keys and their order stay."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: with_texts(item, change) for key, item in cast(dict[str, object], value).items()}
    if isinstance(value, list):
        return [with_texts(item, change) for item in cast(list[object], value)]
    return value
