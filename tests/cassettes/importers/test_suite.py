"""A suite of pytest-recording becomes one of ours: recordings where the plugin looks for them, marks, settings."""

import gzip
import json
from pathlib import Path

import pytest
import yaml
from plugin_project import taken_away

from turntape.cassettes import Cassette
from turntape.cassettes.importers.suite import Move, arguments, unmapped
from turntape.cassettes.importers.suite_marks import direct_uses, marks_in
from turntape.proxy.cli import main
from turntape.proxy.scripted.server import ScriptedServer

pytest_plugins = ("pytester",)

KEPT = yaml
"""A pytest inside a test removes what it imported itself; a second copy of this library cannot read files."""

CASSETTE = """
interactions:
- request:
    body: '{"model": "gpt-5", "messages": [{"role": "user", "content": "hi"}]}'
    headers: {content-type: [application/json]}
    method: POST
    uri: https://api.openai.com/v1/chat/completions
  response:
    body: {string: '{"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0,
      "message": {"role": "assistant", "content": "WORD"}, "finish_reason": "stop"}]}'}
    headers: {content-type: [application/json]}
    status: {code: 200, message: OK}
version: 1
"""

CONFTEST = """
import pytest

def without_errors(response):
    return None if response["status"]["code"] >= 400 else response

@pytest.fixture(scope="module")
def vcr_config():
    return {"match_on": MATCHED, "filter_headers": ["authorization"], "before_record_response": without_errors,
            "filter_post_data_parameters": ["api_key"], "ignore_localhost": False,
            "cassette_library_dir": "library"}

@pytest.fixture(scope="module")
def vcr_cassette_dir(request):
    return str(request.path.parent / "recorded" / request.path.stem)
"""

TESTS = """
import httpx, pytest

def ask(word):
    body = {"model": "gpt-5", "messages": [{"role": "user", "content": word}], "tool_choice": "auto"}
    answer = httpx.post("https://api.openai.com/v1/chat/completions", json=body)
    return answer.json()["choices"][0]["message"]["content"]

@pytest.mark.vcr
@pytest.mark.parametrize("model", ["gpt-5.4", "a/b"])
def test_one(model):
    assert ask("WORD") == model

class TestSeveral:
    @pytest.fixture
    def default_cassette_name(self, request):
        return f"named/{request.node.name}"

    @pytest.mark.vcr()
    def test_two(self):
        assert ask("WORD") == "two"

@pytest.mark.vcr("extra.yaml")
def test_three():
    assert ask("WORD") == "three"

def test_without_a_mark():
    pass
"""


VCRPY = """
from types import SimpleNamespace

class FilesystemPersister:
    @classmethod
    def load_cassette(cls, path, serializer):
        held = serializer.deserialize(path.read_text())["interactions"]
        requests = [SimpleNamespace(**one["request"]) for one in held]
        return requests, [one["response"] for one in held]
"""
SERIALIZER = """
import json, yaml
deserialize, serialize = yaml.safe_load, json.dumps
"""
SERIALIZE = """
def serialize(held, serializer):
    pairs = zip(held["requests"], held["responses"])
    return serializer.serialize({"interactions": [{"request": vars(one), "response": other} for one, other in pairs]})
"""
VCRPY_ITSELF = """
from vcr.persisters.filesystem import FilesystemPersister
from vcr.serializers import jsonserializer, yamlserializer

class VCR:
    def __init__(self):
        self.matchers = {}
        self.serializers = {"yaml": yamlserializer, "json": jsonserializer}
        self.persister = FilesystemPersister

    def register_matcher(self, name, function):
        self.matchers[name] = function

    def register_serializer(self, name, serializer):
        self.serializers[name] = serializer

    def register_persister(self, persister):
        self.persister = persister

default_vcr = VCR()
for name in ("method", "path"):
    function = lambda one, other: True
    function.__module__ = "vcr.matchers"
    default_vcr.register_matcher(name, function)
"""
OWN_MATCHER = """
def pytest_recording_configure(config, vcr):
    import json
    vcr.register_matcher("mine", lambda a, b: json.loads(a.body)["messages"] == json.loads(b.body)["messages"])
"""
OWN_SERIALIZER = """
class Packed:
    @staticmethod
    def deserialize(data):
        import gzip, yaml
        return yaml.safe_load(gzip.decompress(data))

class FromBytes:
    @classmethod
    def load_cassette(cls, path, serializer):
        from types import SimpleNamespace
        held = serializer.deserialize(path.read_bytes())["interactions"]
        return [SimpleNamespace(**one["request"]) for one in held], [one["response"] for one in held]

def pytest_recording_configure(config, vcr):
    vcr.register_serializer("yaml.gz", Packed())
    vcr.register_persister(FromBytes)

@pytest.fixture(scope="module")
def vcr_config():
    ending = ".yaml.gz"
    return {"match_on": ["method", "path", "body"], "cassette_library_dir": "library", "serializer": "yaml.gz",
            "path_transformer": lambda path: path if path.endswith(ending) else path.removesuffix(".yaml") + ending}
"""
"""What vcrpy 9 has under these names; this project does not depend on it."""


def suite(project: pytest.Pytester, *, matched: list[str], sent: str = "hi") -> Path:
    folder = project.path / "recorded" / "test_moved"
    (folder / "named").mkdir(parents=True)
    for name, word in (("test_one[gpt-5.4]", "gpt-5.4"), ("test_one[a-b]", "a/b"), ("named/test_two", "two")):
        (folder / f"{name}.yaml").write_text(CASSETTE.replace("WORD", word))
    library = project.mkdir("library")
    (library / "extra.yaml").write_text(CASSETTE.replace("WORD", "three"))
    (project.path / "conftest.py").write_text(CONFTEST.replace("MATCHED", repr(matched)))
    (project.path / "test_moved.py").write_text(TESTS.replace("WORD", sent, 1).replace('ask("WORD")', f'ask("{sent}")'))
    (project.path / "pytest.ini").write_text("[pytest]\nmarkers = vcr\n")
    return project.path


def put_vcrpy(place: Path) -> None:
    for name, source in (
        ("__init__", VCRPY_ITSELF),
        ("serialize", SERIALIZE),
        ("persisters.filesystem", VCRPY),
        ("serializers.jsonserializer", SERIALIZER),
        ("serializers.yamlserializer", SERIALIZER),
    ):
        file = place / "vcr" / f"{name.replace('.', '/')}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source)


@pytest.mark.parametrize(("matched", "sent"), [(["method", "path", "body"], "hi"), (["method", "path"], "other")])
def test_a_moved_suite_passes(
    project: pytest.Pytester,
    server: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    matched: list[str],
    sent: str,
) -> None:
    taken_away(server, monkeypatch)
    place = suite(project, matched=matched, sent=sent)
    monkeypatch.chdir(place)
    before = (place / "test_moved.py").read_text()
    usual = (place / "pytest.ini").read_text()
    (place / "pytest.ini").write_text(f"{usual}addopts = -n 1 -k test_three\n")  # others are deselected, not left out

    assert main(["import", "--pytest", "test_moved.py"]) == 0
    dry = capsys.readouterr().out
    assert "would convert 4 recordings for 4 tests and rewrite 3 marks in 1 file" in dry
    assert "not mapped: the setting before_record_response = <without_errors> has no counterpart: answers are" in dry
    assert (place / "test_moved.py").read_text() == before

    (place / "pytest.ini").write_text(usual)
    assert main(["import", "--pytest", "test_moved.py", "--apply"]) == 0
    assert "pytest.mark.vcr" not in (place / "test_moved.py").read_text()
    assert len(list((place / "cassettes" / "test_moved").iterdir())) == 4
    project.runpytest_subprocess().assert_outcomes(passed=5)


def test_a_password_that_the_test_shows_stays_in_its_recording(
    project: pytest.Pytester,
    server: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    taken_away(server, monkeypatch)
    place = suite(project, matched=["method", "path", "body"])
    story = place / "recorded/test_moved/test_story.yaml"
    story.write_text(CASSETTE.replace("WORD", r"{\"password\": \"mellon\"}"))
    ask = (place / "test_moved.py").read_text().partition("@pytest.mark.vcr")[0]
    test = "@pytest.mark.vcr\ndef test_story():\n    import json\n    assert json.loads(ask('hi'))"
    test = f"{test}['password'] == 'mellon'\n"
    (place / "test_moved.py").write_text(ask + test)
    monkeypatch.chdir(place)

    assert main(["import", "--pytest", "test_moved.py", "--apply"]) == 0

    said = capsys.readouterr().out
    assert "kept: 'mellon', which 1 test file contains: redact_keep in the marks" in said
    assert 'pytest.mark.turntape(ignore=["/api_key"], redact_keep=["mellon"])' in said
    project.runpytest_subprocess("--turntape-check").assert_outcomes(passed=1)


def test_files_that_pytest_cannot_collect_are_named(
    project: pytest.Pytester,
    server: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    taken_away(server, monkeypatch)
    monkeypatch.chdir(suite(project, matched=["method", "path"]))

    assert main(["import", "--pytest", "."]) == 0
    assert "cannot collect" not in capsys.readouterr().out

    for name in ("test_a_broken", "test_broken"):
        (project.path / f"{name}.py").write_text("import not_installed\n")
    assert main(["import", "--pytest", "."]) == 0
    said = capsys.readouterr().out
    assert (
        "not mapped: 2 files that pytest cannot collect: test_a_broken.py, test_broken.py; "
        "ModuleNotFoundError: No module named 'not_installed'; "
        "install the module not_installed (usually: pip install not_installed), and import again\n"
    ) in said
    assert "would convert 4 recordings for 4 tests" in said

    (project.path / "test_broken.py").write_text("import os\nassert os.environ.get('READY') == '1'\n")
    assert main(["import", "--pytest", "."]) == 0
    assert "test_broken.py; AssertionError: assert None == '1'; let pytest collect it" in capsys.readouterr().out


def test_a_file_that_pytest_collects_only_apart_is_moved_and_named(
    project: pytest.Pytester,
    server: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    taken_away(server, monkeypatch)
    place = suite(project, matched=["method", "path"])
    monkeypatch.chdir(place)
    # The file before it leaves an empty module behind, as some mocks do.
    (place / "test_early.py").write_text("import sys, types\nsys.modules['helpers'] = types.ModuleType('helpers')\n")
    (place / "helpers.py").write_text("WORD = 1\n")
    moved = place / "test_moved.py"
    moved.write_text(f"from helpers import WORD\n{moved.read_text()}")

    assert main(["import", "--pytest", ".", "--apply"]) == 0
    said = capsys.readouterr().out
    assert (
        "collected apart: 1 file that pytest does not collect together with all of .: test_moved.py; "
        "ImportError: cannot import name 'WORD' from 'helpers' (unknown location); run it apart too\n"
    ) in said
    assert "not mapped: 1 file" not in said
    assert "converted 4 recordings for 4 tests and rewrote 3 marks in 1 file" in said
    project.runpytest_subprocess("test_moved.py").assert_outcomes(passed=5)


def test_what_functions_of_the_suite_drop_or_ignore_is_left_out(
    project: pytest.Pytester,
    server: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    taken_away(server, monkeypatch)
    place = suite(project, matched=["method", "path", "mine"])
    monkeypatch.chdir(place)
    with (place / "conftest.py").open("a") as file:
        file.write(OWN_MATCHER)
    put_vcrpy(place)
    for path in place.rglob("*.yaml"):
        fine = path.read_text().removesuffix("version: 1\n")
        failed = fine.replace("200", "404").replace("interactions:\n", "").lstrip()
        path.write_text(fine.replace("interactions:\n", f"interactions:\n{failed}") + "version: 1\n")

    assert main(["import", "--pytest", "--apply"]) == 0
    said = capsys.readouterr().out
    assert (
        "left out: 4 recorded round trips in 4 files, which vcrpy never plays: before_record_… of the suite drops"
        in said
    )
    assert "the matchers" not in said
    assert 'ignore=["/api_key", "/model"]' in (place / "test_moved.py").read_text()
    project.runpytest_subprocess().assert_outcomes(passed=5)


def test_errors_that_the_suite_drops_at_the_end_of_a_recording_answer_what_vcrpy_fails(
    project: pytest.Pytester,
    server: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """vcrpy fails such a request, and its test expects an error: here it is the recorded one."""
    taken_away(server, monkeypatch)
    place = suite(project, matched=["method", "path"])
    monkeypatch.chdir(place)
    put_vcrpy(place)
    for path in place.rglob("*.yaml"):
        fine = path.read_text().removesuffix("version: 1\n")
        other = fine.replace("interactions:\n", "")
        failed = other.replace("code: 200", "code: 404")
        elsewhere = failed.replace("api.openai.com/v1", "other.openai.azure.com")
        empty = other.replace("code: 200", "code: 204")
        path.write_text(f"interactions:\n{failed}{elsewhere}{other}{empty}{failed}version: 1\n")
    conftest = place / "conftest.py"
    conftest.write_text(conftest.read_text().replace(">= 400", "> 200"))

    assert main(["import", "--pytest", "--apply"]) == 0
    assert "left out: 12 recorded round trips in 4 files" in capsys.readouterr().out
    found = Cassette.load(place / "cassettes" / "test_moved" / "test_three.cassette.jsonl")
    assert [trip.response.status for trip in found if trip.response] == [200, 404]


def test_what_playback_repeats_never_play_is_left_out(
    project: pytest.Pytester,
    server: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    taken_away(server, monkeypatch)
    place = suite(project, matched=["mine"])
    monkeypatch.chdir(place)
    conftest = place / "conftest.py"
    conftest.write_text(
        conftest.read_text().replace('"match_on"', '"allow_playback_repeats": True, "match_on"', 1) + OWN_MATCHER
    )
    put_vcrpy(place)
    for path in place.rglob("*.yaml"):
        one = path.read_text().removesuffix("version: 1\n").replace("interactions:\n", "")
        another = one.replace("hi", "later", 1)
        assert another != one
        path.write_text(f"interactions:\n{one}{another}{one}version: 1\n")

    assert main(["import", "--pytest", "--apply"]) == 0
    said = capsys.readouterr().out
    assert "left out: 4 recorded round trips in 4 files, which vcrpy never plays" in said
    found = Cassette.load(place / "cassettes" / "test_moved" / "test_three.cassette.jsonl")
    assert [json.loads(trip.request.body)["messages"][0]["content"] for trip in found] == ["hi", "later"]


def test_recordings_of_an_own_serializer_are_read_by_the_suite_itself(
    project: pytest.Pytester,
    server: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    taken_away(server, monkeypatch)
    place = suite(project, matched=["method", "path", "body"])
    monkeypatch.chdir(place)
    put_vcrpy(place)
    with (place / "conftest.py").open("a") as file:
        file.write(OWN_SERIALIZER)
    for path in place.rglob("*.yaml"):
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()

    assert main(["import", "--pytest", "--apply"]) == 0
    assert "converted 4 recordings for 4 tests" in capsys.readouterr().out
    found = Cassette.load(place / "cassettes" / "test_moved" / "test_three.cassette.jsonl")
    assert [json.loads(trip.request.body)["messages"][0]["content"] for trip in found] == ["hi"]


def test_a_changed_prompt_fails_where_bodies_were_compared(
    project: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken_away(server, monkeypatch)
    monkeypatch.chdir(suite(project, matched=["method", "path", "body"], sent="other"))
    assert main(["import", "--pytest", "--apply"]) == 0
    project.runpytest_subprocess().assert_outcomes(passed=1, failed=4)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, {"profile": "sequence"}),
        ({"match_on": ["method", "uri", "body"]}, {}),
        ({"match_on": ["body"], "filter_post_data_parameters": ["key", ["id", "x"]]}, {"ignore": ["/key", "/id"]}),
        ({"match_on": ["body"], "ignore_hosts": ["a.b"]}, {"allow": ["a.b"]}),
        ({"match_on": ["json_body_without_ids"]}, {}),
        ({"match_on": ["llm_body"], "ignored_by_matchers": ["/tools"]}, {"ignore": ["/tools"]}),
        ({"match_on": ["llm_body"], "ignored_by_matchers": [""]}, {"profile": "sequence"}),
        ({"match_on": ["body", "method"], "ignored_by_matchers": [""]}, {}),
        ({"match_on": ["method", "path"], "additional_matchers": ["body"]}, {}),
    ],
)
def test_settings_become_arguments(config: dict[str, object], expected: dict[str, object]) -> None:
    assert arguments(config) == expected


def test_local_hosts_that_were_ignored_are_allowed() -> None:
    assert "localhost" in arguments({"ignore_localhost": True})["allow"]


def test_what_has_no_counterpart_is_named() -> None:
    said = unmapped({"before_record_request": "<scrub>", "match_on": ["method", "mine"], "filter_headers": ["a"]})
    names = [one.partition(" ha")[0] for one in said]
    assert names == ["the setting before_record_request = <scrub>", "the matchers mine"]
    assert unmapped({"match_on": ["mine"], "ignored_by_matchers": []}) == []


def test_marks_keep_their_place(tmp_path: Path) -> None:
    file = tmp_path / "test_a.py"
    head = 'é = "ü"; pytestmark = '
    file.write_text(head + '[pytest.mark.vcr, pytest.mark.slow]\n@pytest.mark.vcr("a",\n  x=1)\ndef test(): ...\n')
    found = marks_in(file, lambda _: {"profile": "sequence"})
    assert [(one.line, one.old) for one in found] == [(1, "pytest.mark.vcr"), (2, 'pytest.mark.vcr("a",\n  x=1)')]
    move = Move([], rewrites=found)
    assert move.apply() == 1
    new = 'pytest.mark.turntape(profile="sequence")'
    assert file.read_text() == f"{head}[{new}, pytest.mark.slow]\n@{new}\ndef test(): ...\n"


SETTINGS = """import pytest
pytestmark = pytest.mark.vcr
@pytest.mark.vcr(match_on=["body"])
def test_a(): ...
class TestB:
    @pytest.mark.vcr(allow_playback_repeats=True)
    async def test_b(self): ...
@pytest.mark.vcr
class TestC:
    def test_c(self): ...
@pytest.mark.vcr
class TestD:
    def test_d(self): ...
class TestE(TestD): ...
@pytest.mark.vcr
def test_not_collected(): ...
"""


def test_each_mark_gets_the_settings_of_its_own_tests(tmp_path: Path) -> None:
    file = tmp_path / "test_it.py"
    file.write_text(SETTINGS)
    body, repeats = {"match_on": ["body"]}, {"match_on": ["body"], "allow_playback_repeats": True}
    tests = {
        "test_a[1]": body,
        "TestB::test_b": repeats,
        "TestC::test_c": {},
        "TestD::test_d": body,
        "TestE::test_d": {},
    }
    move = Move.of(
        [
            {"test": f"test_it.py::{name}", "file": str(file), "sources": ["a"], "target": "t", "config": config}
            for name, config in tests.items()
        ]
    )

    assert [one.new.removeprefix("pytest.mark.turntape") for one in move.rewrites] == [
        '(profile="sequence", repeats=True)',
        '(profile="strict", repeats=False)',
        '(profile="strict", repeats=True)',
        '(profile="sequence", repeats=False)',
        '(profile="sequence", repeats=True)',
        '(profile="sequence", repeats=True)',
    ]
    assert move.unmapped == [
        f"{file}: 3 marks for tests of several settings; each got the widest of them, see their arguments"
    ]


def test_a_mark_says_which_of_its_tests_compared_bodies(tmp_path: Path) -> None:
    file = tmp_path / "test_it.py"
    file.write_text("import pytest\n@pytest.mark.vcr\ndef test_a(): ...\n@pytest.mark.vcr\ndef test_b(): ...\n")
    tried = {"match_on": ["mine"], "ignored_by_matchers": ["/seed"]}
    configs = {
        "test_a[x::y-'1']": {},
        "test_a[b]": tried,
        "test_a[c]": {"match_on": ["body"]},
        "test_b[b]": tried,
        "test_b[c]": {"match_on": ["body"]},
    }
    move = Move.of(
        [
            {"test": f"test_it.py::{name}", "file": str(file), "sources": ["a"], "target": "t", "config": config}
            for name, config in configs.items()
        ]
    )

    first, second = (one.new.removeprefix("pytest.mark.turntape") for one in move.rewrites)
    assert first == (
        '(profile="sequence", tests={"test_a[b]": {"profile": "strict", "ignore": ["/seed"]}, '
        '"test_a[c]": {"profile": "strict"}})'
    )
    assert second == '(profile="strict", ignore=["/seed"])'
    assert move.unmapped == [
        f"{file}: 1 mark for tests of several settings; each got the widest of them, see their arguments"
    ]


def test_a_moved_suite_compares_bodies_only_in_the_tests_that_did(
    project: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken_away(server, monkeypatch)
    place = suite(project, matched=["method", "path"], sent="other")
    conftest = place / "conftest.py"
    conftest.write_text(
        conftest.read_text()
        .replace('@pytest.fixture(scope="module")\ndef vcr_config():', "@pytest.fixture\ndef vcr_config(request):")
        .replace('"match_on":', '"match_on": ["body"] if "5.4" in request.node.name else')
    )
    monkeypatch.chdir(place)
    assert main(["import", "--pytest", "--apply"]) == 0
    assert '"test_one[gpt-5.4]": {"profile": "strict", "ignore": ["/api_key"]}' in (place / "test_moved.py").read_text()
    done = project.runpytest_subprocess()
    done.assert_outcomes(passed=4, failed=1)
    done.stdout.fnmatch_lines(["*FAILED test_moved.py::test_one[[]gpt-5.4]*"])


def test_files_of_one_setting_are_named_once(tmp_path: Path) -> None:
    config = json.loads('{"before_record_request": "<scrub>"}')
    survey = [
        {"test": f"t{n}", "file": str(tmp_path / f"t{n}.py"), "sources": [], "target": "t", "config": config}
        for n in range(2)
    ]
    for one in survey:
        Path(str(one["file"])).write_text("x = pytest.mark.vcr")
    move = Move.of(survey)
    assert [said.endswith("(in 2 files)") for said in move.unmapped[1:]] == [True]
    assert move.unmapped[0] == (
        "2 tests without a recording, as is usual for tests that send no request: t0, t1; "
        "record what sends one with --turntape-mode=once"
    )
    many = [{**survey[0], "test": f"t{n}"} for n in range(12)]
    names = ", ".join(f"t{n}" for n in range(10))
    assert f": {names} and 2 more; " in Move.of(many).unmapped[0]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "from pytest import mark\n@mark.vcr\ndef t(): ...\n",
            "from pytest import mark\n@mark.turntape(x=1)\ndef t(): ...\n",
        ),
        ("import pytest\nitem.add_marker('vcr')\n", "import pytest\nitem.add_marker(pytest.mark.turntape(x=1))\n"),
        ("item.add_marker('vcr')\n", 'item.add_marker("turntape")\n'),
        ("item.add_marker(pytest.mark.vcr)\n", "item.add_marker(pytest.mark.turntape(x=1))\n"),
        ("a = item.get_closest_marker('vcr')\n", 'a = item.get_closest_marker("turntape")\n'),
        ("a = 'vcr' in item.keywords\n", 'a = "turntape" in item.keywords\n'),
        ("a = 'vcr' in names\n", "a = 'vcr' in names\n"),
        ("this is vcr and no Python\n", "this is vcr and no Python\n"),
    ],
)
def test_marks_are_found_however_they_are_written(tmp_path: Path, before: str, after: str) -> None:
    file = tmp_path / "conftest.py"
    file.write_text(before)
    Move([], rewrites=marks_in(file, lambda _: {"x": 1})).apply()
    assert file.read_text() == after


def test_recordings_that_are_opened_without_a_mark_are_found(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(
        "import vcr\n@vcr.use_cassette('a.yaml')\ndef test_a():\n    with mine.use_cassette('b.yaml'): pass\n"
    )
    (tmp_path / "test_b.py").write_text("use_cassette = 1\n'use_cassette()'\n")
    (tmp_path / "test_d.py").write_text("@mine.use_cassette\ndef test_d(): pass\n")
    (tmp_path / "test_c.py").write_text("this names use_cassette( and not Python\n")

    places = [(tmp_path / "test_a.py", 2), (tmp_path / "test_a.py", 4), (tmp_path / "test_d.py", 1)]
    assert direct_uses(tmp_path) == places
    assert direct_uses(tmp_path / "test_b.py") == direct_uses(tmp_path / "gone.py") == []


def test_a_mark_that_a_conftest_gives_is_rewritten_there(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "conftest.py").write_text("import pytest\nitem.add_marker(pytest.mark.vcr)\n")
    folder = tmp_path / "tests"
    folder.mkdir()
    survey = [
        {"test": f"t{n}", "file": str(folder / f"t{n}.py"), "sources": ["a"], "target": "t", "config": {}}
        for n in range(2)
    ]
    for one in survey:
        Path(str(one["file"])).write_text("")

    move = Move.of(survey)

    assert [(one.file.name, one.new) for one in move.rewrites] == [
        ("conftest.py", 'pytest.mark.turntape(profile="sequence")')
    ]
    assert not move.unmapped and move.ini is None
    (tmp_path / "conftest.py").unlink()
    (tmp_path / "pyproject.toml").write_text("tool.pytest.ini_options = {}\n")
    (said,) = Move.of(survey, root=tmp_path, ini=tmp_path / "pyproject.toml").unmapped
    assert "2 tests whose mark is not written in the suite (t0, t1)" in said
    assert said.endswith('turntape_vcr_marks = true; turntape_vcr_settings = "profile=\\"sequence\\""')
    assert not Move.of(survey, root=tmp_path).unmapped


STANDARD = """
import httpx, pytest

def ask(word):
    sent = {"model": "gpt-5", "messages": [{"role": "user", "content": word}]}
    answer = httpx.post("https://api.openai.com/v1/chat/completions", json=sent)
    return answer.json()["choices"][0]["message"]["content"]

class Standard:
    @pytest.mark.vcr
    def test_it(self, vcr):
        assert (len(vcr.requests), len(vcr.responses), vcr.play_count, vcr.all_played) == (1, 1, 0, False)
        assert ask(self.word) == "standard"
        assert vcr.play_count == 1 and vcr.all_played

    def test_without(self):
        pass
"""
INHERITS = """
import pytest
from elsewhere import Standard, ask

class TestOurs(Standard):
    word = "WORD"

    @pytest.mark.vcr
    def test_own(self):
        assert ask("hi") == "own"
"""


@pytest.mark.parametrize(
    ("ini", "matched", "word", "line"),
    [
        ("pyproject.toml", ["method", "path"], "changed", 'turntape_vcr_settings = "profile=\\"sequence\\""'),
        ("pytest.ini", ["method", "path"], "changed", 'turntape_vcr_settings = profile="sequence"'),
        ("", ["method", "path", "body"], "hi", "turntape_vcr_marks = true"),
    ],
)
def test_the_mark_of_an_installed_class_is_honoured_with_the_settings_of_the_suite(
    project: pytest.Pytester,
    server: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    ini: str,
    matched: list[str],
    word: str,
    line: str,
) -> None:
    taken_away(server, monkeypatch)
    place, packages = project.path / "suite", project.mkdir("packages")
    (place / "cassettes" / "test_ours").mkdir(parents=True)
    (packages / "elsewhere.py").write_text(STANDARD)
    monkeypatch.setenv("PYTHONPATH", str(packages))
    for name in ("it", "own"):
        recording = CASSETTE.replace("WORD", "standard" if name == "it" else name)
        (place / "cassettes" / "test_ours" / f"TestOurs.test_{name}.yaml").write_text(recording)
    (place / "test_ours.py").write_text(INHERITS.replace("WORD", word))
    (place / "conftest.py").write_text(
        f"import pytest\n@pytest.fixture(scope='session')\ndef vcr_config(): return {{'match_on': {matched}}}\n"
    )
    head = "[tool.pytest.ini_options] # ours" if ini == "pyproject.toml" else "[pytest]"
    if ini:
        (place / ini).write_text(
            f"{head}\nmarkers = ['vcr']\n" if ini == "pyproject.toml" else f"{head}\nmarkers = vcr\n"
        )
    monkeypatch.chdir(place)

    assert main(["import", "--pytest", ".", "--apply"]) == 0
    said = capsys.readouterr().out
    assert line in said and "not mapped" not in said
    file = place / (ini or "pytest.ini")
    assert f"\n{line}\n" in file.read_text()
    before = file.read_text()
    project.runpytest_subprocess("--strict-markers", place).assert_outcomes(passed=3)
    assert main(["import", "--pytest", ".", "--apply", "--force"]) == 0
    assert file.read_text() == before
    (place / "test_ours.py").write_text(INHERITS.replace("WORD", "another"))
    outcome = {"failed": 1, "passed": 2} if "body" in matched else {"passed": 3}
    project.runpytest_subprocess(place).assert_outcomes(**outcome)


def test_arguments_in_the_ini_file_that_are_none_are_an_error(project: pytest.Pytester) -> None:
    project.makepyfile("import pytest\n@pytest.mark.vcr\ndef test_a(): pass\n")
    for wrong in ("sequence", "profile=open('a')", "**{}", "profile="):
        project.makeini(
            "[pytest]\naddopts = -p no:recording -p no:vcr\nturntape_vcr_marks = true\n"
            f"turntape_vcr_settings = {wrong}\n"
        )
        done = project.runpytest()
        assert "write the arguments of the mark as in Python" in done.stdout.str() + done.stderr.str()
        assert done.ret != 0


@pytest.mark.parametrize(("line", "passed"), [("turntape_vcr_marks = true", 1), ("", 0)])
def test_code_that_asks_for_their_mode_or_gives_their_mark_from_elsewhere_is_answered(
    project: pytest.Pytester, line: str, passed: int
) -> None:
    project.makeini(f"[pytest]\naddopts = -p no:recording -p no:vcr\nturntape_repeats = true\n{line}\n")
    project.makepyfile(
        installed="""
        import pytest
        from turntape.cassettes.pytest_plugin.marker import Marker

        class Standard:
            @pytest.mark.vcr
            def test_it(self, request, record_mode):
                assert request.config.getoption("--record-mode") == request.config.getoption("record_mode") == "none"
                assert record_mode == "none" and Marker.of(request.node).repeats
        """
    )
    project.makepyfile("import installed\n\nclass TestOurs(installed.Standard):\n    pass\n")
    found = project.runpytest("-m", "turntape", "--turntape-mode=none", "--strict-markers")
    found.assert_outcomes(passed=passed, deselected=1 - passed)


def test_the_options_and_fixtures_of_the_old_plugins_still_work(
    project: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.makeini(
        "[pytest]\naddopts = --block-network --allowed-hosts=a --strict-markers -p no:recording -p no:vcr\n"
    )
    project.makepyfile(
        """
        import pytest

        @pytest.mark.turntape
        @pytest.mark.default_cassette("a.yaml")
        @pytest.mark.block_network
        def test_it(vcr, vcr_cassette, record_mode, vcr_config, disable_recording, block_network, turntape_cassette):
            assert record_mode == "new_episodes" and turntape_cassette.mode == "new"
            assert vcr.record_mode == vcr_cassette.record_mode == "new_episodes"
        """
    )
    project.makeconftest("def pytest_addoption(parser): parser.addoption('--allowed-hosts')")
    project.runpytest("--record-mode=new_episodes").assert_outcomes(passed=1)
