"""What the plugin adds to the start of a pytest that does not use it, in milliseconds of the processor.

Two whole starts differ by more than that from one to the next, so the plugin is loaded into a pytest that is
otherwise ready, each time in a new process, and the least counts: what a busy machine adds, it adds to some only.
"""

import argparse
import os
import subprocess
import sys

BAR = 10.0
ROUNDS = 15
MODULES = ("turntape.cassettes.pytest_plugin", "turntape.inspector.pytest_plugin")
CODE = f"""
import time
from _pytest.assertion import install_importhook
from _pytest.config import get_config

config = get_config()
install_importhook(config)
begun = time.process_time()
for name in {MODULES}:
    config.pluginmanager.import_plugin(name)
print((time.process_time() - begun) * 1000)
"""


def once() -> float:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    line = [sys.executable, "-c", CODE]
    return float(subprocess.run(line, env=environment, check=True, capture_output=True, text=True).stdout)


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    once()  # writes the bytecode
    added = min(once() for _ in range(ROUNDS))
    said = "ok" if added < BAR else "MISSED"
    print(f"a pytest start with the plugin unused: {added:.1f} ms more (bar {BAR:.0f} ms)  {said}")
    return int(added >= BAR)


if __name__ == "__main__":
    sys.exit(main())
