"""Which language a command is written in, by its name, its first line or its bytes, and how to capture it."""

import mmap
import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from turntape.cassettes.frozen import frozen


@frozen
class Runtime:
    """A kind of program, and how to bring it to the proxy when it does not use it on its own."""

    name: str
    programs: tuple[str, ...]
    """Names of its executables, without a version."""
    honours: str
    """Which variables it respects."""
    advice: str
    """The line to add where the variables are not enough."""
    reachable: bool = True
    """False when the environment that `turntape run` sets never reaches it."""


RUNTIMES = (
    Runtime(
        "Python",
        ("python", "pypy", "ipython", "pytest", "jupyter"),
        "respects base URLs (per SDK), HTTPS_PROXY and the CA variables; aiohttp only with trust_env=True",
        "clients made with trust_env=False, with their own transport or with verify= ignore the environment: "
        "base_url=os.environ['OPENAI_BASE_URL'], or aiohttp.ClientSession(trust_env=True)",
    ),
    Runtime(
        "Node",
        ("node", "npm", "npx", "pnpm", "yarn", "tsx", "ts-node"),
        "respects base URLs (per SDK), NODE_EXTRA_CA_CERTS, and HTTPS_PROXY with NODE_USE_ENV_PROXY=1 or our preload",
        "a client with its own fetch, agent or dispatcher ignores HTTPS_PROXY: baseURL: process.env.OPENAI_BASE_URL",
    ),
    Runtime(
        "Bun",
        ("bun", "bunx"),
        "respects HTTPS_PROXY, SSL_CERT_FILE and NODE_EXTRA_CA_CERTS",
        "fetch(url, {proxy: process.env.HTTPS_PROXY}), or baseURL: process.env.OPENAI_BASE_URL",
    ),
    Runtime(
        "Deno",
        ("deno",),
        "respects HTTPS_PROXY and DENO_CERT",
        "deno run --allow-env --allow-net …, and read the base URL with Deno.env.get('OPENAI_BASE_URL')",
    ),
    Runtime(
        "Go",
        ("go",),
        "respects HTTPS_PROXY with http.DefaultTransport, not for loopback hosts, and SSL_CERT_FILE except on macOS",
        '&http.Transport{Proxy: http.ProxyFromEnvironment}, or option.WithBaseURL(os.Getenv("OPENAI_BASE_URL"))',
    ),
    Runtime(
        "Rust",
        ("cargo",),
        "respects HTTPS_PROXY through reqwest, and SSL_CERT_FILE with native-tls or rustls-native-certs",
        "with webpki-roots our certificate is never trusted: give the client a base URL",
    ),
    Runtime(
        "Codex",
        ("codex",),
        "respects HTTPS_PROXY and SSL_CERT_FILE, and takes its base URL from config.toml only",
        'codex -c openai_base_url="$OPENAI_BASE_URL"; with a ChatGPT login only the proxy catches it, '
        "unless HTTPS_PROXY is cleared",
    ),
    Runtime(
        "Java",
        ("java", "mvn", "gradle", "kotlin", "scala", "sbt"),
        "respects none of the variables on its own",
        'a base URL, baseUrl(System.getenv("OPENAI_BASE_URL")), which needs no certificate; or\n'
        'JAVA_TOOL_OPTIONS="-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=PORT" and a trust store with our certificate',
    ),
    Runtime(".NET", ("dotnet",), "respects HTTPS_PROXY and SSL_CERT_FILE (Linux)", "OPENAI_BASE_URL as the endpoint"),
    Runtime("Ruby", ("ruby", "bundle", "rake"), "respects https_proxy and SSL_CERT_FILE", "ENV['OPENAI_BASE_URL']"),
    Runtime("PHP", ("php", "composer"), "respects HTTPS_PROXY through Guzzle", "getenv('OPENAI_BASE_URL')"),
    Runtime("curl", ("curl",), "respects https_proxy and CURL_CA_BUNDLE", 'curl "$OPENAI_BASE_URL/chat/completions" …'),
    Runtime(
        "shell",
        ("sh", "bash", "zsh", "dash", "fish", "make"),
        "passes the environment on; what it starts decides",
        "turntape doctor -- with the program itself in place of the script",
    ),
    Runtime(
        "elsewhere",
        ("docker", "podman", "kubectl", "ssh"),
        "runs the program where this environment is not",
        "start `turntape record`, and export its lines there: docker run -e HTTPS_PROXY=… -e SSL_CERT_FILE=…",
        reachable=False,
    ),
    Runtime("sudo", ("sudo", "doas"), "drops the environment", "sudo --preserve-env …", reachable=False),
)
UNKNOWN = Runtime(
    "unknown",
    (),
    "is not recognised, so it is not known which variables it respects",
    "a base URL that `turntape record` prints, or --intercept with the host that it calls",
)
BY_NAME = {runtime.name: runtime for runtime in RUNTIMES}

_WRAPPERS: dict[str, tuple[str, ...]] = {
    "uv": ("run",),
    "poetry": ("run",),
    "pdm": ("run",),
    "pipenv": ("run",),
    "hatch": ("run",),
    "rye": ("run",),
    "nohup": (),
    "time": (),
    "nice": (),
    "env": (),
    "setsid": (),
    "exec": (),
}
"""Programs that start the program after them, and the words in between."""
_BYTES: tuple[tuple[bytes, str], ...] = (
    (b"\xff Go buildinf:", "Go"),
    (b"---- Bun! ----", "Bun"),
    (b"MEI\x0c\x0b\x0a\x0b\x0e", "Python"),
    (b"NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2", "Node"),
    (b"/rustc/", "Rust"),
)
"""Bytes of executables. The first match counts: Bun also contains the bytes of Rust."""
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_LARGE = 1 << 30


@frozen
class Identified:
    runtime: Runtime
    how: str
    """How it was recognised."""
    launcher: tuple[str, ...] = ()
    """What starts the runtime itself, for a probe: `("uv", "run", "python")`; empty when unknown."""
    cleared: bool = False
    """True when the command drops the environment."""


def identify(command: Sequence[str], environ: Mapping[str, str]) -> Identified:
    """The runtime of a command."""
    wrapped: list[str] = []
    words = list(command)
    cleared = False
    while words:
        name = plain(words[0])
        if name not in _WRAPPERS:
            break
        wrapped.append(words.pop(0))
        while words and (words[0] in _WRAPPERS[name] or words[0].startswith("-") or _ASSIGNMENT.match(words[0])):
            cleared = cleared or (name == "env" and words[0] in ("-i", "-", "--ignore-environment"))
            wrapped.append(words.pop(0))
    if not words:
        return Identified(UNKNOWN, "the command ends before a program", cleared=cleared)
    found = _by_name(words[0])
    launcher = (*wrapped, words[0])
    if found is not None:
        # A package manager or a runner starts the runtime that can be tried.
        known = found.programs[0]
        first = plain(words[0]) == known
        return Identified(found, f"by its name, {words[0]}", launcher if first else (*wrapped, known), cleared)
    path = shutil.which(words[0], path=environ.get("PATH"))
    if path is None:
        suffix = {".py": "Python", ".js": "Node", ".mjs": "Node", ".ts": "Node"}.get(Path(words[0]).suffix)
        runtime = BY_NAME[suffix] if suffix else UNKNOWN
        return Identified(runtime, "by its file name" if suffix else "it was not found", cleared=cleared)
    return _by_content(Path(path), tuple(wrapped), cleared)


def plain(program: str) -> str:
    """`/usr/bin/python3.12` as `python`."""
    name = Path(program).name.lower().removesuffix(".exe")
    return name.rstrip("0123456789.-") or name


def advice(program: str, instead: Runtime) -> str:
    """The line to add for a program of this name; that of `instead` when the name is unknown."""
    return (_by_name(program) or instead).advice


def _by_name(program: str) -> Runtime | None:
    name = plain(program)
    return next((runtime for runtime in RUNTIMES if name in runtime.programs), None)


def of_executable(path: str) -> Runtime:
    """The runtime of a running executable."""
    return _by_name(path) or _by_content(Path(path), (), False).runtime


def _by_content(path: Path, wrapped: tuple[str, ...], cleared: bool) -> Identified:
    try:
        with path.open("rb") as file:
            head = file.readline(512)
            if head.startswith(b"#!"):
                return _by_shebang(path, head, wrapped, cleared)
            name = _by_bytes(file)
    except OSError as exc:
        return Identified(UNKNOWN, f"{path} cannot be read: {exc.strerror}", cleared=cleared)
    if name is None:
        return Identified(UNKNOWN, f"{path} is an executable of an unknown kind", cleared=cleared)
    return Identified(BY_NAME[name], f"by the bytes of {path}", cleared=cleared)


def _by_bytes(file: BinaryIO) -> str | None:
    """The name of the runtime whose mark is in a program; None for a very large one too."""
    if not 0 < os.fstat(file.fileno()).st_size < _LARGE:
        return None
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return next((name for mark, name in _BYTES if data.find(mark) >= 0), None)


def _by_shebang(path: Path, head: bytes, wrapped: tuple[str, ...], cleared: bool) -> Identified:
    words = shlex.split(head[2:].decode("utf-8", "replace"))
    if words and plain(words[0]) == "env":
        words = [word for word in words[1:] if not word.startswith("-")]
    runtime = _by_name(words[0]) if words else None
    how = f"by the first line of {path}"
    if runtime is None:
        return Identified(UNKNOWN, how, cleared=cleared)
    return Identified(runtime, how, (*wrapped, words[0]), cleared)
