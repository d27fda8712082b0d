"""`turntape fork F --at K -- CMD`: replay a run up to turn K, then continue live."""

import argparse
from typing import TYPE_CHECKING

from turntape.cassettes.counted import several

from .. import argument_types as types
from ..command import Command
from ..option_groups import ONE_CASSETTE, add_recording
from ..recording_options import cassette_path, require_posix, settings_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from turntape.cassettes.tape.model import RoundTrip

    from ...capture.recorder_addon import RecorderAddon
    from ...engine.fork_addon import Fork, ForkPlan


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="F", help=ONE_CASSETTE)
    parser.add_argument(
        "--at",
        type=types.turn_number,
        required=True,
        metavar="K",
        help="the first turn that goes to the API; with 1 nothing is replayed",
    )
    parser.add_argument(
        "--edit",
        action="append",
        default=[],
        metavar="WHAT=VALUE",
        help="change the recorded answer of turn K-1: text=…, tool=NAME, arguments=JSON, finish=WORD, the second call "
        "as arguments.2, or /JSON/POINTER=VALUE; repeatable",
    )
    parser.add_argument("--edit-file", metavar="FILE", help="replace the answer of turn K-1 by the JSON in FILE")
    parser.add_argument("--thread", metavar="T", help="the thread to fork, as `show` names it (default: the first)")
    parser.add_argument(
        "--strays",
        choices=("refuse", "live"),
        default="refuse",
        help="what to do with a request before turn K that was not recorded: refuse it, or send it to the API "
        "(default: refuse)",
    )
    add_recording(parser, 0, "fork")
    parser.add_argument("--live", action="store_true", help="print a line on stderr as each round trip ends")
    parser.add_argument("--quiet", action="store_true", help="print only errors")


def main(options: argparse.Namespace) -> int:
    require_posix("fork")
    import asyncio
    from dataclasses import replace

    from ...engine.fork_addon import Fork
    from ...launch.child_process import not_found
    from ...launch.recorded_hosts import recorded_hosts
    from ...launch.recorded_run import run
    from ...launch.supervise import to_stderr
    from ...signals import block

    if problem := not_found(options.command[0]):
        to_stderr([f"turntape: {problem}"])
        return problem.code
    script = script_of(options)
    block()
    forks: list[Fork] = []

    def addon(recorder: "RecorderAddon", write: "Callable[[RoundTrip], object]") -> object:
        forks.append(Fork(script, recorder, write))
        return forks[0]

    path = cassette_path(options, "fork")
    settings = replace(settings_of(options, path, console=options.live and not options.quiet), addon=addon)
    hosts = recorded_hosts(script.trips)
    settings = replace(settings, private_authority=True, intercept=(*settings.intercept, *hosts))
    code = asyncio.run(run(settings, options.command, quiet=options.quiet))
    for fork in forks:
        to_stderr(problem_lines(fork) or ([] if options.quiet else [summary_line(fork)]))
    return code


def script_of(options: argparse.Namespace) -> "ForkPlan":
    """What is replayed, with its edits. Raises TurntapeError before anything is started."""
    from functools import partial
    from pathlib import Path

    from turntape.cassettes.tape.reader import Cassette
    from turntape.inspector.wire.rewrite.answer_edit import edited, parse_edit, with_answer

    from ...engine.fork_addon import plan_fork
    from ..cassette_files import one_cassette

    edits = [parse_edit(text) for text in options.edit]
    cassette = Cassette.load(one_cassette(options.file))
    plan = plan_fork(cassette, options.at, options.thread, strays_go_live=options.strays == "live")
    if options.edit_file:
        plan = plan.changed(partial(with_answer, body=Path(options.edit_file).read_bytes()))
    for edit in edits:
        plan = plan.changed(partial(edited, edit=edit))
    return plan


def summary_line(fork: "Fork") -> str:
    """What was replayed and what was live, in one line."""
    script = fork.script
    turns = f"turn{'s 1 to' if script.at > 2 else ''} {script.at - 1}" if script.at > 1 else "no turn"
    changed = ", its answer edited" if script.edited and script.at == 2 else ", the last answer edited"
    return (
        f"          {turns} from the tape ({several(fork.played, 'round trip')}){changed if script.edited else ''}, "
        f"live from turn {script.at} ({several(fork.live, 'round trip')})"
    )


def problem_lines(fork: "Fork") -> list[str]:
    """Problems of the fork, one line each; empty when there are none."""
    script = fork.script
    lines = [f"turntape: before the fork {miss}" for miss in fork.misses[:1]]
    if len(fork.misses) > 1:
        lines.append(f"turntape: {len(fork.misses)} requests before the fork were refused; this is the first of them")
    if fork.waiting:
        lines.append(
            f"turntape: the run did not reach turn {script.at}: {fork.waiting} of "
            f"{several(len(script.turns), 'turn')} before it {'was' if fork.waiting == 1 else 'were'} not requested"
        )
    return lines


COMMAND = Command(
    usage="turntape fork F --at K [--edit WHAT=VALUE] -- CMD ...",
    description="Run CMD behind the proxy: requests before turn K are answered from the cassette, later ones by the "
    "API. The result is a new cassette that replays without the old one. Edits change the last answer before the fork.",
    examples=("turntape fork run.cassette.jsonl --at 4 -- python agent.py",),
    add=add,
    main=main,
    tail="required",
)
