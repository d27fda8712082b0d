"""`make bench`: every benchmark, one after the other; each prints ratios of things run side by side.

`python -m bench NAME…` runs the named ones, `python -m bench --readme` those whose figures are in the README.
"""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
README = ("latency", "tape", "view", "memory", "replay", "server", "startup", "pytest_start")
"""Those of the README's table "What it costs", in its order."""


def main() -> int:
    there = sorted(p.stem for p in HERE.glob("*.py") if not p.stem.startswith("_"))
    names = list(README) if sys.argv[1:] == ["--readme"] else sys.argv[1:] or there
    if unknown := set(names) - set(there):
        print(
            f"bench: no benchmark named {', '.join(sorted(unknown))}; there are {', '.join(there)}",
            file=sys.stderr,
        )
        return 2
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    failed = 0
    for name in names:
        print(f"\n── {name} " + "─" * (76 - len(name)), flush=True)
        failed |= subprocess.run([sys.executable, str(HERE / f"{name}.py")], env=environment, check=False).returncode
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
