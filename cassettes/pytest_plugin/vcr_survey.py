"""Looks at a suite that uses pytest-recording, pytest-vcr or cassetter, without running a test.

`turntape import --pytest` runs `pytest -p turntape.cassettes.pytest_plugin.vcr_survey`. Each marked test is collected,
its settings are read from the fixtures of the suite, and the findings are written as JSON to the file that the variable
`TURNTAPE_SURVEY` names: `tests`, `unread` for what pytest could not collect, and the root and ini file of pytest.
"""

import copy
import inspect
import json
import os
import sys
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence, Set
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from . import vcr_fixtures
from .naming import cassette_path
from .vcr_matchers import ignored_by

MARKS = ("vcr", "cassetter")
VARIABLE = "TURNTAPE_SURVEY"
IGNORED = "ignored_by_matchers"
"""Among the settings of a test: pointers to what matchers of the suite itself ignore."""
_FORBIDDEN = str.maketrans(dict.fromkeys("<>?%*:|\"'/\\", "-"))
_ENDINGS = ("", ".yaml", ".yml", ".json", ".toml")
_CONFIGS = ("vcr_config", "cassetter_config")
_FOLDERS = ("vcr_cassette_dir", "cassetter_cassette_dir")
_NAMES = ("default_cassette_name", "vcr_cassette_name")
_KEY: pytest.StashKey[list[dict[str, Any]]] = pytest.StashKey()
_UNREAD: pytest.StashKey[list[dict[str, str]]] = pytest.StashKey()
_ASKED: pytest.StashKey[bool] = pytest.StashKey()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    config.stash[_KEY], config.stash[_UNREAD] = [], []
    config.pluginmanager.register(_Unread(config.stash[_UNREAD]))
    config.option.dist, config.option.tx = "no", []  # workers of pytest-xdist would collect, and not this process


class _Unread:
    """Keeps the files and folders that pytest cannot collect, with the reason: their tests are not known."""

    def __init__(self, found: list[dict[str, str]]) -> None:
        self._found = found

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            lines = str(report.longrepr).strip().splitlines()
            # A "+" begins what pytest adds to a failed assertion.
            errors = [line.removeprefix("E").strip() for line in lines if line.startswith("E  ")]
            errors = [line for line in errors if not line.startswith("+")]
            self._found.append({"name": report.nodeid, "reason": (errors or lines or [""])[-1]})


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None]:
    """Keep the tests that the ini file deselects, for example with `-m "not live"`: they have recordings too."""
    every = list(items)
    result = yield
    items[:] = every
    return result


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Read the settings of each test in place of running it, whatever plugin runs tests in its own way."""
    for item in session.items:
        marks = [mark for name in MARKS for mark in item.iter_markers(name)]
        if marks:
            session.config.stash[_KEY].append(_said(item, marks))
    session.config.stash[_ASKED] = True
    return True


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    target = os.environ.get(VARIABLE)
    if target and _ASKED in session.config.stash:  # not after an internal error: then nothing is known
        found = {
            "tests": session.config.stash[_KEY],
            "unread": session.config.stash[_UNREAD],
            "root": str(session.config.rootpath),
            "ini": str(session.config.inipath) if session.config.inipath else None,
        }
        Path(target).write_text(json.dumps(found), encoding="utf-8")


def _said(item: pytest.Item, marks: list[pytest.Mark]) -> dict[str, Any]:
    values = _fixtures(item, (*_CONFIGS, *_FOLDERS, *_NAMES))
    given: dict[str, Any] = {}
    for name in _CONFIGS:
        given |= values.get(name) or {}
    names: list[str] = []
    for mark in reversed(marks):
        given |= mark.kwargs
        names += [str(name) for name in mark.args]
    folder = next((str(values[name]) for name in _FOLDERS if values.get(name)), None)
    own = next((str(values[name]) for name in _NAMES if values.get(name)), _usual_name(item))
    sources = [_readable(item.config, path, given) for path in _cassettes(item, folder, given, [own, *names])]
    ignored = _ignored(item.config, sources, given)
    if ignored is not None:
        given[IGNORED] = ignored
    return {
        "test": item.nodeid,
        "file": str(item.path),
        "marks": [mark.name for mark in marks],
        "sources": [str(path) for path in sources],
        "dropped": {
            str(path): places
            for path in sources
            if (places := sorted({*_dropped(path, given), *_never_played(item.config, path, given)}))
        },
        "target": str(cassette_path(item)),
        "places": _places(item, marks),
        "config": {str(key): _plain(value) for key, value in given.items()},
    }


def _places(item: pytest.Item, marks: Sequence[pytest.Mark]) -> list[str]:
    """The files whose code gives a test these marks; empty when something else has added one."""
    function: Any = getattr(item, "function", None)
    module: Any = getattr(item, "module", None)
    classes: tuple[type, ...] = getattr(getattr(item, "cls", None), "__mro__", ())
    code: Any = getattr(inspect.unwrap(function), "__code__", None) if function is not None else None
    own = code.co_filename if code is not None else str(item.path)
    parameters: Sequence[Any] = getattr(getattr(item, "callspec", None), "marks", ())
    holders = [(own, [*_marks_of(function), *parameters]), (str(item.path), _marks_of(module))]
    for one in classes:
        home = getattr(sys.modules.get(one.__module__), "__file__", None)
        holders.append((home or str(item.path), _marks_of(one)))
    known = [mark for _, held in holders for mark in held]
    if any(mark not in known for mark in marks):
        return []
    return sorted({file for file, held in holders if any(mark in marks for mark in held)})


def _marks_of(holder: Any) -> list[Any]:
    """The marks that a module, a class without its bases, or a function has."""
    names: Any = getattr(holder, "__dict__", {})
    found: Any = names.get("pytestmark", ())
    several: list[Any] = list(found) if isinstance(found, list | tuple) else [found]  # pyright: ignore[reportUnknownArgumentType]
    return [getattr(one, "mark", one) for one in several]


def _fixtures(item: pytest.Item, names: tuple[str, ...]) -> dict[str, Any]:
    """The values of these fixtures; a fixture that does not exist, or fails, is left out."""
    found: dict[str, Any] = {}
    request: Any = getattr(item, "_request", None)
    if request is None:
        return found
    before = list(getattr(item, "fixturenames", ()))
    held: Any = item
    held.fixturenames = []
    session: Any = item.session
    state: Any = session._setupstate
    try:
        state.setup(item)
        for name in names:
            if _is_ours(item, name):
                continue
            try:
                found[name] = request.getfixturevalue(name)
            except BaseException as exc:  # a fixture of the user, or none of this name
                if isinstance(exc, KeyboardInterrupt | SystemExit):
                    raise
    except Exception:  # noqa: BLE001 - a module of the user that cannot be set up
        return found
    finally:
        held.fixturenames = before
        state.teardown_exact(None)
    return found


def _is_ours(item: pytest.Item, name: str) -> bool:
    """True for a fixture that takes the place of one of an absent plugin: the suite does not say its value."""
    session: Any = item.session
    definitions: Sequence[Any] = session._fixturemanager.getfixturedefs(name, item) or ()
    return bool(definitions) and definitions[-1].func.__module__ == vcr_fixtures.__name__


def _cassettes(item: pytest.Item, folder: str | None, given: Mapping[str, Any], names: list[str]) -> list[Path]:
    """The recordings of a test that exist, by their names."""
    home, library, transformed = item.path.parent, given.get("cassette_library_dir"), given.get("path_transformer")
    roots = [Path(folder)] if folder else [home / "cassettes" / item.path.stem, home / "cassettes"]
    roots += [Path(library)] if library else []
    found: list[Path] = []
    for name in names:
        spelled = [root / f"{name}{ending}" for root in roots for ending in _ENDINGS]
        if callable(transformed):
            spelled += [Path(str(transformed(str(root / name)))) for root in roots]
        path = next((path for path in spelled if path.is_file()), None)
        if path is not None and path not in found:
            found.append(path)
    return found


def _readable(config: pytest.Config, path: Path, given: Mapping[str, Any]) -> Path:
    """The recording as vcrpy itself would write it, beside the survey, where the suite has its own serializer or
    persister; else `path`."""
    try:
        vcr = _vcr(config)
        serializer = vcr.serializers[given.get("serializer") or "yaml"]
        if _is_of_vcrpy(serializer) and _is_of_vcrpy(vcr.persister):
            return path
        return _rewritten(path, vcr.persister, serializer)
    except Exception:  # noqa: BLE001 - code of the user
        return path


def _is_of_vcrpy(one: Any) -> bool:
    return (getattr(one, "__module__", None) or one.__name__).partition(".")[0] == "vcr"


@cache
def _rewritten(path: Path, persister: Any, serializer: Any) -> Path:
    requests, responses = persister.load_cassette(path, serializer)
    usual: Any = import_module("vcr.serializers.yamlserializer")
    text = import_module("vcr.serialize").serialize({"requests": requests, "responses": responses}, usual)
    folder = Path(tempfile.mkdtemp(dir=Path(os.environ[VARIABLE]).parent))
    written = folder / f"{path.name.partition('.yaml')[0]}.yaml"
    written.write_text(text, encoding="utf-8")
    return written


def _dropped(path: Path, config: Mapping[str, Any]) -> list[int]:
    """The places of the round trips in a recording that functions of the suite drop whenever vcrpy reads the file.

    Errors that end a recording are kept.
    """
    before = [*_functions(config.get("before_record")), *_functions(config.get("before_record_request"))]
    after = _functions(config.get("before_record_response"))
    if not before and not after:
        return []
    try:
        held = _held(path, config.get("serializer") == "json")
        unasked = {place for place, (request, _) in enumerate(held) if _is_dropped(request, before)}
        unplayed = {place for place, (_, response) in enumerate(held) if _is_dropped(response, after)} - unasked
        if not config.get("allow_playback_repeats"):
            unplayed -= _last_errors(held, unplayed | unasked)
        return sorted(unplayed | unasked)
    except Exception:  # noqa: BLE001 - functions of the user, and files that vcrpy cannot read
        return []


def _last_errors(held: Sequence[tuple[Any, Any]], dropped: Set[int]) -> set[int]:
    """The places of the errors after the last round trip that vcrpy plays.

    vcrpy has no answer there and fails the request; with the recorded error, the client fails too.
    """
    after = max((place for place in range(len(held)) if place not in dropped), default=-1) + 1
    return {place for place in range(after, len(held)) if held[place][1]["status"]["code"] >= 400}


def _never_played(config: pytest.Config, path: Path, given: Mapping[str, Any]) -> list[int]:
    """The places of the round trips that vcrpy never plays: with `allow_playback_repeats`, the first one that matches
    answers each time."""
    if not given.get("allow_playback_repeats"):
        return []
    try:
        vcr = _vcr(config)
        names = [*(given.get("match_on") or vcr.match_on), *(given.get("additional_matchers") or ())]
        matchers = [vcr.matchers[name] for name in names]
        requests = [request for request, _ in _held(path, given.get("serializer") == "json")]
        return [
            place
            for place, request in enumerate(requests)
            if any(_match(matchers, request, earlier) for earlier in requests[:place])
        ]
    except Exception:  # noqa: BLE001 - functions of the user, and files that vcrpy cannot read
        return []


def _match(matchers: Sequence[Callable[[Any, Any], object]], one: Any, other: Any) -> bool:
    """True when these matchers take two requests as equal: as in vcrpy, None means yes, and an assertion no."""
    try:
        return all(matcher(one, other) in (None, True) for matcher in matchers)
    except AssertionError:
        return False


@lru_cache(1)
def _held(path: Path, is_json: bool) -> list[tuple[Any, Any]]:
    """The requests of a recording with their responses, as vcrpy reads them. Raises whatever vcrpy does."""
    persister: Any = import_module("vcr.persisters.filesystem").FilesystemPersister
    serializer = import_module(f"vcr.serializers.{'json' if is_json else 'yaml'}serializer")
    return list(zip(*persister.load_cassette(path, serializer), strict=True))


def _ignored(config: pytest.Config, sources: list[Path], given: Mapping[str, Any]) -> list[str] | None:
    """What matchers of the suite itself ignore in the bodies of these recordings; None when that cannot be tried."""
    try:
        names = [*(given.get("match_on") or ()), *(given.get("additional_matchers") or ())]
        known: Mapping[str, Any] = _vcr(config).matchers
        own = [known[name] for name in names if known[name].__module__ != "vcr.matchers"]
        if not own:
            return None
        found = [
            ignored_by(own, [one for one, _ in _held(path, given.get("serializer") == "json")]) for path in sources
        ]
    except Exception:  # noqa: BLE001 - functions of the user, and files that vcrpy cannot read
        return None
    tried = [one for one in found if one is not None]
    return list(dict.fromkeys(pattern for one in tried for pattern in one)) if tried else None


@lru_cache(1)
def _vcr(config: pytest.Config) -> Any:
    """vcrpy with what the suite registers: by a hook in a `conftest.py`, or on the default one."""
    library: Any = import_module("vcr")
    vcr = library.VCR()
    for names in ("matchers", "serializers"):
        vars(vcr)[names] = {**vars(library.default_vcr)[names], **vars(vcr)[names]}
    if _is_of_vcrpy(vcr.persister):
        vcr.persister = library.default_vcr.persister
    configure: Any = getattr(config.hook, "pytest_recording_configure", None)
    if configure is not None:
        configure(config=config, vcr=vcr)
    return vcr


def _functions(given: Any) -> list[Callable[[Any], Any]]:
    several: list[Any] = list(given) if isinstance(given, list | tuple) else [given]  # pyright: ignore[reportUnknownArgumentType]
    return [one for one in several if callable(one)]


def _is_dropped(message: Any, functions: list[Callable[[Any], Any]]) -> bool:
    for function in functions:
        message = function(copy.deepcopy(message))
        if message is None:
            return True
    return False


def _usual_name(item: pytest.Item) -> str:
    """The recording of a test where no fixture names it."""
    named = item.get_closest_marker("default_cassette")
    if named is not None and named.args:
        return str(named.args[0])
    cls = getattr(item, "cls", None)
    return (f"{cls.__name__}.{item.name}" if cls is not None else item.name).translate(_FORBIDDEN)


def _plain(value: Any) -> object:
    """A setting as JSON; a function by its name."""
    match value:
        case list() | tuple() | set() | frozenset():
            some: list[Any] = list(value)  # pyright: ignore[reportUnknownArgumentType]
            return [_plain(one) for one in some]
        case dict():
            fields: dict[Any, Any] = value  # pyright: ignore[reportUnknownVariableType]
            return {str(key): _plain(one) for key, one in fields.items()}
        case None | str() | int() | float():
            return value
        case _:
            return f"<{getattr(value, '__name__', type(value).__name__)}>"
