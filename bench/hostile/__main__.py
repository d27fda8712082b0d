"""`make hostile`: what enemies try, as a table; exit code 1 when something had an effect.

It lists those that had an effect, and a sum for each kind.
"""

import argparse
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from .clients import loops, other_users
from .files import reports, terminals
from .outcome import Outcome, table
from .pages import pages

KINDS = {
    "clients that lead the recorder into itself": loops,
    "programs of other users": other_users,
    "web pages in a real Chromium": pages,
    "recordings: control sequences": terminals,
    "recordings: markup in a report": reports,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="make hostile", description=__doc__)
    parser.add_argument("-v", action="store_true", help="show each attempt, also those that had no effect")
    verbose: bool = parser.parse_args().v
    done: defaultdict[str, list[Outcome]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="turntape-hostile-") as folder:
        for kind, attempts in KINDS.items():
            place = Path(folder) / kind.replace(" ", "-").replace(":", "")
            place.mkdir()
            for outcome in attempts(place):
                done[kind].append(outcome)
                print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    every = [one for some in done.values() for one in some]
    shown = every if verbose else [one for one in every if not one.held]
    print("\n".join(table(shown)[:-2]) + "\n" if shown else "", end="")
    for kind, some in done.items():
        tried = [one for one in some if one.held is not None]
        print(f"{kind:45} {sum(one.held is True for one in tried):3} of {len(tried):3} had no effect")
    print(table(every)[-1])
    return 0 if all(one.held is not False for one in every) else 1


if __name__ == "__main__":
    sys.exit(main())
