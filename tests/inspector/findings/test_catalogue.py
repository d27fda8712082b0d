"""Rules of other packages: they come through an entry point or the settings, and cannot harm the others."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from conversations import CALL, HELLO, chat, said
from judged import ids

from turntape.cassettes import Recorder
from turntape.inspector.findings.catalogue import OWN, catalogue, forget
from turntape.inspector.findings.docs import class_of
from turntape.inspector.findings.engine import RuleEngine
from turntape.inspector.findings.rules import RULES
from turntape.proxy.cli import main

ACME = """
from turntape.inspector.findings.rule import Note, rule


@rule(
    "acme-tool-without-owner", "client", "warning", "P",
    says="A tool of Acme was offered without its owner.",
    fix="Name the team in the description.",
    not_when=("The description names a team",),
)
def without_owner(context):
    for tool in context.request.tools:
        if "team:" not in (tool.description or ""):
            yield Note(f"nobody owns {tool.name!r}", (f"{context.at} request {tool.pointer}",), key=tool.name)


RULES = (without_owner,)
"""
RAISES = """
from turntape.inspector.findings.rule import rule


@rule("acme-fails", "client", "warning", "P", says="It fails.", fix="Nothing.")
def fails(context):
    raise ZeroDivisionError("no turns")
    yield


RULES = (fails,)
"""
TRIP = chat([HELLO], said(None, CALL), finish="stop")


@pytest.fixture(autouse=True)
def fresh_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty project in the working directory; each test reads the rules again."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    forget()
    yield
    forget()


def module(name: str, source: str) -> None:
    """A module outside the tree; each test takes another name, since modules stay imported."""
    Path(f"{name}.py").write_text(source)


def settings(*modules: str) -> None:
    Path("turntape.toml").write_text(f"rules = {json.dumps(modules)}\n")
    forget()


def installed(name: str, value: str) -> None:
    """What pip leaves of a package that declares an entry point."""
    folder = Path(f"{name}-1.0.dist-info")
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(f"[turntape.rules]\n{name} = {value}\n")
    forget()


@pytest.mark.parametrize("door", ["entry point", "settings"])
def test_a_rule_of_another_package_is_shown_checked_and_explained(
    door: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"acme_{door.replace(' ', '_')}"
    module(name, ACME)
    if door == "settings":
        settings(name)
    else:
        installed(name, f"{name}:RULES")
    with Recorder("run.cassette.jsonl") as recorder:
        recorder.write(TRIP)

    assert main(["explain", "acme-tool-without-owner"]) == 0
    assert "Name the team in the description." in capsys.readouterr().out
    assert main(["check", "run.cassette.jsonl", "--only", "acme-tool-without-owner", "--fail-on", "warning"]) == 1
    assert "nobody owns 'look_up'" in capsys.readouterr().out
    assert main(["show", "run.cassette.jsonl", "--json"]) == 0
    [finding] = [one for one in json.loads(capsys.readouterr().out)["findings"] if one["id"].startswith("acme")]
    assert finding["evidence"] == ["#0 request /tools/0"]


def test_our_own_rules_come_through_the_same_door() -> None:
    pyproject = Path(__file__).parents[3] / "pyproject.toml"

    assert f'[project.entry-points."turntape.rules"]\nturntape = "{OWN}"' in pyproject.read_text()
    assert catalogue().rules[: len(RULES)] == RULES


@pytest.mark.parametrize(
    ("name", "source", "sentence"),
    [
        ("acme_missing", None, "No module named 'acme_missing'"),
        ("acme_broken", "import nothing_like_it", "No module named 'nothing_like_it'"),
        ("acme_empty", "", "has no attribute 'RULES'"),
        ("acme_strange", "RULES = ('a',)", "holds 'a', which is not a rule"),
        ("acme_one", "RULES = 5", "'int' object is not iterable"),
    ],
)
def test_a_module_that_cannot_be_used_is_one_sentence_and_the_others_stay(
    name: str, source: str | None, sentence: str
) -> None:
    if source is not None:
        module(name, source)
    module(f"{name}_good", ACME)
    settings(name, f"{name}_good")

    [problem] = catalogue().problems
    assert problem.startswith(f"the rules of {name!r} are not used: ")
    assert sentence in problem
    assert len(catalogue().rules) == len(RULES) + 1
    assert "acme-tool-without-owner" in ids(TRIP)


def test_settings_that_cannot_be_read_leave_our_own_rules(tmp_path: Path) -> None:
    Path("turntape.toml").write_text("rules = 'acme'\n")
    forget()

    [problem] = catalogue().problems
    assert "rules" in problem
    assert catalogue().rules == RULES


def test_an_id_belongs_to_the_first_table_that_has_it() -> None:
    module("acme_twin", ACME.replace("acme-tool-without-owner", "model-refusal"))
    settings("acme_twin")

    [problem] = catalogue().problems
    assert problem == f"the rule 'model-refusal' of 'acme_twin' is not used: {OWN!r} has a rule of that id; rename it"
    assert catalogue().rules == RULES


def test_a_module_that_is_installed_and_named_counts_once() -> None:
    module("acme_both", ACME)
    installed("acme_both", "acme_both")
    settings("acme_both")

    assert catalogue().problems == ()
    assert len(catalogue().rules) == len(RULES) + 1


@pytest.mark.parametrize("where", ["check", "trait"])
def test_a_rule_that_raises_is_reported_once_and_the_others_go_on(where: str, caplog: pytest.LogCaptureFixture) -> None:
    name, source = f"acme_raises_{where}", RAISES
    if where == "trait":
        source = source.replace('fix="Nothing."', 'fix="Nothing.", trait=lambda protocol: 1 // 0')
    module(name, source)
    settings(name)

    why = "no turns" if where == "check" else "integer division or modulo by zero"

    assert "api-finish-label-disagrees" in ids(TRIP, TRIP)
    [record] = caplog.records
    assert record.getMessage() == (
        f"turntape: the rule 'acme-fails' ({name}) failed on round trip #0: ZeroDivisionError: {why}; "
        "its other findings may be missing"
    )


def test_an_engine_names_the_rules_that_it_could_not_load() -> None:
    settings("acme_nowhere")

    assert RuleEngine().problems == ["the rules of 'acme_nowhere' are not used: ModuleNotFoundError: "
                                     "No module named 'acme_nowhere'"]  # fmt: skip


def test_a_class_of_another_package_has_its_words() -> None:
    module("acme_words", ACME)
    settings("acme_words")

    one = class_of("acme-tool-without-owner")
    assert one is not None
    assert (one.group, one.switch, one.example) == ("client", None, None)
    assert one.as_json()["not_when"] == "The description names a team."


def test_a_rule_whose_id_is_a_former_id_of_another_table_is_refused() -> None:
    former = next(alias for rule in RULES for alias in rule.aliases)
    module("acme_former", ACME.replace("acme-tool-without-owner", former))
    settings("acme_former")

    [problem] = catalogue().problems
    assert problem.startswith(f"the rule {former!r} of 'acme_former' is not used: {OWN!r} has a rule of that id")
    assert catalogue().rules == RULES


def test_a_rule_whose_former_id_is_taken_is_refused() -> None:
    module("acme_alias", ACME.replace("    not_when=", "    aliases=('model-refusal',),\n    not_when="))
    settings("acme_alias")

    [problem] = catalogue().problems
    assert "has a rule of the id 'model-refusal'; rename it" in problem
    assert catalogue().rules == RULES
