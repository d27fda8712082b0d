"""A request with the names of vcrpy, as the functions of a suite get and change it."""

from collections.abc import Iterator, MutableMapping
from urllib.parse import SplitResult, parse_qsl

from ..tape import model
from ..tape.model import split_url

_PORTS = {"https": 443, "http": 80}


class HeadersDict(MutableMapping[str, str]):
    """Header fields by their names in any case; of a name that repeats, the last value."""

    def __init__(self, fields: model.Headers = ()) -> None:
        self._fields: dict[str, tuple[str, str]] = {}
        for name, value in fields:
            self[name] = value

    def __setitem__(self, name: str, value: object) -> None:
        several: list[object] = list(value) if isinstance(value, list | tuple) else [value]  # pyright: ignore[reportUnknownArgumentType]
        first = several[0] if several else ""
        spelled = self._fields.get(name.lower(), (name, ""))[0]
        self._fields[name.lower()] = (spelled, first.decode("latin-1") if isinstance(first, bytes) else str(first))

    def __getitem__(self, name: str) -> str:
        return self._fields[name.lower()][1]

    def __delitem__(self, name: str) -> None:
        del self._fields[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._fields.values())

    def __len__(self) -> int:
        return len(self._fields)

    def __repr__(self) -> str:
        return repr(dict(self))

    @property
    def fields(self) -> model.Headers:
        return tuple(self._fields.values())


class Request:
    """`method`, `uri`, `body` (bytes or None) and `headers` can be changed; the other names follow from them."""

    def __init__(self, method: str, uri: str, body: bytes | str | None, headers: object = ()) -> None:
        self.method = method
        self.uri = uri
        self.body = body
        self.headers = headers

    @classmethod
    def of(cls, request: model.Request) -> "Request":
        return cls(request.method, request.url, request.body or None, request.headers)

    def as_recorded(self, before: model.Request) -> model.Request:
        """The request that is stored in place of `before`."""
        headers = before.headers if self.headers == HeadersDict(before.headers) else self.headers.fields
        return model.Request(
            self.method, self.uri, headers, self.body or b"", before.http_version, before.encoding, before.complete
        )

    @property
    def body(self) -> bytes | None:
        return self._body

    @body.setter
    def body(self, value: object) -> None:
        match value:
            case str():
                self._body = value.encode()
            case None | bytes():
                self._body = value
            case bytearray():
                self._body = bytes(value)
            case _:
                self._body = str(value).encode()

    @property
    def headers(self) -> HeadersDict:
        return self._headers

    @headers.setter
    def headers(self, value: object) -> None:
        match value:
            case HeadersDict():
                self._headers = value
            case dict():
                given: dict[str, str] = value  # pyright: ignore[reportUnknownVariableType]
                self._headers = HeadersDict(tuple(given.items()))
            case _:
                fields: model.Headers = tuple(value)  # pyright: ignore[reportArgumentType, reportUnknownVariableType]
                self._headers = HeadersDict(fields)

    @property
    def _parts(self) -> SplitResult:
        return split_url(self.uri)

    @property
    def parsed_uri(self) -> SplitResult:
        return self._parts

    @property
    def url(self) -> str:
        return self.uri

    @property
    def scheme(self) -> str:
        return self._parts.scheme

    protocol = scheme

    @property
    def host(self) -> str | None:
        return self._parts.hostname

    @property
    def port(self) -> int | None:
        return self._parts.port or _PORTS.get(self.scheme)

    @property
    def path(self) -> str:
        return self._parts.path

    @property
    def query(self) -> list[tuple[str, str]]:
        return sorted(parse_qsl(self._parts.query))

    def __repr__(self) -> str:
        return f"<Request ({self.method}) {self.uri}>"
