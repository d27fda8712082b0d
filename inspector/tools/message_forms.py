"""Whether a message of MCP has the form that the table of messages gives it, whoever wrote it."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, NoReturn

from turntape.cassettes.excerpts import cut

from ..wire.json_value import Object, as_array, as_object, as_text, compact, is_object
from ..wire.protocols.mcp.shape import SERVER_REQUESTS
from .message_table import (
    ANSWERS,
    BEFORE_ANY_JSON,
    MODERN_ANSWERS,
    MODERN_NOTICES,
    MODERN_PARAMS,
    NOTICES,
    PARAMS,
    REPLIES,
    relaxed,
)

if TYPE_CHECKING:
    import jsonschema_rs


METHODS = frozenset(PARAMS) | {"server/discover", "subscriptions/listen"}
_SPACES = ("tools/", "prompts/", "resources/", "sampling/", "elicitation/", "roots/", "completion/", "logging/")

_NEEDS: Mapping[str, str] = {
    "tools/": "tools",
    "prompts/": "prompts",
    "resources/": "resources",
    "logging/": "logging",
    "completion/": "completions",
    "sampling/": "sampling",
    "elicitation/": "elicitation",
}
"""By the beginning of a method: the capability that the side must have declared which is asked."""


def wrong_params(method: str, params: Object, *, modern: bool = False) -> str | None:
    """How the parameters of a request break MCP's form: the end of a sentence that begins with the request.

    `modern`: the version is 2026-07-28, in which each request says more.
    """
    wrong = _first_wrong("params", method, params)
    return wrong if wrong is not None or not modern else _first_wrong("modern params", method, params)


def wrong_reply(method: str, result: Object) -> str | None:
    """How a client's answer to a request of the server breaks MCP's form; None when it does not."""
    return _first_wrong("replies", method, result)


def wrong_answer(method: str, result: Object, *, any_json: bool = False) -> str | None:
    """How a server's answer breaks MCP's form; None when it does not.

    `any_json`: the version lets schemas and structured content be of any kind, or it is not known.
    """
    wrong = _first_wrong("answers", method, result)
    return wrong if wrong is not None or any_json else _first_wrong("before", method, result)


def odd_answer(method: str, result: Object, *, modern: bool = False) -> str | None:
    """How a server's answer breaks what MCP wants, and only some clients need: null in the place of nothing, and in
    version 2026-07-28 (`modern`) what an answer says of itself."""
    wrong = _first_wrong("strict", method, result)
    return wrong if wrong is not None or not modern else _first_wrong("modern answers", method, result)


def wrong_notice(method: str, params: Object, *, modern: bool = False) -> str | None:
    """How a notification breaks MCP's form; None when it does not. `modern`: a server of version 2026-07-28 sent it."""
    wrong = _first_wrong("notices", method, params)
    return wrong if wrong is not None or not modern else _first_wrong("modern notices", method, params)


def wrong_question(request: object) -> str | None:
    """How a question in the answer to a call breaks MCP's form, from version 2026-07-28 on; None when it does not."""
    method, params = as_text(as_object(request).get("method")), as_object(request).get("params", {})
    if method not in SERVER_REQUESTS or method == "ping":
        return f"has {cut(compact(method), 40)} as its method, which no question has"
    if not is_object(params):
        return f"has {cut(compact(params), 40)} as its `params`, which must be an object"
    return wrong_params(method, params)


def wrong_schema(schema: object) -> str | None:
    """How a schema is not valid by any draft of JSON Schema; None when it is."""
    if not is_object(schema):
        return None
    wrong: str | None = None
    for draft in [as_text(schema["$schema"])] if "$schema" in schema else _DRAFTS:
        if (wrong := _wrong_by(draft, schema)) is None:
            break
    return wrong


_DRAFTS = ("https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#",
           "http://json-schema.org/draft-04/schema#")  # fmt: skip
"""Until 2025-11-25, MCP did not say which one is meant."""
_NOT_JUDGED = frozenset({"format", "$ref"})
"""Patterns, which each language reads in its own way, and other documents."""


def _wrong_by(draft: str | None, schema: Object) -> str | None:
    """How a schema breaks one draft; None when it does not, and for a draft that is not known here."""
    import jsonschema_rs

    # Half of a surrogate pair crashes the validator.
    text = compact({**schema, "$schema": draft}).encode("utf-8", "replace").decode()
    try:
        jsonschema_rs.validator_for(text, retriever=_refuse)
    except jsonschema_rs.ValidationError as error:
        place = "/".join(str(step) for step in error.instance_path)
        said = f"has {cut(compact(error.instance), 40)} at `{place}`, which JSON Schema does not allow there"
        return None if error.kind.name in _NOT_JUDGED else said
    except (jsonschema_rs.ReferencingError, ValueError):
        return None
    return None


def breaks(schema: Object, value: object) -> bool:
    """Whether a value breaks a schema that the other side gave for it; False for a schema that cannot be used."""
    import jsonschema_rs

    try:
        return not jsonschema_rs.validator_for(schema, retriever=_refuse).is_valid(value)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
        return False


def _refuse(address: str) -> NoReturn:
    """Reading a recording must not open a connection."""
    raise ValueError(address)


def is_made_up(method: str) -> bool:
    """True for a method in one of MCP's own groups that MCP does not have."""
    return method.startswith(_SPACES) and method not in METHODS and not method.endswith(("/get", "/list", "/complete"))


def is_unheard(method: str) -> bool:
    """True for a method that no version of MCP has. It may be of an extension, which must be declared."""
    return method not in METHODS


def needed(method: str, params: Object) -> list[str]:
    """The capability that the side which is asked must have declared, and what is needed inside it; empty for none."""
    name = next((name for start, name in _NEEDS.items() if method.startswith(start)), None)
    if name is None:
        return []
    inner = "tools" if name == "sampling" and params.get("tools") else ""
    inner = "subscribe" if method == "resources/subscribe" else inner
    inner = "url" if name == "elicitation" and params.get("mode") == "url" else inner
    return [name, inner] if inner else [name]


def declares(method: str, params: Object, capabilities: Object | None) -> bool | None:
    """Whether a side has declared that it can answer a request; None where that is not known or not needed."""
    steps = needed(method, params)
    if not steps or capabilities is None:
        return None
    first, *inner = steps
    declared = as_object(capabilities.get(first))
    if first == "elicitation" and not inner and declared and "form" not in declared:
        return False  # pages only; without any kind, forms are meant
    return first in capabilities and all(declared.get(step) not in (None, False) for step in inner)


_TABLES: Mapping[str, Mapping[str, Object]] = {
    "params": PARAMS,
    "replies": REPLIES,
    "answers": ANSWERS,
    "before": BEFORE_ANY_JSON,
    "strict": ANSWERS,
    "notices": NOTICES,
    "modern params": MODERN_PARAMS,
    "modern answers": MODERN_ANSWERS,
    "modern notices": MODERN_NOTICES,
}
_WITH_NULLS = frozenset({"replies", "answers", "notices"})
"""Where null in the place of nothing is not a fault: few readers refuse it."""


def _first_wrong(table: str, method: str, value: Object) -> str | None:
    return _said(_validator(table, method), value) if method in _TABLES[table] else None


@cache
def _validator(table: str, method: str) -> "jsonschema_rs.Validator":
    import jsonschema_rs  # a recording without tool servers needs no schemas

    schema = _TABLES[table][method]
    return jsonschema_rs.validator_for(relaxed(schema) if table in _WITH_NULLS else schema)


def _said(validator: "jsonschema_rs.Validator", value: object) -> str | None:
    """The first thing that is wrong with a value, as the end of a sentence."""
    try:
        error = next(iter(validator.iter_errors(value)), None)
    except ValueError:  # half of a surrogate pair, which JSON may hold
        return None
    if error is None:
        return None
    path = [str(step) for step in error.instance_path]
    kind = error.kind
    lacking = getattr(kind, "property", None)
    if kind.name == "required" and isinstance(lacking, str):
        where = f" in its `{'/'.join(path)}`" if path else ""
        return f"has no `{lacking}`{where}, which MCP requires"
    named = "/".join(path) or "content"
    wanted = [_KINDS.get(str(one), str(one)) for one in as_array(getattr(kind, "types", None)) if one != "null"]
    must = f"which must be {' or '.join(wanted)}" if wanted else "which MCP does not allow there"
    return f"has {cut(compact(error.instance), 40)} as its `{named}`, {must}"


_KINDS = {
    "object": "an object",
    "array": "a list",
    "string": "a text",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
}
