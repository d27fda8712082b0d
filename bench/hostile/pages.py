"""Web pages of an enemy in a real Chromium: DNS rebinding and requests across sites."""

import json
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import override

from .outcome import Outcome
from .ports import BODY, PATH, opened

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
EVIL = "evil.example"
_SECONDS = 120

ATTEMPTS = {
    "fetch, JSON": "fetch(url, {method: 'POST', headers: {'content-type': 'application/json'}, body})",
    "fetch, no preflight": "fetch(url, {method: 'POST', headers: {'content-type': 'text/plain'}, body})",
    "fetch, no-cors": "fetch(url, {method: 'POST', mode: 'no-cors', body})",
    "fetch, GET": "fetch(url)",
    "beacon": "Promise.resolve(navigator.sendBeacon(url, body))",
    "image": "new Promise((end) => { const i = new Image(); i.onload = i.onerror = end; i.src = url; })",
    "form": "new Promise((end) => { const f = document.createElement('form'); f.method = 'POST'; f.action = url; "
    "f.target = 'frame'; document.body.append(f); f.submit(); setTimeout(end, 500); })",
    "websocket": "new Promise((end, no) => { const w = new WebSocket(url.replace('http', 'ws')); "
    "w.onopen = () => end({text: () => 'opened'}); w.onerror = () => no(new Error('refused')); })",
}
PAGE = """<!doctype html><body><iframe name="frame"></iframe><pre id="said">unfinished</pre><img src="/end"><script>
const body = %s, url = %s;
const show = (text) => { document.getElementById('said').textContent = text; fetch('/said', {method: 'POST'}); };
(async () => {
  try {
    const answer = await (%s);
    show('read: ' + (answer && answer.text ? (await answer.text()).slice(0, 300) : 'nothing'));
  } catch (error) { show('refused: ' + error.message); }
})();
</script>"""
"""The picture comes when the script has ended, and the browser prints the page when that is loaded. Virtual time does
not wait for a WebSocket: on a busy machine it was over before the answer came."""


def chromium() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def pages(folder: Path) -> Iterator[Outcome]:
    """Each attempt against each port, from a page of another place and from one whose name leads here."""
    browser = chromium()
    for target in ("recorder", "replay server"):
        for name, script in ATTEMPTS.items():
            if browser is None:
                yield Outcome("page", target, name, None, "there is no Chromium here")
                continue
            with opened(folder) as ports:
                port = ports.recorder if target == "recorder" else ports.replay
                for who, host in (("page across sites", "127.0.0.1"), ("rebound page, other port", EVIL)):
                    said = visit(browser, script, f"http://{host}:{port}{PATH}")
                    yield judged(who, target, name, said, len(ports.api.requests), len(ports.trips))
        if browser is not None:
            with opened(folder) as ports:
                port = ports.recorder if target == "recorder" else ports.replay
                shown = dom(browser, f"http://{EVIL}:{port}/openai/v1/models")
                held = "turntape_refused_host" in shown and not ports.api.requests
                yield Outcome("rebound page, same port", target, "open", held, "refused" if held else shown[:60])


def judged(who: str, target: str, name: str, said: str, asked: int, recorded: int) -> Outcome:
    """An attempt has no effect when nothing of it came to the API or the tape, and the page could read no answer."""
    read = said.startswith("read: ") and said not in ("read: nothing", "read: ")
    held = not asked and not recorded and not read and said != "unfinished"
    return Outcome(who, target, name, held, f"API {asked}, tape {recorded}; {said[:60]}")


def visit(browser: str, script: str, url: str) -> str:
    """What the page says that it could do."""
    page = PAGE % (json.dumps(BODY.decode()), json.dumps(url), script)

    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/end":
                over.wait(_SECONDS / 2)
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            with suppress(OSError):  # the browser was ended
                self.wfile.write(page.encode() if self.path == "/" else b"")

        def do_POST(self) -> None:
            self.send_response(204)
            self.end_headers()
            over.set()

        @override
        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        shown = dom(browser, f"http://{EVIL}:{server.server_port}/")
    finally:
        server.shutdown()
        server.server_close()
    return unescape(shown.partition('<pre id="said">')[2].partition("</pre>")[0]) or "unfinished"


def dom(browser: str, url: str) -> str:
    """The document after its scripts have run; names of the enemy lead to this machine."""
    with tempfile.TemporaryDirectory(prefix="turntape-hostile-") as profile:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-proxy-server", "--dump-dom"]
        command += [f"--user-data-dir={profile}", f"--host-resolver-rules=MAP {EVIL} 127.0.0.1"]
        command += [url]
        try:
            return subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS).stdout
        except subprocess.TimeoutExpired:
            return ""
