"""`python -m bench.faults`: the score of the story and of recorded loops; exit code 1 when a bar is missed.

The recorded loops need the corpus; without it their part is left out, and the reason is printed.
"""

import argparse
import json
import sys
from pathlib import Path

from .catalogue import CASES, Case
from .clean import Clean, clean_loops
from .dialects import DIALECTS
from .frameworks import run as frameworks
from .generated import run as generated
from .loop import Loop, record
from .recorded import run as recorded
from .report import as_json, text
from .score import score
from .tapes import write_trips
from .tools import run as tools


def main() -> int:
    given = _parser().parse_args()
    if given.frameworks or given.framework:
        return frameworks.main(given)
    if given.tools or given.tool_clients:
        return tools.main(given)
    if given.generated or given.case:
        return generated.main(given)
    if given.recorded or given.loop:
        return recorded.main(given)
    try:
        missed = story(given)
    except LookupError as exc:
        _parser().error(str(exc))
    everything = not (given.story or given.only or given.protocol or given.json or given.list or given.write)
    return missed | recorded.main(given) | tools.main(given) if everything else missed


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.faults", description=__doc__)
    parser.add_argument("--story", action="store_true", help="only the bench's own story")
    parser.add_argument("--recorded", action="store_true", help="only the recorded loops of the corpus")
    parser.add_argument("--tools", action="store_true", help="only recorded loops with a tool server")
    parser.add_argument("--tool-clients", action="store_true", help="only runs of real clients with a tool server")
    parser.add_argument("--generated", action="store_true", help="only random changes of recorded answers")
    parser.add_argument("--count", metavar="N", type=int, help="so many random changes")
    parser.add_argument("--seed", metavar="TEXT", help="another row of random changes")
    parser.add_argument("--case", metavar="N", type=int, action="append", help="the random change of this number")
    parser.add_argument("--frameworks", action="store_true", help="only loops of real frameworks")
    parser.add_argument("--framework", metavar="NAME", action="append", help="one of the frameworks")
    parser.add_argument("--again", action="store_true", help="run the frameworks again, instead of reading kept tapes")
    parser.add_argument("--page", action="store_true", help="write the figures into docs/faults.md")
    parser.add_argument("--loop", metavar="NAME", action="append", help="recorded loops of this name")
    parser.add_argument("--most", metavar="N", type=int, help="recorded loops of one protocol at most")
    parser.add_argument("--jobs", metavar="N", type=int, help="processes for the recorded loops")
    parser.add_argument("--only", metavar="ID", action="append", help="faults whose name begins with this")
    parser.add_argument("--protocol", metavar="P", action="append", help="a protocol, or one dialect of it")
    parser.add_argument("--no-clean", action="store_true", help="leave the clean loops out")
    parser.add_argument("--json", action="store_true", help="print the score as JSON")
    parser.add_argument("--write", metavar="DIR", type=Path, help="write the cassettes into a folder")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    parser.add_argument("-v", "--verbose", action="store_true", help="show what was found where a case went wrong")
    return parser


def story(given: argparse.Namespace) -> int:
    """The part with loops of our own. Raises LookupError for a name that selects nothing."""
    known = {p for name, dialect in DIALECTS.items() for p in (name, dialect.protocol)}
    if unknown := set(given.protocol or ()) - known:
        raise LookupError(f"no protocol named {', '.join(sorted(unknown))}; there are {', '.join(sorted(known))}")
    cases, clean = _chosen(given)
    if not cases and not clean:
        raise LookupError("no case has these names; --list prints them all")
    if given.list:
        print("\n".join([*(case.name for case in cases), *(f"clean {loop.name}" for loop in clean)]))
        return 0
    if given.write:
        _write_all(given.write, cases, clean)
    result = score(cases, clean)
    print(json.dumps(as_json(result), indent=1) if given.json else text(result, verbose=given.verbose))
    return int(bool(result.missed))


def _chosen(given: argparse.Namespace) -> tuple[list[Case], list[Clean]]:
    """The selected faulty and clean loops."""

    def wanted(dialect: str) -> bool:
        return not given.protocol or not {dialect, DIALECTS[dialect].protocol}.isdisjoint(given.protocol)

    names = tuple(given.only or ("",))
    cases = [case for case in CASES if wanted(case.dialect) and case.fault.name.startswith(names)]
    clean = [] if given.no_clean or given.only else [loop for loop in clean_loops() if wanted(loop.dialect)]
    return cases, clean


def _write_all(folder: Path, cases: list[Case], clean: list[Clean]) -> None:
    for case in cases:
        write(folder, case.name, case.faulty()[0])
    for loop in clean:
        write(folder, f"clean {loop.name}", loop.loop())
    print(f"{len(cases) + len(clean)} cassettes in {folder}", file=sys.stderr)


def write(folder: Path, name: str, loop: Loop) -> None:
    write_trips(folder, name, record(loop).trips)


if __name__ == "__main__":
    sys.exit(main())
