"""What the label of a turn says of its cost."""

from collections.abc import Mapping
from typing import cast

from ..analysis.refused import is_refused
from ..wire.json_value import as_array, as_object


def is_unpriced(label: Mapping[str, object]) -> bool:
    """Whether a cost is not known, or not known as a whole: then the real one is higher than `cost_usd`.

    A request that was refused costs nothing. Nor does one outside generation whose answer counts nothing.
    """
    if fees_without_price(label):
        return True
    if label.get("turn") is None:
        return label.get("usage") is not None and label.get("cost_usd") is None
    return label.get("cost_usd") is None and not costs_nothing(label)


def fees_without_price(label: Mapping[str, object]) -> tuple[str, ...]:
    """What the API did for a fee without a known price, in words. Labels of older recordings do not say."""
    return tuple(one for one in as_array(label.get("unpriced_fees")) if isinstance(one, str))


def costs_nothing(label: Mapping[str, object]) -> bool:
    """Whether a request was refused before anything was counted or answered."""
    return is_refused(
        status=cast("int | None", label.get("status")),
        finish=cast("str | None", as_object(label.get("api")).get("effective")),
        emitted=cast("str | None", as_object(label.get("model")).get("emitted")),
        counted=cast("int | None", as_object(label.get("usage")).get("input")),
    )
