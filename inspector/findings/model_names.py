"""Whether two names are names of one model.

An answer may spell the requested name differently: with a date, a revision, a region, a vendor, a precision, or in full
where the request was short. None of that is another model; another version, family or size is.
"""

import re
from functools import cache

from turntape.cassettes.frozen import frozen
from turntape.cassettes.regex import regex

_REGION = regex(r"^(?:us-gov|us|eu|apac|global|jp|au|ca)\.")
_VENDOR = regex(r"^[a-z][a-z0-9]*\.(?=[a-z])")
_DATES = regex(r"(?<!\d)(?:\d{4}-\d{2}-\d{2}|\d{2}-\d{4}|\d{8}|\d{6}|\d{2}-\d{2}|\d{4}|\d{3})(?![\dbm])")
_CONTEXT = regex(r"(?<!\d)\d+k(?![a-z])")
_PRECISION = regex(r"(?<![a-z0-9])(?:i?q\d(?:_[a-z0-9]+)*|[bm]?x?n?v?fp\d+|bf16|int\d+|\d+-?bit)(?![a-z0-9])")
_REVISION = regex(r"[-:@]v\d+(?:[.:]\d+|-0)?$|:\d+$")
_PARAMETERS = regex(r"(?<![a-z0-9])[ae]?\d+(?:x\d+)?(?:\.\d+)?[bme](?![a-z0-9])")
_VERSION = regex(r"\d+(?:[.-]\d+)*(?![a-z0-9])|\d+[a-z]")
_WORD = regex(r"[a-z]+")
_SIZES = frozenset(
    [
        "mini",
        "nano",
        "micro",
        "lite",
        "flash",
        "pro",
        "max",
        "plus",
        "ultra",
        "small",
        "medium",
        "large",
        "tiny",
        "haiku",
        "sonnet",
        "opus",
        "fable",
        "codex",
        "vision",
    ]
)
"""Words that make another model of a name; others are packaging."""


@frozen
class ModelName:
    """What a model's name says of the model, without region, vendor, date, revision and precision."""

    words: tuple[str, ...]
    sizes: frozenset[str]
    """Those of `words` that distinguish models of one family."""
    versions: frozenset[str]
    parameters: frozenset[str]
    """`8b`, `a22b`, `8x7b`."""

    @property
    def is_bare(self) -> bool:
        """True when it names a family only."""
        return not (self.sizes or self.versions or self.parameters)


@cache
def model_name(name: str) -> ModelName:
    """The parts of a name as it was on the wire."""
    text = _VENDOR.sub("", _REGION.sub("", name.lower().rsplit("/", 1)[-1])).removesuffix(".gguf")
    dated = _DATES.sub(" ", re.sub(r"(?<=\d)p(?=\d)", ".", text))
    text = _PRECISION.sub(" ", _CONTEXT.sub(" ", dated)).strip(" -_:@")
    revision = _REVISION.search(text)
    if revision is not None and (revision[0][1] != "v" or dated != text or re.search(r"\d", text[: revision.start()])):
        text = text[: revision.start()]
    parameters = frozenset(_PARAMETERS.findall(text))
    text = _PARAMETERS.sub(" ", text)
    versions = frozenset(re.sub(r"[.-]", "", re.sub(r"[.-]0$", "", one)) for one in _VERSION.findall(text))
    words = tuple(_WORD.findall(_VERSION.sub(" ", text)))
    return ModelName(words, frozenset(words) & _SIZES, versions, parameters)


def same_model(asked: str, served: str) -> bool:
    """True when two names differ in nothing that makes another model."""
    a, b = model_name(asked), model_name(served)
    if a.is_bare or b.is_bare:
        return _same_family(a, b)
    return (
        a.sizes == b.sizes
        and _agree(a.versions, b.versions)
        and _agree(a.parameters, b.parameters)
        and _same_family(a, b)
    )


def other_size(alias: str, served: str) -> bool:
    """True when both names state a size, and not the same one.

    An alias such as `mistral-large-latest` leaves open which version answers, and not its size.
    """
    a, b = model_name(alias), model_name(served)
    if (a.sizes and b.sizes) or (a.parameters and b.parameters):
        return a.sizes != b.sizes or not _agree(a.parameters, b.parameters)
    return bool(a.sizes & _LARGE) and bool(b.parameters) and all(map(_is_small, b.parameters))


def other_size_deployed(deployment: str, served: str) -> bool:
    """True when a deployment has the whole name of a model, and another size of that model answered."""
    a, b = model_name(deployment), model_name(served)
    named = bool(a.versions) and a.versions == b.versions and set(a.words) - a.sizes <= set(b.words)
    return named and (a.sizes != b.sizes or not _agree(a.parameters, b.parameters))


_LARGE = frozenset({"large", "medium", "pro", "max", "ultra", "opus"})
_SMALL = 20
"""Billions of parameters. No model that is called large has so few."""


def _is_small(parameters: str) -> bool:
    digits = re.fullmatch(r"[ae]?(\d+(?:\.\d+)?)b", parameters)
    return digits is not None and float(digits[1]) < _SMALL


def _agree(a: frozenset[str], b: frozenset[str]) -> bool:
    """True when both say the same, or one says nothing."""
    return not a or not b or a == b


def _same_family(a: ModelName, b: ModelName) -> bool:
    """True unless each begins with a word that the other does not have."""
    return not a.words or not b.words or a.words[0] in b.words or b.words[0] in a.words
