"""Where each API documents the parts of a request and of an answer, so that a fault can edit one of them."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..bodies import Body, Json


@dataclass(slots=True)
class Place:
    """One value in a JSON document: `holder[key]`."""

    holder: Any
    key: Any

    @property
    def value(self) -> Any:
        return self.holder[self.key]

    @value.setter
    def value(self, value: Any) -> None:
        self.holder[self.key] = value


@dataclass(slots=True)
class Value:
    """A value that is written once, in fragments that a client joins, or in several copies."""

    fragments: list[Place] = field(default_factory=list[Place])
    copies: list[Place] = field(default_factory=list[Place])

    def __bool__(self) -> bool:
        return bool(self.fragments or self.copies)

    def get(self) -> Any:
        if self.copies:
            return self.copies[0].value
        values = [place.value for place in self.fragments]
        return values[0] if len(values) == 1 else "".join(v for v in values if isinstance(v, str))

    def set(self, value: Any) -> None:
        for number, place in enumerate(self.fragments):
            place.value = "" if number else value
        for place in self.copies:
            place.value = deepcopy(value)


@dataclass(slots=True)
class Call:
    """A call, in an answer or in a history."""

    id: Value
    """Nothing where the API gives calls no id."""
    name: Value
    arguments: Value
    text: bool
    """True where arguments are a string of JSON."""
    owner: list[Any] = field(default_factory=list[Any])
    """In a history: the list that holds the call."""
    node: Any = None
    """In a history: the entry of that list."""

    @property
    def known(self) -> Any:
        """The arguments as an object; None when they are none."""
        value = self.arguments.get()
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value or "{}")
        except ValueError:
            return None

    def give(self, arguments: Any) -> None:
        """Other arguments: an object, or text that is written as it is where arguments are text."""
        if self.text and not isinstance(arguments, str):
            arguments = json.dumps(arguments)
        self.arguments.set(arguments)

    @property
    def identity(self) -> str | None:
        return self.id.get() if self.id else None


@dataclass(slots=True)
class Result:
    """A result in a history."""

    id: Place | None
    name: Place | None
    text: Place
    owner: list[Any]
    node: Any

    @property
    def identity(self) -> str | None:
        return self.id.value if self.id else None


@dataclass(slots=True)
class Said:
    """A text in a history."""

    role: str
    """`user` or `assistant`."""
    text: Place
    owner: list[Any]
    node: Any


@dataclass(slots=True)
class Tool:
    name: Place
    description: Place | None
    schema: Json
    owner: list[Any]
    node: Any


class Shape(ABC):
    """One protocol. Every method reads or edits parsed JSON in place."""

    protocol: ClassVar[str]
    with_ids: ClassVar[bool] = True
    """True when results name their calls by id."""
    text_arguments: ClassVar[bool] = False
    """True when arguments are a string of JSON."""
    GOOD: ClassVar[frozenset[str]]
    """Finish words of a healthy answer."""
    FINISH: ClassVar[dict[str, str]] = {}
    """The API's words for `stop`, `calls`, `length`, `filter` and `refusal`, where it has one."""

    # Requests

    @abstractmethod
    def history(self, body: Json) -> list[Any]:
        """The messages or items, oldest first."""

    @abstractmethod
    def calls(self, body: Json) -> list[Call]:
        """The calls in the history."""

    @abstractmethod
    def results(self, body: Json) -> list[Result]: ...

    @abstractmethod
    def said(self, body: Json) -> list[Said]:
        """The texts of the user and of the assistant."""

    @abstractmethod
    def system(self, body: Json) -> Place | None:
        """The text of the system prompt."""

    @abstractmethod
    def tools(self, body: Json) -> list[Tool]: ...

    @abstractmethod
    def user(self, text: str) -> Json:
        """A new message of the user."""

    @abstractmethod
    def assistant(self, text: str) -> Json: ...

    @abstractmethod
    def called(self, identity: str, name: str, arguments: Json, result: str) -> list[Json]:
        """The entries of a history for one call and its result."""

    def holds_all(self, body: Json) -> bool:
        """True when the request brings the whole history."""
        return True

    def reasoning(self, body: Json) -> list[tuple[list[Any], Any, Place | None]]:
        """Signed or required reasoning in the history: the list, the entry, and the signature."""
        return []

    def drop(self, body: Json, owner: list[Any], node: Any) -> None:
        """Take an entry out of the history, and the message that has nothing left."""
        _without(owner, node)
        history = self.history(body)
        for message in list(history):
            if any(message.get(key) is owner for key in ("content", "parts", "tool_calls")) and not owner:
                _without(history, message)

    def tool_choice(self, body: Json) -> bool:
        """Require a call; False when this API cannot."""
        return False

    def one_call_only(self, body: Json) -> bool:
        """Forbid parallel calls; False when this API cannot."""
        return False

    def model(self, body: Json) -> Place | None:
        """The model that the request names."""
        return Place(body, "model") if isinstance(body.get("model"), str) else None

    def plain_tools(self, body: Json) -> bool:
        """True when every tool is one that the client runs, and none is loaded later."""
        tools = self.tools(body)
        offered = sum(len(_declared(one)) or 1 for one in rows(body.get("tools")))
        later = any(isinstance(tool.node, dict) and tool.node.get("defer_loading") for tool in tools)
        return bool(tools) and not later and offered <= len(tools)

    # Answers

    @abstractmethod
    def answered(self, body: Body) -> list[Call]:
        """The calls of an answer that the client has to run."""

    @abstractmethod
    def text(self, body: Body) -> Value: ...

    @abstractmethod
    def finish(self, body: Body) -> Value: ...

    @abstractmethod
    def usage(self, body: Body) -> list[Place]:
        """The counts of an answer."""

    def served(self, body: Body) -> Value:
        """The model that the answer names."""
        return Value(copies=[Place(v, "model") for v in body.values if isinstance(v.get("model"), str)])

    def refuse(self, body: Body) -> bool:
        """Turn a last answer into a refusal in the API's own field; False when it has none."""
        return False

    def none(self, body: Body) -> bool:
        """Take out the list of answers itself (`choices: []`); False when there is none to take out."""
        return False

    def twice(self, body: Body, call: Call, identity: str) -> bool:
        """Repeat a call in a whole answer under another id; False when it is a stream."""
        return False

    def indexes(self, body: Body) -> list[Place]:
        """The indexes of the calls in a stream."""
        return []

    # Errors

    @abstractmethod
    def error(self, status: int, message: str) -> Json:
        """The body of an error."""

    def error_event(self, body: Body, message: str) -> bytes:
        """An error inside a stream."""
        from ...dialects.dialect import sse

        return sse(("", self.error(500, message)))


def _without(owner: list[Any], node: Any) -> None:
    owner[:] = [one for one in owner if one is not node]


def _declared(tool: Json) -> list[Any]:
    """The functions of a group of tools (Gemini)."""
    return tool.get("functionDeclarations") or tool.get("function_declarations") or []


def rows(value: Any) -> Iterator[Json]:
    """The objects of a list; nothing when it is not a list."""
    return (one for one in value if isinstance(one, dict)) if isinstance(value, list) else iter(())


def at(holder: Any, *keys: str) -> list[Place]:
    """The places of these keys that the object has with a value."""
    return [Place(holder, key) for key in keys if isinstance(holder, dict) and holder.get(key) is not None]


def texts(parts: Any, kinds: Iterable[str], role: str) -> Iterator[Said]:
    """The texts of a list of typed parts."""
    for part in rows(parts):
        if part.get("type") in tuple(kinds) and isinstance(part.get("text"), str):
            yield Said(role, Place(part, "text"), parts, part)
