"""The report on large runs: its size beside the cassette, and how soon a browser can use it.

Bars: a 300-turn run takes at most 5 MB, 5,000 turns take no more than their cassette; in Chromium the page can be used
at most 2 s after it was opened. With AXE=path/to/axe.min.js (the npm package axe-core), also how many serious problems
axe finds in the light and in the dark page of the example.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from view import record

from turntape.inspector.run.run_index import Run
from turntape.inspector.views.report import report

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
EXAMPLE = Path(__file__).parent.parent / "docs" / "example.cassette.jsonl"
READY = """(async () => {
  while (!document.body.dataset.ready) await new Promise((done) => setTimeout(done, 5));
  console.log(`READY ${Math.round(performance.now())}`);
})()"""
AXE = """ready.then(async () => {
  const serious = new Set();
  for (const theme of ["light", "dark"]) for (const name of ["turns", "findings", "costs", "timeline"]) {
    document.documentElement.dataset.theme = theme;
    tab(name);
    const found = await axe.run(document, { resultTypes: ["violations"] });
    for (const one of found.violations) if (/serious|critical/.test(one.impact)) serious.add(one.id);
  }
  console.log(`READY ${serious.size}`);
})"""


def said(page: str, script: str, folder: Path, wait: str) -> float | None:
    """The number that a script in the page logs; None when it logs none while Chromium waits.

    `wait` is the option for how long it does. With a budget of virtual time it waits until the page has no more work,
    but the clock of the page is then not the real one.
    """
    assert CHROMIUM is not None
    page = re.sub(r"script-src [^\"]*", "script-src &#x27;unsafe-inline&#x27;", page, count=1)
    (folder / "page.html").write_text(page.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    done = subprocess.run(
        [
            CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
            f"--user-data-dir={folder / 'profile'}", "--enable-logging=stderr", wait,
            f"--screenshot={folder / 'page.png'}", f"file://{folder / 'page.html'}",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )  # fmt: skip
    found = re.search(r"READY (\d+)", done.stderr)
    return float(found[1]) if found else None


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    missed = 0

    def line(what: str, value: float | None, bar: float, unit: str) -> None:
        nonlocal missed
        kept = value is not None and value <= bar
        missed += not kept
        shown = f"{value:8.2f}" if value is not None else "   never"
        print(f"{what:<52} {shown} {unit:<3} (bar {bar:.4g})  {'ok' if kept else 'MISSED'}")

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for runs in (1, 100):
            path = folder / f"{runs}.cassette.jsonl"
            record(path, runs)
            run = Run.load(path)
            page = "".join(report(run, "run"))
            size = path.stat().st_size / 1e6
            print(f"{len(run.rows.all):,} turns, {size:.1f} MB of cassette")
            line("  the report", len(page.encode()) / 1e6, 5 if runs == 1 else size, "MB")
            if CHROMIUM is None:
                print("    no Chromium on this machine: not opened")
                continue
            opened = [said(page, READY, folder, "--timeout=9000") for _ in range(3)]
            line("  until it can be used", min(filter(None, opened), default=None), 2000, "ms")
        if (axe := os.environ.get("AXE")) and CHROMIUM is not None:
            page = "".join(report(Run.load(EXAMPLE), "example"))
            rules = Path(axe).read_text("utf-8").replace("</script", "<\\/script")
            page = page.replace("</body>", f"<script>{rules}</script></body>")
            line("serious problems that axe finds", said(page, AXE, folder, "--virtual-time-budget=60000"), 0, "")
    return missed


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
