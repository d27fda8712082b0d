"""What an importer is, and the round trips that importers make."""

from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from ..errors import CassetteError
from ..frozen import frozen
from ..routes.upstreams import by_host
from ..tape.model import Failure, Request, Response, RoundTrip

EXTRA = "imported"
"""The field of `RoundTrip.extra` that says which file a round trip comes from."""


class ImportFault(CassetteError):
    """A recording of another tool cannot be read. The message names the file and the place in it."""


@frozen
class Format:
    """One kind of recording. `read` raises ImportFault where the bytes break their format."""

    name: str
    title: str
    """Its common name."""
    sniff: Callable[[bytes], bool]
    """True when these bytes have this format: a fast check, good enough to name the format in an error."""
    read: Callable[[bytes, Path], Iterator[RoundTrip]]


@frozen
class Origin:
    """The place of a round trip in a file of another tool."""

    format: str
    path: Path
    place: str
    """For example `interactions[3]`."""

    def fault(self, what: str, advice: str) -> ImportFault:
        """The error for this place: what is wrong, and what to do next."""
        return ImportFault(f"{str(self.path)!r} at {self.place}: {what}; {advice}")


def round_trip(
    origin: Origin,
    request: Request,
    response: Response | None,
    started_at: float,
    notes: tuple[str, ...] = (),
    *,
    failure: Failure | None = None,
    request_at: int | None = None,
    first_byte_at: int | None = None,
    ended_at: int | None = None,
) -> RoundTrip:
    """A round trip on the import route. `extra` has its origin, and `notes` on what the source did not have."""
    upstream = by_host(_host(request.url))
    said: dict[str, object] = {"format": origin.format, "file": origin.path.name, "place": origin.place}
    if notes:
        said["notes"] = list(notes)
    return RoundTrip(
        request=request,
        response=response,
        started_at=started_at,
        request_at=request_at,
        first_byte_at=first_byte_at,
        ended_at=ended_at,
        failure=failure,
        route="import",
        upstream=upstream.name if upstream else None,
        extra={EXTRA: said},
    )


def notes_of(trip: RoundTrip) -> tuple[str, ...]:
    """What an importer noted on a round trip."""
    said = trip.extra.get(EXTRA)
    notes = said.get("notes") if isinstance(said, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return tuple(str(note) for note in notes) if isinstance(notes, list) else ()  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
