"""Two S3 servers from the registries: moto, which honours conditional PUT, and s3rver, which ignores it.

s3rver is an npm package, installed once into `.clients/s3rver`.
"""

import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from bench._processes import started
from tests.s3_server import BUCKET, Refused, s3_server

ROOT = Path(__file__).parents[2]
S3RVER = ROOT / ".clients" / "s3rver"
VERSION = "3.7.1"


def serve_moto(share: float) -> None:
    """Serve until stdin ends; print the URL, then for each line the PUTs and how many were refused."""
    luck = random.Random(3)

    def refuse(number: int, path: str) -> Refused:
        return luck.choice(("before", "after")) if luck.random() < share else "no"

    with s3_server() as server:
        server.faults.refuse = refuse
        print(server.url, flush=True)
        for _ in sys.stdin:
            print(len(server.faults.puts), server.faults.refused, flush=True)


@contextmanager
def moto(share: float) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A moto server in its own process that refuses this share of the PUTs."""
    command = [sys.executable, "-m", "bench.fleet", "--serve", str(share)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        try:
            yield process.stdout.readline().strip(), process
        finally:
            process.stdin.close()
            process.wait(30)


@contextmanager
def s3rver(folder: Path) -> Iterator[str | None]:
    """An s3rver with the bucket; None where npm cannot install it."""
    program = _installed()
    if program is None:
        yield None
        return
    port = 4571
    command = ["node", str(program), "-d", str(folder), "-p", str(port), "-a", "127.0.0.1", "--silent"]
    command += ["--configure-bucket", BUCKET]
    folder.mkdir(parents=True, exist_ok=True)
    process = started(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_for(url)
        yield url
    finally:
        process.terminate()
        process.wait(30)


def _installed() -> Path | None:
    program = S3RVER / "node_modules" / "s3rver" / "bin" / "s3rver.js"
    npm = shutil.which("npm")
    if not program.exists() and npm:
        S3RVER.mkdir(parents=True, exist_ok=True)
        command = [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(S3RVER), f"s3rver@{VERSION}"]
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return program if program.exists() and shutil.which("node") else None


def why_not() -> str:
    """Why there is no s3rver."""
    missing = [name for name in ("npm", "node") if shutil.which(name) is None]
    return f"{' and '.join(missing)} not found" if missing else f"npm cannot install s3rver@{VERSION} here"


def _wait_for(url: str) -> None:
    for _ in range(100):
        try:
            urlopen(Request(url), timeout=2).close()
            return
        except HTTPError:
            return
        except (URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(f"{url} does not answer")


def environment(url: str) -> dict[str, str]:
    """What a client needs in its environment."""
    keys = {"AWS_ACCESS_KEY_ID": "S3RVER", "AWS_SECRET_ACCESS_KEY": "S3RVER"}
    return {"AWS_ENDPOINT_URL": url, "AWS_REGION": "us-east-1", "TURNTAPE_FLEET_KEY": "bench", **keys}
