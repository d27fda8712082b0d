"""`VCR`: the settings that several cassettes share, by the names of vcrpy."""

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from . import filters
from .context import CassetteContext, Use
from .matchers import USUAL, Matcher, chosen
from .record_mode import RecordMode
from .settings import Settings

__all__ = ["VCR", "RecordMode", "default_vcr", "use_cassette"]

_LOCAL = ("localhost", "0.0.0.0", "127.0.0.1")
_OPTIONS: Mapping[str, Any] = {
    "path_transformer": None,
    "func_path_generator": None,
    "cassette_library_dir": None,
    "record_mode": RecordMode.ONCE,
    "match_on": USUAL,
    "additional_matchers": (),
    "filter_headers": (),
    "filter_query_parameters": (),
    "filter_post_data_parameters": (),
    "before_record": None,
    "before_record_request": None,
    "before_record_response": None,
    "ignore_hosts": (),
    "ignore_localhost": False,
    "inject_cassette": False,
    "allow_playback_repeats": False,
    "record_on_exception": True,
}
_WITHOUT_EFFECT = frozenset({"serializer", "decode_compressed_response", "drop_unused_requests", "custom_patches"})
"""A cassette has one format, in which answers have no content-encoding."""


class VCR:
    """`my_vcr = VCR(cassette_library_dir="cassettes", match_on=["method", "path"])`; `use_cassette` takes the same
    options for one cassette. Each option is an attribute that may be changed.

    `record_mode` holds unless the command line or `TURNTAPE_MODE` say otherwise; in CI nothing is recorded. Without it,
    `turntape_mode` of pytest's ini file holds, then `once`. The options
    `serializer`, `decode_compressed_response`, `drop_unused_requests` and `custom_patches` have no effect.
    Raises TypeError for an option that vcrpy does not have.
    """

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(self, **options: Any) -> None:
        _checked(options)
        for name, usual in _OPTIONS.items():
            setattr(self, name, options.get(name, usual))
        self._mode_is_given = "record_mode" in options
        self._own: dict[str, Matcher] = {}

    @staticmethod
    def ensure_suffix(suffix: str) -> Callable[[str], str]:
        """A `path_transformer` that adds an ending where it is missing."""
        return lambda path: path if str(path).endswith(suffix) else f"{path}{suffix}"

    def register_matcher(self, name: str, matcher: Matcher) -> None:
        """Give `match_on` another name."""
        self._own[name] = matcher

    def register_serializer(self, name: str, serializer: object) -> None:
        """Without effect: a cassette has one format."""

    def register_persister(self, persister: object) -> None:
        """Without effect: a cassette is a file."""

    def use_cassette(self, path: Any = None, with_current_defaults: bool = False, **options: Any) -> Any:
        """A context manager and decorator that plays or records the cassette of `path`: `a.yaml` is
        `a.cassette.jsonl`. Without a path, the name of the decorated function is the path.

        What was asked and not recorded raises CannotOverwriteExistingCassetteException when the context is left.
        """
        _checked(options)
        if path is not None and not isinstance(path, str | os.PathLike):
            return self.use_cassette(**options)(path)
        name = None if path is None else os.fspath(cast("str | os.PathLike[str]", path))
        now = self._use(options) if with_current_defaults else None
        return CassetteContext(lambda: now or self._use(options), name)

    def _use(self, options: Mapping[str, Any]) -> Use:
        given = {name: options.get(name, getattr(self, name)) for name in _OPTIONS}
        settings = Settings(
            chosen((*_names(given["match_on"]), *_names(given["additional_matchers"])), self._own),
            tuple(_on_request(given)),
            _functions(given["before_record_response"]),
            _ignored(given),
            bool(given["allow_playback_repeats"]),
        )
        mode = str(given["record_mode"])
        is_given = self._mode_is_given or "record_mode" in options or mode != RecordMode.ONCE
        library = given["cassette_library_dir"]
        return Use(
            settings,
            mode if is_given else None,
            lambda path: _placed(path, library, given["path_transformer"]),
            given["func_path_generator"] or (_function_name if library else _beside_function),
            inject=bool(given["inject_cassette"]),
            record_on_exception=bool(given["record_on_exception"]),
        )


def _checked(options: Mapping[str, Any]) -> None:
    for name in options:
        if name not in _OPTIONS and name not in _WITHOUT_EFFECT:
            raise TypeError(f"use_cassette has no option {name!r}; it knows {', '.join(_OPTIONS)}")


def _names(given: Any) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _functions(given: Any) -> tuple[Any, ...]:
    if given is None:
        return ()
    return tuple(cast("Iterable[Any]", given)) if isinstance(given, Iterable) else (given,)


def _ignored(given: Mapping[str, Any]) -> frozenset[str]:
    return frozenset((*_names(given["ignore_hosts"] or ()), *(_LOCAL if given["ignore_localhost"] else ())))


def _on_request(given: Mapping[str, Any]) -> Iterable[filters.Filter]:
    """The functions that a request passes, in the order of vcrpy."""
    for option, function in (
        ("filter_headers", filters.headers),
        ("filter_query_parameters", filters.query),
        ("filter_post_data_parameters", filters.post_data),
    ):
        if given[option]:
            yield function(given[option])
    if hosts := _ignored(given):
        yield filters.ignored_hosts(hosts)
    yield from _functions(given["before_record_request"] or given["before_record"])


def _placed(path: str, library: Any, transformer: Callable[[str], str] | None) -> Path:
    path = transformer(path) if transformer is not None else path
    folder = str(library) if library else ""
    return Path(path) if path.startswith(folder) else Path(folder) / path


def _function_name(function: Callable[..., object]) -> str:
    return function.__name__


def _beside_function(function: Callable[..., object]) -> str:
    return str(Path(inspect.getfile(function)).parent / function.__name__)


default_vcr = VCR()
"""The settings of `use_cassette`."""
use_cassette = default_vcr.use_cassette
