"""The base classes of the transports.

The types of `httpx.Client(transport=…)` require a subclass of `httpx.BaseTransport`, and those of `httpx2.Client` a
subclass of `httpx2.BaseTransport`. Our transports work with both and import neither. At run time both libraries only
call methods, so `object` is enough. A type checker sees `Any`, and accepts the transports in both places.
"""

from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from typing import Any as TransportBase
else:
    TransportBase = object


class SyncTransport(TransportBase):
    """A transport for a client that blocks. As a context manager it is closed at the end."""

    def close(self) -> None:
        """Nothing is held open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        self.close()


class AsyncTransport(TransportBase):
    """A transport for a client that is awaited. As a context manager it is closed at the end."""

    async def aclose(self) -> None:
        """Nothing is held open."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        await self.aclose()
