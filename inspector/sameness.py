"""What counts when two runs of one agent are compared, and what differs although nothing was changed.

An id or a signature that the API gave is known by where it was given (`⟨call 2 of turn 1⟩`), so that two runs agree
although their ids do not, and a client that answers another call, or under another id, is seen. An id that the
client made is known by its order. Today's date, the clock and ids of sessions are blanked where a text tells them
as such; any other date is part of what is said. Fields that only name the user, the session or the request are
left out.
"""

import re
from hashlib import blake2b

import orjson

from turntape.cassettes.canonical import path_key
from turntape.cassettes.model import RoundTrip

from .exchange import header
from .json_value import as_object, compact, is_array, is_object, parse_json
from .reading import Emission, Reading

VOLATILE = frozenset(
    {
        "user",
        "metadata",
        "session_id",
        "trace",
        "safety_identifier",
        "prompt_cache_key",
        "client_metadata",
        "diagnostics",
        "requestMetadata",
        "labels",
    }
)
"""Top-level fields of a request that name who asks, and say nothing to the model."""
_ITEM_VOLATILE = frozenset({"create_time"})
IDS = frozenset({"id", "call_id", "tool_call_id", "tool_use_id", "toolUseId", "item_id"})
"""Keys whose value is an id, if it looks like a made one."""
_MADE = re.compile(r"(?=\D*\d)[\w|:.=+/-]{8,}")
_MARK = "⟨volatile⟩"
_UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_DAY = r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,?\s+)?"
_DATE = (
    rf"{_DAY}(?:\d{{4}}[-/]\d\d?[-/]\d\d?|\d\d?[./]\d\d?[./]\d{{4}}|{_MONTH}\s+\d\d?(?:st|nd|rd|th)?,?\s+\d{{4}}"
    rf"|\d\d?\s+{_MONTH}\s+\d{{4}})"
)
_CLOCK = r"\d\d?:\d\d(?::\d\d)?(?:\.\d+)?(?:\s?[AaPp]\.?[Mm]\b\.?)?(?:\s?(?:Z|UTC|GMT)\b|\s?[+-]\d\d:?\d\d)?"
_TEXTS = (
    re.compile(
        rf"(?P<lead>\b(?:today|now|current|present)(?:'s|’s)?(?:\s(?:local|system))?"
        rf"(?:\s(?:date|day|time|datetime|timestamp|date\s(?:and|&)\stime))?(?:\s(?:in|at)\s[A-Z]{{2,5}})?"
        rf"[\"'*_]*\s?(?:is|:|=)?[\"'*_>]*\s{{0,2}})(?:{_DATE}(?:(?:,?\s(?:at\s)?|T){_CLOCK})?|{_CLOCK})",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?P<lead>\b(?:session|request|trace|run|conversation|thread|invocation)[ _-]?id[\"'`]?\s?(?:is|:|=)?"
        r"[\"'`]?\s?)" + _UUID,
        re.IGNORECASE,
    ),
    re.compile(r"(?P<lead>\Ax-anthropic-billing-header:).*", re.DOTALL),
    re.compile(r"(?P<lead>^Wall time: )[\d.]+(?= seconds$)", re.MULTILINE),
)
"""Today's date and the clock; ids of sessions; how Claude Code counts its requests; how long a tool took in Codex."""
_HEADERS = ("anthropic-version", "anthropic-beta", "openai-beta")
"""Request headers that change what a model is asked."""
_REASONING_TYPES = frozenset({"thinking", "redacted_thinking", "reasoning"})
_REASONING_KEYS = frozenset({"reasoning", "reasoning_content", "reasoning_details", "thinking", "reasoningContent"})


def blanked(text: str) -> str:
    """`text` without what differs by the time and the session alone."""
    for pattern in _TEXTS:
        text = pattern.sub(rf"\g<lead>{_MARK}", text)
    return text


class Names:
    """Ids and signatures of one thread by where they came from, and the normal form of its requests."""

    def __init__(self, elsewhere: dict[str, str] | None = None, *, reasoning: bool = True) -> None:
        self._strip = not reasoning
        self._names: dict[str, str] = {}
        self._elsewhere: dict[str, str] = {} if elsewhere is None else elsewhere
        """The same of all threads of the run."""
        self._digests: dict[tuple[str, bytes], bytes] = {}
        """Of the normal form, by that of the JSON: a history says the same pieces again and again."""
        self._made = 0

    def learn(self, turn: int, reading: Reading) -> None:
        """Take in what an answer gave: from now on it is known by its place."""
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
            for key in IDS:
                value = fields.get(key)
                if isinstance(value, str) and _MADE.fullmatch(value):
                    self._name(value, f"item {place}", turn)

    def _name(self, value: str, what: str, turn: int) -> None:
        self._names.setdefault(value, f"⟨{what} of turn {turn}⟩")
        self._elsewhere.setdefault(value, f"⟨{what} of turn {turn} elsewhere⟩")

    def normal(self, value: object, key: str | None = None, *, strip: bool = False) -> object:
        """A JSON value with what does not count made equal; `strip` leaves its reasoning out."""
        if isinstance(value, str):
            return self._text(value, key)
        if is_object(value):
            return {
                name: self.normal(item, name, strip=strip)
                for name, item in value.items()
                if name not in _ITEM_VOLATILE and not (strip and name in _REASONING_KEYS)
            }
        if is_array(value):
            return [self.normal(item, key, strip=strip) for item in value if not (strip and _is_reasoning(item))]
        return value

    def _text(self, value: str, key: str | None) -> str:
        known = self._names.get(value) or self._elsewhere.get(value)
        if known is not None:
            return known
        if key in IDS and _MADE.fullmatch(value):
            self._made += 1
            return self._names.setdefault(value, f"⟨id {self._made}⟩")
        return blanked(value)

    def body(self, data: bytes) -> object:
        """The normal form of a request body."""
        value = parse_json(data)
        if is_object(value):
            return {name: self._field(name, item) for name, item in value.items() if name not in VOLATILE}
        return self.normal(value) if value is not None else data.decode("utf-8", "replace")

    def _field(self, name: str, item: object) -> object:
        # A setting such as `reasoning: {effort}` counts; only the history's own reasoning may be left out.
        return self.normal(item, name, strip=self._strip and is_array(item))

    def digest(self, data: bytes) -> bytes:
        """Equal for requests whose normal forms are equal. What was seen before is not made normal again."""
        value = parse_json(data)
        if not is_object(value):
            return digest_of(self.body(data))
        total = blake2b(digest_size=16)
        for name in sorted(value):
            if name in VOLATILE:
                continue
            item = value[name]
            pieces = item if is_array(item) else [item]
            total.update(f"{name}\0{is_array(item)}".encode("utf-8", "replace"))
            for piece in pieces:
                if not (self._strip and is_array(item) and _is_reasoning(piece)):
                    total.update(self._known(name, piece, strip=self._strip and is_array(item)))
        return total.digest()

    def _known(self, name: str, piece: object, *, strip: bool) -> bytes:
        key = (name, digest_of(piece))
        if key not in self._digests:
            self._digests[key] = digest_of(self.normal(piece, name, strip=strip))
        return self._digests[key]


def _is_reasoning(item: object) -> bool:
    fields = as_object(item)
    return fields.get("type") in _REASONING_TYPES or fields.get("thought") is True


def digest_of(value: object) -> bytes:
    """The digest of a JSON value, whatever the order of its keys."""
    try:
        data = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except (TypeError, ValueError):
        data = compact(value).encode("utf-8", "backslashreplace")
    return blake2b(data, digest_size=16).digest()


def address(trip: RoundTrip) -> dict[str, object]:
    """What of a request stands outside its body and counts."""
    found = {name: value for name in _HEADERS if (value := header(trip.request.headers, name))}
    return {"method": trip.request.method.upper(), "url": path_key(trip.request.url), "headers": found}


def emission_form(emission: Emission | None, names: Names, *, reasoning: bool = True) -> dict[str, object]:
    """What was emitted, as `show --json` has it under `model`, without ids."""
    if emission is None:
        return {}
    others = [names.normal(part.raw) for part in emission.content if part.kind in ("other", "media")]
    calls = [{"name": c.name, "arguments": _arguments(c.arguments, c.arguments_raw)} for c in emission.calls]
    server = [{"name": c.name, "arguments": _arguments(c.arguments, c.arguments_raw)} for c in emission.server_calls]
    form: dict[str, object] = {"text": emission.text, "refusal": emission.refusal, "tool_calls": calls}
    if reasoning:
        form["reasoning"] = emission.reasoning
    return form | ({"server_calls": server} if server else {}) | ({"other": others} if others else {})


def _arguments(parsed: object, raw: str) -> object:
    return parsed if parsed is not None else raw


def finish_form(trip: RoundTrip, reading: Reading) -> dict[str, object]:
    """How it was finished, as `show --json` has it under `api`; the wording of an error does not count."""
    finish, error = reading.finish, reading.error
    return {
        "status": trip.response.status if trip.response else None,
        "finish_raw": finish.raw if finish else None,
        "effective": finish.effective if finish else None,
        "detail": finish.detail if finish else None,
        "error": None if error is None else {"type": error.type, "code": error.code, "status": error.status},
        "failure": trip.failure.kind if trip.failure else None,
    }
