"""Read and change a JSON value at a pointer."""

from turntape.cassettes.matching.pointers import segments

from ..json_value import Object, as_object, objects_in, value_at


def get(value: object, pointer: str) -> object:
    """The value at a pointer, or None. An empty pointer is a place that the API does not have."""
    return value_at(value, segments(pointer)) if pointer else None


def put(value: Object, pointer: str, new: object) -> None:
    """Set the value at a pointer. Objects on the way that are missing are created."""
    *way, last = segments(pointer)
    for key in way:
        value = as_object(value.setdefault(key, {}))
    value[last] = new


def objects_at(value: object, pointer: str) -> list[Object]:
    """The JSON objects of the list at a pointer."""
    return objects_in(get(value, pointer))
