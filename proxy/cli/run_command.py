"""`turntape run -- CMD`: a command behind the proxy, its run on tape."""

import argparse
import asyncio
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from signal import Signals

from ..doctor.sockets import Watch
from ..launch.child_process import ENDING, Child, SpawnError, block, listen, not_found, spawn
from ..launch.recording import Outcome, Recording, Settings, coloured, free_path
from ..launch.run_with_viewer import Viewing, drawable
from ..limits.limits import Limits, patterns
from ..sidecar.summary import nothing_lines, summary_lines
from .exit_codes import FINDINGS, OK, SIGNALLED, USAGE
from .replay_command import how_given, replay_server


def main(options: argparse.Namespace) -> int:
    if problem := not_found(options.command[0]):
        tell([f"turntape: {problem}"])
        return problem.code
    if options.view and not drawable():
        tell(["turntape: --view needs a terminal that can be drawn on; without it the run is recorded all the same"])
        return USAGE
    if options.view and options.break_on and options.break_answers is None:
        tell(["turntape: --view and --break-on both need the terminal; leave one out, or give --break-answers FILE"])
        return USAGE
    block()
    path = Path(options.out) if options.out else free_path("run", Path(), time.time())
    # With --view the viewer has the terminal.
    console = options.live and not options.quiet and not options.view
    settings = replace(settings_of(options, path, console=console), prove=options.prove)
    how = how_given(options)
    if not options.replay:
        if how:
            tell([f"turntape: {how[0].partition('=')[0]} says how to replay, and nothing is; add --replay F"])
            return USAGE
        return asyncio.run(run(settings, options.command, quiet=options.quiet, view=options.view))
    with replay_server(options.replay, how) as url:
        settings = replace(settings, upstreams={"*": url})
        return asyncio.run(run(settings, options.command, quiet=options.quiet, view=options.view))


def settings_of(options: argparse.Namespace, path: Path, *, console: bool) -> Settings:
    """What the command line says about a recording into `path`; with `console` a line is told for each round trip."""
    return Settings(
        path=path,
        made=not options.out,
        port=options.port,
        upstreams=dict(options.upstream),
        intercept=tuple(options.intercept),
        route=options.route,
        upstream_proxy=options.upstream_proxy,
        client_cert=options.client_cert,
        break_on=tuple(options.break_on),
        break_answers=options.break_answers,
        limits=Limits(options.max_turns, options.max_cost, patterns(options.stop_on)),
        console=console,
    )


async def run(settings: Settings, command: list[str], *, quiet: bool, view: bool = False) -> int:
    """Record `command`; return its exit code. With `view` the terminal shows the run meanwhile."""
    recording = Recording(settings)
    watch: list[Watch] = []

    def started(child: Child) -> None:
        watch.append(Watch(child.pid, ours=recording.port, pause=0.1))
        watch[0].start()
        recording.on_first = watch[0].over  # once something is recorded nobody will ask

    code, problem = await supervised(recording, command, started, view=view)
    try:
        outcome = await recording.finish()
        if problem:
            tell([f"turntape: {problem}"])
            settings.path.unlink(missing_ok=True)
            return code
        for one in watch:
            one.stop()
            recording.bypassed = Counter(f"{c.place} ({c.program})" for c in one.past_us)
        if not quiet:
            tell(end_lines(recording, outcome, command))
        tell([f"turntape: {problem}" for problem in outcome.problems])
        if settings.prove:
            from ..prove.report import lines

            proof = recording.proof()
            tell(lines(proof, coloured(sys.stderr.isatty(), os.environ)))
            code = code or (OK if proof.holds else FINDINGS)
    except Exception as exc:  # noqa: BLE001 - whatever we do wrong, the exit code stays the command's
        tell([f"turntape: internal error at the end, {type(exc).__name__}: {exc}; {settings.path} is kept"])
    return code


async def supervised(
    recording: Recording,
    command: Sequence[str],
    started: Callable[[Child], None] = lambda child: None,
    *,
    view: bool = False,
) -> tuple[int, str | None]:
    """Start the recording and `command` in it, and wait; its exit code, and why it could not be started."""
    children: list[Child] = []
    viewers: list[Child] = []
    early: list[Signals] = []

    def pass_on(number: Signals, whole_group: bool) -> None:
        for child in children:
            if child.ended and number in ENDING:
                recording.hurry()
            child.pass_on(number, whole_group)
        for viewer in viewers:
            if number in ENDING:
                viewer.pass_on(number, whole_group)
        if not children and number in ENDING:
            early.append(number)

    listen(pass_on)
    await recording.start()
    try:
        if early:
            raise SpawnError(f"{early[0].name} came before the command was started", SIGNALLED + early[0])
        environ = {**recording.settings.environ, **recording.environment.variables}
        if view:
            return await _watched(recording.settings, command, environ, children, viewers, started), None
        children.append(spawn(command, environ))
    except SpawnError as exc:
        return exc.code, str(exc)
    started(children[0])
    return await asyncio.to_thread(children[0].wait), None


async def _watched(
    settings: Settings,
    command: Sequence[str],
    environ: dict[str, str],
    children: list[Child],
    viewers: list[Child],
    started: Callable[[Child], None],
) -> int:
    """The exit code of `command`, which runs while the viewer has the terminal."""
    with Viewing(settings.path) as viewing:
        child = spawn(command, environ, output=viewing.output)
        children.append(child)
        started(child)
        ending = asyncio.create_task(asyncio.to_thread(child.wait))
        try:
            viewers.append(viewing.viewer(child, settings.environ))
        except SpawnError as exc:
            tell([f"turntape: the run is recorded, and cannot be shown: {exc}"])
        else:
            await asyncio.to_thread(viewers[0].wait)
            if not child.ended:
                tell(["turntape: the command goes on, and is recorded; Ctrl-C ends it"])
        await asyncio.to_thread(viewing.pour, child)
        return await ending


def end_lines(recording: Recording, outcome: Outcome, command: Sequence[str]) -> list[str]:
    """What is said at the end of a recording."""
    path, colour = recording.settings.path, coloured(sys.stderr.isatty(), os.environ)
    if outcome.count:
        return summary_lines(outcome.totals, path, outcome.count, colour)
    return nothing_lines(recording.seen, command, recording.authority, colour)


def tell(lines: list[str]) -> None:
    """Write to stderr; stdout is the command's."""
    if lines:
        sys.stderr.write("\n".join(lines) + "\n")
        sys.stderr.flush()
