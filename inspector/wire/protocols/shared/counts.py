"""Token counts of an answer. A value that is not a count is reported and not used."""

from ...json_value import MOST, Object, as_object, value_at


class Counts:
    """Reads the fields of a usage object; `problems` collects those that hold something else than a count."""

    def __init__(self, usage: Object, name: str = "usage") -> None:
        """`name` is the object's name in `problems`; empty when its fields are named separately."""
        self._usage = usage
        self._name = name
        self._reported: dict[str, str] = {}

    @property
    def problems(self) -> tuple[str, ...]:
        """One sentence for each field that is negative or of a wrong type."""
        return tuple(self._reported.values())

    def first(self, *places: str) -> int | None:
        """The first of these fields that holds a count, or None; a dot leads into an object."""
        for place in places:
            value = value_at(self._usage, place.split("."))
            if value is None:
                continue
            count = as_token_count(value)
            if count is not None:
                return count
            name = f"{self._name}.{place}" if self._name else place
            self._reported[place] = f"{name} is {_shown(value)}, which is not a count of tokens."
        return None


def as_token_count(value: object) -> int | None:
    """`value` if it is a whole number from 0 to 2⁵³, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST or value % 1:
        return None
    return int(value)


def wrong_usage(value: object, name: str = "usage") -> str:
    """The sentence for a usage that is not an object."""
    return f"{name} is {_shown(value)}, which is not an object with counts of tokens."


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def later_usage(before: Object, said: object) -> Object:
    """The usage of a stream with what a later event adds. Usage is cumulative: a later count replaces the
    earlier one. Null says nothing, and neither does 0 after a count: some gateways fill in what they do not know.
    """
    given = {k: v for k, v in as_object(said).items() if v is not None and not (before.get(k) and _is_zero(v))}
    return {**before, **given}


def _is_zero(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == 0
