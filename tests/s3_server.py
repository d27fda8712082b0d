"""An S3 server in this process: moto, behind a filter that answers some PUTs with 503."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

BUCKET = "tapes"


type Refused = Literal["no", "before", "after"]
"""`before`: 503, and nothing was written. `after`: 503 although it was written."""


@dataclass
class Faults:
    """Which PUTs fail. `refuse` is asked with the number of the PUT, from 0, and its path."""

    refuse: Callable[[int, str], Refused] = lambda number, path: "no"
    puts: list[str] = field(default_factory=list[str])
    """The path of each PUT, in order."""
    refused: int = 0


@dataclass(frozen=True)
class S3:
    """A running server with one empty bucket."""

    url: str
    faults: Faults

    @property
    def environment(self) -> dict[str, str]:
        """What a client needs in its environment."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": "us-east-1",
        }


@contextmanager
def s3_server() -> Iterator[S3]:
    """A server on a free port with the bucket `tapes`."""
    from moto.moto_api._internal import mock_random
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import WSGIRequestHandler, make_server

    mock_random.seed(1)
    faults, lock = Faults(), threading.Lock()
    inner: Any = DomainDispatcherApplication(create_backend_app)

    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        path = str(environ["PATH_INFO"])
        if environ["REQUEST_METHOD"] != "PUT" or path.count("/") < 2:
            return inner(environ, start_response)
        with lock:
            number = len(faults.puts)
            faults.puts.append(path)
            refused = faults.refuse(number, path)
            faults.refused += refused != "no"
        if refused == "no":
            return inner(environ, start_response)
        size = int(environ.get("CONTENT_LENGTH") or 0)
        if refused == "after":
            for _ in inner(environ, lambda *args: None):
                pass
        else:
            environ["wsgi.input"].read(size)
        start_response("503 Slow Down", [("content-type", "application/xml")])
        return [b"<Error><Code>SlowDown</Code></Error>"]

    class Quiet(WSGIRequestHandler):
        def log(self, type: str, message: str, *args: Any) -> None:
            pass

    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Quiet)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.port}"
        _create_bucket(url)
        yield S3(url, faults)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _create_bucket(url: str) -> None:
    from urllib.request import Request, urlopen

    signed = "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request"
    urlopen(Request(f"{url}/{BUCKET}", method="PUT", headers={"authorization": signed})).close()
