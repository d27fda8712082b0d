"""The keys of a request, from the strictest to the loosest. Two requests with an equal key match at that level.

`exact`: the canonical body. `stable`: the same without ignored fields. `same_turn`: what identifies the turn, which
is what the API has answered so far, plus the fields that must not differ. `same_place`: as `same_turn`, but only the
number of answers counts.
"""

import re
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import cast
from urllib.parse import unquote

import orjson

from ..apis.interface import IgnoredFields
from ..redaction.redactor import Redactor
from ..redaction.sent_keys import without_keys_in
from ..settings import Rule
from ..tape.model import Headers
from .fresh_values import Split, Value, split
from .grades import Matching
from .ignored_fields import blanked, ignored_at
from .json_diff import Difference, differences
from .json_texts import with_texts
from .multipart import parts
from .own_files import without_own_files
from .pointers import DROPPED, Node, change, plant, pruned, segments, step, word
from .request_fields import (
    CONTAINERS,
    CONVERSATIONS,
    LINKS,
    Json,
    conversation,
    is_models,
    part_of_item,
    part_of_key,
    plain_name,
    with_tools_as_in,
    with_tools_by_name,
)
from .request_key import body_key, digest
from .spellings import PlainSpelling
from .unordered import text_in_order, write_in_order
from .working_folders import WorkingFolders

type Key = tuple[str, str, bytes]

SHOWN = 10
"""How many ignored differences are reported."""
LISTED = 100
"""How many differences are found: one word that every tool has differs in as many places as there are tools."""
_LONG = 200
"""Longer strings are blanked once and remembered, because agents send them again in each turn."""
_IGNORED: frozenset[str] = frozenset({"ignore"})
_TOLERATED: frozenset[str] = frozenset({"ignore", "warn"})
_MODEL = re.compile(r"(?P<before>(?:^|.*/)(?:models?|deployments)/)(?P<model>[^/]+?)(?P<after>/.*|(?::|%3A)[^/]*)?")
"""A colon is in the name of a model of Bedrock, and before the verb of Gemini."""


def _dumped(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _json(body: bytes) -> tuple[object, bytes]:
    """A JSON body with its canonical text; `(None, b"")` for other bodies, and for JSON too deep to be written."""
    if body[:1] not in (b"{", b"["):
        return None, b""
    try:
        value: object = orjson.loads(body)
        return value, _dumped(value)
    except (orjson.JSONDecodeError, TypeError):
        return None, b""


def _blanked_text(body: bytes, patterns: tuple[re.Pattern[str], ...]) -> str | None:
    """A body that is not JSON, without the texts that the patterns find; None without patterns or for a binary body."""
    try:
        return blanked(body.decode(), patterns) if patterns else None
    except UnicodeDecodeError:
        return None


@lru_cache(1024)
def model_in(path: str) -> tuple[str, str | None]:
    """A path without its model, and the model."""
    found = _MODEL.fullmatch(path)
    if found is None or found["after"] is None:
        return path, None
    return f"{found['before']}*{found['after']}", found["model"]


class FieldRules:
    """What may differ in the requests of one row of the table."""

    def __init__(self, matching: Matching, row: IgnoredFields) -> None:
        self.default: Rule = matching.default
        self._named: dict[str, Rule] = {}
        for name, rule in matching.rules.items():
            if not name.startswith("/"):
                self._named[plain_name(name)] = rule
        table = [p for p in row.pointers if plain_name(segments(p)[0]) not in self._named]
        said = [(p, "ignore") for p in (*table, *matching.ignore)]
        said += [(p, rule) for p, rule in matching.rules.items() if p.startswith("/")]
        self._tree = plant(said)
        self._ids = plant((p, "id") for p in row.ids)
        self.spelling = PlainSpelling(row.spellings, ignored=(*table, *matching.ignore))
        self.texts = (*row.texts, *(re.compile(p) for p in matching.ignore_text))
        self.path_texts = tuple(re.compile(p) for p in matching.ignore_text)

    @property
    def ids(self) -> Node:
        return self._ids

    def of(self, part: str) -> Rule:
        """The rule of a field."""
        rule: Rule | None = self._named.get(plain_name(part))
        if rule is None and part == "tool_results":
            rule = self._named.get("messages")
        return rule or self.default

    def pruned(self, body: Json, dropped: frozenset[str]) -> Json:
        """A request without the parts whose rule is in `dropped`."""
        root = (self._tree,)
        kept: Json = {}
        for key, value in body.items():
            nodes = step(root, key)
            said = word(nodes)
            left: object
            if said is None and isinstance(value, list) and key in CONVERSATIONS:
                items: list[object] = []
                for place, item in enumerate(cast(list[object], value)):
                    below = step(nodes, str(place))
                    one = pruned(item, below, word(below) or self.of(part_of_item(item)), dropped)
                    if one is not DROPPED:
                        items.append(one)
                left = items or DROPPED
            elif said is None and isinstance(value, dict) and key in CONTAINERS:
                settings: Json = {}
                for name, item in cast(Json, value).items():
                    below = step(nodes, name)
                    one = pruned(item, below, word(below) or self.of(name), dropped)
                    if one is not DROPPED:
                        settings[name] = one
                left = settings or DROPPED
            else:
                left = pruned(cast(object, value), nodes, said or self.of(part_of_key(key)), dropped)
            if left is not DROPPED:
                kept[key] = left
        return kept


@dataclass(eq=False)
class Fingerprint:
    """One request with all its keys. Keys that are not needed are not computed."""

    method: str
    path: str
    body: bytes
    """Redacted; all fingerprints of secrets are replaced by one mark."""
    rules: FieldRules
    exact: Key
    stable_path: str
    stable_value: object
    """The body without ignored fields; text if the body is not JSON."""
    must_be_equal: Callable[[], object]
    """Makes the body without ignored fields and without those that may differ."""
    splitter: "Splitter"
    """Takes texts apart."""

    @cached_property
    def stable(self) -> Key:
        return (self.method, self.stable_path, digest(_dumped(self._in_order)))

    @cached_property
    def _in_order(self) -> object:
        """The body without ignored fields, with its tools in the order of their names: clients offer the tools of
        several servers in the order in which these answer."""
        value = self.stable_value
        if not isinstance(value, dict):
            return value
        fields = with_tools_by_name(cast(Json, value))
        config = fields.get("toolConfig")
        return {**fields, "toolConfig": with_tools_by_name(cast(Json, config))} if isinstance(config, dict) else fields

    @cached_property
    def fields(self) -> Json:
        value = self.stable_value
        return cast(Json, value) if isinstance(value, dict) else {}

    @cached_property
    def apart(self) -> tuple[Key, tuple[Value, ...]]:
        """The key of the request without the values that are new in each run, and these values."""
        values: list[Value] = []
        skeleton = self._skeleton(self._in_order, values)
        return (self.method, self.stable_path, digest(_dumped(skeleton))), tuple(values)

    def learn_folders(self) -> None:
        """Learn which folders the request calls its working directory."""
        with_texts(self.stable_value, self.splitter.learn)

    def _skeleton(self, value: object, values: list[Value]) -> object:
        if isinstance(value, str):
            found = self.splitter.split(value)
            values += found.values
            return found.skeleton
        if isinstance(value, dict):
            fields = cast(Json, value)
            return {key: self._skeleton(fields[key], values) for key in sorted(fields)}
        if isinstance(value, list):
            return [self._skeleton(item, values) for item in cast(list[object], value)]
        return value

    def values_of(self, value: object) -> list[Value]:
        """The values of this kind in a part of the body."""
        found: list[Value] = []
        self._skeleton(value, found)
        return found

    def with_texts(self, change: Callable[[str], str]) -> "Fingerprint":
        """The same request with another text for each string."""
        made = self.must_be_equal
        return replace(
            self,
            stable_value=with_texts(self.stable_value, change),
            must_be_equal=lambda: with_texts(made(), change),
        )

    @cached_property
    def answers(self) -> list[bytes]:
        """Digests of the earlier answers, as the client sends them back."""
        return [digest(_dumped(item)) for item in conversation(self.fields) if is_models(item)]

    @cached_property
    def items(self) -> list[bytes]:
        """Digests of the system prompt, the tools and each item of the history."""
        others = [v for k, v in self.fields.items() if part_of_key(k) in ("system", "tools")]
        return [digest(_dumped(item)) for item in (*others, *conversation(self.fields))]

    @cached_property
    def words(self) -> frozenset[str]:
        found: set[str] = set()
        todo: list[object] = [self.stable_value]
        while todo:
            value = todo.pop()
            if isinstance(value, str):
                found.update(value.split())
            elif isinstance(value, dict):
                todo += cast(Json, value).values()
            elif isinstance(value, list):
                todo += cast(list[object], value)
        return frozenset(found)

    @cached_property
    def remainder(self) -> bytes:
        """The digest of the fields that must not differ."""
        return digest(_dumped(self.must_be_equal()))

    @cached_property
    def endpoint(self) -> str:
        """The path; without its model, when that may differ."""
        return self.stable_path if self.rules.of("model") == "fail" else model_in(self.stable_path)[0]

    @cached_property
    def turn(self) -> bytes:
        """The key of the turn: the answers so far, and whether a stream is requested."""
        links = {name: self.fields[name] for name in LINKS if name in self.fields}
        stream = bool(self.fields.get("stream"))
        return digest(_dumped([stream, links, len(self.answers)]) + b"".join(self.answers))

    @cached_property
    def same_turn(self) -> Key:
        return (self.method, self.endpoint, digest(self.turn + self.remainder))

    @cached_property
    def same_place(self) -> Key:
        place = _dumped([bool(self.fields.get("stream")), len(self.answers)])
        return (self.method, self.endpoint, digest(place + self.remainder))

    @cached_property
    def value(self) -> object:
        """The body as it was sent."""
        try:
            return orjson.loads(self.body)
        except orjson.JSONDecodeError:
            return parts(self.body) or self.body.decode("utf-8", "replace")


class Splitter:
    """Takes texts apart, and remembers long texts."""

    def __init__(self, folders: WorkingFolders) -> None:
        self._folders = folders
        self._known = 0
        self._split: dict[str, Split] = {}
        self._learned: set[str] = set()

    def learn(self, text: str) -> str:
        """Learn which folders a text calls the working directory. Returns the text."""
        if len(text) < _LONG or text not in self._learned:
            self._folders.learn_from(text)
            if len(text) >= _LONG:
                self._learned.add(text)
        return text

    def split(self, text: str) -> Split:
        """Take a text apart."""
        if len(text) < _LONG:
            return split(text, self._folders)
        if self._known != len(self._folders):
            self._known = len(self._folders)
            self._split = {}
        found = self._split.get(text)
        if found is None:
            found = self._split[text] = split(text, self._folders)
        return found


class Fingerprints:
    """Computes the fingerprints of requests under one `Matching`.

    `on_tape` holds the ids from recorded answers, which are the same in a replay. Any other call id was made by the
    client and is new in each run.
    """

    def __init__(
        self,
        matching: Matching,
        redactor: Redactor,
        on_tape: Container[str],
        folders: WorkingFolders | None = None,
    ) -> None:
        self._matching = matching
        self._redactor = redactor
        self._on_tape = on_tape
        self._rules: dict[int, FieldRules] = {}
        self._blanked: dict[tuple[int, str], str] = {}
        self._splitter = Splitter(WorkingFolders() if folders is None else folders)

    def rules(self, path: str) -> FieldRules:
        """The rules for an endpoint."""
        ignored = ignored_at(path)
        found = self._rules.get(id(ignored))
        if found is None:
            found = self._rules[id(ignored)] = FieldRules(self._matching, ignored)
        return found

    def of(self, method: str, path: str, headers: Headers, body: bytes) -> Fingerprint:
        """The fingerprint of a request. A recorded one is redacted again: its file may be older than a rule."""
        return self._by(self._redactor, method, path, headers, body)

    def earlier(self, method: str, path: str, headers: Headers, body: bytes) -> Iterator[Fingerprint]:
        """The fingerprints of a request by fewer rules, where these give others.

        A recording that is older than a rule has a value in one place, and its replacement in another: where the value
        has no name, or is not in the header, nothing shows any more that it is the same.
        """
        others = without_keys_in(body, headers)
        if others is not None:
            yield self._by(self._redactor, method, path, others, body)
        once = self._redactor.without_repeats()
        for fields in (headers,) if others is None else (headers, others):
            if once.knowing(fields).body(body) != self._redactor.knowing(fields).body(body):
                yield self._by(once, method, path, fields, body)

    def _by(self, redactor: Redactor, method: str, path: str, headers: Headers, body: bytes) -> Fingerprint:
        rules = self.rules(path)
        redactor = redactor.knowing(headers)
        clean = redactor.normalise(redactor.body(body))
        fields: Json = {}
        value, text = _json(clean)
        if value is None:
            exact = body_key(body, headers, redactor)
            form = parts(clean)
            stable: object = _blanked_text(clean, rules.path_texts) or exact.hex()
            stable = stable if form is None else self._blank(form, rules)
        else:
            exact = digest(text)
            if isinstance(value, dict):
                fields = cast(Json, value)
                change(fields, (rules.ids,), self._renamer())
                write_in_order(fields)
                rules.spelling.write(fields)
            stable = self._without(cast(object, value), _IGNORED, rules)
        return Fingerprint(
            method,
            path,
            clean,
            rules,
            (method, path, exact),
            blanked(path, rules.path_texts),
            stable,
            # From the whole body, since a place in a list moves when an item before it is left out.
            lambda: self._without(fields, _TOLERATED, rules),
            self._splitter,
        )

    def _without(self, value: object, dropped: frozenset[str], rules: FieldRules) -> object:
        """A body without the fields whose rule is in `dropped` and without ignored text."""
        left = rules.pruned(cast(Json, value), dropped) if isinstance(value, dict) else value
        return self._blank(left, rules) if rules.texts else left

    def _renamer(self) -> Callable[[object], object]:
        """Replaces each id that the client made by a number in order of appearance."""
        names: dict[str, str] = {}

        def renamed(given: object) -> object:
            if not isinstance(given, str) or given in self._on_tape:
                return given
            return names.setdefault(given, f"⟨id {len(names) + 1}⟩")

        return renamed

    def _blank(self, value: object, rules: FieldRules) -> object:
        if isinstance(value, str):
            if len(value) < _LONG:
                return _settled(value, rules)
            key = (id(rules), value)
            text = self._blanked.get(key)
            if text is None:
                text = self._blanked[key] = _settled(value, rules)
            return text
        if isinstance(value, dict):
            return {key: self._blank(item, rules) for key, item in cast(Json, value).items()}
        if isinstance(value, list):
            return [self._blank(item, rules) for item in cast(list[object], value)]
        return value


def _settled(text: str, rules: FieldRules) -> str:
    """A text without what differs between two runs, and with what has no order in one order."""
    return text_in_order(blanked(without_own_files(text), rules.texts))


def texts_in_same_places(recorded: object, given: object) -> Iterator[tuple[str, str]]:
    """The strings that two bodies have in the same places, where they differ."""
    if isinstance(recorded, str) and isinstance(given, str):
        if recorded != given:
            yield recorded, given
    elif isinstance(recorded, dict) and isinstance(given, dict):
        fields = cast(Json, given)
        for key, item in cast(Json, recorded).items():
            yield from texts_in_same_places(item, fields.get(key))
    elif isinstance(recorded, list) and isinstance(given, list):
        for one, other in zip(cast(list[object], recorded), cast(list[object], given), strict=False):
            yield from texts_in_same_places(one, other)


def _as_sent(difference: Difference, recorded: object, given: object) -> Difference:
    """The difference of a field with both values, also where one is a default and was left out of the comparison."""
    name = difference.pointer[1:]
    if difference.kind == "changed" or not (isinstance(recorded, dict) and isinstance(given, dict)):
        return difference
    before, after = cast(Json, recorded), cast(Json, given)
    if name not in before or name not in after:
        return difference
    return Difference(difference.pointer, "changed", before[name], after[name])


def compared(recorded: Fingerprint, given: Fingerprint) -> tuple[list[Difference], list[Difference]]:
    """Where two requests differ: in compared fields, and in ignored fields."""
    found = differences(recorded.stable_value, with_tools_as_in(recorded.stable_value, given.stable_value), LISTED)
    counting = [_as_sent(difference, recorded.value, given.value) for difference in found]
    if recorded.stable_path != given.stable_path:
        before, after = model_in(recorded.path), model_in(given.path)
        named = "model" if before[0] == after[0] else "path"
        models = (unquote(before[1] or ""), unquote(after[1] or ""))
        one = models if named == "model" and all(models) else (recorded.path, given.path)
        counting.insert(0, Difference(named, "changed", *one))
    seen = {difference.pointer for difference in counting}
    noise = [d for d in differences(recorded.value, given.value, SHOWN) if d.pointer not in seen]
    return counting, noise
