"""Arguments of calls, compared by their meaning: clients write them again.

JavaScript clients write `1.0` as `1` and round integers above 2^53; escapes and the order of keys get lost everywhere
(measured with eight clients, 2026-11-21). So calls are joined by numbers as doubles, and by the rest as parsed JSON. An
integer that was rounded is another number all the same: an id of an order is then that of nobody's.
"""

import math
from collections.abc import Iterator

from turntape.cassettes.regex import regex

from ..wire.json_value import Object, compact, is_array, is_object


def meaning(arguments: object) -> str:
    """A text that is equal for arguments with equal meaning. No arguments mean the same as `{}`."""
    return compact(_plain({} if arguments is None else arguments))


def same(one: object, other: object) -> bool:
    """Whether two JSON values have the same meaning."""
    return one is other or meaning(one) == meaning(other)


def _plain(value: object) -> object:
    if is_object(value):
        return {key: _plain(item) for key, item in sorted(value.items())}
    if is_array(value):
        return [_plain(item) for item in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    try:
        number = float(value)
    except OverflowError:
        return {"": str(value)}
    return number if math.isfinite(number) else str(value)


def differences(sent: object, given: object, path: str = "") -> Iterator[str]:
    """The JSON pointers at which the arguments of a server (`given`) differ from those of the model (`sent`)."""
    if path == "":
        nothing: Object = {}
        sent, given = nothing if sent is None else sent, nothing if given is None else given
    if is_object(sent) and is_object(given):
        for key in dict.fromkeys([*sent, *given]):
            step = f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
            if key not in sent or key not in given:
                yield step
            else:
                yield from differences(sent[key], given[key], step)
    elif is_array(sent) and is_array(given) and len(sent) == len(given):
        for place, (one, other) in enumerate(zip(sent, given, strict=True)):
            yield from differences(one, other, f"{path}/{place}")
    elif not same(sent, given) or (isinstance(sent, int) and isinstance(given, int) and sent != given):
        yield path


_LONG = regex(r"(?<![\w.])-?\d{16,19}(?![\w.])")


def rounded(whole: str, shown: str) -> tuple[str, str] | None:
    """The first integer of a text that is in another one only as its nearest double, with that; None without one."""
    there: list[str] | None = None
    for number in _LONG.findall(whole[:_MOST]):
        if number in shown:
            continue
        there = _LONG.findall(shown[:_MOST]) if there is None else there
        if (other := next((one for one in there if float(one) == float(number)), None)) is not None:
            return number, other
    return None


_MOST = 200_000
"""Characters that are searched."""
