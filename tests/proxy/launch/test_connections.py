"""Where a process tree is connected to."""

import os
import socket
import subprocess
import sys

import pytest

from turntape.proxy.launch import connections
from turntape.proxy.launch.connections import AVAILABLE, Watch, names, remote, tree

CONNECT = "import socket, sys; s = socket.create_connection(('{}', int(sys.argv[1]))); print('up', flush=True); input()"
CHILD = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[2], sys.argv[1]])"

only_linux = pytest.mark.skipif(not AVAILABLE, reason="/proc is Linux's")


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("0100007F:1F90", ("127.0.0.1", 8080)),
        ("00000000000000000000000001000000:01BB", ("::1", 443)),
        ("0000000000000000FFFF00000100007F:01BB", ("127.0.0.1", 443)),
        ("00000000:0000", ("0.0.0.0", 0)),
    ],
)
@pytest.mark.skipif(sys.byteorder != "little", reason="the fields are in the machine's order")
def test_an_address_of_the_kernels(field: str, expected: tuple[str, int]) -> None:
    assert remote(field) == expected


@only_linux
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_grandchilds_connection_past_us_is_seen_with_its_program(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as server:
        port = server.getsockname()[1]
        command = [sys.executable, "-c", CHILD, str(port), CONNECT.format(host)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "up\n"
            past = Watch(process.pid, ours=1, local_ports=[port])
            past.look()
            to_us = Watch(process.pid, ours=port, local_ports=[port])
            to_us.look()
            other = Watch(process.pid, ours=1, local_ports=[])
            other.look()
            process.communicate("\n", timeout=20)

    assert [(c.address, c.port) for c in past.past_us] == [(host, port)]
    assert "python" in next(iter(past.past_us)).program
    assert not to_us.past_us
    assert to_us.to_us == 1
    assert not other.past_us


@only_linux
def test_the_tables_of_a_network_are_read_once_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    monkeypatch.setattr(connections, "_peers", lambda pid, _wanted: read.append(pid) or ())
    command = [sys.executable, "-c", "import socket; s = socket.socket(); print('up', flush=True); input()"]
    with socket.socket(), subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "up\n"
        Watch(os.getpid(), ours=1).look()
        child.communicate("\n", timeout=20)

    assert len(read) == 1


def test_samples_that_take_long_are_further_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    spent = iter([0.0, 0.001, 1.0, 1.5])
    monkeypatch.setattr(connections.time, "thread_time", lambda: next(spent))
    pauses: list[float] = []

    class Over:
        def wait(self, pause: float) -> bool:
            pauses.append(pause)
            return len(pauses) == 3

    watch = Watch(os.getpid(), ours=1, pause=0.1, share=0.05)
    monkeypatch.setattr(watch, "look", lambda: None)
    monkeypatch.setattr(watch, "_over", Over())
    watch._run()

    assert pauses == pytest.approx([0.1, 0.1, 9.5])


@only_linux
def test_the_tree_holds_a_process_and_its_descendants() -> None:
    with subprocess.Popen(["sleep", "30"]) as process:
        assert {os.getpid(), process.pid} <= tree({os.getpid()})
        assert tree({process.pid}) == {process.pid}
        process.kill()


def test_addresses_get_the_names_that_lead_to_them() -> None:
    assert names([], ["localhost"]) == {}
    assert names(["127.0.0.1", "192.0.2.1"], ["localhost"]) == {"127.0.0.1": "localhost"}
