"""What a failure suggests, in separate pytest sessions."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from plugin_project import taken_away, write

from turntape.cassettes import Cassette, Recorder
from turntape.cassettes.pytest_plugin.commands import again, files_of
from turntape.cassettes.settings import ENTROPY, KEEP
from turntape.proxy.scripted.server import ScriptedServer

pytest_plugins = ("pytester",)

WORD = "\n@pytest.mark.turntape{mark}\ndef test_{name}(): ask(os.environ.get('WORD', 'a'))\n"


def record(project: pytest.Pytester, text: str) -> None:
    write(project, text)
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=text.count("def test_"))


def test_volatile_text_gets_the_line_for_its_mark(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORD", "pid=4711")
    record(project, WORD.format(mark="(profile='strict')", name="a"))
    monkeypatch.setenv("WORD", "pid=815")

    result = project.runpytest()

    result.stdout.fnmatch_lines(
        [
            "*everything that differs looks new in each run; ignore it:",
            '*@pytest.mark.turntape(profile="strict", ignore_text=?"pid"?)',
        ]
    )
    write(project, WORD.format(mark="(profile='strict', ignore_text=['pid'])", name="a"))
    project.runpytest().assert_outcomes(passed=1)


def test_the_line_for_one_test_of_a_mark_is_in_its_settings(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    def text(own: str) -> str:
        mark = f"(profile='sequence', tests={{'test_a[x]': {own}}})"
        params = "\n@pytest.mark.parametrize('name', ['x', 'y'])"
        return params + WORD.format(mark=mark, name="a").replace("test_a():", "test_a(name):")

    monkeypatch.setenv("WORD", "pid=4711")
    write(project, text("{'profile': 'strict'}"))
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=2)
    monkeypatch.setenv("WORD", "pid=815")

    result = project.runpytest()

    result.assert_outcomes(passed=1, failed=1)
    line = '*mark.turntape(profile="sequence", tests={"test_a?x?": {"profile": "strict", "ignore_text": ?"pid"?}})'
    result.stdout.fnmatch_lines([line])
    write(project, text("{'profile': 'strict', 'ignore_text': ['pid']}"))
    project.runpytest().assert_outcomes(passed=2)

    for wrong in ("'strict'", "{'profil': 'strict'}"):
        write(project, text(wrong))
        project.runpytest().assert_outcomes(passed=1, errors=1)


RESULT = """
@pytest.mark.turntape{mark}
def test_a():
    OpenAI(max_retries=0).chat.completions.create(model="gpt-5", messages=[
        {{"role": "user", "content": "go"}},
        {{"role": "assistant", "content": None, "tool_calls": [
            {{"id": "c", "type": "function", "function": {{"name": "f", "arguments": "{{}}"}}}}]}},
        {{"role": "tool", "tool_call_id": "c", "content": os.environ["WORD"]}},
    ])
"""


def test_a_tool_result_without_a_name_gets_an_expression_last(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORD", "Started container romantic_wozniak")
    record(project, RESULT.format(mark=""))
    monkeypatch.setenv("WORD", "Started container vigilant_hopper")

    result = project.runpytest()

    result.stdout.fnmatch_lines(
        [
            "*--turntape-mode=all",
            "*or if what differs does not matter, ignore it:",
            '*@pytest.mark.turntape(ignore_text=?r"Started container *"?)',
        ]
    )
    result.stdout.no_fnmatch_line("*looks new in each run*")
    write(project, RESULT.format(mark=r"(ignore_text=[r'Started container \w+'])"))
    project.runpytest().assert_outcomes(passed=1)


def test_a_changed_prompt_gets_no_expression(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    record(project, WORD.format(mark="", name="a"))
    monkeypatch.setenv("WORD", "say b to me")

    result = project.runpytest()

    result.assert_outcomes(failed=1)
    result.stdout.no_fnmatch_line("*ignore_text*")


def test_a_request_that_is_repeated_gets_the_line_that_allows_it(project: pytest.Pytester) -> None:
    record(project, WORD.format(mark="", name="a"))
    twice = WORD.replace("(): ", "(): ask(os.environ.get('WORD', 'a')); ")
    write(project, twice.format(mark="", name="a"))

    result = project.runpytest()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*or allow it in this test:", "*@pytest.mark.turntape(repeats=True)"])
    write(project, twice.format(mark="(repeats=True)", name="a"))
    project.runpytest().assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("more", "repeats"),
    [("a", True), ("pid=815", True), ("is it done?", False)],
    ids=["the same", "with a new number", "another question"],
)
def test_answers_in_their_order_are_repeated_for_the_same_question_only(
    project: pytest.Pytester, more: str, repeats: bool
) -> None:
    asked = "pid=4711" if "pid" in more else "a"
    record(project, WORD.format(mark="(profile='sequence')", name="a").replace("'a'))", f"'{asked}'))"))
    twice = WORD.replace("(): ", f"(): ask({asked!r}); ").replace("'a'))", f"{more!r}))")
    write(project, twice.format(mark="(profile='sequence')", name="a"))

    result = project.runpytest()

    result.assert_outcomes(failed=1)
    said = result.stdout.str()
    assert ("repeats=True" in said) is repeats
    assert ("the run sends one request more; record again if it is intended" in said) is not repeats
    assert ("turntape: the run sent one request more than the recorded 1 of POST /" in said) is not repeats
    assert ("it differs from turn 1, #0:" in said and "+ is it done?" in said) is not repeats
    assert ("turn 1 was requested again" in said or "turn 1, #0 was requested again" in said) is repeats
    assert "--turntape-mode=all" in said


def test_a_renamed_test_gets_the_command_that_moves_its_cassette(project: pytest.Pytester) -> None:
    record(project, WORD.format(mark="", name="old"))
    (project.path / "cassettes/test_it/test_old.trajectory.txt").touch()
    write(project, WORD.format(mark="", name="new"))

    result = project.runpytest()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*test_old.cassette.jsonl beside it holds this very request; if the test was renamed:",
            "*mv cassettes/test_it/test_old.cassette.jsonl cassettes/test_it/test_new.cassette.jsonl",
            "*mv cassettes/test_it/test_old.trajectory.txt cassettes/test_it/test_new.trajectory.txt",
        ]
    )

    (project.path / "test_it.py").rename(project.path / "test_moved.py")
    write(project, WORD.format(mark="", name="old"), "test_moved")
    project.runpytest().stdout.fnmatch_lines(["*mv cassettes/test_it cassettes/test_moved"])


@pytest.mark.parametrize("stays", [False, True], ids=["moved", "copied"])
def test_a_moved_file_gets_the_command_that_moves_its_cassettes(project: pytest.Pytester, stays: bool) -> None:
    record(project, WORD.format(mark="", name="a"))
    for place in ("flows", "unit"):
        project.mkdir(place)
    (project.path / "cassettes").rename(project.path / "flows" / "cassettes")
    text = (project.path / "test_it.py").read_text()
    (project.path / "test_it.py").unlink()
    (project.path / "unit" / "test_it.py").write_text(text)
    if stays:
        (project.path / "flows" / "test_it.py").write_text(text)

    result = project.runpytest("--import-mode=importlib", "unit")

    result.assert_outcomes(failed=1)
    if stays:
        result.stdout.no_fnmatch_line("*mv *")
        return
    result.stdout.fnmatch_lines(
        [
            "*flows/cassettes/test_it/ holds this very request; if the test file was moved:",
            "*mkdir -p unit/cassettes",
            "*mv flows/cassettes/test_it unit/cassettes/test_it",
        ]
    )
    (project.path / "unit" / "cassettes").mkdir()
    (project.path / "flows" / "cassettes" / "test_it").rename(project.path / "unit" / "cassettes" / "test_it")
    project.runpytest("--import-mode=importlib", "unit").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("folder", "before", "after"),
    [
        ("rec", "rec/flows/test_it", "rec/unit/test_it"),
        ("rec/{file}/tapes", "rec/flows/test_it/tapes", "rec/unit/test_it/tapes"),
        ("./rec/of-{file}", "rec/of-flows/test_it", "rec/of-unit/test_it"),
    ],
)
def test_a_moved_file_gets_the_command_where_the_ini_file_names_the_folder(
    project: pytest.Pytester, folder: str, before: str, after: str
) -> None:
    project.makeini(f"[pytest]\nturntape_folder = {folder}")
    text = WORD.format(mark="", name="a")
    for place in ("flows", "unit", "other"):
        project.mkdir(place)
    write(project, text, "flows/test_it")
    project.runpytest("--import-mode=importlib", "--turntape-mode=once").assert_outcomes(passed=1)
    write(project, text.replace("test_a", "test_b"), "other/test_it")
    project.runpytest("--import-mode=importlib", "--turntape-mode=once", "other").assert_outcomes(passed=1)
    (project.path / "flows/test_it.py").rename(project.path / "unit/test_it.py")

    result = project.runpytest("--import-mode=importlib", "unit")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"*mkdir -p {Path(after).parent}", f"*mv {before} {after}"])
    (project.path / after).parent.mkdir(parents=True)
    (project.path / before).rename(project.path / after)
    project.runpytest("--import-mode=importlib", "unit").assert_outcomes(passed=1)


@pytest.mark.parametrize("folder", ["rec", "rec/{file}/tapes", "rec-{file}"])
def test_a_renamed_file_gets_the_command_where_the_ini_file_names_the_folder(
    project: pytest.Pytester, folder: str
) -> None:
    project.makeini(f"[pytest]\nturntape_folder = {folder}")
    record(project, WORD.format(mark="", name="a"))
    (project.path / "test_it.py").rename(project.path / "test_moved.py")

    result = project.runpytest()

    named = folder if "{file}" in folder else f"{folder}/{{file}}"
    result.stdout.fnmatch_lines([f"*mv {named.format(file='test_it')} {named.format(file='test_moved')}"])


def test_a_renamed_test_gets_the_cassette_of_its_own_parameter(project: pytest.Pytester) -> None:
    code = "@pytest.mark.parametrize('client', ['anthropic', 'openai', 'zai'])\n"
    named = WORD.replace("():", "(client):").format(mark="", name="{name}")
    write(project, code + named.format(name="short"))
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=3)
    write(project, code + named.format(name="brief"))

    result = project.runpytest("-k", "openai")

    result.assert_outcomes(failed=1)
    moved = "mv cassettes/test_it/test_{}-openai.cassette.jsonl"
    result.stdout.fnmatch_lines([f"*{moved.format('short')} {moved.format('brief').removeprefix('mv ')}"])


def test_a_cassette_of_another_test_is_not_taken_for_that_of_a_renamed_one(project: pytest.Pytester) -> None:
    record(project, WORD.format(mark="", name="a"))
    write(project, WORD.format(mark="", name="a") + WORD.format(mark="", name="b"))

    result = project.runpytest()

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*pytest test_it.py::test_b --turntape-mode=once"])
    result.stdout.no_fnmatch_line("*mv *")


def test_tests_that_fail_for_one_change_are_listed_once(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(project, "".join(WORD.format(mark="", name=name) for name in "abc"))
    monkeypatch.setenv("WORD", "b")

    result = project.runpytest()

    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines(
        [
            "3 tests fail for one change:",
            "  /messages/0/content",
            "    - a",
            "    + b",
            "  in:",
            "    test_it.py::test_a",
            "    test_it.py::test_b",
            "    test_it.py::test_c",
            "  if the change is intended, keep the recorded answers (no API is called):",
            "    *pytest test_it.py::test_a test_it.py::test_b test_it.py::test_c --turntape-mode=restamp",
            "  or record again:",
            "    *pytest test_it.py::test_a test_it.py::test_b test_it.py::test_c --turntape-mode=all",
        ]
    )


def test_the_command_for_many_tests_runs_only_those_that_failed(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    steady = "@pytest.mark.turntape\ndef test_z():\n    ask()\n"
    record(project, "".join(WORD.format(mark="", name=name) for name in "abcde") + steady)
    monkeypatch.setenv("WORD", "b")

    result = project.runpytest()

    result.assert_outcomes(passed=1, failed=5)
    result.stdout.fnmatch_lines(["5 tests fail for one change:", "    *pytest --lf test_it.py --turntape-mode=restamp"])
    project.runpytest("--lf", "test_it.py", "--turntape-mode=restamp").assert_outcomes(passed=5)

    monkeypatch.setenv("WORD", "c")
    without = project.runpytest("-p", "no:cacheprovider")
    without.stdout.fnmatch_lines(["    *pytest -p no:cacheprovider test_it.py --turntape-mode=restamp"])


def test_the_command_leaves_out_a_test_that_failed_only_in_an_earlier_run(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = WORD.format(mark="", name="z").replace("WORD", "OTHER").replace("'a'", "'other'")
    record(project, "".join(WORD.format(mark="", name=name) for name in "abcde") + other)
    monkeypatch.setenv("OTHER", "changed too")
    project.runpytest("-k", "test_z").assert_outcomes(failed=1)
    monkeypatch.setenv("WORD", "b")

    result = project.runpytest("-k", "not test_z")

    result.assert_outcomes(failed=5)
    result.stdout.fnmatch_lines(["5 tests fail for one change:", "    *pytest @*change-1.txt --turntape-mode=restamp"])

    monkeypatch.delenv("OTHER")
    project.runpytest("-k", "test_z").assert_outcomes(passed=1)
    result = project.runpytest("-k", "not test_z")
    result.stdout.fnmatch_lines(["    *pytest --lf test_it.py --turntape-mode=restamp"])


def test_the_commands_of_several_changes_run_only_their_own_tests(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = WORD.format(mark="", name="z").replace("WORD", "OTHER").replace("'a'", "'other'")
    record(project, "".join(WORD.format(mark="", name=name) for name in "abcde") + other)
    monkeypatch.setenv("WORD", "b")
    monkeypatch.setenv("OTHER", "changed too")

    result = project.runpytest()

    result.assert_outcomes(failed=6)
    (folder,) = project.path.glob("*cache*/d/turntape")
    listed = f"{folder.relative_to(project.path).as_posix()}/change-1.txt"
    result.stdout.fnmatch_lines(["5 tests fail for one change:", f"    *pytest @{listed} --turntape-mode=restamp"])
    project.runpytest(f"@{listed}", "--turntape-mode=restamp").assert_outcomes(passed=5)


@pytest.mark.parametrize(("word", "said"), [("salesman", "2 tests fail for one change:"), ("salesman for {}", None)])
def test_one_change_beside_what_is_different_in_each_test_is_listed_once(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, word: str, said: str | None
) -> None:
    word_now = "os.environ.get('WORD', 'sales agent')"
    text = f"@pytest.mark.turntape\ndef test_{{0}}(): ask('Help {{0}}: you are a ' + {word_now}{{1}})\n"
    own = "" if said else ".format('{0}')"
    record(project, "".join(text.format(name, own.format(name)) for name in ("ana", "bob")))
    monkeypatch.setenv("WORD", word)

    result = project.runpytest()

    result.assert_outcomes(failed=2)
    if said:
        result.stdout.fnmatch_lines([said])
    else:
        result.stdout.no_fnmatch_line("*tests fail for one change:")


def test_one_change_that_no_recorded_answer_fits_is_only_recorded_again(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = "agent_of(os.environ.get('MODEL', 'gpt-5'))"
    text = "def agent_of(model): OpenAI().chat.completions.create(model=model, messages=[])\n"
    record(project, text + "".join(f"@pytest.mark.turntape\ndef test_{name}(): {asked}\n" for name in "ab"))
    monkeypatch.setenv("MODEL", "gpt-5-mini")

    result = project.runpytest()

    result.stdout.fnmatch_lines(
        ["2 tests fail for one change:", "  if the change is intended, record again:", "*--turntape-mode=all"]
    )
    result.stdout.no_fnmatch_line("*restamp*")


MANY_TOOLS = """
@pytest.mark.turntape
def test_many():
    said = 'The name of the ' + os.environ.get('WORD', 'city')
    properties = {'type': 'object', 'properties': {'city': {'type': 'string', 'description': said}}}
    tools = [{'type': 'function', 'function': {'name': f't{n}', 'parameters': properties}} for n in range(12)]
    messages = [{'role': 'user', 'content': 'hi'}]
    OpenAI(max_retries=0).chat.completions.create(model='gpt-5', messages=messages, tools=tools)
"""


def changed(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tests: str, word: str) -> pytest.RunResult:
    """Record these tests, and run them with another word."""
    write(project, tests)
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    monkeypatch.setenv("WORD", word)
    return project.runpytest()


def test_one_word_in_many_tools_may_keep_the_recorded_answers(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = changed(project, monkeypatch, MANY_TOOLS, "town")

    result.stdout.fnmatch_lines(
        [
            "*turntape: turn 1, #0 has changed in the tools",
            "*/tools/9/function/parameters/properties/city/description",
            "*and 2 more differences",
            "*--turntape-mode=restamp",
        ]
    )
    result.stdout.no_fnmatch_line("*/tools/10/*")
    project.runpytest("--turntape-mode=restamp").assert_outcomes(passed=1)
    project.runpytest().assert_outcomes(passed=1)


IMAGE = """
@pytest.mark.turntape
def test_image():
    OpenAI(max_retries=0).chat.completions.create(model='gpt-5', messages=[{'role': 'user', 'content': [
        {'type': 'image_url', 'image_url': {'url': 'data:image/png;base64,' + os.environ.get('WORD', 'x') * 400}}]}])
"""


def test_another_image_is_recorded_again_and_not_ignored(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = changed(project, monkeypatch, IMAGE, "y")

    result.stdout.fnmatch_lines(
        ["*- image/png, 300 bytes, digest *", "*if the change is intended, record again*", "*--turntape-mode=all"]
    )
    result.stdout.no_fnmatch_line("*ignore_text*")
    result.stdout.no_fnmatch_line("*restamp*")


ASKED_OF_TWO_APIS = """
def chat(word): OpenAI().chat.completions.create(model='gpt-5', messages=[
    {'role': 'system', 'content': 'Be brief.'}, {'role': 'user', 'content': word}])

def responses(word): OpenAI().responses.create(model='gpt-5', input=word)

@pytest.mark.turntape
@pytest.mark.parametrize('asked', [chat, responses])
def test_asked(asked): asked(os.environ.get('WORD', 'Paris today'))
"""


@pytest.mark.parametrize("word", ["Rome today", "Paris 2026-11-25"])
def test_one_change_in_the_requests_of_several_apis_is_listed_once(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    monkeypatch.setenv("WORD", word.replace("Rome", "Paris").replace("25", "24"))
    write(project, ASKED_OF_TWO_APIS)
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=2)
    monkeypatch.setenv("WORD", word)

    result = project.runpytest()

    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["2 tests fail for one change:", "  /messages/1/content", "  and at /input", "  in:"])


def test_one_word_in_the_system_prompt_and_in_a_message_is_not_one_change(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "OpenAI().chat.completions.create(model='gpt-5', messages=[{'role': role, 'content': os.environ['WORD']}])"
    mark = "@pytest.mark.turntape\n@pytest.mark.parametrize('role', ['system', 'user'])\n"
    monkeypatch.setenv("WORD", "Paris")
    write(project, f"{mark}def test_role(role): {said}\n")
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=2)
    monkeypatch.setenv("WORD", "Rome")

    result = project.runpytest()

    result.assert_outcomes(failed=2)
    result.stdout.no_fnmatch_line("*tests fail for one change:")


def test_values_that_are_new_in_each_test_are_one_change(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = "ask(f\"It is {{int(os.environ.get('NOW', 1795454961)) + {more}}}.\")"
    text = "".join(f"@pytest.mark.turntape\ndef test_{more}(): {clock.format(more=more)}\n" for more in (1, 20, 300))
    record(project, text)
    monkeypatch.setenv("NOW", "1795999999")

    result = project.runpytest()

    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines(
        [
            "3 tests fail for one change:",
            "  in:",
            "    test_it.py::test_1",
            "    test_it.py::test_20",
            "    test_it.py::test_300",
            "  everything that differs looks new in each run; ignore it in turntape.toml, under ?replay?:",
            '    ignore_text = ?"timestamp"?',
        ]
    )
    (project.path / "turntape.toml").write_text('[replay]\nignore_text = ["timestamp"]\n')
    project.runpytest().assert_outcomes(passed=3)


@pytest.mark.parametrize(
    ("given", "program"),
    [
        (["-q", "-p", "no:recording", "-x"], "pytest -p no:recording"),
        (["-pno:vcr", "--rootdir=.", "-k", "a"], "pytest -pno:vcr --rootdir=."),
        (["-n", "2", "-vv"], "pytest"),
    ],
)
def test_a_command_has_what_chooses_plugins_and_settings_and_can_be_pasted(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch, given: list[str], program: str
) -> None:
    monkeypatch.setattr(pytestconfig, "workerinput", {"mainargv": ["/bin/pytest", *given]}, raising=False)
    assert again(pytestconfig, ["a.py::t[x y]"], "--z=1") == f"{program} 'a.py::t[x y]' --z=1"


def test_a_command_of_a_module_stays_one_and_names_files_from_where_it_was_started(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pytestconfig, "workerinput", {"mainargv": ["/x/pytest/__main__.py", "-q"]}, raising=False)
    few, many = ["a/b.py::c", "a/d.py::e"], [f"a/b/{name}.py::c" for name in "uvwxyz"]
    assert again(pytestconfig, files_of(pytestconfig, few)) == "python -m pytest a/b.py a/d.py"
    assert again(pytestconfig, files_of(pytestconfig, many)) == "python -m pytest a/b"


def test_a_cassette_of_a_failed_test_says_so_in_each_replay(
    project: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, "@pytest.mark.turntape\ndef test_a():\n    ask()\n    assert 'GOOD' in os.environ")
    project.runpytest("--turntape-mode=once").assert_outcomes(failed=1)
    taken_away(server, monkeypatch)
    monkeypatch.setenv("GOOD", "1")

    result = project.runpytest()

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*test_a: its test failed when this cassette was recorded; record again"])


def test_the_ini_file_sets_the_folder_and_the_arguments_of_the_mark(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.makeini("[pytest]\nturntape_folder = tapes/{file}\nturntape_rules =\n    messages = warn\n")
    record(project, WORD.format(mark="", name="a"))
    assert (project.path / "tapes/test_it/test_a.cassette.jsonl").exists()
    monkeypatch.setenv("WORD", "b")

    project.runpytest("--turntape-check").assert_outcomes(passed=1)


def test_the_ini_file_lets_more_secrets_be_found_until_the_end_of_the_run(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = "q7Zt3Xw9Kb2Lm5Vp8Rd4"
    monkeypatch.delenv(ENTROPY, raising=False)
    project.makeini("[pytest]\nturntape_redact_entropy = true\n")
    record(project, f"@pytest.mark.turntape\ndef test_a():\n    ask('see {random} there')\n")

    tape = next(project.path.rglob("*.cassette.jsonl")).read_text("utf-8")
    assert random not in tape and "see REDACTED" in tape
    assert ENTROPY not in os.environ
    project.runpytest("--turntape-check").assert_outcomes(passed=1)


LOGIN = """
@pytest.mark.turntape{mark}
def test_a():
    assert ask('login with {{"passphrase": "pineapple"}}')
    assert not os.environ.get("FAILS")
"""


@pytest.mark.parametrize(
    ("mark", "ini"), [("(redact_keep='pine.*')", ""), ("(redact_keep=['x', 'pineapple'])", ""), ("", "pineapple")]
)
def test_the_mark_or_the_ini_file_says_what_is_not_a_secret(
    mark: str, ini: str, project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(KEEP, raising=False)
    project.makeini(f"[pytest]\nturntape_redact_keep = {ini}\n")
    record(project, LOGIN.format(mark=mark))

    assert "pineapple" in next(project.path.rglob("*.cassette.jsonl")).read_text("utf-8")
    assert KEEP not in os.environ
    project.runpytest("--turntape-check").assert_outcomes(passed=1)
    write(project, LOGIN.format(mark=""))
    project.makeini("")
    result = project.runpytest("--turntape-check")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*it contains a secret in #0 request body*"])


@pytest.mark.parametrize(
    ("fails", "route", "remedy"),
    [
        ("1", None, "the mark or in turntape.toml, and record again"),
        ("1", "import", "turntape.toml, and import the suite again"),
        ("", None, ""),
    ],
)
def test_the_summary_of_a_failed_test_says_that_a_value_of_its_answer_was_replaced(
    fails: str, route: Literal["import"] | None, remedy: str, project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(project, LOGIN.format(mark=""))
    tape = next(project.path.rglob("*.cassette.jsonl"))
    trips = list(Cassette.load(tape))
    answer = trips[0].response
    assert answer is not None
    said = answer.body.replace(b'"content":', b'"token": "REDACTED*", "content":')
    tape.unlink()
    with Recorder(tape) as recorder:
        recorder.write(replace(trips[0], response=replace(answer, content=said), route=route or trips[0].route))
    monkeypatch.setenv("FAILS", fails)

    shown = project.runpytest().stdout.str()

    words = (
        'has REDACTED in the field token, whose value looked secret; if the test needs it: redact_keep=["its text"] in '
    )
    assert (words + remedy in shown) == bool(fails)


def test_a_line_of_the_ini_file_with_an_invalid_rule_is_named(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\nturntape_rules =\n    messages\n")
    write(project, WORD.format(mark="", name="a"))

    project.runpytest().stdout.fnmatch_lines(["*turntape_rules has the line 'messages'; write name = value*"])


def test_a_conftest_with_the_hook_of_pytest_recording_is_accepted(project: pytest.Pytester) -> None:
    project.makeconftest("def pytest_recording_configure(config, vcr): raise AssertionError('called')")
    write(project, WORD.format(mark="", name="a"))

    project.runpytest("-p", "no:recording", "--turntape-mode=once").assert_outcomes(passed=1)


SETTING = """
@pytest.mark.turntape{mark}
def test_a():
    OpenAI(max_retries=0).chat.completions.create(
        model="gpt-5", messages=[{{"role": "user", "content": "go"}}], stop=os.environ["WORD"]
    )
"""


def test_a_setting_that_decides_the_answer_gets_the_line_that_ignores_it(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORD", "a")
    record(project, SETTING.format(mark=""))
    monkeypatch.setenv("WORD", "b")

    result = project.runpytest()

    result.stdout.fnmatch_lines(
        ["*or if what differs does not matter, ignore it:", '*@pytest.mark.turntape(ignore=?"/stop"?)']
    )
    write(project, SETTING.format(mark="(ignore=['/stop'])"))
    project.runpytest().assert_outcomes(passed=1)


MORE = """
@pytest.mark.turntape{mark}
def test_a():
    OpenAI(max_retries=0).chat.completions.create(
        model=os.environ["WORD"], messages=[{{"role": "user", "content": "go"}}]
    )
"""


@pytest.mark.parametrize("route", ["import", "forward"])
def test_only_an_imported_recording_may_be_taken_in_its_order(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, route: Literal["import", "forward"]
) -> None:
    monkeypatch.setenv("WORD", "gpt-5")
    record(project, MORE.format(mark=""))
    path = project.path / "cassettes/test_it/test_a.cassette.jsonl"
    trips = [replace(trip, route=route) for trip in Cassette.load(path)]
    path.unlink()
    with Recorder(path) as recorder:
        for trip in trips:
            recorder.write(trip)
    monkeypatch.setenv("WORD", "gpt-6")

    result = project.runpytest()

    result.assert_outcomes(failed=1)
    said = "or take the answers in their order, whatever is asked:" in result.stdout.str()
    assert said is (route == "import")
    write(project, MORE.format(mark="(profile='sequence')"))
    project.runpytest().assert_outcomes(passed=1)
