"""Tools as their servers define them, and as the model is offered them.

Clients rewrite definitions for their API: they add or cut words, make all arguments required, replace keywords of the
schema. Such changes are not faults. Another text, and arguments that are missing or of another kind, are.
"""

from collections.abc import Iterator

from turntape.cassettes.excerpts import cut, listed
from turntape.cassettes.frozen import frozen

from ..analysis.conversation import without_space
from ..wire.json_value import Object, as_array, as_object, as_text, is_object
from ..wire.schema_refs import lost_reference
from ..wire.values import Tool

_HARMLESS = ("readOnlyHint", "idempotentHint")
_RELATED = ({"number", "integer"}, {"string", "null"}, {"object", "array"})
_COMMON = 0.5
"""So much of a shorter description must begin a longer one, for one to be made of the other."""


@frozen
class Definition:
    """A tool as its server defines it."""

    name: str
    description: str
    schema: object
    """The JSON Schema of its arguments."""
    output_schema: object
    """The JSON Schema of its structured content; None when it has none."""
    may_repeat: bool
    """Whether the server says that a second run changes nothing more (`readOnlyHint`, `idempotentHint`)."""
    server: str
    index: int
    """The round trip that says so."""
    tasks: str = ""
    """Whether its server runs it as a task (`execution.taskSupport`): `required`, `optional` or `forbidden`."""

    @classmethod
    def read(cls, fields: Object, server: str, index: int) -> "Definition":
        """An entry of `tools/list`."""
        return cls(
            as_text(fields.get("name")) or "",
            as_text(fields.get("description")) or "",
            fields.get("inputSchema"),
            fields.get("outputSchema"),
            any(as_object(fields.get("annotations")).get(hint) is True for hint in _HARMLESS),
            server,
            index,
            as_text(as_object(fields.get("execution")).get("taskSupport")) or "",
        )

    def differs(self, other: "Definition") -> tuple[str, ...]:
        """What differs: `description`, `arguments`, `results`."""
        pairs = {
            "description": (self.description, other.description),
            "arguments": (self.schema, other.schema),
            "results": (self.output_schema, other.output_schema),
        }
        return tuple(name for name, (one, two) in pairs.items() if one != two)


@frozen
class Difference:
    """How an offered tool differs from its server's definition."""

    text: str
    mild: bool
    """True for what clients do by design."""


def compare(offered: Tool, served: Definition) -> Difference | None:
    """The difference; None when both say the same."""
    found = [*_descriptions(offered.description or "", served.description)]
    if offered.schema is not None and is_object(served.schema):
        found += _arguments(as_object(offered.schema), served.schema)
    if not found:
        return None
    severe = [one for one in found if not one.mild]
    return Difference(listed([one.text for one in severe or found], 3, "; "), not severe)


def is_passed_on(offered: Tool, served: Definition) -> bool:
    """Whether the offered tool says what this definition says, apart from what clients change by design."""
    found = compare(offered, served)
    return found is None or found.mild


def _descriptions(offered: str, served: str) -> Iterator[Difference]:
    one, other = without_space(offered), without_space(served)
    if one == other:
        return
    if not one:
        yield Difference("the description was left out", mild=True)
    elif other in one:
        yield Difference("the description got more words", mild=True)
    elif one.rstrip(".…") in other or _begins_alike(one, other):
        yield Difference(f"the description was cut ({len(offered):,} of {len(served):,} characters)", mild=True)
    else:
        yield Difference(f"the description is {cut(offered, 60)!r} and not {cut(served, 60)!r}", mild=False)


def _begins_alike(one: str, other: str) -> bool:
    common = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return common >= 20 and common >= _COMMON * min(len(one), len(other))


def _arguments(offered: Object, served: Object) -> Iterator[Difference]:
    ours, theirs = as_object(offered.get("properties")), as_object(served.get("properties"))
    missing = [name for name in theirs if name not in ours]
    if missing:
        yield Difference(f"the argument {missing[0]!r} is missing", mild="$ref" in offered or "anyOf" in offered)
    added = [name for name in ours if name not in theirs]
    if added:
        yield Difference(f"the argument {added[0]!r} was added", mild=True)
    for name in theirs:
        one, other = _types(as_object(ours.get(name))), _types(as_object(theirs[name]))
        if name in ours and one and other and one.isdisjoint(other):
            mild = any(one | other <= group for group in _RELATED)
            yield Difference(f"the argument {name!r} is {_or(one)} and not {_or(other)}", mild=mild)
        elif (left := _left_out(ours.get(name), theirs[name])) is not None:
            yield Difference(f"the argument {name!r} may not be {left}, as its server allows", mild=True)
    lost = lost_reference(offered)
    if lost is not None and lost_reference(served) is None:
        yield Difference(f"it refers to {lost!r}, which was left out", mild=False)
    flat = next((name for name in theirs if name in ours and _is_flattened(ours[name], theirs[name])), None)
    if flat is not None:
        yield Difference(f"the fields of the argument {flat!r} are not passed on", mild=False)
    yield from _values(ours, theirs)
    needed = {str(name) for name in as_array(served.get("required"))} - set(missing)
    if not needed <= {str(name) for name in as_array(offered.get("required"))}:
        yield Difference("arguments that the server requires are optional", mild=True)


def _values(ours: Object, theirs: Object) -> Iterator[Difference]:
    """The first argument whose allowed values, and the first one whose description, the model does not see."""
    for key, what in _PASSED_ON:
        said = (name for name, schema in theirs.items() if _states(as_object(schema), key))
        lost = next((name for name in said if name in ours and not _says(ours[name], key)), None)
        if lost is not None:
            yield Difference(f"the {what} of the argument {lost!r} are not passed on", mild=key == "description")


_PASSED_ON = (("enum", "allowed values"), ("description", "words"))


def _is_flattened(ours: object, theirs: object) -> bool:
    """Whether an object, or the objects in a list, have fields in the one schema and none in the other."""
    one, other = as_object(ours), as_object(theirs)
    if one.get("type") == other.get("type") == "array":
        one, other = as_object(one.get("items")), as_object(other.get("items"))
    plain = one.get("type") == "object" and not any(key in one for key in ("$ref", "anyOf", "oneOf", "allOf"))
    return plain and bool(other.get("properties")) and not one.get("properties")


def _says(schema: object, key: str, depth: int = 4) -> bool:
    """Whether a schema has this keyword, itself or in one of the schemas that it is put together of."""
    fields = as_object(schema)
    groups = (fields.get(name) for name in ("anyOf", "oneOf", "allOf"))
    inner = [one for group in groups for one in as_array(group)]
    const = key == "enum" and ("const" in fields or "$ref" in fields)
    return bool(fields.get(key)) or const or depth == 0 or any(_says(one, key, depth - 1) for one in inner)


def _states(schema: Object, key: str) -> bool:
    """Whether a schema itself has this keyword; one constant is a list of allowed values too."""
    return bool(schema.get(key)) or (key == "enum" and "const" in schema)


def _left_out(ours: object, theirs: object) -> str | None:
    """A type that only the server's schema allows, where both say which they allow. Numbers count as one type."""
    one, other = (_allowed(as_object(schema)) for schema in (ours, theirs))
    if not one or not other or not one < other:
        return None
    return _or(other - one)


def _allowed(schema: Object) -> frozenset[str]:
    """The types that a schema allows, alone or as one of several; empty when it leaves them open. `null` is none."""
    found: frozenset[str] = _types(schema)
    for key in ("anyOf", "oneOf"):
        branches = [_allowed(as_object(one)) for one in as_array(schema.get(key))]
        if not all(branches):
            return frozenset()
        found = found.union(*branches)
    return frozenset("number" if name == "integer" else name for name in found) - {"null"}


def _types(schema: Object) -> frozenset[str]:
    """The types that a schema names; empty when it leaves them open, or says them in another way."""
    kind = schema.get("type")
    names = [kind] if isinstance(kind, str) else as_array(kind)
    return frozenset(name.lower() for name in names if isinstance(name, str))


def _or(types: frozenset[str]) -> str:
    return " or ".join(sorted(types))
