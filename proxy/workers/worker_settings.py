"""What a worker must know when it starts."""

from collections.abc import Mapping
from pathlib import Path

from turntape.cassettes.frozen import frozen
from turntape.cassettes.routes.admission import OPEN, Admission

from ..capture.upstream_proxy import UpstreamProxy

type Page = tuple[int, str, bytes]
"""Status, content type, body."""


@frozen
class WorkerSettings:
    """What a worker needs to know; the descriptors are inherited."""

    host: str
    port: int
    salt: str
    """That of the file."""
    upstreams: Mapping[str, str]
    intercept: tuple[str, ...]
    confdir: Path
    upstream_proxy: UpstreamProxy | None = None
    trusted_ca: Path | None = None
    client_cert: Path | None = None
    spool: Path | None = None
    runs_by_trace: bool = False
    admission: Admission = OPEN
    number: int = 0
    """Which of the workers it is, from 1."""
    sockets: tuple[int, ...] = ()
    shared: int = -1
    places: int = -1
    channel: int = -1
    pages: int | None = None
    """Where it asks for pages below `/-/`; None when there are none."""
