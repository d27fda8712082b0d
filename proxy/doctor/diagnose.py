"""Every check of `turntape doctor`, in order, and their result."""

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from turntape.cassettes.counted import several
from turntape.cassettes.errors import TurntapeError

from ..launch.child_process import Child
from ..launch.connections import Watch, names
from ..launch.recording import Recording, llm_hosts
from ..launch.recording_settings import Settings
from ..launch.runtimes import UNKNOWN, Identified, Runtime, identify, of_executable
from ..launch.supervise import supervised
from ..signals import unblock
from . import environment, running_proxy, runtime, trust, verdict
from .check_result import CheckResult

COMMON_PROGRAMS = ("python3", "node", "curl", "bun", "deno", "ruby")
"""The runtimes that are tried when no command is given."""


@dataclass(slots=True)
class DoctorReport:
    """What the checks found."""

    command: list[str]
    checks: list[CheckResult] = field(default_factory=list[CheckResult])
    recorded: int | None = None
    """Round trips of the command; None when there was no command to run."""
    exit_code: int | None = None
    """The command's; None when there was no command to run."""

    @property
    def ok(self) -> bool:
        """True when no check found a problem."""
        return not any(check.status == "problem" for check in self.checks)

    def as_json(self) -> dict[str, object]:
        """The object of `turntape doctor --json`."""
        return {
            "command": self.command,
            "exit_code": self.exit_code,
            "recorded": self.recorded,
            "ok": self.ok,
            "checks": [check.as_json() for check in self.checks],
        }

    def closing(self) -> str:
        """The last line of the text."""
        problems = sum(check.status == "problem" for check in self.checks)
        if problems:
            return f"{several(problems, 'problem')} found."
        if self.recorded:
            return "All is well: `turntape run` records this command."
        return "No problem found. `turntape doctor -- CMD` tries your own command."


async def diagnose(settings: Settings, command: list[str]) -> DoctorReport:
    """Run every check; with a `command`, also that command, once, behind the proxy of `settings`."""
    report = DoctorReport(command)
    hosts = llm_hosts(settings.intercept)
    if command:
        await _check_command(report, settings, hosts)
    else:
        await _check_machine(report, settings.environ, hosts)
    return report


async def _check_machine(report: DoctorReport, environ: Mapping[str, str], hosts: Sequence[str]) -> None:
    """The environment, a proxy that is already running, and the runtimes of this machine."""
    report.checks += environment.checks(environ, Path(), hosts)
    report.checks += await asyncio.to_thread(running_proxy.checks, environ)
    present = [program for program in COMMON_PROGRAMS if shutil.which(program, path=environ.get("PATH"))]
    found = [identify([program], environ) for program in present]
    report.checks += await trust.checks([(one.runtime, one.launcher) for one in found], environ)


async def _check_command(report: DoctorReport, settings: Settings, hosts: Sequence[str]) -> None:
    """The command's runtime, the environment, and one run of the command."""
    found = identify(report.command, settings.environ)
    report.checks += runtime.checks(found, report.command[0])
    report.checks += environment.checks(settings.environ, Path(), hosts)
    sys.stderr.write("turntape: running the command once, behind the proxy\n")
    try:
        watch, traffic, count = await _run(report, settings)
    except TurntapeError as exc:
        report.checks.append(CheckResult("start", "problem", f"`turntape run` does not start: {exc}."))
        return
    finally:
        unblock()  # the command has ended, so a signal is for us
    # Without the environment no client can reach the proxy, and that was reported already.
    probes = [] if found.cleared else await trust.checks(_runtimes(found, watch), settings.environ)
    trusted = not any(check.id == "trust" and check.status == "problem" for check in probes)
    report.checks += probes
    report.recorded = count
    exact = [host for host in hosts if "*" not in host]
    by_address = await asyncio.to_thread(names, {c.address for c in watch.past_us}, exact)
    report.checks += verdict.checks(traffic, watch, by_address, found.runtime, trusted)


async def _run(report: DoctorReport, settings: Settings) -> tuple[Watch, verdict.Traffic, int]:
    """Run the command into a cassette that is thrown away; what was seen, and the number of round trips."""
    watches: list[Watch] = []
    with tempfile.TemporaryDirectory(prefix="turntape-doctor-") as folder:
        recording = Recording(replace(settings, path=Path(folder) / "doctor.cassette.jsonl"))

        def started(child: Child) -> None:
            watches.append(Watch(child.pid, ours=recording.port))
            watches[0].start()

        report.exit_code, problem = await supervised(recording, report.command, started)
        watch = watches[0] if watches else Watch(0, ours=0)
        watch.stop()
        outcome = await recording.finish()
        if problem:
            report.checks.append(CheckResult("command", "problem", f"{problem[0].upper()}{problem[1:]}."))
        traffic = verdict.read(recording.settings.path, recording, report.exit_code)
    return watch, traffic, outcome.count


def _runtimes(found: Identified, watch: Watch) -> list[tuple[Runtime, tuple[str, ...]]]:
    """The runtimes to try, each with its launcher: the command's own, and those that ran below it."""
    runtimes = {found.runtime.name: (found.runtime, found.launcher)} if found.launcher else {}
    for executable in sorted(watch.executables):
        other = of_executable(executable)
        # The command's own launcher knows more than the bare executable: a virtual environment, for example.
        if other.name not in runtimes and Path(executable).exists():
            runtimes[other.name] = (other, (executable,))
    if found.runtime is not UNKNOWN and found.runtime.name not in runtimes:
        runtimes[found.runtime.name] = (found.runtime, found.launcher)
    return list(runtimes.values())
