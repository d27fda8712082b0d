"""The wrapper in front of scripted servers: the client sees what it would see without us, whoever dies or hangs."""

import json
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from small_disks import NO_BYTECODE

from turntape.cassettes import Cassette
from turntape.cassettes.tape.lock import being_written
from turntape.proxy.tool_wire import frames, posix_session
from turntape.proxy.tool_wire.link import Link

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the POSIX side of the wrapper")

PATIENCE = 60.0
"""Seconds until a test gives up on something that happens at once when nobody else uses the machine."""
START = "import sys; from turntape.proxy.cli import main; sys.exit(main(['mcp', *sys.argv[1:]]))"
QUICK = f"import turntape.proxy.tool_wire.posix_session as s; s.GRACE = s.TICK = 0.1; {START}"
NO_LINK = ("--link", "unix:/nowhere/link")
STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(os.getpid(), flush=True)
while True:
    time.sleep(60)
"""
ECHO = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": asked["params"]}), flush=True)
"""


def wrapper(*arguments: str, start: str = START) -> list[str]:
    return [sys.executable, "-c", start, *arguments]


def python(code: str) -> tuple[str, ...]:
    """A server written in Python."""
    return ("--", sys.executable, "-c", code)


def done(
    *arguments: str, given: bytes = b"", env: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(wrapper(*arguments), input=given, capture_output=True, timeout=PATIENCE, check=False, env=env)


class Client:
    """A client with a running wrapper."""

    def __init__(self, command: list[str], before: Callable[[], None] | None, variables: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=before,
            env={**os.environ, **variables},
        )
        assert self.process.stdin and self.process.stdout and self.process.stderr
        self.stdin, self.stdout, self.stderr = self.process.stdin, self.process.stdout, self.process.stderr

    def ask(self, line: bytes) -> bytes:
        """The next line of the server after `line` was sent."""
        self.stdin.write(line + b"\n")
        self.stdin.flush()
        return self.stdout.readline()

    def ended(self) -> int:
        return self.process.wait(PATIENCE)


@contextmanager
def running(
    *arguments: str, start: str = START, before: Callable[[], None] | None = None, **variables: str
) -> Iterator[Client]:
    client = Client(wrapper(*arguments, start=start), before, variables)
    watchdog = threading.Timer(PATIENCE, client.process.kill)
    watchdog.start()
    try:
        yield client
    finally:
        watchdog.cancel()
        client.process.kill()
        for stream in (client.stdin, client.stdout, client.stderr):
            with suppress(BrokenPipeError):
                stream.close()
        client.process.wait()


def wait_until(true: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < until
        time.sleep(0.01)


def ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


class Recorder:
    """The other end of a link: a listening socket, and the frames that came over its connections."""

    def __init__(self, folder: Path) -> None:
        self.listening = socket.socket(socket.AF_UNIX)
        self.listening.bind(str(folder / "link"))
        self.listening.listen()
        self.address = f"unix:{folder / 'link'}"

    def frames(self) -> list[frames.Frame]:
        """All frames of the next connection, until its end."""
        connection, _ = self.listening.accept()
        connection.settimeout(PATIENCE)
        decoder = frames.Decoder()
        found: list[frames.Frame] = []
        with connection:
            while data := connection.recv(1 << 16):
                found += decoder.feed(data)
        return found


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    made = Recorder(tmp_path)
    yield made
    made.listening.close()


def loaded(path: Path) -> Cassette:
    """The cassette of a wrapper's own recorder, which may still be writing."""
    wait_until(lambda: not being_written(path) and Cassette.load(path).tool_servers)
    return Cassette.load(path)


def of_kind(found: list[frames.Frame], kind: int) -> bytes:
    return b"".join(frame.data for frame in found if frame.kind == kind)


ODD = b'{"jsonrpc":"2.0","id":0,"method":"ping"}\r\n\n\xff\xfe not utf-8 \x00\n{"not":"rpc"}\nno newline at the end'


def test_every_byte_of_both_directions_arrives_and_is_sent_to_the_recorder(recorder: Recorder) -> None:
    result = done("--link", recorder.address, "--name", "odd", "--", "cat", given=ODD)

    found = recorder.frames()
    assert (result.returncode, result.stdout, result.stderr) == (0, ODD, b"")
    assert of_kind(found, frames.CLIENT) == of_kind(found, frames.SERVER) == ODD
    assert [frame.kind for frame in found][0] == frames.START
    started = json.loads(found[0].data)
    assert (started["name"], started["command"]) == ("odd", ["cat"])
    assert found[-1].kind == frames.END
    assert json.loads(found[-1].data) == {"exit": 0, "signal": None, "closed_first": "client"}


def test_stderr_arrives_byte_for_byte_and_is_sent(recorder: Recorder) -> None:
    code = "import os; os.write(2, b'banner\\r\\n\\xff'); os.write(2, b'')"

    result = done("--link", recorder.address, *python(code))

    assert result.stderr == b"banner\r\n\xff"
    assert of_kind(recorder.frames(), frames.STDERR) == b"banner\r\n\xff"


def test_on_its_own_it_writes_a_cassette(tmp_path: Path) -> None:
    path = tmp_path / "own.cassette.jsonl"
    asked = b'{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"add","arguments":{"a":1}}}\n'

    result = done("-o", str(path), "--name", "adder", *python(ECHO), given=asked)

    cassette = loaded(path)
    (trip,) = cassette
    (server,) = cassette.tool_servers.values()
    assert result.stdout.endswith(b'"arguments": {"a": 1}}}\n')
    assert trip.request.body == asked.rstrip(b"\n")
    assert trip.response and trip.response.body == result.stdout.rstrip(b"\n")
    assert (server.server, server.exit, server.closed_first) == ("adder", 0, "client")


def test_a_line_of_20_mb_passes_both_ways(tmp_path: Path) -> None:
    path = tmp_path / "long.cassette.jsonl"
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "x", "params": "y" * 20_000_000}).encode() + b"\n"

    result = done("-o", str(path), "--", "cat", given=line)

    assert result.stdout == line
    assert result.stderr == b""
    assert [len(trip.request.body) for trip in loaded(path)] == [len(line) - 1] * 2


def test_nobody_waits_for_the_other_direction() -> None:
    """Both sides write more than pipes hold before they read."""
    code = "import sys; sys.stdout.buffer.write(b'a' * 3_000_000); sys.stdout.flush(); print(len(sys.stdin.read()))"

    result = done(*NO_LINK, *python(code), given=b"b" * 3_000_000)

    assert result.stdout == b"a" * 3_000_000 + b"3000000\n"


def test_a_client_that_does_not_read_answers_still_reaches_the_server() -> None:
    code = """
import sys, threading
threading.Thread(target=lambda: sys.stdout.write("a" * 1_000_000), daemon=True).start()
for line in sys.stdin:
    sys.stderr.write(line)
    sys.stderr.flush()
"""
    with running("--link", "unix:/nowhere", *python(code)) as client:
        assert client.stderr.readline().startswith(b"turntape: no recorder")
        for number in range(3):
            time.sleep(0.1)  # the pipe to the client is full by now
            client.stdin.write(b"%d\n" % number)
            client.stdin.flush()
            assert client.stderr.readline() == b"%d\n" % number


def test_when_the_client_closes_its_end_the_server_may_still_answer() -> None:
    code = "import sys, time; data = sys.stdin.read(); time.sleep(0.5); print(data.upper())"

    assert done(*NO_LINK, *python(code), given=b"late").stdout == b"LATE\n"


def test_the_client_sees_the_end_of_stdout_while_the_server_continues() -> None:
    code = "import os, sys; os.write(1, b'x'); os.close(1); sys.stdin.read()"
    with running(*NO_LINK, *python(code)) as client:
        assert client.stdout.read() == b"x"
        assert client.process.poll() is None
        client.stdin.close()
        assert client.ended() == 0


def test_the_client_sees_that_the_server_does_not_read_any_more() -> None:
    with running(*NO_LINK, *python("import os, time; os.close(0); time.sleep(600)")) as client:
        poll = select.poll()
        poll.register(client.stdin, 0)
        assert poll.poll(PATIENCE * 1000)[0][1] & select.POLLERR


@pytest.mark.parametrize(
    ("script", "code"),
    [("exit 0", 0), ("exit 7", 7), ("kill -KILL $$", -9), ("kill -TERM $$", -15), ("kill -ABRT $$", -6)],
)
def test_the_end_is_that_of_the_server(script: str, code: int, recorder: Recorder) -> None:
    assert done("--link", recorder.address, "--", "sh", "-c", script).returncode == code

    said = json.loads(of_kind(recorder.frames(), frames.END))
    assert (said["exit"], said["signal"]) == ((code, None) if code >= 0 else (None, signal.Signals(-code).name))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_signals_reach_the_server_once(number: signal.Signals) -> None:
    code = f"""
import signal, sys
signal.signal({int(number)}, lambda n, _: print("caught", n, flush=True))
print("ready", flush=True)
sys.stdin.read()
"""
    with running(*NO_LINK, *python(code)) as client:
        assert client.stdout.readline() == b"ready\n"
        client.process.send_signal(number)
        assert client.stdout.readline() == b"caught %d\n" % number
        client.stdin.close()
        assert client.stdout.read() == b""
        assert client.ended() == 0


def test_ctrl_c_in_the_terminal_is_for_the_server_and_does_not_end_the_wrapper() -> None:
    code = """
import signal, sys, threading
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # a handler could be late for the read that follows
threading.Thread(target=lambda: [print("still here", flush=True) for _ in sys.stdin]).start()
print("ready", flush=True)
signal.sigwait({signal.SIGINT})
print("caught", flush=True)
"""
    pid, terminal = pty.fork()
    if not pid:
        os.execv(sys.executable, wrapper(*NO_LINK, *python(code)))
    seen = b""

    def read_until(text: bytes) -> None:
        nonlocal seen
        while text not in seen:
            assert select.select([terminal], [], [], PATIENCE)[0], seen
            seen += os.read(terminal, 1024)

    try:
        read_until(b"ready")
        os.write(terminal, b"\x03")
        read_until(b"caught")
        os.write(terminal, b"x\n")
        read_until(b"still here")
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def test_a_server_that_a_signal_ends_was_ended_by_the_client(recorder: Recorder) -> None:
    with running("--link", recorder.address, "--", "cat") as client:
        client.ask(b"x")
        client.process.terminate()
        assert client.ended() == -signal.SIGTERM

    assert json.loads(of_kind(recorder.frames(), frames.END))["closed_first"] == "client"


def test_the_server_starts_with_nothing_blocked_or_ignored_in_the_same_group() -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG"))}
    shown = done(*NO_LINK, "--", "/bin/sh", "-c", "grep -E '^Sig(Blk|Ign)' /proc/self/status; env", env=environ).stdout

    lines = shown.decode().splitlines()
    # Signals 32 and 33 are the C library's own.
    assert [int(line.split()[1], 16) & ~(0b11 << 31) for line in lines[:2]] == [0, 0]
    assert not [line for line in lines if line.startswith("LC_CTYPE=")], "Python has set it, not the client"
    with running(*NO_LINK, *python("import os; print(os.getpgrp(), flush=True); input()")) as client:
        assert int(client.stdout.readline()) == os.getpgid(client.process.pid)


def test_the_exit_code_is_known_to_a_client_that_ignores_the_end_of_children() -> None:
    def ignore() -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    with running(*NO_LINK, "--", "sh", "-c", "exit 5", before=ignore) as client:
        assert client.ended() == 5
    with running(*NO_LINK, "--", "grep", "SigIgn", "/proc/self/status", before=ignore) as client:
        # The server still inherits what the client has set.
        assert int(client.stdout.readline().split()[1], 16) & 1 << (signal.SIGCHLD - 1)


def test_our_own_sentence_does_not_wait_for_a_full_stderr() -> None:
    def fill() -> None:
        os.set_blocking(2, False)
        with suppress(BlockingIOError):
            while True:
                os.write(2, b"x" * 4096)
        os.set_blocking(2, True)

    with running(*NO_LINK, "--", "cat", before=fill) as client:
        assert client.ask(b"hello") == b"hello\n"


def test_a_server_that_cannot_be_started() -> None:
    missing, refused = done(*NO_LINK, "--", "no-such-server"), done(*NO_LINK, "--", "/etc/passwd")

    assert (missing.returncode, refused.returncode) == (127, 126)
    assert b"turntape: the server 'no-such-server' was not found; check its name and PATH\n" in missing.stderr


def test_a_stubborn_server_ends_when_the_wrapper_is_killed(recorder: Recorder) -> None:
    with running("--link", recorder.address, *python(STUBBORN)) as client:
        server = int(client.stdout.readline())
        client.process.kill()
        wait_until(lambda: ended(server))

    assert recorder.frames()[-1].kind != frames.END


CLIENT = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
print(child.stdout.readline().decode().strip(), child.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("through", [(), ("sh", "-c", '"$@"; exit $?', "sh")], ids=["direct", "below a shell"])
def test_a_stubborn_server_does_not_outlive_a_client_that_was_killed(through: tuple[str, ...]) -> None:
    command = wrapper(*NO_LINK, "--", *through, sys.executable, "-c", STUBBORN, start=QUICK)
    client = subprocess.Popen([sys.executable, "-c", CLIENT, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert client.stdout and client.stdin
    server, wrapping = map(int, client.stdout.readline().split())
    client.kill()
    client.wait()

    wait_until(lambda: ended(server) and ended(wrapping))
    client.stdin.close()
    client.stdout.close()


def test_a_server_that_needs_time_is_not_ended_while_its_client_waits() -> None:
    code = "import sys, time; sys.stdin.read(); time.sleep(1.5); print('done')"
    with running(*NO_LINK, *python(code), start=QUICK) as client:
        client.stdin.close()
        assert client.stdout.read() == b"done\n"
        assert client.ended() == 0


def test_a_client_that_stops_reading_breaks_the_servers_pipe() -> None:
    code = """
import sys
print("x", flush=True)
try:
    while True:
        print("y" * 1000, flush=True)
except BrokenPipeError:
    sys.stderr.close()
    import os
    os._exit(9)
"""
    with running(*NO_LINK, *python(code)) as client:
        client.stdout.readline()
        client.stdout.close()
        assert client.ended() == 9


def test_a_process_that_keeps_stdout_open_does_not_keep_the_wrapper(recorder: Recorder) -> None:
    with running("--link", recorder.address, "--", "sh", "-c", "echo x; sleep 300 & echo $!") as client:
        assert client.stdout.readline() == b"x\n"
        left = int(client.stdout.readline())
        assert client.ended() == 0
        assert not ended(left)
        os.kill(left, signal.SIGKILL)


def test_what_a_slow_client_has_not_read_is_kept_when_the_server_has_ended() -> None:
    with running(
        *NO_LINK, *python("print('z' * 150_000)"), start=QUICK.replace("s.GRACE", "s.LINGER = s.GRACE")
    ) as client:
        time.sleep(1.0)
        assert len(client.stdout.read()) == 150_001


def test_without_a_recorder_the_traffic_continues_and_one_line_says_it() -> None:
    result = done(*NO_LINK, "--", "cat", given=b"x\n")

    assert result.stdout == b"x\n"
    assert result.stderr.count(b"\n") == 1
    assert b"no recorder at unix:/nowhere/link" in result.stderr
    assert b"the tool calls of this server are not recorded" in result.stderr


def test_when_the_recorder_dies_the_traffic_continues_and_one_line_says_it(recorder: Recorder) -> None:
    with running("--link", recorder.address, "--", "cat") as client:
        connection, _ = recorder.listening.accept()
        for number in range(5):
            assert client.ask(b"%d" % number) == b"%d\n" % number
            if number == 1:
                connection.close()
        client.stdin.close()
        assert client.ended() == 0
        assert (
            client.stderr.read().count(b"the recorder has ended; the tool calls of this server are not recorded") == 1
        )


def test_a_recorder_that_reads_nothing_does_not_hold_up_the_traffic(recorder: Recorder) -> None:
    few = f"import turntape.proxy.tool_wire.link as l; l.WAITING_BYTES = 300_000; {START}"
    few = few.replace("l.WAITING_BYTES = 300_000", "l.Link.__init__.__kwdefaults__['waiting_bytes'] = 300_000")
    with running("--link", recorder.address, "--", "cat", start=few) as client:
        connection, _ = recorder.listening.accept()
        for number in range(20):
            assert client.ask(b"%d" % number + b"x" * 100_000).startswith(b"%d" % number)
        received = bytearray()
        connection.settimeout(PATIENCE)
        client.stdin.close()
        while data := connection.recv(1 << 20):
            received += data
        connection.close()
        assert client.ended() == 0
        said = client.stderr.read()
    found = list(frames.Decoder().feed(bytes(received)))
    lost = sum(json.loads(frame.data)["bytes"] for frame in found if frame.kind == frames.LOST)
    kept = len(of_kind(found, frames.CLIENT)) + len(of_kind(found, frames.SERVER))
    assert lost > 0
    assert lost + kept == 2 * sum(len(b"%d" % number) + 100_001 for number in range(20))
    assert f"{lost:,} bytes of this server were not recorded: the recorder was too slow".encode() in said


def test_a_full_disk_is_reported_and_the_traffic_continues(tmp_path: Path) -> None:
    import resource

    path = tmp_path / "full.cassette.jsonl"

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    with running("-o", str(path), "--", "cat", before=small_files, **NO_BYTECODE) as client:
        for _ in range(3):
            assert len(client.ask(os.urandom(5000).hex().encode())) == 10_001
        printed = client.stderr.readline()
        client.stdin.close()
        assert client.ended() == 0
    assert printed.startswith(b"turntape: cannot write to ")


def test_a_recorder_of_our_own_is_heard_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posix_session, "PATIENCE", 0.0)
    for own, heard in ((True, ["2 of 9 messages were not written"]), (False, [])):
        ours, theirs = socket.socketpair()
        link = Link(ours, own=own)
        theirs.sendall(frames.encode(frames.SAY, 0.0, b"2 of 9 messages were not written"))
        theirs.close()

        posix_session._settle(link, lambda: False)

        assert link.said == heard
        ours.close()


def test_a_server_that_is_killed_leaves_its_open_call_cut(tmp_path: Path) -> None:
    path = tmp_path / "cut.cassette.jsonl"
    with running("-o", str(path), *python("import os; input(); print(os.getpid(), flush=True); input()")) as client:
        server = client.ask(b'{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"x"}}')
        os.kill(int(server), signal.SIGKILL)
        assert client.ended() == -signal.SIGKILL

    cut = [trip for trip in loaded(path) if b"tools/call" in trip.request.body]
    assert [trip.failure.kind for trip in cut if trip.failure] == ["cut"]
    assert [server.signal for server in Cassette.load(path).tool_servers.values()] == ["SIGKILL"]
