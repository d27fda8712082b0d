"""Layer 1 in recorded loops: what the model emits is wrong, and the client repeats it faithfully."""

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from ...dialects.dialect import compact
from ..bodies import Body
from ..loops import Loop, Turn
from .edits import (
    calling,
    calls_with_schema,
    change_call,
    end,
    entry_for,
    fresh,
    has_text,
    insert_after,
    last,
    parallel,
    pick,
    repeated,
    results_for,
    schema_of,
)
from .table import Places, Table

MODEL = Table()
_WRONG = {"string": {"unexpected": [1]}, "number": "many", "integer": "many", "boolean": "maybe", "array": 7,
          "object": "none"}  # fmt: skip


def _kind(schema: Any) -> str | None:
    kind = schema.get("type") if isinstance(schema, dict) else None
    return kind.lower() if isinstance(kind, str) and kind.lower() in _WRONG else None


def _closed(schema: dict[str, Any]) -> bool:
    """True when `$ref`s and alternatives do not decide about the arguments."""
    return not {"$ref", "anyOf", "oneOf", "allOf"} & schema.keys()


def _give(loop: Loop, place: int, number: int, arguments: Any) -> Places:
    done = change_call(loop, place, number, lambda call: call.give(arguments))
    return {place} if done else None


@MODEL("arguments are broken JSON", "model", "call-args-not-json")
def broken_json(loop: Loop) -> Places:
    if not loop.shape.text_arguments:
        return None
    found = pick(loop, [(p, n, c) for p, n, c, _ in calls_with_schema(loop) if c.known], "broken")
    if found is None:
        return None
    place, number, call = found
    text = call.arguments.get()
    return _give(loop, place, number, text.rstrip()[:-1] + ', "more": }')


@MODEL("an argument of a wrong type", "model", "model-args-break-schema")
def wrong_type(loop: Loop) -> Places:
    options = [
        (place, number, call, key, kind)
        for place, number, call, schema in calls_with_schema(loop) if _closed(schema)
        for key, value in (schema.get("properties") or {}).items()
        if key in call.known and (kind := _kind(value)) and _closed(value)
    ]  # fmt: skip
    found = pick(loop, options, "type")
    if found is None:
        return None
    place, number, call, key, kind = found
    return _give(loop, place, number, {**call.known, key: _WRONG[kind]})


@MODEL("a required argument is missing", "model", "model-args-break-schema")
def missing(loop: Loop) -> Places:
    options = [
        (place, number, call, key)
        for place, number, call, schema in calls_with_schema(loop) if _closed(schema)
        for key in schema.get("required") or () if key in call.known
    ]  # fmt: skip
    found = pick(loop, options, "missing")
    if found is None:
        return None
    place, number, call, key = found
    return _give(loop, place, number, {k: v for k, v in call.known.items() if k != key})


@MODEL("a value outside the enum", "model", "model-args-break-schema")
def outside_enum(loop: Loop) -> Places:
    options = [
        (place, number, call, key)
        for place, number, call, schema in calls_with_schema(loop)
        for key, value in (schema.get("properties") or {}).items()
        if key in call.known and isinstance(value, dict) and value.get("enum")
    ]  # fmt: skip
    found = pick(loop, options, "enum")
    if found is None:
        return None
    place, number, call, key = found
    return _give(loop, place, number, {**call.known, key: "something-else"})


@MODEL("an argument that the schema forbids", "model", "model-args-break-schema")
def extra(loop: Loop) -> Places:
    options = [(p, n, c) for p, n, c, s in calls_with_schema(loop) if s.get("additionalProperties") is False]
    found = pick(loop, options, "extra")
    if found is None:
        return None
    place, number, call = found
    return _give(loop, place, number, {**call.known, "verbosity": "high"})


@MODEL("an unknown tool", "model", "model-unknown-tool")
def unknown_tool(loop: Loop) -> Places:
    found = pick(loop, [(p, n, c) for p, n, c, _ in calls_with_schema(loop)], "unknown")
    if found is None:
        return None
    place, number, call = found
    name = call.name.get()
    request = loop.turns[place].request
    forced = [request.get("tool_choice"), (request.get("toolConfig") or {}).get("toolChoice")]
    if not loop.full or not loop.shape.plain_tools(request) or name in str(forced):
        return None
    answers = [r for _, r in results_for(loop, place, number)]
    if not change_call(loop, place, number, lambda c: c.name.set("open_the_archive")):
        return None
    for result in answers:
        if result.name is not None and result.name.value == name:
            result.name.value = "open_the_archive"
    return {place}


def _say(loop: Loop, text: str) -> Places:
    loop.shape.text(last(loop).answer).set(text)
    return {end(loop)}


def _last_offered(loop: Loop) -> tuple[str, str] | None:
    """The name and the arguments of the last call, whose tool the last request still offers."""
    if not loop.full or not has_text(loop):
        return None
    place = calling(loop)[-1]
    call = loop.shape.answered(loop.turns[place].answer)[-1]
    if schema_of(loop, end(loop), call.name.get()) is None or not isinstance(call.known, dict):
        return None
    return call.name.get(), compact(call.known)


@MODEL("a call written as text, in tags", "model api", "call-as-text")
def call_in_tags(loop: Loop) -> Places:
    found = _last_offered(loop)
    if found is None:
        return None
    name, arguments = found
    return _say(loop, f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>')


@MODEL("a call written as text, bare JSON", "model api", "call-as-text")
def call_as_json(loop: Loop) -> Places:
    found = _last_offered(loop)
    return None if found is None else _say(loop, f'{{"name": "{found[0]}", "arguments": {found[1]}}}')


@MODEL("a refusal in its own field", "model", "model-refusal")
def refusal(loop: Loop) -> Places:
    return {end(loop)} if has_text(loop) and loop.shape.refuse(last(loop).answer) else None


@MODEL("an empty last answer", "model api", "model-empty-response")
def empty(loop: Loop) -> Places:
    return _say(loop, "") if has_text(loop) else None


@MODEL("the same call twice in one answer", "model", "model-duplicate-call-in-batch")
def same_twice(loop: Loop) -> Places:
    if not loop.full or not loop.shape.with_ids:
        return None
    place = pick(loop, calling(loop), "twice")
    assert place is not None
    call = loop.shape.answered(loop.turns[place].answer)[-1]
    number = len(loop.shape.answered(loop.turns[place].answer)) - 1
    copies, results = repeated(loop, place, number), results_for(loop, place, number)
    if not copies or len(results) != len(copies) or not call.known or _one_only(loop.turns[place]):
        return None
    other = fresh(call.identity)
    if not loop.shape.twice(loop.turns[place].answer, call, other):
        return None
    for copy, (_, result) in zip(copies, results, strict=True):
        insert_after(copy.owner, copy.node, entry_for(copy.node, call.identity, other))
        insert_after(result.owner, result.node, entry_for(result.node, call.identity, other))
    return {place}


def _one_only(turn: Turn) -> bool:
    """True when the request forbids parallel calls."""
    choice = turn.request.get("tool_choice")
    forbidden = isinstance(choice, dict) and choice.get("disable_parallel_tool_use")
    return turn.request.get("parallel_tool_calls") is False or bool(forbidden)


@MODEL("the same call five times in a row", "model", "model-repeated-call")
def repeated_call(loop: Loop) -> Places:
    """The turn and its result are put in again and again, under new ids."""
    shape = loop.shape
    if not loop.full:
        return None
    place = next((p for p in calling(loop) if p not in parallel(loop)), None)
    if place is None:
        return None
    before, after = shape.history(loop.turns[place].request), list(shape.history(loop.turns[place + 1].request))
    own = len(shape.calls(loop.turns[place + 1].request)) - len(shape.calls(loop.turns[place].request)) == 1
    if after[: len(before)] != before or len(after) == len(before) or not own:
        return None
    added = after[len(before) :]
    grown: list[Any] = []
    copies: list[Turn] = []
    for number in range(1, 5):
        new = _fresh_ids(loop.turns[place].answer, number)
        again = deepcopy(loop.turns[place])
        shape.history(again.request)[:] = deepcopy([*after, *grown])
        again.answer = _with_ids(again, new)
        copies.append(again)
        grown += [_swapped(entry, new) for entry in added]
    for turn in loop.turns[place + 1 :]:
        history = shape.history(turn.request)
        history[len(after) : len(after)] = deepcopy(grown)
    loop.turns[place + 1 : place + 1] = copies
    for number, turn in enumerate(loop.turns[place + 1 :], 1):
        for count in shape.usage(turn.answer):
            if count.key == "prompt_eval_count":
                count.value += min(number, 5) * len(str(added)) // 4
    return set(range(place, place + 6))


def _fresh_ids(answer: Body, number: int) -> dict[str, str]:
    """Another id for everything that the answer gives one."""
    return {one: fresh(one, number) for value in answer.values for one in _ids(value)}


def _ids(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for one in value:
            yield from _ids(one)
    elif isinstance(value, dict):
        for key, one in value.items():
            if key in ("id", "call_id", "toolUseId", "responseId") and isinstance(one, str) and len(one) > 6:
                yield one
            yield from _ids(one)


def _swapped(value: Any, names: dict[str, str]) -> Any:
    text = json.dumps(value)
    for old, new in names.items():
        text = text.replace(json.dumps(old), json.dumps(new))
    return json.loads(text)


def _with_ids(turn: Turn, names: dict[str, str]) -> Any:
    answer = turn.answer
    if answer.events is None:
        answer.value = _swapped(answer.value, names)
    else:
        for event in answer.events:
            event.value = _swapped(event.value, names)
    return answer


@MODEL(
    "an answer that is not the JSON that was requested",
    "api",
    "api-format-not-enforced model-answer-not-json model-answer-breaks-schema",
)
def not_json(loop: Loop) -> Places:
    request = last(loop).request
    wanted = [
        (request.get("response_format") or {}).get("type")
        if isinstance(request.get("response_format"), dict)
        else None,
        ((request.get("text") or {}).get("format") or {}).get("type"),
        (request.get("generationConfig") or {}).get("responseMimeType"),
        "json" if request.get("format") else None,
    ]
    if not any(isinstance(w, str) and "json" in w for w in wanted) or not has_text(loop):
        return None
    return _say(loop, "Sure! Here is what you asked for: nothing was found.")
