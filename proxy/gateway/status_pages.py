"""`/-/live`, `/-/ready` and `/-/metrics`: what a supervisor, a load balancer and Prometheus ask."""

from collections.abc import Callable

from .metrics import CONTENT_TYPE

type Page = tuple[int, str, bytes]
"""Status, content type, body."""

_PLAIN = "text/plain; charset=utf-8"


class StatusPages:
    """Answers for the paths below `/-/`. `ready` says whether new clients may come."""

    def __init__(self, metrics: Callable[[], bytes] = lambda: b"") -> None:
        self.ready = False
        self._metrics = metrics

    def answer(self, path: str) -> Page:
        """The page at a path; the query does not count."""
        match path.partition("?")[0]:
            case "/-/live":
                return 200, _PLAIN, b"live\n"
            case "/-/ready":
                return (200, _PLAIN, b"ready\n") if self.ready else (503, _PLAIN, b"draining\n")
            case "/-/metrics":
                return 200, CONTENT_TYPE, self._metrics()
            case other:
                return 404, _PLAIN, f"no page {other!r}; there are /-/live, /-/ready and /-/metrics\n".encode()
