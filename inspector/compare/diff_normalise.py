"""The normal form in which two runs of one agent are compared: without what differs although nothing was changed.

The fields that replay ignores are left out (`cassettes.matching.ignored_fields`), and dates and times in texts are made
equal. An id or a signature that the API gave is replaced by its origin (`⟨call 2 of turn 1⟩`). So two runs are equal
although their ids differ, and a client that answers another call, or uses another id, is still noticed. An id that the
client made is replaced by its order.
"""

from hashlib import blake2b

import orjson

from turntape.cassettes.apis.interface import IgnoredFields
from turntape.cassettes.matching.ignored_fields import TEXTS, blanked, ignored_at
from turntape.cassettes.matching.request_key import path_key
from turntape.cassettes.regex import regex
from turntape.cassettes.tape.model import RoundTrip

from ..wire.exchange import header
from ..wire.json_value import as_object, as_text, compact, is_array, is_object, parse_json
from ..wire.values import Emission, Reading

type Path = tuple[str, ...]
"""Keys from the top of a body; `*` means every index of an array."""

_IDS = frozenset({"id", "call_id", "tool_call_id", "tool_use_id", "toolUseId"})
_MADE = regex(r"(?=\D*\d)[\w|:.=+/-]{8,}")
"""Text that looks like a generated id and not like a word."""
_HEADERS = ("anthropic-version", "anthropic-beta", "openai-beta")
"""Request headers that change the meaning of a request."""
_DEEPEST = 200
"""Levels of JSON that are compared; what is nested deeper counts as equal."""
_REASONING_TYPES = frozenset({"thinking", "redacted_thinking", "reasoning"})
_REASONING_KEYS = frozenset({"reasoning", "reasoning_content", "reasoning_details", "thinking", "reasoningContent"})


class Uncompared:
    """What is ignored in the requests of one endpoint."""

    def __init__(self, ignored: IgnoredFields) -> None:
        self.fields = frozenset(_path(pointer) for pointer in ignored.pointers)
        self.ids = frozenset(_path(pointer) for pointer in ignored.ids)
        self.texts = ignored.texts


def _path(pointer: str) -> Path:
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


_NOTHING = Uncompared(IgnoredFields(texts=TEXTS))


class OriginNames:
    """Replaces the ids and signatures of one thread by their origin, and makes the normal form of its requests."""

    def __init__(self, elsewhere: dict[str, str] | None = None, *, reasoning: bool = True) -> None:
        self._strip = not reasoning
        self._names: dict[str, str] = {}
        self._elsewhere: dict[str, str] = {} if elsewhere is None else elsewhere
        """The same of all threads of the run."""
        self._rows: dict[str, Uncompared] = {}
        """By the endpoint's path."""
        self._digests: dict[tuple[Uncompared, str, bytes], bytes] = {}
        """Digest of the JSON -> digest of its normal form. Histories repeat the same pieces many times."""
        self._made = 0

    def learn(self, turn: int, reading: Reading) -> None:
        """Remember the ids and signatures of an answer, so that later requests show their origin instead."""
        emission = reading.emission
        if reading.response_id:
            self._name(reading.response_id, "answer", turn)
        if emission is None:
            return
        for place, call in enumerate((*emission.calls, *emission.server_calls), 1):
            if call.id:
                self._name(call.id, f"call {place}", turn)
        for place, signature in enumerate(emission.signatures, 1):
            self._name(signature, f"signature {place}", turn)
        for place, part in enumerate(emission.content, 1):
            fields = as_object(part.raw)
            for key in _IDS:
                value = fields.get(key)
                if isinstance(value, str) and _MADE.fullmatch(value):
                    self._name(value, f"item {place}", turn)

    def _name(self, value: str, what: str, turn: int) -> None:
        self._names.setdefault(value, f"⟨{what} of turn {turn}⟩")
        self._elsewhere.setdefault(value, f"⟨{what} of turn {turn} elsewhere⟩")

    def _row(self, trip: RoundTrip) -> Uncompared:
        path = path_key(trip.request.url)
        if path not in self._rows:
            self._rows[path] = Uncompared(ignored_at(path))
        return self._rows[path]

    def normal(self, value: object, row: Uncompared, path: Path = (), *, strip: bool = False) -> object:
        """The normal form of a JSON value; `strip` leaves reasoning out."""
        if isinstance(value, str):
            return self._text(value, row, path)
        if len(path) > _DEEPEST:
            return "⟨nested too deep⟩"
        if is_object(value):
            return {
                name: self.normal(item, row, (*path, name), strip=strip)
                for name, item in value.items()
                if (*path, name) not in row.fields and not (strip and name in _REASONING_KEYS)
            }
        if is_array(value):
            below = (*path, "*")
            return [self.normal(item, row, below, strip=strip) for item in value if not (strip and _is_reasoning(item))]
        return value

    def _text(self, value: str, row: Uncompared, path: Path) -> str:
        known = self._names.get(value) or self._elsewhere.get(value)
        if known is not None:
            return known
        if path in row.ids and _MADE.fullmatch(value):
            self._made += 1
            return self._names.setdefault(value, f"⟨id {self._made}⟩")
        return blanked(value, row.texts)

    def plain(self, value: object) -> object:
        """A piece of an answer without its id, which is new in each run."""
        fields = as_object(value)
        made = {name: item for name, item in fields.items() if name not in _IDS}
        return self.normal(made if fields else value, _NOTHING)

    def body(self, trip: RoundTrip) -> object:
        """The normal form of a request's body."""
        data, row = trip.request.body, self._row(trip)
        value = parse_json(data)
        if is_object(value):
            return {name: self._field(name, item, row) for name, item in value.items() if (name,) not in row.fields}
        return self.normal(value, row) if value is not None else data.decode("utf-8", "replace")

    def _field(self, name: str, item: object, row: Uncompared) -> object:
        # A setting such as `reasoning: {effort}` is compared; only reasoning in the history may be left out.
        return self.normal(item, row, (name,), strip=self._strip and is_array(item))

    def digest(self, trip: RoundTrip) -> bytes:
        """Equal for requests whose normal forms are equal. Pieces that were seen before are looked up."""
        value, row = parse_json(trip.request.body), self._row(trip)
        if not is_object(value):
            return digest_of(self.body(trip))
        total = blake2b(digest_size=16)
        for name in sorted(value):
            item = value[name]
            if (name,) in row.fields:
                continue
            total.update(f"{name}\0{is_array(item)}".encode("utf-8", "replace"))
            if not is_array(item):
                total.update(self._known(row, (name,), item, strip=False))
                continue
            for piece in item:
                if not (self._strip and _is_reasoning(piece)):
                    total.update(self._known(row, (name, "*"), piece, strip=self._strip))
        return total.digest()

    def _known(self, row: Uncompared, path: Path, piece: object, *, strip: bool) -> bytes:
        key = (row, path[0], digest_of(piece))
        if key not in self._digests:
            self._digests[key] = digest_of(self.normal(piece, row, path, strip=strip))
        return self._digests[key]


def _is_reasoning(item: object) -> bool:
    fields = as_object(item)
    return as_text(fields.get("type")) in _REASONING_TYPES or fields.get("thought") is True


def digest_of(value: object) -> bytes:
    """The digest of a JSON value, whatever the order of its keys."""
    try:
        data = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except (TypeError, ValueError):
        data = compact(value).encode("utf-8", "backslashreplace")
    return blake2b(data, digest_size=16).digest()


def address(trip: RoundTrip) -> dict[str, object]:
    """What is compared of a request outside its body: method, path, and the headers that change its meaning."""
    found = {name: value for name in _HEADERS if (value := header(trip.request.headers, name))}
    return {"method": trip.request.method.upper(), "url": path_key(trip.request.url), "headers": found}


_BESIDE = ("other", "media", "result")
"""Kinds of what an answer holds beside texts and calls."""


def emission_form(emission: Emission | None, names: OriginNames, *, reasoning: bool = True) -> dict[str, object]:
    """What was emitted, as `show --json` has it under `model`, without ids."""
    if emission is None:
        return {}
    others = [names.plain(part.raw) for part in emission.content if part.kind in _BESIDE]
    calls = [{"name": c.name, "arguments": _arguments(c.arguments, c.arguments_raw)} for c in emission.calls]
    server = [{"name": c.name, "arguments": _arguments(c.arguments, c.arguments_raw)} for c in emission.server_calls]
    form: dict[str, object] = {"text": emission.text, "refusal": emission.refusal, "tool_calls": calls}
    if reasoning:
        form["reasoning"] = emission.reasoning
    return form | ({"server_calls": server} if server else {}) | ({"other": others} if others else {})


def _arguments(parsed: object, raw: str) -> object:
    return parsed if parsed is not None else raw


def finish_form(trip: RoundTrip, reading: Reading) -> dict[str, object]:
    """How the API finished, as `show --json` has it under `api`, without the wording of an error."""
    finish, error = reading.finish, reading.error
    return {
        "status": trip.response.status if trip.response else None,
        "finish_raw": finish.raw if finish else None,
        "effective": finish.effective if finish else None,
        "detail": finish.detail if finish else None,
        "error": None if error is None else {"type": error.type, "code": error.code, "status": error.status},
        "failure": trip.failure.kind if trip.failure else None,
    }
