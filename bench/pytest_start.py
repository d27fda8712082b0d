"""What the plugin adds to the start of a pytest that does not use it, in milliseconds of the processor."""

import os
import resource
import subprocess
import sys
import tempfile
from importlib.metadata import entry_points
from pathlib import Path

BAR = 10.0
ROUNDS = 15
OURS = {"turntape", "turntape_inspector"}
OTHERS = tuple(f"-pno:{point.name}" for point in entry_points(group="pytest11") if point.name not in OURS)
WITHOUT = tuple(f"-pno:{name}" for name in OURS)


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_it.py").write_text("def test_it(): pass\n")
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}

        def run(*options: str) -> float:
            line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *OTHERS, *options]
            # Processor time: the machine may be busy with other things, and a start waits for nothing.
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(line, cwd=folder, env=environment, check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        run()
        pairs: list[tuple[float, float]] = []
        for number in range(ROUNDS):
            if number % 2:
                bare = run(*WITHOUT)
                pairs.append((run(), bare))
            else:
                pairs.append((run(), run(*WITHOUT)))
    # The least of each: what a busy machine adds, it adds to some rounds only.
    bare = min(bare for _, bare in pairs) * 1000
    added = min(ours for ours, _ in pairs) * 1000 - bare
    said = "ok" if added < BAR else "MISSED"
    print(f"a pytest start with the plugin unused: {added:+.1f} ms over {bare:.0f} ms (bar {BAR:.0f} ms)  {said}")
    return int(added >= BAR)


if __name__ == "__main__":
    sys.exit(main())
