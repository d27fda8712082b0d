"""What a recording holds in memory: the proxy and the process that labels, after a thousand requests.

Both routes are measured, with HTTP/1.1. The requests have 5 to 500 KB, and each of them has a separate history.
Bar: both processes together at most 150 MB resident (PSS: pages that both have count once).
"""

import argparse
import os
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from _processes import started

COUNT = 1000
SIZES = (5_000, 20_000, 100_000, 500_000)
BAR = 150.0


def memory(pid: int) -> tuple[float, float]:
    """PSS and RSS of a process in MB."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    pss, rss = (re.search(rf"^{name}:\s+(\d+) kB", text, re.M) for name in ("Pss", "Rss"))
    assert pss and rss
    return int(pss[1]) / 1024, int(rss[1]) / 1024


def children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def bodies(count: int) -> list[bytes]:
    """Requests as agents send them: real text, new each time."""
    from _runs import coding_run

    texts = [trip.request.body for trip in coding_run(30, 20_000, 4000)]
    whole = b"".join(text[100:-100] for text in texts).decode("utf-8", "replace").replace("\\", "").replace('"', "")
    found: list[bytes] = []
    for number in range(count):
        size = SIZES[number % len(SIZES)]
        start = (number * 7919) % (len(whole) - size)
        content = f"{number} {whole[start : start + size]}"
        found.append(
            b'{"model":"gpt-5","messages":[{"role":"user","content":"%s"}]}' % content.replace("\n", " ").encode()
        )
    return found


class Api(BaseHTTPRequestHandler):
    """Answers every request; from an HTTP/2 client its body may come in chunks."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        if "content-length" in self.headers:
            self.rfile.read(int(self.headers["content-length"]))
        else:
            while size := int(self.rfile.readline(), 16):
                self.rfile.read(size + 2)
            self.rfile.readline()
        answer = (
            b'{"id":"1","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"ok"}}]}'
        )
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        pass


def upstream() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    print(server.server_port, flush=True)
    server.serve_forever()


def ask(url: str, proxy: str | None, authority: str | None, count: int) -> None:
    """Send the requests, one after the other."""
    import httpx

    verify: ssl.SSLContext | bool = ssl.create_default_context(cafile=authority) if authority else False
    with httpx.Client(proxy=proxy, verify=verify, trust_env=False, timeout=60) as client:
        for body in bodies(count):
            client.post(url, content=body, headers={"content-type": "application/json"}).raise_for_status()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=COUNT)
    count = parser.parse_args().count
    missed = 0
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    api = started([sys.executable, __file__, "--upstream"], stdout=subprocess.PIPE, env=environment)
    assert api.stdout
    answers = f"http://127.0.0.1:{int(api.stdout.readline())}"
    try:
        for name, forward in (("base URL", False), ("forward", True)):
            missed += one(name, forward, answers, count, environment)
    finally:
        api.terminate()
        api.wait()
        api.stdout.close()
    return missed


def one(name: str, forward: bool, answers: str, count: int, environment: dict[str, str]) -> int:
    """Record with one client, and say what the processes hold before its end."""
    with tempfile.TemporaryDirectory() as folder:
        home = {**environment, "TURNTAPE_HOME": folder}
        recorder = started(
            [str(Path(sys.executable).parent / "turntape"), "record", "--port", "0",
             "--upstream", f"openai={answers}", "--quiet", "--out", f"{folder}/run.cassette.jsonl"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=home,
        )  # fmt: skip
        assert recorder.stdout
        try:
            port = ""
            for line in recorder.stdout:
                if found := re.search(r"http://127\.0\.0\.1:(\d+)", line):
                    port = found[1]
                    break
            origin = f"http://127.0.0.1:{port}"
            url = "https://api.openai.com/v1/chat/completions" if forward else f"{origin}/openai/v1/chat/completions"
            authority = f"{folder}/mitmproxy-ca-cert.pem" if forward else ""
            proxy = origin if forward else ""
            asked = [sys.executable, __file__, "--ask", url, proxy, authority, str(count)]
            subprocess.run(asked, check=True, env=environment)
            time.sleep(3)
            parts = [("proxy", memory(recorder.pid)), *(("labels", memory(pid)) for pid in children(recorder.pid))]
            whole = sum(pss for _, (pss, _) in parts)
            each = ", ".join(f"{what} {pss:.0f} MB (RSS {rss:.0f})" for what, (pss, rss) in parts)
            said = "ok" if whole <= BAR else "MISSED"
            print(f"{name}: {whole:.0f} MB after {count} requests (bar {BAR:g})  {said}\n{'':>8}{each}", flush=True)
            return int(whole > BAR)
        finally:
            recorder.send_signal(signal.SIGINT)
            recorder.stdout.close()
            recorder.wait()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--upstream"]:
            upstream()
        case ["--ask", url, proxy, authority, count]:
            ask(url, proxy or None, authority or None, int(count))
        case _:
            sys.exit(1 if main() else 0)
