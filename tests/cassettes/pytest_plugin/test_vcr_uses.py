"""What pytest gives to each `use_cassette` of `turntape.cassettes.vcr`: the mode, and a closed network in a replay."""

import pytest
from plugin_project import write

pytest_plugins = ("pytester",)

ELSEWHERE = "192.0.2.1"
"""An address of nobody, by RFC 5737."""

CLOSED = """
import socket
from turntape.cassettes import vcr
from turntape.cassettes.errors import NetworkBlocked

CONNECT = "import socket; socket.create_connection(('ELSEWHERE', 9), 0.01)"

def passes(url, **options):
    with vcr.use_cassette("a.yaml", **options):
        with pytest.raises(httpx.TransportError):  # nobody answers there
            httpx.get(url, timeout=0.01)

def test_records():
    with vcr.use_cassette("a.yaml"):
        post("one")

def test_replays():
    with vcr.use_cassette("a.yaml"):
        post("one")
        with pytest.raises(NetworkBlocked, match=r"blocked in use_cassette.*ignore_hosts=\\['ELSEWHERE'\\]"):
            socket.create_connection(("ELSEWHERE", 9), 0.01)
        done = subprocess.run([sys.executable, "-c", CONNECT], capture_output=True, text=True)
        assert "the network is closed" in done.stderr

def test_what_the_suite_lets_pass_passes():
    passes("http://ELSEWHERE:9/", ignore_hosts=["ELSEWHERE"])
    passes("http://ELSEWHERE:9/", before_record_request=lambda request: None)

def test_it_is_open_afterwards():
    with pytest.raises(OSError):
        socket.create_connection(("ELSEWHERE", 9), 0.01)

@pytest.mark.turntape(allow=["ELSEWHERE"])
def test_a_mark_decides_for_its_test():
    with vcr.use_cassette("a.yaml"), pytest.raises(OSError):
        socket.create_connection(("ELSEWHERE", 9), 0.01)
""".replace("ELSEWHERE", ELSEWHERE)


def test_the_network_is_closed_while_a_cassette_is_replayed(project: pytest.Pytester) -> None:
    write(project, CLOSED)

    project.runpytest_subprocess().assert_outcomes(passed=5)


MODES = """
from turntape.cassettes import vcr
from pathlib import Path

MODES = [("ini", {}, {}), ("set", {"record_mode": "once"}, {}), ("given", {}, {"record_mode": "once"})]

@pytest.mark.parametrize(("name", "shared", "given"), MODES, ids=[name for name, *_ in MODES])
def test_mode(name, shared, given):
    with vcr.VCR(**shared).use_cassette(f"{name}.yaml", **given):
        post("one")
"""


def test_the_ini_file_gives_the_mode_where_the_code_gives_none(project: pytest.Pytester) -> None:
    write(project, MODES)
    project.makeini("[pytest]\nturntape_mode = none\n")

    project.runpytest_subprocess().assert_outcomes(passed=2, failed=1)

    assert sorted(path.name.partition(".")[0] for path in project.path.glob("*.cassette.jsonl")) == ["given", "set"]
