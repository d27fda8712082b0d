"""`make bench`: every benchmark, one after the other; each prints ratios of things run side by side.

`python -m bench NAME…` runs the named ones, `python -m bench --readme` those whose figures are in the README.
"""

import argparse
import os
import sys
from pathlib import Path

from bench._processes import started

HERE = Path(__file__).parent
README = ("latency", "tape", "view", "memory", "replay", "server", "startup", "pytest_start")
"""Those of the README's table "What it costs", in its order."""


def main() -> int:
    there = sorted(p.stem for p in HERE.glob("*.py") if not p.stem.startswith("_"))
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("name", nargs="*", help=f"one of {', '.join(there)}; all without a name")
    parser.add_argument("--readme", action="store_true", help="those whose figures are in the README")
    given = parser.parse_args()
    names: list[str] = list(README) if given.readme else given.name or there
    if unknown := set(names) - set(there):
        parser.error(f"no benchmark named {', '.join(sorted(unknown))}; there are {', '.join(there)}")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    failed = 0
    for name in names:
        print(f"\n── {name} " + "─" * (76 - len(name)), flush=True)
        with started([sys.executable, str(HERE / f"{name}.py")], env=environment) as bench:
            try:
                failed |= bench.wait()
            finally:
                bench.terminate()
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
