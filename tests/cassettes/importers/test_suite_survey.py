"""Files that pytest collects only apart from the rest of a suite, and those that it does not collect at all."""

from pathlib import Path

import pytest

from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.importers import suite_survey
from turntape.cassettes.importers.suite_survey import Unread, reason, survey

MARKED = "import pytest\n{0}@pytest.mark.vcr\ndef test_{1}(): pass\n"


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two packages with the name `tests`: only the one that comes first can be imported from."""
    place = tmp_path / "suite"
    for name, text in {
        "pytest.ini": "[pytest]\naddopts = --import-mode=importlib\nmarkers = vcr\n",
        "a/tests/__init__.py": "",
        "a/tests/test_a.py": MARKED.format("", "a"),
        "b/tests/__init__.py": "",
        "b/tests/utils.py": "WORD = 1\n",
        "b/tests/test_b.py": MARKED.format("from tests.utils import WORD\n", "b"),
        "b/tests/test_both.py": MARKED.format("from tests.utils import WORD\n", "both"),
    }.items():
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.chdir(place)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "turntape.cassettes.pytest_plugin")
    return place


def answer(suite: Path, said: list[str] | None = None) -> suite_survey.Survey:
    folder = suite.parent / "answers"
    folder.mkdir(exist_ok=True)
    return survey(["."], folder, (said if said is not None else []).append)


def names(found: suite_survey.Survey) -> set[str]:
    return {test["test"] for test in found.tests}


def test_files_that_fail_beside_others_are_collected_apart(suite: Path) -> None:
    said: list[str] = []
    found = answer(suite, said)

    every = {"a/tests/test_a.py::test_a", "b/tests/test_b.py::test_b", "b/tests/test_both.py::test_both"}
    assert names(found) == every
    assert not found.unread
    assert [(one.name, one.reason) for one in found.apart] == [
        (f"b/tests/{name}.py", "ModuleNotFoundError: No module named 'tests.utils'") for name in ("test_b", "test_both")
    ]
    assert said == [f"collecting 2 files apart from the suite: {Path('b/tests/test_b.py')}"]
    whole = {Path(test["target"]).parent for test in found.tests}
    assert whole == {suite / one / "tests" / "cassettes" / f"test_{two}" for one, two in ("aa", "bb", ("b", "both"))}


def test_nothing_is_said_to_be_found_where_pytest_breaks_off(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_PLUGINS")  # the survey asks our plugin, which is not loaded
    with pytest.raises(TurntapeError, match="pytest cannot collect"):
        answer(suite)


def test_a_suite_that_ends_at_the_first_failure_is_asked_whole(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-x")
    for name in ("test_b", "test_both"):
        (suite / "b" / "tests" / f"{name}.py").write_text("import not_installed\n")
    (suite / "z").mkdir()
    (suite / "z" / "test_z.py").write_text(MARKED.format("", "z"))
    assert names(answer(suite)) == {"a/tests/test_a.py::test_a", "z/test_z.py::test_z"}


def test_a_suite_that_is_collected_at_once_is_asked_once(suite: Path) -> None:
    for file in (suite / "b").rglob("test_*.py"):
        file.unlink()
    said: list[str] = []
    found = answer(suite, said)
    assert names(found) == {"a/tests/test_a.py::test_a"}
    assert (found.unread, found.apart, said) == ([], [], [])


def test_files_that_fail_beside_each_other_are_collected_one_by_one(suite: Path) -> None:
    """The third package is neither importable beside the first nor beside the second."""
    (suite / "c" / "tests").mkdir(parents=True)
    (suite / "c" / "tests" / "__init__.py").touch()
    (suite / "c" / "tests" / "words.py").write_text("WORD = 2\n")
    (suite / "c" / "tests" / "test_c.py").write_text(MARKED.format("from tests.words import WORD\n", "c"))
    (suite / "d").mkdir()
    (suite / "d" / "conftest.py").write_text("raise ValueError('no key')\n")
    (suite / "d" / "test_d.py").write_text(MARKED.format("", "d"))

    found = answer(suite)

    assert "c/tests/test_c.py::test_c" in names(found)
    assert {one.name for one in found.apart} == {"b/tests/test_b.py", "b/tests/test_both.py", "c/tests/test_c.py"}
    assert [(one.name, one.reason) for one in found.unread] == [("d", "ValueError: no key")]


def test_the_files_of_a_package_are_collected_in_one_process(suite: Path) -> None:
    for package in "cd":
        folder = suite / package / "tests"
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
        (folder / f"words_{package}.py").write_text("WORD = 2\n")
        for number in range(3):
            marked = MARKED.format(f"from tests.words_{package} import WORD\n", f"{package}{number}")
            (folder / f"test_{package}{number}.py").write_text(marked)
    said: list[str] = []

    found = answer(suite, said)

    assert not found.unread and len(names(found)) == 9
    assert [words.split()[1:3] for words in said] == [["8", "files"], ["3", "files"], ["3", "files"]]


def test_a_module_that_is_nowhere_is_not_tried_again(suite: Path) -> None:
    for name in ("test_b", "test_both"):
        (suite / "b" / "tests" / f"{name}.py").write_text("import not_installed\n")
    said: list[str] = []
    found = answer(suite, said)
    assert [one.name for one in found.unread] == ["b/tests/test_b.py", "b/tests/test_both.py"]
    assert not said


@pytest.mark.parametrize(
    ("line", "tries"),
    [
        ("raise ValueError('no model')", 1),
        ("raise OSError('[Errno -2] Name or service not known')", 0),
        ("import a; a.missing", 1 + 2),
    ],
)
def test_files_that_fail_for_what_is_in_them_are_not_tried_one_by_one(suite: Path, line: str, tries: int) -> None:
    for name in ("test_b", "test_both"):
        (suite / "b" / "tests" / f"{name}.py").write_text(f"{line}\n")
    said: list[str] = []

    found = answer(suite, said)

    assert [one.name for one in found.unread] == ["b/tests/test_b.py", "b/tests/test_both.py"]
    assert len(said) == tries


def test_the_ini_file_of_the_suite_holds_for_files_apart(suite: Path) -> None:
    (suite / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib\nturntape_folder = recorded\n")
    (suite / "b" / "pytest.ini").write_text("[pytest]\nturntape_folder = elsewhere\n")
    found = answer(suite)
    assert len(names(found)) == 3
    assert all(Path(test["target"]).is_relative_to(suite / "recorded") for test in found.tests)


@pytest.mark.parametrize(
    ("why", "remedy", "is_certain"),
    [
        (
            "ModuleNotFoundError: No module named 'not_installed'",
            "install the module not_installed (usually: pip install not_installed)",
            True,
        ),
        (
            "ModuleNotFoundError: No module named 'not_installed.part'",
            "install the module not_installed (usually: pip install not_installed)",
            False,
        ),
        (
            "ModuleNotFoundError: No module named 'pytest.part'",
            "install the package, or its version, that has the module pytest.part",
            True,
        ),
        (
            "ModuleNotFoundError: No module named 'pytest.part'; 'pytest' is not a package",
            "install the package, or its version, that has the module pytest.part",
            False,
        ),
        (
            "ModuleNotFoundError: No module named 'tests.utils'",
            "write into pytest's ini file: pythonpath = b",
            False,
        ),
        ("ModuleNotFoundError: No module named 'utils'", "write into pytest's ini file: pythonpath = b/tests", False),
        (
            "ImportError: cannot import name 'Nothing' from 'pytest' (/x/__init__.py)",
            f"install another version of pytest than {pytest.__version__}",
            False,
        ),
        (
            f"ImportError: cannot import name 'Nothing' from 'pytest' ({pytest.__file__})",
            f"install another version of pytest than {pytest.__version__}",
            True,
        ),
        ("ImportError: cannot import name 'Nothing' from 'tests.utils' (/x)", "let pytest collect it", False),
        ("ValueError: no key", "let pytest collect it", False),
        (
            "httpx.ConnectError: [Errno -2] Name or service not known",
            "move this request into a fixture, or collect the file where it is answered",
            True,
        ),
        *(
            (why, "set OPENAI_API_KEY in the environment, to any value if the tests only play recordings", False)
            for why in (
                "KeyError: 'OPENAI_API_KEY'",
                "UserError: Set the `OPENAI_API_KEY` environment variable or pass",
            )
        ),
    ],
)
def test_what_cannot_be_collected_says_what_to_add(suite: Path, why: str, remedy: str, is_certain: bool) -> None:
    one = Unread("b/tests/test_b.py", suite, why)
    assert one.remedy.replace("\\", "/") == remedy
    assert one.is_certain is is_certain


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("from agents import Agent\n", "install the module agents (usually: pip install agents)"),
        ("def f():\n    import agents.tools\n", "install the module agents (usually: pip install agents)"),
        ("from agents_of_ours import Agent\n", "write into pytest's ini file: pythonpath = b"),
    ],
)
def test_a_file_that_imports_a_module_of_its_name_is_not_that_module(suite: Path, text: str, remedy: str) -> None:
    (suite / "b" / "agents.py").write_text(text)
    one = Unread("b/tests/test_b.py", suite, "ModuleNotFoundError: No module named 'agents'")
    assert one.remedy == remedy


def test_of_a_namespace_the_package_with_the_file_is_named(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite_survey, "packages_distributions", lambda: {"shared": ["pluggy", "pytest"]})
    why = f"ImportError: cannot import name 'Nothing' from 'shared.one' ({pytest.__file__})"
    assert Unread("b/tests/test_b.py", suite, why).remedy.startswith("install another version of pytest than")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (
            "ERROR: usage: __main__.py [options]\n__main__.py: error: unrecognized arguments: --cov=a\n  rootdir: /b\n",
            "error: unrecognized arguments: --cov=a",
        ),
        ("ImportError: no module named x\n\n  at the end\n", "ImportError: no module named x"),
        ("nothing of the kind\n\n", "nothing of the kind"),
        ("\n", "it said nothing"),
    ],
)
def test_a_suite_that_pytest_refuses_says_why(said: str, why: str) -> None:
    assert reason(said.splitlines()) == why


def test_without_pytest_it_says_where_to_call_it(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> None:
        assert name == "pytest"

    monkeypatch.setattr(suite_survey, "find_spec", nothing)

    with pytest.raises(TurntapeError, match=r"^pytest is not installed for .*; install turntape where the suite runs"):
        answer(suite)
