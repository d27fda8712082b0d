"""Which modules are tested with mistakes in them, and which tests are their own."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

GROUPS: dict[str, tuple[str, ...]] = {
    "redaction": ("cassettes/redaction",),
    "recorder": (
        "cassettes/recording/recorder.py",
        "cassettes/recording/tape_file.py",
        "cassettes/recording/write_queue.py",
    ),
    "reader": ("cassettes/tape/reader.py",),
    "delta": ("cassettes/tape/delta.py",),
    "matching": ("cassettes/matching",),
    "player": ("cassettes/replay/player.py",),
    "recorder_addon": (
        "proxy/capture/recorder_addon.py",
        "proxy/capture/pending.py",
        "proxy/capture/flow_conversion.py",
    ),
    "routing": ("proxy/capture/routing.py",),
    "threads": ("inspector/analysis/threads.py",),
    "dispatch": ("inspector/analysis/dispatch.py",),
    "rules": ("inspector/findings/rules",),
    "ledger": ("inspector/ledger",),
}
"""What `make mutants` runs, by name: files, or folders with all that is in them."""

TABLES: dict[str, str] = {
    "inspector/findings/rules": "tests/inspector/findings/test_rules.py",
    "inspector/ledger": "tests/inspector/ledger/test_model.py",
    "inspector/ledger/cache": "tests/inspector/ledger/cache/test_predictor.py",
    "inspector/ledger/what_if": "tests/inspector/ledger/what_if/test_bills.py",
}
"""Folders whose modules share a table of cases: the test file that runs all cases of the table."""

_TOOL_WIRE = (
    "tests/inspector/tools",
    "tests/inspector/findings/rules/test_tool_clients.py",
    "tests/inspector/findings/rules/test_tool_protocol.py",
    "tests/inspector/findings/rules/test_tool_servers.py",
)
"""Tests of the sessions of tool servers, which show in the findings about them."""

ELSEWHERE: dict[str, tuple[str, ...]] = {
    "cassettes/pytest_plugin/active_test.py": ("tests/cassettes/test_pytest_plugin.py",),
    "cassettes/pytest_plugin/marker.py": (
        "tests/cassettes/pytest_plugin/test_mark_arguments.py",
        "tests/cassettes/test_pytest_plugin.py",
    ),
    "cassettes/pytest_plugin/vcr_survey.py": (
        "tests/cassettes/importers/test_suite.py",
        "tests/cassettes/importers/test_suite_survey.py",
    ),
    "cassettes/replay/tools/calls.py": ("tests/cassettes/replay/tools/test_player.py",),
    "cassettes/replay/tools/connection.py": ("tests/cassettes/replay/tools/test_player.py",),
    "inspector/run/tool_labels.py": (
        "tests/test_growing_tool_labels.py",
        "tests/inspector/findings/rules/test_tool_clients.py",
        "tests/inspector/findings/rules/test_tool_servers.py",
        "tests/inspector/findings/rules/test_tool_calls.py",
        "tests/inspector/tools/test_catalogue.py",
        "tests/proxy/sidecar/test_carried_tools.py",
    ),
    "inspector/tools/handshake.py": _TOOL_WIRE,
    "inspector/tools/request_flaws.py": _TOOL_WIRE,
    "inspector/tools/run_answer.py": _TOOL_WIRE,
    "inspector/tools/run_cancel.py": _TOOL_WIRE,
    "inspector/tools/run_end.py": _TOOL_WIRE,
    "inspector/tools/run_ids.py": _TOOL_WIRE,
    "inspector/tools/run_start.py": _TOOL_WIRE,
    "inspector/tools/session_answers.py": _TOOL_WIRE,
    "inspector/tools/tool_sessions.py": _TOOL_WIRE,
    "proxy/cli/command_line.py": ("tests/proxy/test_cli.py", "tests/test_dependencies.py"),
    "proxy/tool_wire/identity.py": ("tests/proxy/tool_wire/test_link_session.py",),
    "proxy/workers/worker_process.py": ("tests/end_to_end/test_workers.py",),
}
"""Modules that are shown to work by tests of what they are for: those test files or folders, beside their own."""


@dataclass(frozen=True, slots=True)
class Module:
    """A module and its own tests, as paths from the root of the repository."""

    group: str
    path: str
    tests: tuple[str, ...]


def own_tests(path: str) -> tuple[str, ...]:
    """The test file that mirrors a module, the table of its folder and what is elsewhere; the tests of its folder where
    it has none of these."""
    folder, _, name = path.rpartition("/")
    mirrored, elsewhere = f"tests/{folder}/test_{name}", ELSEWHERE.get(path, ())
    if (ROOT / mirrored).exists():
        return tuple(dict.fromkeys((mirrored, TABLES.get(folder, mirrored), *elsewhere)))
    if elsewhere:
        return elsewhere
    while not any((ROOT / "tests" / folder).glob("test_*.py")) and "/" in folder:
        folder = folder.rpartition("/")[0]
    return (f"tests/{folder}",)


def modules(names: list[str]) -> list[Module]:
    """The modules of the groups that `names` has, or of the files and folders; all groups when it is empty.

    Raises SystemExit for a name that is neither.
    """
    chosen: list[Module] = []
    for name in names or GROUPS:
        for place in GROUPS.get(name, (name,)):
            path = ROOT / place
            files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
            if not all(file.is_file() for file in files) or not files:
                raise SystemExit(f"there is no module {place!r}; write a path or one of {', '.join(GROUPS)}")
            for file in files:
                relative = file.relative_to(ROOT).as_posix()
                if file.name != "__init__.py" or file.stat().st_size > 1000:
                    chosen.append(Module(name, relative, own_tests(relative)))
    return chosen
