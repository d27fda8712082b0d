"""`turntape git-setup`: `git diff` and `git log -p` show a cassette as the trajectory of its run."""

import argparse
from typing import TYPE_CHECKING

from ...exit_codes import OK
from ..command import Command

if TYPE_CHECKING:
    from pathlib import Path

PATTERNS = ("*.cassette.jsonl", "*.cassette.jsonl.zst")
_ATTRIBUTES = "diff=turntape linguist-generated"
"""The driver for the text of a diff; and GitHub folds such files in a pull request."""
_SECTION = "diff.turntape"


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--undo", action="store_true", help="remove what this command has set")
    parser.add_argument(
        "--pull-requests",
        action="store_true",
        help="write the trajectory of each cassette of the repository beside it, as NAME.trajectory.txt",
    )


def main(options: argparse.Namespace) -> int:
    import sys
    from pathlib import Path

    root = Path(_git("rev-parse", "--show-toplevel").strip())
    said = _undo(root) if options.undo else _set(root)
    if options.pull_requests and not options.undo:
        said += _write_trajectories(root)
    sys.stdout.write("\n".join(said) + "\n")
    return OK


def _set(root: "Path") -> list[str]:
    from turntape.cassettes.tape.named_file import not_a_link

    attributes = not_a_link(root / ".gitattributes")
    before = attributes.read_text("utf-8") if attributes.exists() else ""
    known = {line.split()[0] for line in before.splitlines() if "diff=turntape" in line.split()[1:]}
    lines = [f"{pattern} {_ATTRIBUTES}" for pattern in PATTERNS if pattern not in known]
    if lines:
        lead = before if not before or before.endswith("\n") else before + "\n"
        attributes.write_text(lead + "\n".join(lines) + "\n", "utf-8")
    _git("config", "--local", f"{_SECTION}.textconv", _text_command())
    changed = "has two more lines; commit it" if lines else "had its lines already"
    return [
        f"{attributes}: {changed}",
        f"{root / '.git'}: `git diff` and `git log -p` now show a cassette as its trajectory, in this clone; "
        "each person runs `turntape git-setup` once",
        "pull requests fold cassettes: `turntape git-setup --pull-requests` writes each trajectory into a file beside "
        "its cassette, and `turntape_trajectories = true` in pytest's ini file does it with each recording",
    ]


def _write_trajectories(root: "Path") -> list[str]:
    from turntape.cassettes.counted import several
    from turntape.cassettes.errors import TurntapeError
    from turntape.inspector.pytest_plugin.trajectory_snapshot import write_trajectory

    listed = _git("-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *PATTERNS)
    said: list[str] = []
    count = 0
    for name in sorted({name for name in listed.split("\0") if name and (root / name).exists()}):
        try:
            write_trajectory(root / name)
            count += 1
        except TurntapeError as exc:
            said.append(f"{name}: {exc}")
    place = "it" if count == 1 else "each"
    return [*said, f"{several(count, 'cassette')}: the trajectory is in NAME.trajectory.txt beside {place}"]


def _undo(root: "Path") -> list[str]:
    from turntape.cassettes.tape.named_file import not_a_link

    attributes = not_a_link(root / ".gitattributes")
    before = attributes.read_text("utf-8").splitlines(keepends=True) if attributes.exists() else []
    kept = [line for line in before if line.rstrip("\r\n") not in {f"{one} {_ATTRIBUTES}" for one in PATTERNS}]
    if kept != before:
        if kept:
            attributes.write_text("".join(kept), "utf-8")
        else:
            attributes.unlink()
    _git("config", "--local", "--remove-section", _SECTION, may_fail=True)
    return [f"{root}: `git diff` shows cassettes as they are again"]


def _text_command() -> str:
    """The command that git runs with the name of a file. A file that cannot be read is shown as it is: a driver that
    fails would end each `git diff` of the repository."""
    import shlex
    import sys

    program = f"{shlex.quote(sys.executable)} -P -m turntape.proxy.cli"
    return f'f() {{ {program} show --trajectory -- "$1" 2>/dev/null || cat -- "$1"; }}; f'


def _git(*arguments: str, may_fail: bool = False) -> str:
    """What git prints. Raises TurntapeError when there is no git, or it refuses."""
    import subprocess

    from turntape.cassettes.errors import TurntapeError

    try:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    except OSError as exc:
        raise TurntapeError(f"git cannot be run ({exc.strerror}); install it, then run this command again") from exc
    if done.returncode and not may_fail:
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise TurntapeError(
            f"`git {arguments[0]}` failed: {said[0].removeprefix('fatal: ')}; run this in a git repository"
        )
    return done.stdout


COMMAND = Command(
    usage="turntape git-setup [--pull-requests] [--undo]",
    description="Let git show the cassettes of this repository as what the agent did: writes two lines into "
    ".gitattributes, and the command for `git diff` into this clone's configuration. Cassettes that cannot be read are "
    "shown as they are.",
    examples=("turntape git-setup",),
    add=add,
    main=main,
)
