"""`python -m turntape.proxy.scripted`: the scripted LLM on a port, for those who have no key."""

import argparse
import signal
import sys
import threading

from .server import ScriptedServer


def main() -> int:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m turntape.proxy.scripted", description=__doc__)
    parser.add_argument("--port", type=int, default=8487)
    port = parser.parse_args().port
    over = threading.Event()

    def end(_number: int, _frame: object) -> None:
        over.set()

    signal.signal(signal.SIGINT, end)
    with ScriptedServer(port=port) as server:
        lines = (
            "the scripted LLM answers here until Ctrl-C:",
            f"export OPENAI_BASE_URL={server.url}/v1 OPENAI_API_KEY=none",
            f"export ANTHROPIC_BASE_URL={server.url} ANTHROPIC_API_KEY=none",
        )
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()
        over.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
