"""Readings, rows and tool runs without their texts.

A text is replaced unless its field is known to hold a word of the API or a name. So a field that is new is safe.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from decimal import Decimal
from itertools import chain
from itertools import count as count_from
from typing import Any, cast

from turntape.cassettes.regex import regex

from ....findings.catalogue import catalogue
from ....findings.finding import Finding
from ....run.newest import NewPiece
from ....run.row import Row
from ....wire.values import Finish, Message, Part, Reading, Tool
from .neutral_text import NeutralText

_NAMES = frozenset(
    {
        "aliases", "attempt", "because_of", "by", "call_id", "calls", "code", "cost_source", "effective", "emitted",
        "ended_by", "finish", "finish_raw", "history", "id", "joined", "kind", "label", "layer", "lost", "method",
        "mode", "model", "name", "names", "outcome", "pointer", "previous_id", "protocol", "provider", "response_id",
        "response_model", "role", "seen_as", "server", "severity", "source", "thread", "tier", "tools", "toolset",
        "type",
    }
)  # fmt: skip
"""Fields of our values that hold names."""
_SHOWN_RAW = frozenset({"other", "reasoning"})
"""Kinds of parts that the report shows as JSON."""
_WITHOUT_WORDS = int | float | Decimal | None
"""Values of any other type are not shown as they are: a new type must not let texts through."""
_API_KEY = regex(r"[A-Za-z_$][A-Za-z0-9_$-]{0,40}", re.ASCII)
_METHOD = regex(r"[a-z]{1,20}(/[a-zA-Z_]{1,20}){0,2}")
"""A method of a tool server: `tools/call`."""
_RESULT_KEYS = frozenset(
    {"content", "type", "text", "isError", "structuredContent", "message", "code", "data", "error"}
)
_PLACES = frozenset(
    {
        "answer", "body", "call", "choices", "content", "contents", "event", "events", "finish", "header", "headers",
        "input", "instructions", "messages", "output", "parts", "request", "response", "result", "status", "stream",
        "system", "tools", "usage",
    }
)  # fmt: skip
"""Words of evidence that say where, not what."""


class NeutralValues:
    """The replacement of values; the names of parameters that tools offer are remembered, and stay."""

    def __init__(self) -> None:
        self._texts = NeutralText()
        self._parameters: set[str] = set()
        self._says = {rule.id: rule.says for rule in catalogue().rules}

    def text(self, text: str) -> str:
        return self._texts.text(text)

    def url(self, url: str) -> str:
        return self._texts.url(url)

    def value[T](self, value: T) -> T:
        """A dataclass without its texts."""
        return cast(T, self._of(value, ""))

    def reading(self, reading: Reading) -> Reading:
        """A reading without its texts."""
        for tool in (*reading.request.tools, *reading.request.added_tools):
            self._remember(tool.schema)
        return self.value(reading)

    def _remember(self, schema: object) -> None:
        """Keep the names of the parameters of a schema."""
        if isinstance(schema, Mapping):
            given = cast("Mapping[str, object]", schema)
            properties = given.get("properties")
            if isinstance(properties, Mapping):
                names = cast("Mapping[str, object]", properties)
                self._parameters.update(name for name in names if _API_KEY.fullmatch(name))
            for inner in given.values():
                self._remember(inner)
        elif isinstance(schema, list | tuple):
            for inner in cast("list[object]", schema):
                self._remember(inner)

    def _of(self, value: object, field: str) -> object:
        if isinstance(value, str):
            return self._texts.name(value) if field in _NAMES else self.text(value)
        if isinstance(value, Finding):
            return self.finding(value)
        if is_dataclass(value) and not isinstance(value, type):
            return self._dataclass(value)
        if isinstance(value, Sequence) and not isinstance(value, bytes):
            inner = [self._of(one, field) for one in cast("Sequence[object]", value)]
            return inner if isinstance(value, list) else tuple(inner)
        if isinstance(value, Mapping):
            return self._json(cast("Mapping[str, object]", value), field)
        if field in ("arguments", "result", "error") and isinstance(value, int | float) and not isinstance(value, bool):
            return self._texts.number(value)
        if isinstance(value, _WITHOUT_WORDS):
            return value
        raise TypeError(f"a value of {type(value)} may hold a text, and nothing here knows how to replace it")

    def _dataclass(self, value: Any) -> object:
        changed = {one.name: self._of(getattr(value, one.name), one.name) for one in fields(value) if one.init}
        match value:
            case Finish():
                changed["raw"] = None if value.raw is None else self._texts.name(value.raw)
            case Part():
                changed["raw"] = changed["raw"] if value.kind in _SHOWN_RAW else None
            case Message():
                changed["raw"] = None
            case Tool():
                changed["schema"] = self._json(value.schema, "schema")
            case NewPiece():
                changed["name"] = self.text(value.name)
            case Row():
                changed["done"] = tuple(self._done(one, value.calls) for one in value.done)
                changed |= {"url": self._texts.url(value.url), "haystack": "", "key": value.key}
            case _:
                pass
        return replace(value, **changed)

    def _json(self, value: object, field: str) -> object:
        """A JSON value. `field` says whose it is: `arguments` and `result` hold data, everything else is of the API."""
        if isinstance(value, Mapping):
            inside = cast("Mapping[str, object]", value)
            kept: dict[str, object] = {}
            for key, one in inside.items():
                kept[_free(self._key(key, field), kept)] = self._member(key, one, field)
            return kept
        if isinstance(value, list | tuple):
            return [self._json(one, field) for one in cast("list[object]", value)]
        if isinstance(value, str):
            return self.text(value)
        if field in ("arguments", "result", "error") and isinstance(value, int | float) and not isinstance(value, bool):
            return self._texts.number(value)
        return value

    def _member(self, key: str, value: object, field: str) -> object:
        if field == "schema" and key in ("type", "format", "required") and _is_vocabulary(value):
            return value
        if field == "parameters" and key == "method" and isinstance(value, str) and _METHOD.fullmatch(value):
            return value
        if field == "raw" and key in ("type", "role") and isinstance(value, str):
            return self._texts.name(value)
        return self._json(value, field)

    def _key(self, key: str, field: str) -> str:
        known = self._parameters if field == "arguments" else _RESULT_KEYS if field in ("result", "error") else None
        kept = key in known if known is not None else _API_KEY.fullmatch(key) is not None
        return key if kept else self.text(key)

    def name(self, name: str) -> str:
        """A name as it is; what is not shaped like one is a text."""
        return self._texts.name(name)

    def _done(self, words: str, calls: tuple[str, ...]) -> str:
        """What a call did: the tool's name stays."""
        tool = next((name for name in calls if words == name or words.startswith(f"{name} ")), "")
        return f"{self.name(tool) if tool else ''}{self.text(words[len(tool) :])}"

    def finding(self, finding: Finding) -> Finding:
        """A finding with what its class means in place of its message, which quotes values."""
        evidence = tuple(self._place(one) for one in finding.evidence)
        says = self._says.get(finding.id, "")
        return replace(finding, message=says, evidence=tuple(dict.fromkeys(one for one in evidence if one)))

    def _place(self, evidence: str) -> str:
        """Where evidence is, without what it quotes."""
        number, *words = evidence.split()
        kept = [number] if re.fullmatch(r"#\d+(\.\d+)?:?", number) else []
        for word in words if kept else ():
            if not all(one.isdecimal() or one in _PLACES for one in word.removeprefix("/").split("/")):
                break
            kept.append(word)
        return " ".join(kept)


def _is_vocabulary(value: object) -> bool:
    """Whether a value of a schema is a word such as `string`, or a list of names."""
    listed = cast("list[object]", value) if isinstance(value, list) else [value]
    return all(isinstance(one, str) and _API_KEY.fullmatch(one) for one in listed)


def _free(name: str, taken: Collection[str]) -> str:
    """A name that is not taken: short words may become equal, and each key of an object keeps its value."""
    ends = (str(count) for count in count_from(2))
    return next(one for one in chain((name,), (f"{name[: -len(end)]}{end}" for end in ends)) if one not in taken)
