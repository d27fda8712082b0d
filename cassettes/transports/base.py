"""The base class of the transports, for type checkers.

`httpx.Client(transport=…)` wants a subclass of `httpx.BaseTransport`, and `httpx2.Client` one of its own. Our
transports serve both and import neither. At run time both libraries only call methods, so `object` is enough. A type
checker sees `Any`, and so accepts the transports in both places.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    TransportBase = Any
else:
    TransportBase = object
