"""The plugin in separate pytest sessions, against a scripted LLM on this machine that can be stopped."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from plugin_project import taken_away, write

from turntape.cassettes import Cassette
from turntape.cassettes.pytest_plugin.active_test import ActiveTest
from turntape.cassettes.pytest_plugin.naming import safe_name
from turntape.cassettes.pytest_plugin.network import is_loopback
from turntape.cassettes.replay.telemetry_hosts import is_side_traffic
from turntape.proxy.scripted.faults import Fault
from turntape.proxy.scripted.server import ScriptedServer

pytest_plugins = ("pytester",)

EVERY_CLIENT = """
pytestmark = pytest.mark.turntape

def test_openai():
    assert "Globex" in agent()

def test_anthropic():
    said = Anthropic().messages.create(model="claude-x", max_tokens=9, messages=[{"role": "user", "content": "hi"}])
    assert said.content

def test_a_stream():
    chunks = list(OpenAI().chat.completions.create(
        model="gpt-5", messages=[{"role": "user", "content": "hi"}], stream=True))
    assert len(chunks) > 3

def test_asyncio():
    async def one(word):
        async with AsyncOpenAI() as client:
            stream = await client.chat.completions.create(
                model="gpt-5", messages=[{"role": "user", "content": word}], stream=True)
            return [chunk async for chunk in stream]
    async def several():
        return await asyncio.gather(*(one(str(n)) for n in range(5)))
    assert all(asyncio.run(several()))

@pytest.mark.anyio
async def test_an_async_test():
    async with AsyncOpenAI() as client:
        assert (await client.models.list()).data

@pytest.mark.parametrize("library", [httpx, httpx2])
def test_a_plain_client(library):
    url = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1")
    assert library.get(f"{url}/models").json()["data"]

@pytest.fixture
def client():
    return OpenAI()

def test_a_client_made_in_a_fixture(client):
    assert client.models.list().data

def test_the_client_we_bring(turntape_client):
    assert turntape_client.get(os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1") + "/models").json()
"""


def test_what_was_recorded_once_is_replayed_without_upstream_or_key(
    project: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, EVERY_CLIENT)
    project.makeconftest("import pytest\n@pytest.fixture\ndef anyio_backend():\n    return 'asyncio'")

    recorded = project.runpytest("-p", "anyio", "--turntape-mode=once")
    recorded.assert_outcomes(passed=9)
    recorded.stdout.fnmatch_lines(["*test_it.py::test_openai: recorded 4 round trips to *"])
    count = taken_away(server, monkeypatch)
    replayed = project.runpytest("-p", "anyio", "--turntape-check")

    replayed.assert_outcomes(passed=9)
    replayed.stdout.fnmatch_lines(["every cassette is used, whole and without secrets"])
    assert len(server.requests) == count
    folder = project.path / "cassettes" / "test_it"
    assert len(Cassette.load(folder / "test_openai.cassette.jsonl")) == 4
    assert (folder / "test_a_plain_client-httpx2.cassette.jsonl").exists()
    assert "abcdefghijklmnop" not in "".join(path.read_text() for path in folder.iterdir())


def test_nothing_is_recorded_by_default_nor_in_ci(
    project: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, "@pytest.mark.turntape\ndef test_a(): ask()\n@pytest.mark.turntape(mode='all')\ndef test_b(): ask()")
    monkeypatch.setenv("CI", "true")

    result = project.runpytest()

    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "E *turntape: there is no cassette to answer POST /chat/completions",
            "E *cassettes/test_it/test_a.cassette.jsonl does not exist",
            "E *record it, with a key in the environment:",
            "FAILED test_it.py::test_a - turntape: there is no cassette to answer POST *",
        ]
    )
    assert server.requests == []
    assert not (project.path / "cassettes").exists()


def test_a_miss_that_the_agent_swallowed_fails_the_test_at_the_line_that_sent_it(project: pytest.Pytester) -> None:
    write(
        project,
        """
@pytest.mark.turntape
def test_a():
    try:
        ask(os.environ.get("WORD", "hello there"))
    except Exception:
        pass
""",
    )
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    project.runpytest().assert_outcomes(passed=1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORD", "hello World")
        result = project.runpytest()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            ">*ask(os.environ.get(*",
            "E       turntape: turn 1, #0 has changed in a user message",
            "E       turn 1, #0, /messages/0/content",
            "E         - hello there",
            "E         + hello World",
            "agent_code.py:*: turntape",
        ]
    )
    result.stdout.no_fnmatch_line("*site-packages*")


def test_a_miss_that_fails_the_test_is_said_with_it_and_not_twice(project: pytest.Pytester) -> None:
    write(project, "import os\n@pytest.mark.turntape\ndef test_a(): ask(os.environ.get('WORD', 'a'))")
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORD", "b")
        result = project.runpytest()

    result.assert_outcomes(failed=1)
    said = result.stdout.str()
    assert said.count("turntape: turn 1, #0 has changed in a ") == 2  # with the failure, and in pytest's summary
    assert "no recorded round trip" not in said
    assert "site-packages" not in said


UNITTEST = """
import os, unittest

class Test(unittest.TestCase):
    @pytest.mark.turntape
    def test_sync(self): self.assertTrue(ask(os.environ.get('WORD', 'a')))

class TestAsync(unittest.IsolatedAsyncioTestCase):
    @pytest.mark.turntape
    async def test_async(self): self.assertTrue(ask(os.environ.get('WORD', 'a')))

    @pytest.mark.turntape
    def test_other(self): self.assertTrue(ask('a') and 'WORD' not in os.environ)
"""


def test_a_failure_of_unittest_is_explained_too(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, UNITTEST)
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=3)
    monkeypatch.setenv("WORD", "b")

    result = project.runpytest("-p", "no:logging")  # asyncio logs what a busy machine delays

    result.assert_outcomes(failed=3)
    said = result.stdout.str()
    assert said.count("turntape: turn 1, #0 has changed in a user message") == 2
    assert said.count("--turntape-mode=restamp") == 3  # each failure, and both together
    assert "no recorded round trip" not in said and "site-packages" not in said
    result.stdout.fnmatch_lines(["2 tests fail for one change:", "FAILED test_it.py::TestAsync::test_other - Assert*"])


SUBTESTS = """
import unittest

@pytest.mark.turntape
class TestUnit(unittest.TestCase):
    def test_sub(self):
        for word in os.environ.get("WORDS", "a").split():
            with self.subTest(word=word):
                self.assertTrue(post(word) and word != "bad")

@pytest.mark.turntape
def test_plain(subtests):
    for word in os.environ.get("WORDS", "a").split():
        with subtests.test(word=word):
            assert post(word) and word != "bad"
"""


def test_a_miss_in_a_subtest_is_said_once(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("_pytest.subtests", reason="this pytest has no subtests")
    write(project, SUBTESTS)
    assert project.runpytest("--turntape-mode=once").ret == 0
    assert project.runpytest().ret == 0
    monkeypatch.setenv("WORDS", "b")

    result = project.runpytest()

    assert result.ret == 1
    said = result.stdout.str()
    assert said.count("E       turntape: turn 1, #0 has changed in a user message") == 2
    assert said.count("SUBFAILED") == 2 and "errors" not in result.parseoutcomes()


def test_a_cassette_whose_subtest_failed_says_so_in_its_replay(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("_pytest.subtests", reason="this pytest has no subtests")
    write(project, SUBTESTS)
    monkeypatch.setenv("WORDS", "bad good")
    assert project.runpytest("--turntape-mode=once").ret == 1

    result = project.runpytest()

    assert result.ret == 1
    assert result.stdout.str().count("its test failed when this cassette was recorded") == 2


def test_a_fault_in_what_explains_a_failure_does_not_end_the_run(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> list[str]:
        raise ValueError("odd value")

    write(project, "@pytest.mark.turntape\ndef test_a(): ask('a')\ndef test_b(): pass")
    monkeypatch.setattr(ActiveTest, "_found", fails)
    result = project.runpytest("--turntape-mode=none")

    result.assert_outcomes(failed=1, passed=1, errors=1)
    result.stdout.fnmatch_lines(["turntape failed to explain this (ValueError: odd value); please report it"])


def test_a_timeout_while_a_failure_is_explained_does_not_end_the_run(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, "@pytest.mark.turntape\ndef test_a(): ask('a')\ndef test_b(): pass")
    monkeypatch.setattr(ActiveTest, "explained", lambda *_: pytest.fail("Timeout (>9s) from pytest-timeout."))

    result = project.runpytest("--turntape-mode=none")

    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["turntape was interrupted while it explained this: Timeout (>9s) from *"])


def test_turns_that_were_not_asked_for_are_named(project: pytest.Pytester) -> None:
    write(project, "@pytest.mark.turntape\ndef test_a(): agent(turns=int(os.environ.get('TURNS', 9)))")
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TURNS", "2")
        result = project.runpytest()
        write(project, "@pytest.mark.turntape(partial=True)\ndef test_a(): agent(turns=2)")
        project.runpytest().assert_outcomes(passed=1)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "turntape: turn 3, #2 was not requested (client)",
            "not requested: turn 3, #2 (→ send_email)",
            "not requested: turn 4, #3 (I drafted five emails*",
            "if the change is intended, record again (4 calls, *):",
            "  *pytest test_it.py::test_a --turntape-mode=all",
            "or allow it in this test:",
            "  @pytest.mark.turntape(partial=True)",
            "FAILED test_it.py::test_a - turntape: turn 3, #2 was not requested *",
        ]
    )


@pytest.mark.parametrize("name", ["pytest_turntape_actions", "pytest_turntape_deeds"])  # plain-words: quoted
def test_a_plugin_names_the_actions_of_the_turns(project: pytest.Pytester, name: str) -> None:
    project.makeconftest(f"def {name}(round_trips): return [f'action {{trip.index}}' for trip in round_trips]")
    write(project, "@pytest.mark.turntape\ndef test_a(): agent(turns=int(os.environ.get('TURNS', 9)))")
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TURNS", "3")
        result = project.runpytest()

    result.stdout.fnmatch_lines(["not requested: turn 4, #3 (action 3)"])


def test_the_network_is_blocked_but_for_this_machine_and_what_is_allowed(project: pytest.Pytester) -> None:
    write(
        project,
        """
import socket
from turntape.cassettes.errors import NetworkBlocked

def try_all():
    with pytest.raises(NetworkBlocked, match="connects to 192.0.2.1:443"):
        socket.create_connection(("192.0.2.1", 443))
    with pytest.raises(NetworkBlocked, match="connects to api.example.com:443"):
        socket.create_connection(("api.example.com", 443))
    with pytest.raises(NetworkBlocked), socket.socket() as sock:
        sock.connect_ex(("192.0.2.1", 443))
    async def reach():
        await asyncio.open_connection("192.0.2.1", 443)
    with pytest.raises(NetworkBlocked):
        asyncio.run(reach())
    with socket.create_server(("127.0.0.1", 0)) as here:
        socket.create_connection(here.getsockname()).close()
        socket.create_connection(("localhost", here.getsockname()[1])).close()

@pytest.mark.turntape
def test_blocked():
    try_all()

@pytest.mark.turntape(allow="allowed.invalid")
def test_allowed_by_the_marker():
    with pytest.raises(socket.gaierror):
        socket.create_connection(("allowed.invalid", 443))
    try_all()

@pytest.mark.turntape
def test_allowed_by_option_and_ini():
    for name in ("option.invalid", "ini.invalid"):
        with pytest.raises(socket.gaierror):
            socket.create_connection((name, 443))

def test_unmarked():
    assert socket.getaddrinfo.__module__ == "socket" and "connect" not in vars(socket.socket)
""",
    )
    project.makeini("[pytest]\nturntape_allow_hosts =\n    ini.invalid")

    project.runpytest("--turntape-allow-host=option.invalid", "-p", "no:randomly").assert_outcomes(passed=4)


@pytest.mark.parametrize("host", [None, "", "127.0.0.1", "127.8.8.8", "::1", "localhost", b"localhost", "a.localhost"])
def test_loopback(host: object) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["192.168.0.1", "8.8.8.8", "2001:db8::1", "example.com", "127.0.0.1.example.com"])
def test_not_loopback(host: object) -> None:
    assert not is_loopback(host)


def test_an_allowed_host_is_passed_through_and_not_recorded(project: pytest.Pytester, server: ScriptedServer) -> None:
    write(project, f"@pytest.mark.turntape(allow=['127.0.0.1:{server.port}'])\ndef test_a(): ask()")

    project.runpytest().assert_outcomes(passed=1)

    assert len(server.requests) == 1
    assert not (project.path / "cassettes").exists()


def test_what_libraries_call_beside_the_llm_is_neither_recorded_nor_missed(project: pytest.Pytester) -> None:
    write(
        project,
        """
@pytest.mark.turntape
def test_a():
    assert "emails" in ask()
    if os.environ.get("OFFLINE"):
        for library in (httpx, httpx2):
            with pytest.raises(library.ConnectError, match="is blocked in a test that replays"):
                library.get("https://raw.githubusercontent.com/prices.json")
            with pytest.raises(library.ConnectError):
                library.post("https://api.openai.com/v1/traces/ingest", json={})
""",
    )
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OFFLINE", "1")
        project.runpytest("--turntape-check").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("url", "beside"),
    [
        ("raw.githubusercontent.com/a", True),
        ("us.i.posthog.com/batch", True),
        ("o1.ingest.sentry.io/api", True),
        ("api.openai.com/v1/traces/ingest", True),
        ("api.openai.com/v1/chat/completions", False),
        ("llm.corp.example/v1/traces", False),
        ("notsentry.io/x", False),
        ("localhost/v1/messages", False),
    ],
)
def test_side_traffic(url: str, beside: bool) -> None:
    host, _, path = url.partition("/")

    assert is_side_traffic(host, f"/{path}") == beside


COMMAND = """
@pytest.mark.turntape
def test_a_command(turntape_environment):
    code = (
        "from openai import OpenAI; from anthropic import Anthropic; "
        "print(*(c.choices[0].delta.content or '' for c in OpenAI().chat.completions.create("
        "model='gpt-5', messages=[{'role': 'user', 'content': 'hi'}], stream=True))); "
        "print(Anthropic().messages.create(model='claude-x', max_tokens=9, "
        "messages=[{'role': 'user', 'content': 'hi'}]).content[0].text)"
    )
    done = subprocess.run([sys.executable, "-c", code], env=turntape_environment, capture_output=True, text=True)
    assert done.stdout.count("emails") == 2, done.stderr

@pytest.mark.turntape
def test_in_process(turntape_server):
    client = OpenAI(base_url=f"{turntape_server}/openai/v1", max_retries=0)
    assert client.models.list().data
"""


def test_a_command_under_test_is_recorded_and_replayed_through_its_own_server(
    project: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, COMMAND)

    project.runpytest("--turntape-mode=once").assert_outcomes(passed=2)
    count = taken_away(server, monkeypatch)
    project.runpytest("--turntape-check").assert_outcomes(passed=2)

    assert count == 3
    [streamed, whole] = Cassette.load(project.path / "cassettes" / "test_it" / "test_a_command.cassette.jsonl")
    assert streamed.response is not None and len(streamed.response.chunks) > 3
    assert whole.upstream is None and whole.request.url.startswith(server.url)


def test_verify_fails_where_the_api_answers_otherwise(
    project: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, "@pytest.mark.turntape\ndef test_a(): ask()")
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)

    project.runpytest("--turntape-mode=verify").assert_outcomes(passed=1)
    assert len(server.requests) == 2
    with ScriptedServer(faults={1: Fault("status", 500)}) as broken:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{broken.url}/v1")
        result = project.runpytest("--turntape-mode=verify")

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*no longer answers as recorded: #0 POST *: the status was 200 and is 500*"])


def test_an_interrupted_recording_is_reported_and_not_replayed(project: pytest.Pytester) -> None:
    write(project, "@pytest.mark.turntape\ndef test_a():\n    ask()\n    raise KeyboardInterrupt")
    project.runpytest_subprocess("--turntape-mode=once")
    left = project.path / "cassettes" / "test_it" / "test_a.unfinished.cassette.jsonl"
    assert len(Cassette.load(left)) == 1

    write(project, "@pytest.mark.turntape\ndef test_a():\n    ask()")
    result = project.runpytest("--turntape-check")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*test_a.unfinished.cassette.jsonl is what an interrupted recording of it has left",
            "*record it again, with a key in the environment:",
            "*test_it.py::test_a --turntape-mode=once",
            "*is left over from an interrupted recording*",
            "*unfinished.cassette.jsonl: unfinished: *",
        ]
    )
    result.stdout.no_fnmatch_line("*mv *")
    write(project, "@pytest.mark.turntape\ndef test_b():\n    ask()")
    project.runpytest().stdout.no_fnmatch_line("*mv *")

    write(project, "@pytest.mark.turntape\ndef test_a():\n    ask()")

    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    project.runpytest("--turntape-check").assert_outcomes(passed=1)
    assert not left.exists()


@pytest.mark.parametrize(
    ("earlier", "mode", "said"),
    [
        (False, "once", "after 1 live call and is not used; record it again: *::test_a *=once"),
        (
            True,
            "all",
            "after 1 live call and is not used; the earlier cassette stays as it was; record it again: *=all",
        ),
        (True, "none", None),
    ],
)
def test_ctrl_c_says_what_it_leaves_of_a_recording(
    project: pytest.Pytester, earlier: bool, mode: str, said: str | None
) -> None:
    if earlier:
        write(project, "@pytest.mark.turntape\ndef test_a(): ask()")
        project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    write(project, "@pytest.mark.turntape\ndef test_a():\n    ask()\n    raise KeyboardInterrupt")

    run = project.runpytest_subprocess(f"--turntape-mode={mode}")

    if said is None:
        run.stdout.no_fnmatch_line("*was interrupted*")
    else:
        run.stdout.fnmatch_lines([f"test_it.py::test_a: its recording was interrupted {said}"])


CHECKED = """
pytestmark = pytest.mark.turntape
WORDS = os.environ.get("WORDS", "ab")

def test_kept(): post("kept")
@pytest.mark.skipif(WORDS != "ab", reason="gone")
def test_gone(): post("gone")
def test_missed():
    try:
        post(WORDS)
    except Exception:
        pass
@pytest.mark.turntape(partial=WORDS != "ab")
def test_partly():
    for word in WORDS: post(word)
def test_unplayed():
    if WORDS == "ab": post("x")
"""


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_the_check_reports_cassettes_that_no_longer_say_what_the_tests_do(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, workers: list[str]
) -> None:
    write(project, CHECKED)
    run = project.runpytest_subprocess if workers else project.runpytest
    run("--turntape-mode=once", *workers).assert_outcomes(passed=5)
    folder = project.path / "cassettes" / "test_it"
    assert run("--turntape-check", *workers).ret == 0

    monkeypatch.setenv("WORDS", "a")
    (folder / "test_orphan.cassette.jsonl").write_bytes((folder / "test_kept.cassette.jsonl").read_bytes())
    kept = folder / "test_kept.cassette.jsonl"
    kept.write_text(
        kept.read_text().replace('["accept",', '["x-api-key","sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaa"],["accept",', 1)
    )
    result = run("--turntape-check", *workers)
    said = [line for line in result.outlines if ".cassette.jsonl: " in line]

    assert result.ret == 1
    found = {line.rpartition("/")[2].partition(".")[0]: line.partition(".cassette.jsonl: ")[2] for line in said}
    assert {name: text.partition(":")[0] for name, text in found.items()} == {
        "test_kept": "it contains a secret in #0 request header x-api-key; revoke it, and record again",
        "test_missed": "stale",
        "test_orphan": "orphaned",
        "test_unplayed": "unplayed",
    }
    assert "sk-ant-api03" not in result.stdout.str()


def test_the_check_of_one_test_calls_no_other_cassette_orphaned(project: pytest.Pytester) -> None:
    write(project, "pytestmark = pytest.mark.turntape\ndef test_a(): ask()\ndef test_b(): ask()")
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=2)

    assert project.runpytest("--turntape-check", "test_it.py::test_a").ret == 0
    assert project.runpytest("--turntape-check", "-k", "test_a").ret == 0


@pytest.mark.parametrize("folder", ["", "rec", "rec/{file}/tapes"])
def test_the_check_reports_the_cassettes_of_a_test_file_that_is_gone(project: pytest.Pytester, folder: str) -> None:
    project.makeini(f"[pytest]\nturntape_folder = {folder}")
    for name in ("test_it", "test_gone", "other/test_else"):
        (project.path / name).parent.mkdir(exist_ok=True)
        write(project, f"@pytest.mark.turntape\ndef test_{name[-2:]}(): ask()", name)
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=3)
    (project.path / "test_gone.py").unlink()

    result = project.runpytest("--turntape-check", "test_it.py")

    assert result.ret == 1
    said = [line for line in result.outlines if ".cassette.jsonl: " in line]
    assert [line.partition(".cassette.jsonl: ")[2].partition(":")[0] for line in said] == ["orphaned"]
    assert "test_ne.cassette.jsonl" in said[0]


def test_workers_of_xdist_record_each_their_own(project: pytest.Pytester, server: ScriptedServer) -> None:
    write(
        project,
        "@pytest.mark.turntape\n@pytest.mark.parametrize('n', range(12))\n"
        "def test_a(n):\n    post(str(n)); post('same')",
    )

    recorded = project.runpytest_subprocess("-n", "2", "--turntape-mode=once")
    recorded.assert_outcomes(passed=12)
    assert recorded.stdout.str().count(": recorded 2 round trips to ") == 12
    server.stop()
    project.runpytest_subprocess("-n", "2", "--turntape-check").assert_outcomes(passed=12)

    words = [
        [json.loads(trip.request.body)["messages"][0]["content"] for trip in Cassette.load(path)]
        for path in (project.path / "cassettes" / "test_it").iterdir()
    ]
    assert sorted(words) == sorted([str(n), "same"] for n in range(12))


def test_what_the_agent_did_is_asserted_and_approved(
    project: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(
        project,
        """
@pytest.mark.turntape
def test_a(turntape_run, turntape_approve):
    agent(os.environ.get("ASKED", "Write to my prospects."))
    assert len(turntape_run.turns) == 4
    assert turntape_run.turns[0].tool_calls == tuple(turntape_run.tool_calls[:3])
    assert turntape_run.tool_calls[-1] == ("send_email", {
        "to": "sales@globex.example", "subject": "A quicker way to file reports", "draft": 2})
    assert [turn.finish for turn in turntape_run.turns] == ["tool_calls"] * 3 + ["complete"]
    assert [turn.outcome for turn in turntape_run.turns] == ["dispatched"] * 3 + ["ended"]
    assert turntape_run.findings(layer="client") == []
    assert 0 < turntape_run.cost < 1
    assert turntape_run.text.startswith("I drafted five emails")
    turntape_approve()
""",
    )
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    approved = project.path / "cassettes" / "test_it" / "test_a.trajectory.txt"
    text = approved.read_text()
    assert text.startswith("turn 1\n  user: Write to my prospects.\n  model: I will draft the first three emails.\n")
    assert '  → send_email(to="sales@globex.example", ' in text

    taken_away(server, monkeypatch)
    project.runpytest().assert_outcomes(passed=1)
    approved.write_text(text.replace("first three", "first 3"))
    result = project.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["-  model: I will draft the first 3 emails.", "+  model: I will draft the first three*"]
    )

    approved.unlink()
    project.runpytest().assert_outcomes(failed=1)
    project.runpytest("--turntape-approve").assert_outcomes(passed=1)
    assert approved.read_text() == text


def test_what_the_client_did_wrong_is_found(project: pytest.Pytester) -> None:
    write(
        project,
        """
@pytest.mark.turntape
def test_a(turntape_run):
    client = OpenAI()
    messages = [{"role": "user", "content": "Write to my prospects."}]
    said = client.chat.completions.create(model="gpt-5", messages=messages, tools=TOOLS).choices[0].message
    messages += [said.model_dump(exclude_none=True),
                 {"role": "tool", "tool_call_id": said.tool_calls[0].id, "content": "done"}]
    client.chat.completions.create(model="gpt-5", messages=messages, tools=TOOLS)
    assert turntape_run.turns[0].outcome == "partly"
    assert turntape_run.findings(layer="client") == []
""",
    )

    result = project.runpytest("--turntape-mode=once")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*item: <turn 1, client, error, client-missing-tool-result: the next request *"])


def test_a_setting_that_is_none_is_named(project: pytest.Pytester) -> None:
    write(
        project,
        """
@pytest.mark.turntape(cassette="x")
def test_a(): pass
@pytest.mark.turntape("x")
def test_b(): pass
@pytest.mark.turntape(mode="sometimes")
def test_c(): pass
""",
    )

    result = project.runpytest()

    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines_random(
        [
            "turntape: @pytest.mark.turntape has no setting 'cassette'; write one of path, mode, *",
            "turntape: @pytest.mark.turntape was given 'x' without a name; write path=* or mode=*",
            "turntape: @pytest.mark.turntape was given mode='sometimes'; write one of none, *",
        ]
    )


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("test_a", "test_a"),
        ("TestThat.test_a[gpt-5]", "TestThat.test_a-gpt-5"),
        ("test_a[x y]", "test_a-x_y-137ed09b"),
    ],
)
def test_the_names_of_tests_become_names_of_files(name: str, file: str) -> None:
    assert safe_name(name) == file


def test_names_that_look_the_same_when_made_safe_stay_apart() -> None:
    names = [
        "test_a[a/b]",
        "test_a[a:b]",
        "test_a[a_b]",
        f"test_a[{'x' * 200}]",
        f"test_a[{'x' * 201}]",
        "test_a[../b]",
    ]

    files = [safe_name(name) for name in names]

    assert len(set(files)) == len(names)
    assert all("/" not in file and len(file) < 140 for file in files)


def test_where_it_is_not_used_the_plugin_imports_nothing(tmp_path: Path) -> None:
    """Everybody who has turntape installed pays for what the plugin imports, in every run."""
    (tmp_path / "conftest.py").write_text(
        "import sys\ndef pytest_sessionfinish():\n    print('MODULES', *sys.modules, file=sys.stderr)\n"
    )
    (tmp_path / "test_it.py").write_text("def test_it(): pass\n")

    ours = [f"-p{name}" for name in ("turntape.cassettes.pytest_plugin", "turntape.inspector.pytest_plugin")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *ours],
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = done.stderr.partition("MODULES ")[2].split()

    assert {name for name in loaded if name.startswith("turntape")} == {
        "turntape",
        "turntape.cassettes",
        "turntape.cassettes.pytest_plugin",
        "turntape.cassettes.pytest_plugin.hooks",
        "turntape.cassettes.pytest_plugin.vcr_fixtures",
        "turntape.cassettes.pytest_plugin.vcr_names",
        "turntape.cassettes.pytest_plugin.vcr_uses",
        "turntape.cassettes.vcr",
        "turntape.cassettes.vcr.observer",
        "turntape.inspector",
        "turntape.inspector.pytest_plugin",
    }
    assert not {"httpx", "httpx2", "orjson", "pydantic", "uvicorn", "genai_prices"} & set(loaded)


def test_every_name_that_we_add_to_pytest_is_under_our_prefix(pytester: pytest.Pytester) -> None:
    """Other plugins own `vcr`, `cassette`, `--record-mode`, `--block-network`."""
    from turntape.cassettes import pytest_plugin
    from turntape.inspector import pytest_plugin as pytest_run

    fixtures = [
        name
        for module in (pytest_plugin, pytest_run)
        for name, value in vars(module).items()
        if type(value).__name__ == "FixtureFunctionDefinition"
    ]
    shown = pytester.runpytest("--help").stdout.str()

    assert len(fixtures) >= 9 and all(name.startswith("turntape_") for name in fixtures)
    assert "--turntape-mode" in shown and "--turntape-approve" in shown


def test_the_settings_of_the_project_say_what_may_differ_in_every_test(
    project: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, '@pytest.mark.turntape\ndef test_a():\n    ask(os.environ.get("WORD", "build-1"))\n')
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    taken_away(server, monkeypatch)
    monkeypatch.setenv("WORD", "build-2")
    project.runpytest().assert_outcomes(failed=1)

    (project.path / "turntape.toml").write_text('[replay]\nignore_text = ["build-[0-9]+"]\n')

    project.runpytest().assert_outcomes(passed=1)


def test_a_pace_that_is_none_is_one_sentence(project: pytest.Pytester) -> None:
    write(project, '@pytest.mark.turntape(pace="fast")\ndef test_a():\n    pass\n')

    result = project.runpytest()

    result.stdout.fnmatch_lines(["*turntape: @pytest.mark.turntape: the pace 'fast' is not instant, recorded*"])
    result.stdout.no_fnmatch_line("*Traceback*")


FORKED = """
@pytest.mark.turntape(fork="cassettes/test_it/test_a.cassette.jsonl", fork_at={at}, edit="text=Edited.")
def test_forked(turntape_run):
    assert "Globex" in agent()
    assert len(turntape_run.turns) == 4
    assert turntape_run.turns[{at} - 2].text == "Edited."
"""


def test_a_fork_is_played_up_to_its_turn_then_recorded_and_replays_whole_on_its_own(
    project: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, "@pytest.mark.turntape\ndef test_a():\n    agent()\n")
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    asked = len(server.requests)
    write(project, FORKED.format(at=3))

    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)

    assert (asked, len(server.requests)) == (4, 6)
    folder = project.path / "cassettes" / "test_it"
    trips = list(Cassette.load(folder / "test_forked.cassette.jsonl"))
    assert [trip.extra.get("played") for trip in trips] == [
        {"file": "test_a.cassette.jsonl", "index": 0},
        {"file": "test_a.cassette.jsonl", "index": 1, "edited": True},
        None,
        None,
    ]
    (folder / "test_a.cassette.jsonl").unlink()
    taken_away(server, monkeypatch)
    project.runpytest("--turntape-check").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("marker", "said"),
    [
        ('fork="a.jsonl"', "forks with fork=FILE and fork_at=TURN together; write both"),
        ('fork="none.jsonl", fork_at=2', "none.jsonl"),
        (
            'fork="cassettes/test_it/test_a.cassette.jsonl", fork_at=9',
            "has 4 turns, so recording can begin at turn 1 to 5, not 9",
        ),
    ],
)
def test_a_fork_that_is_not_possible_is_an_error(
    marker: str, said: str, project: pytest.Pytester, server: ScriptedServer
) -> None:
    write(project, "@pytest.mark.turntape\ndef test_a():\n    agent()\n")
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    write(project, f"@pytest.mark.turntape({marker})\ndef test_b():\n    agent()\n")

    result = project.runpytest("--turntape-mode=once")

    result.stdout.fnmatch_lines([f"*turntape: *{said}*"])


def test_with_the_ini_option_a_recording_has_its_trajectory_beside_it(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\nturntape_trajectories = true")
    write(project, "@pytest.mark.turntape\ndef test_a():\n    assert agent()")

    project.runpytest_inprocess("--turntape-mode=once").assert_outcomes(passed=1)

    [written] = project.path.glob("cassettes/test_it/*.trajectory.txt")
    assert "→ generate_email" in written.read_text()
    written.unlink()
    project.runpytest_inprocess().assert_outcomes(passed=1)
    assert not written.exists()


def test_the_error_of_a_client_that_shows_a_dict_is_said_once(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = """
@pytest.mark.turntape
def test_a():
    Anthropic(max_retries=0).messages.create(model='claude-sonnet-4-5', max_tokens=9, messages=[
        {'role': 'user', 'content': 'it is "' + os.environ.get('WORD', 'sunny') + chr(39)}])
"""
    write(project, asked)
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    monkeypatch.setenv("WORD", "cloudy")

    result = project.runpytest()

    result.stdout.fnmatch_lines(["*turntape: turn 1, #0 has changed in a user message"])
    result.stdout.no_fnmatch_line("*the client then raised*")


def test_every_path_of_the_api_that_a_variable_names_is_recorded(
    project: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = """
import urllib.request, urllib.error
@pytest.mark.turntape
def test_a():
    url = os.environ.get('OPENAI_BASE_URL', 'https://api.openai.com/v1')
    try:
        urllib.request.urlopen(url + '/threads/t_1?limit=10')
    except urllib.error.HTTPError as error:
        assert error.code == 404
"""
    write(project, asked)
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    count = taken_away(server, monkeypatch)

    project.runpytest().assert_outcomes(passed=1)
    assert (count, len(server.requests)) == (1, 1)


@pytest.mark.parametrize(
    ("then", "said"),
    [("answer.raise_for_status()", False), ("json.loads('{')", True), ("raise RuntimeError('no answer')", False)],
)
def test_the_status_of_an_answer_that_is_missing_is_not_said_again(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, then: str, said: bool
) -> None:
    asked = f"""
@pytest.mark.turntape
def test_a():
    url = os.environ.get('OPENAI_BASE_URL', 'https://api.openai.com/v1') + '/chat/completions'
    asked = os.environ.get('WORD', 'a')
    answer = httpx.post(url, json={{'model': 'gpt-5', 'messages': [{{'role': 'user', 'content': asked}}]}})
    if 'WORD' in os.environ:
        {then}
"""
    write(project, asked)
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    monkeypatch.setenv("WORD", "b")

    result = project.runpytest()

    assert ("the client then raised JSONDecodeError: Expecting" in result.stdout.str()) == said
    result.stdout.no_fnmatch_line("*the client then raised HTTPStatusError*")


def test_what_code_makes_of_a_refusal_comes_after_the_reason(
    project: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = """
import aiohttp, requests, urllib3, urllib.request
URL = os.environ.get('OPENAI_BASE_URL', 'https://api.openai.com/v1') + '/chat/completions'

def with_aiohttp(sent):
    async def one():
        async with aiohttp.ClientSession() as client, client.post(URL, json=sent) as answer:
            return await answer.json()
    return asyncio.run(one())

def with_urllib(sent):
    head = {'content-type': 'application/json'}
    with urllib.request.urlopen(urllib.request.Request(URL, json.dumps(sent).encode(), head)) as answer:
        return json.load(answer)

WAYS = {
    'aiohttp': with_aiohttp,
    'requests': lambda sent: requests.post(URL, json=sent).json(),
    'urllib3': lambda sent: urllib3.request('POST', URL, json=sent).json(),
    'urllib': with_urllib,
    'httpx': lambda sent: httpx.post(URL, json=sent).json(),
}

@pytest.mark.turntape(path='one.cassette.jsonl')
@pytest.mark.parametrize('way', WAYS)
def test_a(way):
    asked = [{'role': 'user', 'content': os.environ.get('WORD', 'hi')}]
    try:
        WAYS[way]({'model': 'gpt-5', 'messages': asked})['choices']
    except urllib.error.HTTPError:
        raise KeyError('choices')  # as urllib raises an error for the status itself
"""
    write(project, asked)
    project.runpytest("--turntape-mode=once", "-k", "requests").assert_outcomes(passed=1)
    taken_away(server, monkeypatch)
    monkeypatch.setenv("WORD", "good bye")

    result = project.runpytest()

    result.assert_outcomes(failed=5)
    failed = [line for line in result.outlines if line.startswith("FAILED")]
    assert len(failed) == 5 and all("- turntape: turn 1, #0 has changed" in line for line in failed)
    said = [line for line in result.outlines if "then raised KeyError: 'choices'" in line]
    assert len(said) == 5 and all("test_it.py, line " in line for line in said)


SWALLOWED = """
def tolerant(word):
    try:
        return ask(word)
    except Exception:
        return ''
"""


@pytest.mark.parametrize(
    ("then", "said"),
    [
        ("assert said == 'Hello.', 'a greeting'", "a greeting"),
        ("assert said == 'Hello.'", "assert '' == 'Hello.'"),
        ("unittest.TestCase().assertEqual(said, 'Hello.')", "'' != 'Hello.'"),
        ("pytest.fail('no greeting')", "no greeting"),
        ("with pytest.raises(ValueError): str(said)", "DID NOT RAISE*ValueError*"),
    ],
)
def test_what_a_test_asserts_of_a_missing_answer_comes_after_the_reason(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, then: str, said: str
) -> None:
    body = f"""
import unittest
{SWALLOWED}
@pytest.mark.turntape
def test_a():
    said = tolerant(os.environ.get('WORD', 'hi'))
    if 'WORD' in os.environ:
        {then}
"""
    write(project, body)
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    monkeypatch.setenv("WORD", "good bye")
    source = (project.path / "test_it.py").read_text().splitlines()
    line = next(number for number, text in enumerate(source, 1) if text == f"        {then}")

    result = project.runpytest()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E *turntape: turn 1, #0 has changed in a user message",
            f"E *the test then failed at test_it.py, line {line}: {said}",
            "FAILED test_it.py::test_a - turntape: turn 1, #0 has changed in a user message",
        ]
    )


@pytest.mark.parametrize(
    ("test", "outcome"),
    [
        ("@pytest.mark.turntape\ndef test_a():\n    assert ask() == 'no'", {"failed": 1}),
        (
            "from turntape.cassettes import Fault\n"
            "@pytest.mark.turntape(faults=[Fault(1, 'empty')])\n"
            "def test_a():\n    ask()\n    assert tolerant('good bye') == 'no'",
            {"failed": 1},
        ),
        (
            "@pytest.mark.turntape\ndef test_a():\n    tolerant('good bye')\n    pytest.xfail('known')",
            {"xfailed": 1},
        ),
        (
            "@pytest.mark.turntape\ndef test_a():\n    tolerant('good bye')\n    pytest.skip('later')",
            {"skipped": 1},
        ),
    ],
)
def test_what_a_test_says_for_another_reason_stays_as_it_is(
    project: pytest.Pytester, test: str, outcome: dict[str, int]
) -> None:
    write(project, "@pytest.mark.turntape\ndef test_a(): ask()")
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    write(project, f"{SWALLOWED}\n{test}")

    result = project.runpytest()

    result.assert_outcomes(**outcome)
    result.stdout.no_fnmatch_line("*the test then failed*")
