"""Search queries: words and `field:value` pairs, which must all match.

`timeout tool:read_file` matches turns that contain "timeout" and call `read_file`. Words are searched in what is new in
a turn: its new messages, its answer, its calls. `sent_search` finds them in everything else.
"""

from collections.abc import Callable
from decimal import Decimal, InvalidOperation

from turntape.cassettes.frozen import frozen
from turntape.cassettes.regex import regex

from .row import Row

type Test = Callable[[Row], bool]

_COMPARED = regex(r"(>=|<=|>|<|=)?\s*\$?([\d.]+)([kKmM]?)$")
_SCALE = {"": Decimal(1), "k": Decimal(1_000), "m": Decimal(1_000_000)}


@frozen
class Filter:
    """A query, as a test for rows."""

    text: str
    tests: tuple[Test, ...]
    problem: str | None = None
    """What is wrong with the query, in one sentence."""
    words: tuple[str, ...] = ()
    """The words to search in the text, in lower case."""

    def __call__(self, row: Row) -> bool:
        return all(test(row) for test in self.tests)

    def __bool__(self) -> bool:
        return bool(self.tests)


def _tool(value: str) -> Test:
    return lambda row: any(value in name.lower() for name in (*row.calls, *(run.name for run in row.tool_runs)))


def _server(value: str) -> Test:
    return lambda row: any(value in run.server.lower() for run in row.tool_runs)


def _layer(value: str) -> Test:
    return lambda row: any(found.layer.startswith(value) for found in row.findings)


def _status(value: str) -> Test:
    pattern = value.replace("x", "")
    return lambda row: row.status is not None and str(row.status).startswith(pattern)


def _finding(value: str) -> Test:
    return lambda row: any(value in name for found in row.findings for name in found.names)


def _is(value: str) -> Test:
    severity = {"error": "error", "warning": "warning", "bad": "error"}.get(value)
    if severity is not None:
        return lambda row: any(found.severity == severity for found in row.findings)
    if value == "failed":
        return lambda row: row.failed
    return lambda row: value in (row.finish, row.outcome, row.emitted, row.history)


def _text(pick: Callable[[Row], str | None]) -> Callable[[str], Test]:
    return lambda value: lambda row: value in (pick(row) or "").lower()


def _number(pick: Callable[[Row], int | float | Decimal | None]) -> Callable[[str], Test]:
    def make(value: str) -> Test:
        found = _COMPARED.match(value)
        if found is None:
            raise ValueError(value)
        sign, digits, unit = found.groups()
        try:
            limit = Decimal(digits) * _SCALE[unit.lower()]
        except InvalidOperation as exc:
            raise ValueError(value) from exc
        compare = _SIGNS[sign or ">="]
        return lambda row: (own := pick(row)) is not None and compare(Decimal(own), limit)

    return make


_SIGNS: dict[str, Callable[[Decimal, Decimal], bool]] = {
    ">": lambda a, b: a > b,
    "<": lambda a, b: a < b,
    ">=": lambda a, b: a >= b,
    "<=": lambda a, b: a <= b,
    "=": lambda a, b: a == b,
}

FIELDS: dict[str, tuple[Callable[[str], Test], str]] = {
    "tool": (_tool, "a tool that the model called"),
    "server": (_server, "a tool server that ran a tool"),
    "layer": (_layer, "model, api, client or tool: turns with a finding of that layer"),
    "is": (_is, "error, warning (findings), failed (no complete answer), or a word of a layer: length, not_dispatched"),
    "finding": (_finding, "a part of a finding's id"),
    "status": (_status, "an HTTP status: 429, 5xx"),
    "cost": (_number(lambda row: row.cost), "dollars: >0.05"),
    "in": (_number(lambda row: row.usage.input), "input tokens: >50k"),
    "out": (_number(lambda row: row.usage.output), "output tokens: >2k"),
    "ms": (_number(lambda row: row.duration_ms), "milliseconds: >5000"),
    "turn": (_number(lambda row: row.turn), "the turn's number: =12"),
    "thread": (_text(lambda row: row.thread), "a thread: t2"),
    "model": (_text(lambda row: row.model), "a model's name"),
    "run": (_text(lambda row: row.run), "a run's name"),
    "api": (_text(lambda row: row.protocol), "a protocol: openai"),
    "url": (_text(lambda row: row.url), "a part of the URL"),
}
"""The fields of a query, with their explanation."""

_WORD = regex(r'-?(?:\w+:)?"[^"]*"|\S+')


def parse(text: str, elsewhere: Callable[[str, Row], bool] = lambda word, row: False) -> Filter:
    """The filter of a query; `-word` and `-field:value` exclude. `problem` says what is wrong with the query.

    `elsewhere` says whether a word is in a round trip although its row does not show that.
    """
    tests: list[Test] = []
    problem: str | None = None
    words: list[str] = []
    for token in _WORD.findall(text):
        word = token[1:] if token.startswith("-") and len(token) > 1 else token
        try:
            test = _test(word, elsewhere)
        except ValueError:
            problem = f"{word!r} needs a number, as in cost:>0.05"
            continue
        if test is not None:
            tests.append(_without(test) if word is not token else test)
        if test is not None and word is token and word.partition(":")[0].lower() not in FIELDS:
            words.append(word.strip('"').lower())
    return Filter(text.strip(), tuple(tests), problem, tuple(words))


def _test(word: str, elsewhere: Callable[[str, Row], bool]) -> Test | None:
    name, colon, value = word.partition(":")
    field = FIELDS.get(name.lower()) if colon else None
    if field is not None:
        value = value.strip('"').lower()
        return field[0](value) if value else None
    wanted = word.strip('"').lower()
    return (lambda row: wanted in row.haystack or _shown(row, wanted) or elsewhere(wanted, row)) if wanted else None


def _shown(row: Row, wanted: str) -> bool:
    """Whether the error, a finding or a tool's result as it was returned has the word."""
    if row.error is not None and wanted in row.error.lower():
        return True
    if any(wanted in text.lower() for run in row.tool_runs for text in (run.server, run.returned_text or "")):
        return True
    return any(wanted in text for found in row.findings for text in (*found.names, found.message.lower()))


def _without(test: Test) -> Test:
    return lambda row: not test(row)
