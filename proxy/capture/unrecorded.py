"""Traffic that came to the proxy and was not recorded, because it was not for an LLM API."""

from collections import Counter
from dataclasses import dataclass, field

OWN_PORT = "turntape's own port"
"""The host of a client that speaks TLS to the proxy itself: its base URL begins with `https://`."""


@dataclass(slots=True)
class UnrecordedTraffic:
    """Counts by host."""

    tunnelled: Counter[str] = field(default_factory=Counter[str])
    """Connections that were passed on unchanged."""
    passed: Counter[str] = field(default_factory=Counter[str])
    """Plain HTTP requests that were passed on and not recorded."""
    distrusted: Counter[str] = field(default_factory=Counter[str])
    """TLS handshakes that the client ended, most often because it does not trust turntape's certificate."""
    bypassed: Counter[str] = field(default_factory=Counter[str])
    """Connections that the command made without the proxy, by place and program; only where they can be observed."""
    refused: Counter[str] = field(default_factory=Counter[str])
    """Requests that were not let in (`Admission`), by what was wrong with them."""
