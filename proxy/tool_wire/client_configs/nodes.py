"""A value in a text, and where it is; the base of edits that leave all other bytes as they are."""

import json
from collections.abc import Callable
from typing import Any

from turntape.cassettes.frozen import frozen


class NotParsed(ValueError):
    """The text is not what its name says; the message says where."""


@frozen
class Node:
    """A value with its place: `text[start:end]` is how it is written."""

    start: int
    end: int
    value: "str | int | float | bool | None | dict[str, Node] | list[Node]"

    def plain(self) -> Any:
        """The value without places."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value

    def words(self) -> "list[Node] | None":
        """The items of a list of strings; None for anything else."""
        if isinstance(self.value, list) and all(isinstance(item.value, str) for item in self.value):
            return self.value
        return None


@frozen
class Entry:
    """A tool server that is a command, in a configuration file."""

    name: str
    command: Node
    """A string, or the list of all words."""
    args: Node | None
    added: Callable[[str], str]
    """The text that adds a list of arguments behind the command, from the list as text."""

    @property
    def all_words(self) -> list[str]:
        """The command with its arguments."""
        if items := self.command.words():
            return [str(item.value) for item in items]
        return [str(self.command.value), *([str(item.value) for item in self.args.words() or ()] if self.args else ())]


def quoted(word: str) -> str:
    """A string as JSON and TOML both write it."""
    return json.dumps(word, ensure_ascii=False)
