"""The project's settings: `turntape.toml`, or `[tool.turntape]` of `pyproject.toml`, in the working directory.

redact = ["ACME-[0-9]+"]
allow_headers = ["x-team"]
rules = ["mypackage.rules"]

[prices]
"acme-7b" = { input = 0.5, output = 1.5 }

[replay]
profile = "ordered"
ignore = ["/metadata/run"]
ignore_text = ["build-[0-9]+"]
rules = {system = "warn", tools = "fail", temperature = "ignore"}

[[protocols]]
name = "my-gateway"

pydantic checks the file. It is imported only when there is something to check: most projects have no settings.
"""

import os
from collections.abc import Mapping
from dataclasses import field, fields, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from .errors import CassetteError
from .frozen import frozen
from .tape.named_file import text_of

if TYPE_CHECKING:
    from pydantic import ConfigDict
    from pydantic_core import ErrorDetails

type Rule = Literal["fail", "warn", "ignore"]
"""`fail`: a request that differs here is not answered. `warn`: it is answered, and the difference is reported.
`ignore`: the difference does not count."""

type Profile = Literal["strict", "ordered", "sequence"]
"""`strict`: only an equal request is answered. `ordered`: the order of turns decides, and differences are reported.
`sequence`: the n-th request to a method and path gets the n-th answer, whatever it says; reported once."""


@frozen
class ReplaySettings:
    """`[replay]`: how similar a request must be to its recording. docs/testing.md explains each key."""

    __pydantic_config__: ClassVar["ConfigDict"] = {"extra": "forbid"}

    profile: Profile = "strict"
    ignore: tuple[str, ...] = ()
    """JSON pointers."""
    ignore_text: tuple[str, ...] = ()
    """Regular expressions, or names of volatile text such as `uuid`."""
    rules: Mapping[str, Rule] = field(default_factory=dict[str, Rule])
    """A rule for a field of the request, or for a JSON pointer."""
    map_values: bool = True
    """Whether values that are new in each run may replace recorded ones."""


@frozen
class ModelPrices:
    """`[prices]`: what one model costs, in US dollars per million tokens."""

    __pydantic_config__: ClassVar["ConfigDict"] = {"extra": "forbid"}

    input: Decimal | None = None
    output: Decimal | None = None
    cache_read: Decimal | None = None
    """Input tokens read from a cache; left out: as `input`."""
    cache_write: Decimal | None = None
    """Input tokens written to a cache; left out: as `input`."""
    like: str | None = None
    """A listed model that costs the same: `openai/gpt-5`."""

    def __post_init__(self) -> None:
        amounts = (self.input, self.output, self.cache_read, self.cache_write)
        if any(amount is not None and amount < 0 for amount in amounts):
            raise ValueError("write amounts from 0")
        if self.like is None and None in (self.input, self.output):
            raise ValueError("write input and output in US dollars per million tokens, or like = 'vendor/model'")
        if self.like is not None and (amounts != (None,) * 4 or "/" not in self.like):
            raise ValueError("write like = 'vendor/model' alone")


@frozen
class Settings:
    """All keys of the file. A key that is not listed here is an error."""

    __pydantic_config__: ClassVar["ConfigDict"] = {"extra": "forbid"}

    redact: tuple[str, ...] = ()
    """Regular expressions of secrets that no built-in rule knows."""
    redact_entropy: bool = False
    """Whether words that look random are secrets too, beside what the rules find."""
    redact_function: str | None = None
    """`module:function`: a function that gets a text and returns the secrets in it (docs/secrets.md)."""
    redact_keep: tuple[str, ...] = ()
    """Regular expressions: a value that one of them matches as a whole is not a secret."""
    allow_headers: tuple[str, ...] = ()
    """Request headers that are stored although they are not on the built-in list."""
    rules: tuple[str, ...] = ()
    """Modules with your own rules (docs/extending.md)."""
    protocols: tuple[Mapping[str, object], ...] = ()
    """Gateways that are declared instead of programmed (docs/extending.md)."""
    prices: Mapping[str, ModelPrices] = field(default_factory=dict[str, ModelPrices])
    """Prices of models that no price list has, by the model's name; `*` matches any part of it."""
    replay: ReplaySettings = field(default_factory=ReplaySettings)


ENTROPY, FUNCTION, KEEP = "TURNTAPE_REDACT_ENTROPY", "TURNTAPE_REDACT_FUNCTION", "TURNTAPE_REDACT_KEEP"
"""Variables of the environment that set `redact_entropy` and `redact_function`, and add lines to `redact_keep`, for
this process and its children."""


def read_settings(path: str | os.PathLike[str] | None = None) -> Settings:
    """The settings in `path`, or in the first of the usual files that has any; the defaults where there are none.

    Without `path`, the variables of the environment come before the files. Raises CassetteError when the file is not
    valid TOML, has an unknown key, or a value has the wrong type.
    """
    if path:
        return _in_file(Path(path)) or Settings()
    found = _in_file(Path("turntape.toml")) or _in_file(Path("pyproject.toml")) or Settings()
    entropy, function = os.environ.get(ENTROPY, ""), os.environ.get(FUNCTION)
    return replace(
        found,
        redact_entropy=entropy not in ("0", "false", "no") if entropy else found.redact_entropy,
        redact_function=function or found.redact_function,
        redact_keep=(*found.redact_keep, *filter(None, os.environ.get(KEEP, "").split("\n"))),
    )


def _in_file(place: Path) -> Settings | None:
    document = _document(place)
    return _checked(document, place) if document != {} else None


def _document(place: Path) -> object:
    """What the file says about turntape; empty without the file or without our table."""
    try:
        text = text_of(place).removeprefix("\ufeff")
        if "turntape" not in text and place.name == "pyproject.toml":
            return {}
        import tomllib  # imported here because most commands find no settings

        document: dict[str, Any] = tomllib.loads(text)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as exc:  # neither UTF-8 nor TOML
        raise CassetteError(f"cannot read the settings in {str(place)!r}: {exc}; correct or remove the file") from exc
    except RecursionError as exc:
        why = "they are nested too deeply"
        raise CassetteError(f"cannot read the settings in {str(place)!r}: {why}; correct or remove the file") from exc
    if place.name != "pyproject.toml":
        return document
    tool = document.get("tool", {})
    return cast("dict[str, object]", tool).get("turntape", {}) if isinstance(tool, dict) else {}


def _checked(document: object, place: Path) -> Settings:
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(Settings).validate_python(document)
    except ValidationError as exc:
        raise CassetteError(_sentence(exc.errors()[0], document, place)) from exc


def _sentence(error: "ErrorDetails", document: object, place: Path) -> str:
    """What is wrong, in one sentence: the file, the key, and what to write instead."""
    where = f"[tool.turntape] in {str(place)!r}" if place.name == "pyproject.toml" else repr(str(place))
    *tables, key = error["loc"] or ("",)
    if error["type"] == "unexpected_keyword_argument":
        table = f"the table {_dotted(tables)!r} of {where}" if tables else where
        return f"{table} has the unknown key {str(key)!r}; {_known(str(key), tables)}"
    name = f"{_dotted([*tables, key])!r} in {where}" if key != "" else where
    return f"{name} is {error['input']!r}; {_expected(error, [*tables, key])}"


def _known(key: str, tables: list[int | str]) -> str:
    place: Any = Settings()
    for table in tables:
        place = ModelPrices if isinstance(place, Mapping) else getattr(place, str(table))
    names = [f.name for f in fields(place)]
    from difflib import get_close_matches  # imported here because it is for a wrong key alone

    near = get_close_matches(key, names, 1, 0.5)
    return f"did you mean {near[0]!r}?" if near else f"the known keys are {', '.join(names)}"


def _expected(error: "ErrorDetails", loc: list[int | str]) -> str:
    """What to write, by the kind of pydantic's error."""
    match error["type"]:
        case "literal_error":
            return f"write one of {error.get('ctx', {})['expected']}"
        case "tuple_type":
            return f"write a list of {'tables' if loc == ['protocols'] else 'strings'}"
        case "bool_type" | "bool_parsing":
            return "write true or false"
        case "string_type":
            return "write a string"
        case "decimal_type" | "decimal_parsing" | "finite_number":
            return "write US dollars per million tokens, a number such as 1.25"
        case "value_error":
            return str(error.get("ctx", {})["error"])
        case _:
            return "write a table"


def _dotted(loc: list[int | str]) -> str:
    """`replay.ignore[0]`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).lstrip(".")
