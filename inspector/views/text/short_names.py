"""Short names of models and addresses, for lists."""

from collections.abc import Iterable, Sequence

from turntape.cassettes.regex import regex

_REDACTED = regex(r"([?&])[^=&?]+=REDACTED[^&]*&?")


def model_name(model: str | None) -> str:
    """A model's name without the date behind it."""
    if not model:
        return "unknown model"
    head, _, tail = model.rpartition("-")
    if head and tail.isdigit() and len(tail) >= 8:
        return head
    parts = model.rsplit("-", 3)
    if len(parts) == 4 and len(parts[1]) == 4 and all(part.isdigit() for part in parts[1:]):
        return parts[0]
    return model


def model_names(models: Iterable[str]) -> Sequence[str]:
    """The names of models without their dates, each once."""
    return [*dict.fromkeys(map(model_name, models))]


def distinct_models(models: Iterable[str]) -> Sequence[str]:
    """The models in their order, each once: an answer names its model with a date that the request may leave out."""
    longest: dict[str, str] = {}
    for model in models:
        name = model_name(model)
        longest[name] = max(longest.get(name, ""), model, key=len)
    return [*longest.values()]


def address(url: str) -> str:
    """A URL without the parameters whose values were redacted: they say nothing and are long."""
    return _REDACTED.sub(r"\1", url).rstrip("?&")
