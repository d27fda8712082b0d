"""The pytest plugin: `@pytest.mark.turntape` replays a cassette in a test, and `--turntape-mode` records it.

pytest imports this module in every run if turntape is installed, so it imports only pytest. The rest is
imported when the first marked test begins.
"""

import argparse
import os
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, cast

import pytest

from .vcr_names import add_options, mark_as_ours, mode_by_vcrpy, mode_on_command_line, take_the_place
from .vcr_uses import USES, VcrUses

if TYPE_CHECKING:
    from pathlib import Path

    from ..replay.session import Session
    from ..transports import AsyncCassetteTransport, CassetteTransport
    from ..vcr.session import VcrSession
    from .active_test import ActiveTest
    from .fixture_cassettes import FixtureCassettes
    from .spending import Spending
    from .usage_log import UsageLog

_MARKED: pytest.StashKey["ActiveTest"] = pytest.StashKey()
_USAGE_LOG: pytest.StashKey["UsageLog"] = pytest.StashKey()
_SPENDING: pytest.StashKey["Spending"] = pytest.StashKey()
_FIXTURES: pytest.StashKey["FixtureCassettes"] = pytest.StashKey()
_MODES = ("none", "once", "new", "all", "verify", "restamp")


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config, parser: pytest.Parser) -> Generator[None]:
    result = yield
    add_options(parser, early_config)
    return result


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("turntape", "turntape: recorded LLM traffic")
    group.addoption(
        "--turntape-mode",
        choices=_MODES,
        default=None,
        help="none: replay only (default); once: record where there is no cassette; new: add what is missing; "
        "all: record everything again; verify: replay, also call the API, and compare; restamp: keep the recorded "
        "answers, and write the requests of this run",
    )
    group.addoption(
        "--turntape-rerecord-from",
        type=_turn,
        default=None,
        metavar="TURN",
        help="replay the turns before this one, and record from there",
    )
    group.addoption(
        "--turntape-max-cost",
        default=None,
        metavar="USD",
        help="call no live API after this session has cost so much",
    )
    group.addoption(
        "--turntape-check",
        action="store_true",
        help="fail when a cassette belongs to no test, is stale, unplayed, damaged or unfinished, or has a secret",
    )
    group.addoption(
        "--turntape-allow-host",
        action="append",
        default=[],
        metavar="HOST",
        help="a host, or HOST:PORT, that marked tests may reach; repeatable",
    )
    parser.addini("turntape_profile", "how similar a request must be: strict, ordered or sequence", default="")
    parser.addini("turntape_ignore", "JSON pointers to ignore when requests are compared", type="linelist")
    parser.addini("turntape_ignore_text", "regular expressions of text to ignore", type="linelist")
    parser.addini(
        "turntape_folder", "folder of the cassettes, relative to the ini file; {file} is the test file", default=""
    )
    parser.addini("turntape_rules", "what may differ, a line each: system = warn", type="linelist")
    parser.addini("turntape_map_values", "false: compare values that are new in each run", default="")
    parser.addini("turntape_pace", "how fast recorded answers arrive: instant, recorded, 10, max=0.5", default="")
    parser.addini(
        "turntape_upstreams", "where turntape_server records from, a line each: openai = URL", type="linelist"
    )
    parser.addini("turntape_partial", "true: tests need not use every recorded turn", type="bool", default=False)
    parser.addini("turntape_any_order", "true: requests may come in another order", type="bool", default=False)
    parser.addini("turntape_repeats", "true: a recorded turn answers again", type="bool", default=False)
    parser.addini("turntape_vcr_marks", "true: the mark vcr is ours too", type="bool", default=False)
    parser.addini("turntape_vcr_settings", 'arguments of the mark for these tests: profile="sequence"', default="")
    parser.addini("turntape_mode", "the mode when neither the command line nor the marker sets one", default="")
    parser.addini("turntape_live_tools", "tool servers (MCP) that run in a replay too", type="linelist", default=[])
    parser.addini("turntape_allow_hosts", "hosts that marked tests may reach", type="linelist", default=[])
    parser.addini("turntape_redact_entropy", "true: words that look random are secrets", type="bool", default=False)
    parser.addini("turntape_redact_function", "module:function that gives the secrets in a text", default="")
    parser.addini(
        "turntape_redact_keep", "regular expressions of values that are not secrets", type="linelist", default=[]
    )


def _turn(given: str) -> int:
    from ..whole_number import whole_number

    number = whole_number(given)
    if not number:
        raise argparse.ArgumentTypeError(f"{given!r} is not the number of a turn; turns begin at 1")
    return number


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    from . import hooks

    pluginmanager.add_hookspecs(hooks)


def pytest_configure(config: pytest.Config) -> None:
    _check_ini(config)
    take_the_place(config)
    _observe(config)
    _search_further(config)
    _announce_cost(config)
    config.addinivalue_line(
        "markers",
        "turntape(path=None, mode=None, profile='strict', rules={}, ignore=(), ignore_text=(), faults=None, "
        "pace='instant', redact_keep=(), allow=(), live_tools=(), upstreams={}, fork=None, fork_at=None, edit=(), "
        "partial=False, any_order=False, repeats=False): replay the LLM traffic of this test "
        "from its cassette; the network is blocked",
    )


def _check_ini(config: pytest.Config) -> None:
    """End the run for an option that is misspelled in the ini file, or has a value that it cannot have."""
    # pytest has no public list of what the file has, nor of the options that plugins have added; a plugin may be older.
    given: Any = vars(config)
    file: Any = given.get("_inicfg", given.get("inicfg", ()))
    written = [name for name in file if name.startswith("turntape")]
    if not written:
        return
    from ..errors import TurntapeError
    from .ini_options import check

    known: Any = getattr(getattr(config, "_parser", None), "_inidict", None) or written
    try:
        check(config, written, [name for name in known if name.startswith("turntape_")])
    except TurntapeError as exc:
        raise pytest.UsageError(f"turntape: {exc}") from exc


def _search_further(config: pytest.Config) -> None:
    """Let the ini options for redaction hold for this process and all that it starts, until the end of the run."""
    entropy, function = config.getini("turntape_redact_entropy"), config.getini("turntape_redact_function")
    keep: list[str] = config.getini("turntape_redact_keep")
    if not entropy and not function and not keep:
        return
    from ..settings import ENTROPY, FUNCTION, KEEP

    given = {ENTROPY: "1" if entropy else "", FUNCTION: function, KEEP: "\n".join(keep)}
    ours = {name: value for name, value in given.items() if value and name not in os.environ}
    os.environ.update(ours)

    def undo() -> None:
        for name in ours:
            os.environ.pop(name, None)

    config.add_cleanup(undo)


def _observe(config: pytest.Config) -> None:
    """Learn of each `use_cassette` of `turntape.cassettes.vcr`, and choose its mode."""
    from ..vcr.observer import observers

    def note(path: "Path", session: "VcrSession", recorded: int) -> None:
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
        _usage_log(config).used_by_vcr(test, path, session, recorded)

    allowed: list[str] = config.getoption("turntape_allow_host") + config.getini("turntape_allow_hosts")
    config.stash[USES] = uses = VcrUses(
        mode_on_command_line(config), note, usual_mode=config.getini("turntape_mode") or None, allowed=allowed
    )
    observers.append(uses)
    config.add_cleanup(lambda: observers.remove(uses))


def _announce_cost(config: pytest.Config) -> None:
    """Let the cost be said where this run may record again."""
    said = config.getoption("turntape_mode") or mode_by_vcrpy(config)
    given = said or os.environ.get("TURNTAPE_MODE") or config.getini("turntape_mode")
    if given == "all" or config.getoption("turntape_rerecord_from") is not None:
        from .cost_notice import CostNotice

        config.pluginmanager.register(CostNotice(_wanted, lambda: config.stash.get(_FIXTURES, None)))


def pytest_itemcollected(item: pytest.Item) -> None:
    """Before tests are chosen by their marks."""
    mark_as_ours(item)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """`test_a[429-at-turn-2]`, for tests that are parametrised with faults."""
    if argname != "turntape_fault":
        return None
    from .naming import fault_id

    return fault_id(val)


def _wanted(item: pytest.Item) -> bool:
    """True for a marked test, and for one that uses a fixture of this plugin."""
    names: list[str] = getattr(item, "fixturenames", [])
    return item.get_closest_marker("turntape") is not None or any(name.startswith("turntape_") for name in names)


def _usage_log(config: pytest.Config) -> "UsageLog":
    if _USAGE_LOG not in config.stash:
        from .usage_log import UsageLog

        config.stash[_USAGE_LOG] = UsageLog()
    return config.stash[_USAGE_LOG]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None]:
    """Note every collected test and its fixtures, also those that are then deselected."""
    every = list(items)
    result = yield
    wanted = [item for item in every if _wanted(item)]
    if any(item.get_closest_marker("turntape") for item in wanted):
        from .collected_tests import COLLECTED
        from .fixture_cassettes import FixtureCassettes

        config.stash[COLLECTED] = wanted
        config.stash[_FIXTURES] = FixtureCassettes(config, lambda: _spending(config), _usage_log(config))
        config.stash[_FIXTURES].collected(wanted)
    if config.getoption("turntape_check"):
        _usage_log(config).collected(config, wanted, every)
    return result


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """A worker of pytest-xdist is about to start: share what live calls cost, and which fixtures were recorded."""
    from .workers import share

    share(node)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Open the cassette and block the network before the first fixture makes a client."""
    item.config.stash[USES].empty_addresses.clear()
    if _USAGE_LOG in item.config.stash:
        item.config.stash[_USAGE_LOG].started(item.nodeid)
    if not _wanted(item):
        return
    from ..errors import TurntapeError
    from .active_test import ActiveTest

    try:
        marked = ActiveTest.in_turn(item, _spending(item.config))
    except TurntapeError as exc:
        said = f"turntape: {exc}"
    else:
        item.stash[_MARKED], item.config.stash[USES].session = marked, marked.session
        marked.start()
        if (fixtures := item.config.stash.get(_FIXTURES, None)) is not None:
            fixtures.active.append(marked)
        return
    pytest.fail(said, pytrace=False)


def _spending(config: pytest.Config) -> "Spending":
    if _SPENDING not in config.stash:
        from .spending import Spending

        config.stash[_SPENDING] = Spending(config)
    return config.stash[_SPENDING]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup(fixturedef: "pytest.FixtureDef[Any]", request: Any) -> Generator[None, Any, Any]:
    """What a fixture sends that lives longer than a test is in its own cassette."""
    __tracebackhide__ = True
    fixtures: FixtureCassettes | None = request.config.stash.get(_FIXTURES, None)
    if fixtures is None or fixturedef.scope == "function":
        return (yield)
    return (yield from fixtures.setup(fixturedef, request))


def pytest_fixture_post_finalizer(fixturedef: "pytest.FixtureDef[Any]", request: Any) -> None:
    """The code of a fixture has ended."""
    fixtures = request.config.stash.get(_FIXTURES, None)
    if fixtures is not None:
        fixtures.end_teardown(fixturedef)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    marked = item.stash.get(_MARKED, None)
    shown, faults = False, list[str]()
    # pytest takes the error of a unittest.TestCase from here, when it makes the report.
    noted: list[pytest.ExceptionInfo[BaseException]] = getattr(item, "_excinfo", None) or []
    found = noted[0] if noted else call.excinfo
    if marked is not None and found is not None and item.get_closest_marker("xfail") is None:
        explained = _unless_it_fails(lambda: marked.explained(found.value), faults)
        if explained is not None:
            explained.__traceback__ = explained.__traceback__ or found.tb
            marked.said_in_subtest |= marked.runs
            info, shown = cast("type[pytest.ExceptionInfo[Any]]", pytest.ExceptionInfo).from_exception(explained), True
            if noted:
                noted[0] = info
            else:
                call.excinfo = info
    report = yield
    if shown and (crash := getattr(report.longrepr, "reprcrash", None)) is not None:
        # pytest puts the name of the exception before its text, which may begin with the same word.
        crash.message = crash.message.replace("turntape: turntape: ", "turntape: ", 1)
    if report.failed and (cause := getattr(call.excinfo and call.excinfo.value, "cause", None)) is not None:
        _usage_log(item.config).failed(item.nodeid, cause)
    if marked is not None and call.when != "teardown" and (call.when == "call" or not report.passed):
        if marked.runs:
            marked.subtest_failed |= report.failed
        else:
            marked.outcome = "failed" if marked.subtest_failed else report.outcome
        if report.failed and (cause := _unless_it_fails(marked.cause, faults)) is not None:
            _usage_log(item.config).failed(item.nodeid, cause)
        if report.failed and not shown and (said := _unless_it_fails(marked.problems, faults)):
            report.sections.append(("turntape", "\n".join(said)))
        report.sections += [("turntape", fault) for fault in dict.fromkeys(faults)]
    refused = [*item.config.stash[USES].empty_addresses, *(marked.session.empty_addresses if marked else ())]
    if report.failed and refused:
        from ..replay.empty_addresses import refusal

        report.sections.append(("turntape", refusal(refused)))
    return report


def _unless_it_fails[Said](say: Callable[[], Said], faults: list[str]) -> Said | None:
    """What explains a failed test. Where that fails itself, pytest would end the whole run: it is noted instead."""
    try:
        return say()
    except Exception as exc:  # noqa: BLE001 - whatever is wrong, the other tests must run
        faults.append(f"turntape failed to explain this ({type(exc).__name__}: {exc}); please report it")
    except pytest.fail.Exception as exc:  # from the alarm of pytest-timeout, which counts this time too
        faults.append(f"turntape was interrupted while it explained this: {exc}")
    return None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """After the test: fail it for requests without an answer that the agent swallowed."""
    __tracebackhide__ = True
    marked = item.stash.get(_MARKED, None)
    if marked is not None:
        marked.late.begins()
        marked.runs = True
    try:
        result = yield
    finally:
        if marked is not None:
            marked.late.ended(item.nodeid)
            marked.runs = False
    if marked is not None and not marked.said_in_subtest:
        marked.at_the_end_of_the_test()
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """After the last fixture: fail the test for what fixtures requested, and for turns never requested."""
    try:
        result = yield
    finally:
        marked = item.stash.get(_MARKED, None)
        problems: list[str] = []
        if marked is not None:
            del item.stash[_MARKED]
            item.config.stash[USES].session = None
            if (fixtures := item.config.stash.get(_FIXTURES, None)) is not None:
                fixtures.active.remove(marked)
            problems = marked.stop()
            _usage_log(item.config).used(item.nodeid, marked)
            item.ihook.pytest_turntape_finished(
                nodeid=item.nodeid, path=marked.path, outcome=marked.outcome, recorded=marked.recorded
            )
    # A failed test already shows its problems with its failure.
    if marked is not None and problems and marked.outcome == "passed":
        pytest.fail("turntape: " + "\n".join(problems), pytrace=False)
    return result


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    fixtures = config.stash.get(_FIXTURES, None)
    for test in fixtures.active if fixtures is not None else ():  # Ctrl-C ends a run without the end of its test
        if said := test.left_by_interruption():
            _usage_log(config).notes.append(f"{test.item.nodeid}: {said}")
    if _USAGE_LOG not in config.stash:
        return
    usage_log = config.stash[_USAGE_LOG]
    worker: dict[str, Any] | None = getattr(config, "workeroutput", None)
    if worker is not None:
        worker["turntape"] = usage_log.as_json()
    elif config.getoption("turntape_check") and usage_log.check(config) and session.exitstatus in (0, 5):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """A worker of pytest-xdist has ended: add what it saw of cassettes."""
    said = getattr(node, "workeroutput", {}).get("turntape")
    if said is not None:
        _usage_log(node.config).merge(said)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if _USAGE_LOG not in config.stash:
        return
    usage_log = config.stash[_USAGE_LOG]
    problems = usage_log.check(config) if config.getoption("turntape_check") else []
    reports = [*terminalreporter.stats.get("failed", ()), *terminalreporter.stats.get("error", ())]
    causes = usage_log.causes(config, reports)
    notes = usage_log.said()
    if not problems and not notes and not causes and not config.getoption("turntape_check"):
        return
    terminalreporter.section("turntape")
    for line in [*notes, *problems, *causes] or ["every cassette is used, whole and without secrets"]:
        terminalreporter.write_line(line)


def _marked(request: pytest.FixtureRequest) -> "ActiveTest":
    return request.node.stash[_MARKED]


@pytest.fixture
def turntape_cassette(request: pytest.FixtureRequest) -> "Session":
    """The session that replays and records this test's cassette: `path`, `mode`, `passed`, `misses`, `unplayed`."""
    return _marked(request).session


@pytest.fixture
def turntape_transport(request: pytest.FixtureRequest) -> "CassetteTransport":
    """A transport for `httpx.Client` and `httpx2.Client` that replays this test's cassette."""
    return _marked(request).transport


@pytest.fixture
def turntape_async_transport(request: pytest.FixtureRequest) -> "AsyncCassetteTransport":
    """A transport for `httpx.AsyncClient` and `httpx2.AsyncClient` that replays this test's cassette."""
    return _marked(request).async_transport


@pytest.fixture
def turntape_client(request: pytest.FixtureRequest) -> Any:
    """A client of httpx2 (or of httpx if httpx2 is not installed) that uses `turntape_transport`."""
    from ..transports.patching import newest_library

    return newest_library().Client(transport=_marked(request).transport)


@pytest.fixture
def turntape_async_client(request: pytest.FixtureRequest) -> Any:
    """Like `turntape_client`, for asyncio."""
    from ..transports.patching import newest_library

    return newest_library().AsyncClient(transport=_marked(request).async_transport)


@pytest.fixture
def turntape_server(request: pytest.FixtureRequest) -> str:
    """The base URL of this test's replay server; append `/openai/v1`, `/anthropic`, …"""
    marked = _marked(request)
    if marked.server.port is None:
        from ..errors import TurntapeError

        try:
            marked.server.start()
        except TurntapeError as exc:
            pytest.fail(f"turntape: {exc}", pytrace=False)
    return marked.server.url


@pytest.fixture
def turntape_environment(turntape_server: str, request: pytest.FixtureRequest) -> dict[str, str]:
    """The environment for a command under test: `subprocess.run([…], env=turntape_environment)`."""
    return _marked(request).server.environment(os.environ)
