"""Runs a command behind a recording: it gets the terminal, the signals and the environment; we return its exit code."""

import asyncio
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext, suppress
from signal import Signals

from ..exit_codes import SIGNALLED
from ..signals import ENDING, listen
from ..tool_wire.client_configs.wrapper import for_run
from .child_process import Child, SpawnError, spawn
from .recording import Recording
from .recording_settings import Settings
from .run_with_viewer import Viewing
from .tool_servers import ToolServers


async def supervised(
    recording: Recording,
    command: Sequence[str],
    started: Callable[[Child], None] = lambda child: None,
    *,
    view: bool = False,
    tools: ToolServers | None = None,
) -> tuple[int, str | None]:
    """Start the recording, run `command` in its environment, and wait for the end.

    Returns the exit code, and why the command could not be started (None when it was). `started` is called with the
    running command. The recording is left running; `recording.finish()` ends it. The servers of `tools` are wrapped.
    """
    children: list[Child] = []
    viewers: list[Child] = []
    ending: list[Signals] = []
    """Signals that asked us to end."""

    def pass_on(number: Signals, whole_group: bool) -> None:
        for child in children:
            if child.ended and number in ENDING:
                recording.hurry()
            child.pass_on(number, whole_group)
        for viewer in viewers:
            if number in ENDING:
                viewer.pass_on(number, whole_group)
        if number in ENDING:
            ending.append(number)

    listen(pass_on)
    await recording.open()
    environ = {**recording.settings.environ, **recording.environment.variables}
    if tools is not None and (link := recording.tool_link):
        command, environ = tools.apply(
            for_run(link, play=recording.settings.play_tools, live=recording.settings.live_tools), environ
        )
    with Viewing(recording.settings.path) if view else nullcontext() as viewing:
        try:
            if ending:
                raise SpawnError(f"{ending[0].name} arrived before the command was started", SIGNALLED + ending[0])
            child = spawn(command, environ, output=viewing.output if viewing else None)
        except SpawnError as exc:
            await recording.serve()  # for `finish`
            return exc.code, str(exc)
        children.append(child)
        started(child)
        try:
            # The command loads while the proxy does.
            await recording.serve()
        except BaseException:
            child.pass_on(Signals.SIGTERM, whole_group=False)
            raise
        exit_code = asyncio.create_task(asyncio.to_thread(child.wait))
        if viewing:
            await _watched(recording.settings, viewing, child, viewers, ending)
        return await exit_code, None


async def _watched(
    settings: Settings, viewing: Viewing, child: Child, viewers: list[Child], ending: Sequence[Signals]
) -> None:
    """Give the terminal to the viewer while the command runs, and then print the command's output.

    Once a signal has asked us to end, no viewer is opened, which nobody might quit.
    """
    try:
        if not ending:
            viewers.append(viewing.viewer(child, settings.environ))
    except SpawnError as exc:
        to_stderr([f"turntape: the run is recorded, but it cannot be shown: {exc}"])
    if viewers:
        await asyncio.to_thread(viewers[0].wait)
        if not child.ended:
            to_stderr(["turntape: the command is still running and is recorded; Ctrl-C ends it"])
    await asyncio.to_thread(viewing.pour, child)


def to_stderr(lines: Iterable[str]) -> None:
    """Write lines to stderr; stdout belongs to the command. Where they cannot be written, the exit code stays."""
    if text := "".join(f"{line}\n" for line in lines):
        with suppress(OSError):
            sys.stderr.write(text)
            sys.stderr.flush()
