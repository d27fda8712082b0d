"""Whether the HTTP clients of a runtime use the proxy and trust its certificate. Each is tried, not guessed.

Each client requests `https://api.openai.com/…` in the environment that `turntape run` sets. Our own proxy and responder
answer, so it needs no network and no key.
"""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from textwrap import shorten
from typing import TYPE_CHECKING, cast

from turntape.cassettes.frozen import frozen

from ..capture.certificates import ensure_authority, home, write_bundle
from ..launch.environment import environment, node_preload
from ..launch.recording import llm_hosts
from ..launch.runtimes import Runtime
from .check_result import CheckResult

if TYPE_CHECKING:
    from turntape.cassettes.tape.model import RoundTrip

    from ..engine.engine import Engine

HOST = "api.openai.com"
_PATH = "/v1/turntape-doctor/"
TIMEOUT = 30.0
"""Seconds for one runtime; the first start of some takes long."""

_PYTHON = """
import sys
sys.path[:] = [folder for folder in sys.path if folder]  # a file in this folder must not be imported
import asyncio, json
url = sys.argv[1]
def by_httpx():
    import httpx; return httpx.get(url + "httpx").status_code
def by_httpx2():
    import httpx2; return httpx2.get(url + "httpx2").status_code
def by_requests():
    import requests; return requests.get(url + "requests").status_code
def by_urllib():
    import urllib.request; return urllib.request.urlopen(url + "urllib").status
def by_aiohttp():
    import aiohttp
    async def get():
        async with aiohttp.ClientSession(trust_env=True) as session, session.get(url + "aiohttp") as answer:
            return answer.status
    return asyncio.run(get())
for name in ("httpx", "httpx2", "requests", "urllib", "aiohttp"):
    try:
        said = globals()["by_" + name]()
    except ModuleNotFoundError as exc:
        if (exc.name or "").split(".")[0] == name: continue
        said = type(exc).__name__ + ": " + (str(exc).splitlines() or [""])[0]
    except BaseException as exc:
        said = type(exc).__name__ + ": " + (str(exc).splitlines() or [""])[0]
    print(json.dumps([name, said]), flush=True)
"""
_NODE = """
const url = process.argv[2] || process.argv[1];
const say = (name, said) => console.log(JSON.stringify([name, said]));
const reason = (error) => String(error && error.cause ? error.cause.message || error.cause : error);
(async () => {
  if (typeof fetch === 'function') {
    try { say('fetch', (await fetch(url + 'fetch')).status); } catch (error) { say('fetch', reason(error)); }
  }
  const https = require('https');
  await new Promise((resolve) => {
    const done = (said) => { say('https', said); resolve(); };
    https.get(url + 'https', (answer) => { answer.resume(); done(answer.statusCode); })
      .on('error', (error) => done(reason(error)));
  });
})();
"""
_FETCH = """
const url = %s;
try { console.log(JSON.stringify(['fetch', (await fetch(url + 'fetch')).status])); }
catch (error) { console.log(JSON.stringify(['fetch', String(error)])); }
"""
_RUBY = """
require "net/http"; require "json"
begin
  said = Net::HTTP.get_response(URI(ARGV[0] + "net-http")).code.to_i
rescue => error
  said = error.message
end
puts ["net-http", said].to_json
"""


_PROBES: dict[str, Callable[[str], list[str]]] = {
    "Python": lambda url: ["-c", _PYTHON, url],
    "Node": lambda url: ["-e", _NODE, "--", url],
    "Bun": lambda url: ["-e", _FETCH % json.dumps(url)],
    "Deno": lambda url: ["eval", _FETCH % json.dumps(url)],
    "Ruby": lambda url: ["-e", _RUBY, url],
    "curl": lambda url: ["-sS", "-m", "20", "-o", os.devnull, "-w", '["curl", "%{http_code}"]\n', url + "curl"],
}
"""Arguments for a runtime, so that each of its clients requests this URL and prints a line of JSON."""


@frozen
class Answer:
    """What one client of a runtime printed: an HTTP status, or its error message."""

    client: str
    said: int | str

    @property
    def fine(self) -> bool:
        return self.said == 200


class _Bench:
    """A proxy with a responder as the API behind it, and the round trips that it saw."""

    def __init__(self, engine: "Engine", trips: "list[RoundTrip]", variables: Mapping[str, str]) -> None:
        self.engine = engine
        self.trips = trips
        self.variables = variables

    def came(self, client: str) -> bool:
        return any(trip.request.url.endswith(_PATH + client) for trip in self.trips)


class _Kept:
    """A recorder that keeps round trips in memory."""

    def __init__(self) -> None:
        self.trips: list[RoundTrip] = []

    def write(self, round_trip: "RoundTrip") -> int:
        self.trips.append(round_trip)
        return len(self.trips) - 1


@asynccontextmanager
async def _bench(environ: Mapping[str, str]) -> AsyncGenerator[_Bench]:
    from ..engine.engine import Engine

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}")
        await writer.drain()
        writer.close()

    folder = home()
    authority = ensure_authority(folder)
    bundle = write_bundle(folder, authority, environ)
    responder = await asyncio.start_server(respond, "127.0.0.1", 0)
    kept = _Kept()
    url = f"http://127.0.0.1:{responder.sockets[0].getsockname()[1]}"
    engine = Engine(kept, upstreams={"*": url}, confdir=folder, trusted_ca=bundle)
    await engine.start()
    try:
        changed = environment(
            environ,
            port=engine.port,
            route="forward",
            hosts=llm_hosts(()),
            bundle=bundle,
            authority=authority,
            preload=node_preload(folder, environ),
        )
        yield _Bench(engine, kept.trips, changed.variables)
    finally:
        await engine.stop()
        responder.close()


async def checks(asked: Sequence[tuple[Runtime, tuple[str, ...]]], environ: Mapping[str, str]) -> list[CheckResult]:
    """One result for each runtime and its launcher."""
    probed = [(runtime, launcher) for runtime, launcher in asked if runtime.name in _PROBES]
    found = [_cannot(runtime) for runtime, _ in asked if runtime.name not in _PROBES and runtime.reachable]
    if probed:
        async with _bench(environ) as bench:
            for runtime, launcher in probed:
                found.append(await _probe(runtime, launcher, bench, environ))
    return [check for check in found if check is not None]


def _cannot(runtime: Runtime) -> CheckResult | None:
    if runtime.name in ("shell", "unknown"):
        return None
    what = f"{runtime.name}: whether it trusts our certificate can only be seen by running the command."
    return CheckResult("trust", "unknown", what, runtime.advice)


async def _probe(runtime: Runtime, launcher: tuple[str, ...], bench: _Bench, environ: Mapping[str, str]) -> CheckResult:
    url = f"https://{HOST}{_PATH}"
    distrusted = bench.engine.unrecorded.distrusted[HOST]
    answers, error = await _ask([*launcher, *_PROBES[runtime.name](url)], {**environ, **bench.variables})
    broken_off = bench.engine.unrecorded.distrusted[HOST] > distrusted
    shown = " ".join(launcher)
    if not answers:
        what = f"{shown} could not be tried: {error or 'it printed nothing'}."
        return CheckResult("trust", "unknown", what, runtime.advice)
    wrong = [answer for answer in answers if not (answer.fine and bench.came(answer.client))]
    right = ", ".join(answer.client for answer in answers if answer not in wrong)
    if not wrong:
        return CheckResult("trust", "ok", f"{shown}: {right} came through the proxy and trusted its certificate.")
    said = "; ".join(f"{answer.client}: {_words(answer, bench)}" for answer in wrong)
    reason = "It does not trust turntape's certificate" if broken_off else "It did not come through the proxy"
    also = f" ({right} did)" if right else ""
    return CheckResult("trust", "problem", f"{shown}: {reason}{also}. {said}.", runtime.advice)


def _words(answer: Answer, bench: _Bench) -> str:
    if answer.fine:
        return "it got an answer without the proxy"
    return f"HTTP {answer.said}" if isinstance(answer.said, int) else shorten(answer.said, 120, placeholder=" …")


async def _ask(command: list[str], environ: Mapping[str, str]) -> tuple[list[Answer], str]:
    """The answers of the clients, and why there are none."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            env=dict(environ),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    except OSError as exc:
        return [], exc.strerror or str(exc)
    try:
        async with asyncio.timeout(TIMEOUT):
            out, err = await process.communicate()
    except TimeoutError:
        return [], f"it took more than {TIMEOUT:.0f} s"
    finally:
        if process.returncode is None:  # also after Ctrl-C
            process.kill()
            await process.wait()
    found: list[Answer] = []
    for line in out.decode("utf-8", "replace").splitlines():
        try:
            client, said = cast(tuple[str, int | str], json.loads(line))
        except ValueError:
            continue
        if said == "000":  # curl prints this status when there is no answer
            said = err.decode("utf-8", "replace").strip()
        found.append(Answer(client, int(said) if str(said).isdigit() else said))
    last = err.decode("utf-8", "replace").strip().splitlines()
    return found, last[-1] if last else f"exit code {process.returncode}"
