"""`turntape doctor [-- CMD]`: why nothing was captured, in plain words, with the line to add."""

import argparse
import asyncio
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from turntape.cassettes.errors import TurntapeError

from ..doctor import environment, running_proxy, runtimes, sockets, trust, verdict
from ..doctor.check import Check, lines
from ..doctor.runtimes import Identified, identify, of_executable
from ..doctor.sockets import Watch
from ..launch.child_process import Child, block, not_found
from ..launch.recording import Recording, Settings, coloured, llm_hosts
from .exit_codes import FINDINGS, OK
from .run_command import supervised

USUAL = ("python3", "node", "curl", "bun", "deno", "ruby")
"""What is asked when no command is given."""


@dataclass(slots=True)
class Diagnosis:
    command: list[str]
    checks: list[Check] = field(default_factory=list[Check])
    recorded: int | None = None
    """Round trips of the command; None when there was no command to run."""
    exit_code: int | None = None

    @property
    def is_well(self) -> bool:
        return not any(check.status == "problem" for check in self.checks)

    def as_json(self) -> dict[str, object]:
        return {
            "command": self.command,
            "exit_code": self.exit_code,
            "recorded": self.recorded,
            "ok": self.is_well,
            "checks": [check.as_json() for check in self.checks],
        }


def main(options: argparse.Namespace) -> int:
    command: list[str] = options.command
    if command and (problem := not_found(command[0])):
        sys.stderr.write(f"turntape: {problem}\n")
        return problem.code
    block()
    with _stdout_to_stderr(options.json and bool(command)) as stdout:
        diagnosis = asyncio.run(diagnose(command, dict(os.environ), options))
        if options.json:
            stdout.write(json.dumps(diagnosis.as_json(), indent=2) + "\n")
        else:
            colour = coloured(stdout.isatty(), os.environ)
            stdout.write("\n".join([*lines(diagnosis.checks, colour), "", closing(diagnosis)]) + "\n")
        stdout.flush()
    return OK if diagnosis.is_well else FINDINGS


@contextmanager
def _stdout_to_stderr(wanted: bool) -> Generator[TextIO]:
    """Our own stdout; with `wanted`, what the command writes to its stdout goes to stderr meanwhile."""
    if not wanted:
        yield sys.stdout
        return
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with os.fdopen(os.dup(kept), "w", encoding="utf-8") as stdout:
            yield stdout
            stdout.flush()
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def closing(diagnosis: Diagnosis) -> str:
    """The last line."""
    problems = sum(check.status == "problem" for check in diagnosis.checks)
    if problems:
        return f"{problems} problem{'s' * (problems != 1)} found."
    if diagnosis.recorded:
        return "All is well: `turntape run` records this command."
    return "No problem found. `turntape doctor -- CMD` tries your own command."


async def diagnose(command: list[str], environ: Mapping[str, str], options: argparse.Namespace) -> Diagnosis:
    """All checks, with the command run once when there is one."""
    diagnosis = Diagnosis(command)
    hosts = llm_hosts(tuple(options.intercept))
    if not command:
        diagnosis.checks += environment.checks(environ, Path(), hosts)
        diagnosis.checks += await asyncio.to_thread(running_proxy.checks, environ)
        present = [program for program in USUAL if shutil.which(program, path=environ.get("PATH"))]
        found = [identify([program], environ) for program in present]
        diagnosis.checks += await trust.checks([(one.runtime, one.launcher) for one in found], environ)
        return diagnosis
    found = identify(command, environ)
    diagnosis.checks += runtimes.check(found, command[0])
    diagnosis.checks += environment.checks(environ, Path(), hosts)
    sys.stderr.write("turntape: running the command once, behind the proxy\n")
    try:
        watch, recording, count = await _run(diagnosis, options, environ)
    except TurntapeError as exc:
        diagnosis.checks.append(Check("start", "problem", f"`turntape run` does not start: {exc}."))
        return diagnosis
    asked = _asked(found, watch)
    # Without the environment nothing would come, and that was said already.
    probes = [] if found.cleared else await trust.checks(asked, environ)
    trusted = {check.status for check in probes if check.id == "trust"}
    diagnosis.checks += probes
    diagnosis.recorded = count
    names = await asyncio.to_thread(sockets.names, {c.address for c in watch.past_us}, _exact(hosts))
    diagnosis.checks += verdict.checks(recording, watch, names, found.runtime, "problem" not in trusted)
    return diagnosis


async def _run(
    diagnosis: Diagnosis, options: argparse.Namespace, environ: Mapping[str, str]
) -> tuple[Watch, verdict.Came, int]:
    watches: list[Watch] = []
    with tempfile.TemporaryDirectory(prefix="turntape-doctor-") as folder:
        path = Path(folder) / "doctor.cassette.jsonl"
        settings = Settings(
            path=path,
            upstreams=dict(options.upstream),
            intercept=tuple(options.intercept),
            upstream_proxy=options.upstream_proxy,
            client_cert=options.client_cert,
            environ=environ,
        )
        recording = Recording(settings)

        def started(child: Child) -> None:
            watches.append(Watch(child.pid, ours=recording.port))
            watches[0].start()

        diagnosis.exit_code, problem = await supervised(recording, diagnosis.command, started)
        watch = watches[0] if watches else Watch(0, ours=0)
        watch.stop()
        outcome = await recording.finish()
        if problem:
            diagnosis.checks.append(Check("command", "problem", f"{problem[0].upper()}{problem[1:]}."))
        came = verdict.read(path, recording, diagnosis.exit_code)
    return watch, came, outcome.count


def _asked(found: Identified, watch: Watch) -> list[tuple[runtimes.Runtime, tuple[str, ...]]]:
    """The runtimes to try: the command's own, and what else ran under it."""
    asked = {found.runtime.name: (found.runtime, found.launcher)} if found.launcher else {}
    for executable in sorted(watch.executables):
        runtime = of_executable(executable)
        # The command's own launcher knows more than the bare executable: a virtual environment, for one.
        if runtime.name not in asked and Path(executable).exists():
            asked[runtime.name] = (runtime, (executable,))
    if found.runtime is not runtimes.UNKNOWN and found.runtime.name not in asked:
        asked[found.runtime.name] = (found.runtime, found.launcher)
    return list(asked.values())


def _exact(hosts: Sequence[str]) -> list[str]:
    return [host for host in hosts if "*" not in host]
