"""`turntape fork F --at K -- CMD`: a recorded run up to turn K, and live from there."""

import argparse
import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..launch.child_process import block, not_found
from ..launch.recording import free_path
from .run_command import run, settings_of, tell

if TYPE_CHECKING:
    from turntape.cassettes.tape.model import RoundTrip

    from ..engine.fork_addon import Fork, ForkPlan
    from ..engine.recorder_addon import Tap


def main(options: argparse.Namespace) -> int:
    from ..engine.fork_addon import Fork

    if problem := not_found(options.command[0]):
        tell([f"turntape: {problem}"])
        return problem.code
    script = written(options)
    block()
    path = Path(options.out) if options.out else free_path("fork", Path(), time.time())
    forks: list[Fork] = []

    def addon(tap: "Tap", write: "Callable[[RoundTrip], object]") -> object:
        forks.append(Fork(script, tap, write))
        return forks[0]

    settings = replace(settings_of(options, path, console=options.live and not options.quiet), addon=addon)
    code = asyncio.run(run(settings, options.command, quiet=options.quiet))
    for fork in forks:
        tell(problem_lines(fork) or ([] if options.quiet else [told(fork)]))
    return code


def written(options: argparse.Namespace) -> "ForkPlan":
    """What is played, with its edits. Raises TurntapeError before anything is started."""
    from turntape.cassettes.tape.reader import Cassette
    from turntape.inspector.wire.rewrite.answer_edit import edited, parse_edit, with_answer

    from ..engine.fork_addon import plan_fork

    edits = [parse_edit(text) for text in options.edit]
    plan = plan_fork(Cassette.load(options.file), options.at, options.thread, strays_go_live=options.strays == "live")
    if options.edit_file:
        plan = plan.changed(partial(with_answer, body=Path(options.edit_file).read_bytes()))
    for edit in edits:
        plan = plan.changed(partial(edited, edit=edit))
    return plan


def told(fork: "Fork") -> str:
    """What was played and what was live, one line."""
    script = fork.script
    turns = f"turn{'s 1 to' if script.at > 2 else ''} {script.at - 1}" if script.at > 1 else "no turn"
    changed = ", its answer edited" if script.edited and script.at == 2 else ", the last answer edited"
    return (
        f"          {turns} from the tape ({_count(fork.played)}){changed if script.edited else ''}, "
        f"live from turn {script.at} ({_count(fork.live)})"
    )


def problem_lines(fork: "Fork") -> list[str]:
    """Why the fork was not what was asked for; empty when it was."""
    script = fork.script
    lines = [f"turntape: before the fork {miss}" for miss in fork.misses[:1]]
    if len(fork.misses) > 1:
        lines.append(f"turntape: {len(fork.misses)} requests before the fork were refused, of which this is the first")
    if fork.waiting:
        lines.append(
            f"turntape: the run did not come to turn {script.at}: {fork.waiting} of the {len(script.turns)} turns "
            "before it were not asked for"
        )
    return lines


def _count(number: int) -> str:
    return f"{number} round trip{'s' * (number != 1)}"
