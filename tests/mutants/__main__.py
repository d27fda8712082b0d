"""`make mutants`: the share of one-line mistakes that each module's own tests notice.

make mutants                                        a sample of every module that has a bar
make mutants ARGS="--module recorder --sample 60"   one group, or one file by its path
make mutants ARGS="--module delta --seed 2"         another sample of the same group
make mutants ARGS="--module delta --sample 0"       every mistake that the operators know
"""

import argparse
import json
import os
import random
import selectors
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .modules import ROOT, Module, modules
from .operators import Mutation, mutations

BAR = 0.9
"""The share of mistakes that must be noticed, in each group."""
SEED = 12
"""Which sample is taken, unless `--seed` names another."""
SURVIVORS = Path(__file__).with_name("survivors.toml")
"""The mistakes that no test can or need notice, each with a reason."""


@dataclass
class Job:
    """A module, some of its mistakes, and the result of each."""

    module: Module
    source: str
    mistakes: list[Mutation]
    outcomes: list[tuple[Mutation, str]] = field(default_factory=list[tuple[Mutation, str]])


def jobs(chosen: list[Module], sample: int, size: int, seed: int = SEED) -> list[Job]:
    """The work in pieces of at most `size` mistakes, the same for the same seed."""
    made: list[Job] = []
    for module in chosen:
        source = (ROOT / module.path).read_text()
        found = mutations(source)
        if sample and len(found) > sample:
            found = sorted(random.Random(seed).sample(found, sample), key=lambda mutation: mutation.line)
        for start in range(0, len(found), size):
            made.append(Job(module, source, found[start : start + size]))
    return made


def scratch(folder: Path) -> Path:
    """A copy of what git tracks, in which modules can be changed; its packages are importable from `lib`."""
    tree = folder / "tree"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    for name in filter(None, listed.split("\0")):
        source, target = ROOT / name, tree / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    package = folder / "lib" / "turntape"
    package.mkdir(parents=True)
    for floor in ("cassettes", "inspector", "proxy"):
        (package / floor).symlink_to(tree / floor)
    shared = ROOT.parent / "shared"
    if shared.exists():
        (folder / "shared").symlink_to(shared)
    return tree


class Worker:
    """A process that runs one job after the other in its own scratch copy."""

    def __init__(self, folder: Path) -> None:
        tree = scratch(folder)
        home = folder / "home"
        home.mkdir()
        # A mistake may write into the home folder, where a wrong price list would be read by every command.
        environment = {**os.environ, "PYTHONPATH": str(folder / "lib"), "PYTHONHASHSEED": "0", "HOME": str(home)}
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("worker.py"))],
            cwd=tree,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.loaded = ""
        self.job: Job | None = None
        self.next = 0

    def begin(self, job: Job) -> None:
        """Take a job."""
        self.job, self.next = job, 0
        if self.loaded == job.module.path:
            self._mistake()
        else:
            self.loaded = job.module.path
            self._send({"path": job.module.path, "tests": job.module.tests, "source": job.source})

    def _send(self, order: dict[str, object]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()

    def _mistake(self) -> None:
        assert self.job
        mutation = self.job.mistakes[self.next]
        lines = list(range(mutation.start, mutation.end + 1))
        self._send({"mutated": mutation.source, "lines": lines, "everywhere": mutation.everywhere})

    def answered(self) -> bool:
        """Read one answer and ask for the next thing; False when the job is done."""
        assert self.process.stdout and self.job
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("a worker ended early")
        answer = json.loads(line)
        if "outcome" in answer:
            mutation = self.job.mistakes[self.next]
            self.job.outcomes.append((mutation, answer["outcome"]))
            if answer["outcome"] == "survived":
                print(f"survived  {shown(self.job.module.path, mutation)}", file=sys.stderr, flush=True)
            self.next += 1
        elif answer["failed"]:
            raise SystemExit(answer["failed"])
        else:
            what = f"{self.job.module.path}: {answer['tests']} tests, {answer['seconds']:.1f} s"
            print(f"{time.strftime('%H:%M:%S')} {what}", file=sys.stderr, flush=True)
        if self.next == len(self.job.mistakes):
            return False
        self._mistake()
        return True


def run(work: list[Job], processes: int) -> None:
    """Do all jobs."""
    waiting = list(reversed(work))
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        workers = [Worker(Path(folder) / str(n)) for n in range(min(processes, len(work)))]
        try:
            busy = selectors.DefaultSelector()
            for worker in workers:
                worker.begin(waiting.pop())
                assert worker.process.stdout
                busy.register(worker.process.stdout, selectors.EVENT_READ, worker)
            while busy.get_map():
                for key, _ in busy.select():
                    if key.data.answered():
                        continue
                    if waiting:
                        key.data.begin(waiting.pop())
                    else:
                        busy.unregister(key.fileobj)
        finally:
            for worker in workers:
                worker.process.terminate()  # it ends what its tests have started
            for worker in workers:
                worker.process.wait()


def shown(path: str, mutation: Mutation) -> str:
    return f"{path}:{mutation.line}  {mutation.before}  ->  {mutation.after}"


def reasons() -> dict[tuple[str, str, str], str]:
    """Path, line before and line after of each listed survivor → why it may survive."""
    listed = tomllib.loads(SURVIVORS.read_text()) if SURVIVORS.exists() else {}
    return {(path, row["before"], row["after"]): row["reason"] for path, rows in listed.items() for row in rows}


def report(work: list[Job]) -> Iterator[str]:
    """The survivors, and the share of mistakes that were noticed by module and by group."""
    known = reasons()
    by_module: dict[str, Counter[str]] = {}
    by_group: dict[str, Counter[str]] = {}
    for job in work:
        for mutation, outcome in job.outcomes:
            path = job.module.path
            if outcome == "survived":
                reason = known.get((path, mutation.before, mutation.after))
                outcome = "listed" if reason else outcome
                why = f"   # {reason}" if reason else ""
                yield f"{shown(path, mutation)}{why}"
            by_module.setdefault(path, Counter())[outcome] += 1
            by_group.setdefault(job.module.group, Counter())[outcome] += 1
    yield ""
    for name, counts in [*by_module.items(), *by_group.items()]:
        label = name if name in by_group else f"  {name}"
        yield f"{label:60} {rate(counts):6.1%}  {dict(counts)}"
    for path, before, after in stale(work):
        yield f"survivors.toml lists a mistake that cannot be made any longer: {path}  {before}  ->  {after}"
    below = [name for name, counts in by_group.items() if rate(counts) < BAR]
    yield f"below {BAR:.0%}: {', '.join(below)}" if below else f"every group is at {BAR:.0%} or above"


def stale(work: list[Job]) -> list[tuple[str, str, str]]:
    """The listed survivors of these modules that are not among their mistakes any longer."""
    sources = {job.module.path: job.source for job in work}
    possible = {
        (path, mutation.before, mutation.after) for path, source in sources.items() for mutation in mutations(source)
    }
    return [row for row in reasons() if row[0] in sources and row not in possible]


def rate(counts: Counter[str]) -> float:
    """The share of mistakes that were noticed, of all that were made."""
    return (counts["killed"] + counts["timeout"]) / counts.total()


def main() -> int:
    """Run and print; 1 when a group is below the bar."""
    parser = argparse.ArgumentParser(
        prog="make mutants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--module", metavar="NAME", action="append", default=[], help="a group, a file or a folder")
    parser.add_argument("--sample", metavar="N", type=int, default=100, help="mistakes per module; 0 for all of them")
    parser.add_argument("--seed", metavar="N", type=int, default=SEED, help="another sample; without it the same one")
    parser.add_argument("--processes", metavar="N", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="print the mistakes and run nothing")
    options = parser.parse_args()
    chosen = modules(options.module)
    size = 40 if len(chosen) > 1 else max(1, (options.sample or 200) // options.processes)
    work = jobs(chosen, options.sample, size, options.seed)
    if options.list:
        for job in work:
            for mutation in job.mistakes:
                print(shown(job.module.path, mutation))
        return 0
    run(work, options.processes)
    lines = list(report(work))
    print("\n".join(lines))
    return 1 if lines[-1].startswith("below") else 0


if __name__ == "__main__":
    sys.exit(main())
