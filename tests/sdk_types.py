"""What an installed SDK says about its API: the members of its unions, and a JSON value of each member's shape.

The unions of an SDK list everything that can be on the wire. A test compares them with what a protocol reads, so that
a member of a new SDK version cannot pass unseen.
"""

import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from importlib.metadata import version
from typing import Any, Literal, NotRequired, Required, get_args, get_origin, get_type_hints

import pytest
import typing_extensions

type Json = dict[str, Any]
type Samples = Mapping[str, list[Json]]
"""JSON values by the word that names their shape on the wire."""

_DEEPEST = 5


def since(package: str, *release: int) -> pytest.MarkDecorator:
    """A mark for tests that read an SDK: an older release than the one that was read lacks some of its names."""
    installed = tuple(int(part) for part in version(package).split(".")[:3] if part.isdigit())
    return pytest.mark.skipif(installed < release, reason=f"{package} is older than the release that was read")


def members(union: Any) -> list[Any]:
    """The members of a union, however it is nested, without `None` and what the SDK itself does not know."""
    while True:
        if get_origin(union) in (typing.Annotated, Required, NotRequired):
            union = get_args(union)[0]
        elif hasattr(union, "__value__"):  # a named union, also of an older Python's typing_extensions
            union = union.__value__
        else:
            break
    if get_origin(union) in (typing.Union, types.UnionType):
        return [member for one in get_args(union) for member in members(one)]
    known = not getattr(union, "__name__", "").startswith("Unknown")
    return [union] if known and union not in (None, type(None)) else []


def literals(annotation: Any) -> list[str]:
    """The words of a `Literal` or of an enumeration, also within a union."""
    found: list[str] = []
    for member in members(annotation):
        if get_origin(member) is Literal:
            found += [str(word) for word in get_args(member)]
        elif isinstance(member, type) and issubclass(member, Enum):
            found += [str(one.value) for one in member]
    return found


def fields(model: Any) -> dict[str, Any]:
    """The annotations of a pydantic model or a typed dictionary, by the names that the wire has."""
    if hasattr(model, "model_fields"):
        return {field.serialization_alias or field.alias or name: field.annotation
                for name, field in model.model_fields.items()}  # fmt: skip
    return get_type_hints(model)


def is_model(annotation: Any) -> bool:
    # SDKs take `TypedDict` from typing_extensions, whose own class differs from that of the standard library.
    return hasattr(annotation, "model_fields") or typing_extensions.is_typeddict(annotation)


def sample(annotation: Any, name: str = "value", depth: int = 0) -> Any:
    """A JSON value of this shape with every field filled; each text says the name of its field."""
    found = members(annotation)
    if not found:
        return None
    words = literals(annotation)
    if words:
        return words[0]
    first = next((one for one in found if is_model(one)), found[0])
    if is_model(first):
        return {key: sample(value, key, depth + 1) for key, value in fields(first).items()} if depth < _DEEPEST else {}
    inner = get_args(first)
    if _holds(first, Mapping):
        return {"some_key": sample(inner[1], "value", depth + 1)} if inner else {"some_key": "a value"}
    if _holds(first, Iterable):
        return [sample(inner[0], name, depth + 1)]
    plain = {bool: True, int: 7, float: 0.5, bytes: "AAAA", str: f"a {name}"}
    return plain.get(first, {"some_key": "a value"} if first in (object, Any) else f"a {name}")


def variants(model: Any) -> Iterator[Json]:
    """Samples of a model: one for each member of each union among its fields."""
    base: Json = sample(model)
    yield base
    for key, annotation in fields(model).items():
        for one in members(annotation):
            if is_model(one):
                yield {**base, key: sample(one, key, 1)}
            elif one is str:
                yield {**base, key: f"a {key}"}
            elif _holds(one, Iterable) and not _holds(one, Mapping):
                yield from ({**base, key: [sample(m, key, 2)]} for m in members(get_args(one)[0]) if is_model(m))


def _holds(annotation: Any, kind: type) -> bool:
    """True for a generic annotation of a collection of this kind: `list[str]`, `Iterable[...]`."""
    origin = get_origin(annotation)
    return isinstance(origin, type) and issubclass(origin, kind) and bool(get_args(annotation))


def samples(*unions: Any, key: str = "type") -> dict[str, list[Json]]:
    """Samples of all members of `unions`, by the word that each has under `key`."""
    found: dict[str, list[Json]] = {}
    for union in unions:
        for member in members(union):
            for word in literals(fields(member)[key]) if is_model(member) and key in fields(member) else []:
                found.setdefault(word, []).extend({**one, key: word} for one in variants(member))
    return found


def field_samples(model: Any) -> dict[str, list[Json]]:
    """Samples of an API that names a shape by its only field: one for each field of `model`."""
    return {key: [{key: sample(annotation, key, 1)}] for key, annotation in fields(model).items()}


def not_covered(found: Samples, is_read: Callable[[Json], bool], listed: Mapping[str, str]) -> list[str]:
    """What a guard reports: words that are neither read nor listed, and listed words that are read after all."""
    read = {word for word, values in found.items() if all(map(is_read, values))}
    missing = [f"{word} is neither read nor listed" for word in sorted(found.keys() - read - listed.keys())]
    return missing + [f"{word} is listed, but it is read" for word in sorted(read & listed.keys())]


def shape_samples(shape: Any) -> dict[str, list[Json]]:
    """Samples of a tagged union of botocore's service models, by its members' names."""
    return {name: [{name: shape_sample(member, name)}] for name, member in shape.members.items()}


def shape_sample(shape: Any, name: str = "value", depth: int = 0) -> Any:
    """A JSON value of a shape of botocore's service models."""
    match shape.type_name:
        case "structure" if getattr(shape, "is_document_type", False) or depth >= _DEEPEST:
            return {"some_key": "a value"}
        case "structure":
            inner = list(shape.members.items())[: 1 if getattr(shape, "is_tagged_union", False) else None]
            return {key: shape_sample(member, key, depth + 1) for key, member in inner}
        case "list":
            return [shape_sample(shape.member, name, depth + 1)]
        case "map":
            return {"some_key": shape_sample(shape.value, name, depth + 1)}
        case "string":
            return shape.enum[0] if getattr(shape, "enum", None) else f"a {name}"
        case "blob":
            return "AAAA"
        case "boolean":
            return True
        case _:
            return 7
