"""The modules that wrap tool servers from inside a program, tried in real interpreters with imitations of the SDKs."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from turntape.proxy.tool_wire.client_configs.hooked import HOOKS, VARIABLE, variables
from turntape.proxy.tool_wire.client_configs.wrapper import Wrapper, for_run

OURS = for_run("/run/link")
FRONT = OURS.words(None)
SDK = """\
import shutil
class Server:
    def __init__(self, command, args, env=None):
        self.command, self.args, self.env = command, args, env
    def model_copy(self, *, update):
        return Server(update["command"], update["args"], self.env)
def stdio_client(server, errlog=None):
    "Its own words."
    return [server.command, *server.args]
"""


@pytest.fixture
def sdk(tmp_path: Path) -> Path:
    """A folder with a package that looks like Python's SDK."""
    (tmp_path / "site" / "mcp" / "client").mkdir(parents=True)
    for folder in ("mcp", "mcp/client"):
        (tmp_path / "site" / folder / "__init__.py").touch()
    (tmp_path / "site" / "mcp" / "client" / "stdio.py").write_text(SDK)
    return tmp_path / "site"


def python(code: str, *places: Path, missing: bool = False, **more: str) -> object:
    """What a program prints as JSON, run with our variables and with `places` on its path."""
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, places)), **more}
    environ |= variables(environ, OURS, missing=missing)
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return json.loads(done.stdout)


CALL = """\
import json
from mcp.client.stdio import stdio_client, Server
print(json.dumps(stdio_client(Server({command!r}, {args!r}))))
"""


def test_a_server_of_the_python_sdk_is_wrapped(sdk: Path) -> None:
    assert python(CALL.format(command="sh", args=["-c", "x"]), sdk) == [*FRONT, "sh", "-c", "x"]


def test_it_is_wrapped_once(sdk: Path) -> None:
    words = for_run("/another", "r").wrapped("named", ["sh"])

    assert python(CALL.format(command=words[0], args=words[1:]), sdk) == words


def test_a_program_that_does_not_exist_is_left_to_the_sdk(sdk: Path) -> None:
    code = CALL.format(command="no-such-program", args=[])

    assert python(code, sdk) == ["no-such-program"]
    assert python(code, sdk, missing=True) == [*FRONT, "no-such-program"]


def test_a_surprise_leaves_the_sdk_as_it_is(sdk: Path) -> None:
    (sdk / "mcp" / "client" / "stdio.py").write_text(SDK.replace("def model_copy", "def another"))
    assert python(CALL.format(command="sh", args=[]), sdk) == ["sh"]

    (sdk / "mcp" / "client" / "stdio.py").write_text("x = 1")
    assert python("import mcp.client.stdio as m; print(m.x)", sdk) == 1


def test_the_function_looks_like_the_original(sdk: Path) -> None:
    code = (
        "import inspect, json, sys; from mcp.client.stdio import stdio_client as f; import mcp.client.stdio as m\n"
        "said = [f.__doc__, str(inspect.signature(f)), 'Its own' in inspect.getsource(m)]\n"
        f"print(json.dumps([*said, {str(HOOKS)!r} in sys.path]))"
    )

    assert python(code, sdk) == ["Its own words.", "(server, errlog=None)", True, False]


def test_the_users_own_sitecustomize_runs(sdk: Path, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text("import builtins; builtins.mine = 1; there = 2")

    code = "import sitecustomize, json; print(json.dumps([mine, sitecustomize.there]))"

    assert python(code, tmp_path / "own", sdk) == [1, 2]


def test_without_the_variable_nothing_is_changed(sdk: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join([str(HOOKS), str(sdk)])}
    code = CALL.format(command="sh", args=[])

    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == ["sh"]


SPAWN = """\
const { spawn } = require('node:child_process');
module.exports = (command, args, stdio, more) => {
  const child = spawn(command, args, { stdio, ...more });
  child.on('error', (error) => console.log(error.code));
  if (child.stdout) child.stdout.pipe(process.stdout);
};
"""
ECHO = ["-e", "console.log(process.argv.slice(1).join(' '))"]


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """A folder with packages that start a process: one that looks like an SDK, and another one."""
    if shutil.which("node") is None:
        pytest.skip("node is not on this machine")
    for package in ("@modelcontextprotocol/sdk", "another"):
        (tmp_path / "node_modules" / package).mkdir(parents=True)
        (tmp_path / "node_modules" / package / "index.js").write_text(SPAWN)
    return tmp_path


def javascript(
    node: Path, code: str, *, missing: bool = False, front: tuple[str, ...] = (), known: tuple[str, ...] = ()
) -> str:
    """What a program prints, with a wrapper that only prints its arguments; `known` is the command of `mine`."""
    (node / "program.js").write_text(code)
    program = shutil.which("node")
    assert program is not None
    echo = Wrapper((program, *ECHO, "--", "WRAPPED", *front))
    environ = {"PATH": os.environ["PATH"]}
    environ |= variables(environ, echo, missing=missing, known={"mine": known} if known else {})
    line = [program, str(node / "program.js")]
    done = subprocess.run(line, env=environ, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.strip()


def spawning(package: str, command: str, stdio: str = "['pipe', 'pipe', 'inherit']", more: str = "{}") -> str:
    return f"require({package!r})({command!r}, ['one', 'two'], {stdio}, {more});"


def test_a_server_of_the_javascript_sdk_is_wrapped(node: Path) -> None:
    said = javascript(node, spawning("@modelcontextprotocol/sdk", "echo"))

    assert said == "WRAPPED -- echo one two"


@pytest.mark.parametrize(
    "code",
    [
        spawning("another", "echo"),
        spawning("@modelcontextprotocol/sdk", "echo", "['ignore', 'pipe', 'inherit']"),
        spawning("@modelcontextprotocol/sdk", "echo", more="{ shell: true }"),
    ],
)
def test_another_process_is_left_alone(node: Path, code: str) -> None:
    assert javascript(node, code) == "one two"


@pytest.mark.parametrize(
    ("known", "says"),
    [(("echo", "one", "two"), "WRAPPED --name mine -- echo one two"), (("echo", "one"), "one two")],
)
def test_a_known_command_is_wrapped_whoever_starts_it(node: Path, known: tuple[str, ...], says: str) -> None:
    assert javascript(node, spawning("another", "echo"), known=known) == says


def test_a_program_that_node_cannot_find_is_left_to_it(node: Path) -> None:
    code = spawning("@modelcontextprotocol/sdk", "no-such-program")

    assert javascript(node, code) == "ENOENT"
    assert javascript(node, code, missing=True) == "WRAPPED -- no-such-program one two"


def test_an_es_module_that_imports_spawn_by_name_is_wrapped(node: Path) -> None:
    package = node / "node_modules" / "@modelcontextprotocol" / "sdk"
    (package / "package.json").write_text('{"type": "module", "main": "index.js"}')
    (package / "index.js").write_text(
        "import { spawn } from 'node:child_process';\n"
        "export const start = (words, stdio) => spawn(words[0], words.slice(1), { stdio }).stdout.pipe(process.stdout);"
    )
    code = "import('@modelcontextprotocol/sdk').then(({ start }) => start(['echo', 'one'], 'pipe'));"

    assert javascript(node, code) == "WRAPPED -- echo one"


def test_the_users_own_values_stay() -> None:
    added = variables({"PYTHONPATH": "/mine", "NODE_OPTIONS": "--no-warnings"}, OURS)

    assert added["PYTHONPATH"] == f"{HOOKS}{os.pathsep}/mine"
    assert added["NODE_OPTIONS"] == f'--no-warnings --require "{HOOKS / "node_hook.cjs"}"'
    assert json.loads(added[VARIABLE]) == {"wrapper": FRONT, "missing": False}
