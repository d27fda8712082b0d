"""The address of a collector, and what its environment says: headers and the names of the service.

Variables of https://opentelemetry.io/docs/specs/otel/protocol/exporter/ and of
https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ (read 2026-11-22).
"""

import base64
from collections.abc import Mapping
from dataclasses import field
from urllib.parse import unquote, urlsplit, urlunsplit

from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.frozen import frozen

from ..wire.json_value import Object, as_object, objects_in

_TRACES = "/v1/traces"
_HEADERS = ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS")
"""The second is for traces alone and comes before the first."""
_NAMES = ("OTEL_RESOURCE_ATTRIBUTES", "OTEL_SERVICE_NAME")


@frozen
class Collector:
    """Where spans are sent."""

    url: str
    """With the path of the traces, without a password."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    resource: Mapping[str, str] = field(default_factory=dict[str, str])
    """Attributes of the service, by its environment."""

    def named(self, resource: Object) -> Object:
        """A ResourceSpans with the attributes of the environment, which come before ours."""
        ours = objects_in(as_object(resource["resource"])["attributes"])
        theirs: list[Object] = [{"key": key, "value": {"stringValue": value}} for key, value in self.resource.items()]
        attributes = [*(one for one in ours if one["key"] not in self.resource), *theirs]
        return {**resource, "resource": {"attributes": attributes}}


def collector_at(url: str, environ: Mapping[str, str]) -> Collector:
    """The collector at this address: a base URL, or one that ends in `/v1/traces`.

    Raises TurntapeError when it is not an HTTP address.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    if parts.scheme not in ("http", "https") or not host:
        raise TurntapeError(
            f"{url!r} is not the address of a collector; give its HTTP endpoint, such as http://127.0.0.1:4318"
        )
    path = parts.path.rstrip("/")
    path = path if path.endswith(_TRACES) else path + _TRACES
    place = (f"[{host}]" if ":" in host else host) + (f":{port}" if port is not None else "")
    headers = {name.lower(): value for one in _HEADERS for name, value in _pairs(environ.get(one, ""))}
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers.setdefault("authorization", f"Basic {base64.b64encode(pair.encode()).decode()}")
    resource = dict(_pairs(environ.get(_NAMES[0], "")))
    if name := environ.get(_NAMES[1], "").strip():
        resource["service.name"] = name
    return Collector(urlunsplit((parts.scheme, place, path, parts.query, "")), headers, resource)


def _pairs(text: str) -> list[tuple[str, str]]:
    """`name=value,name=value`, with percent escapes; what has no name is skipped."""
    found = (item.partition("=") for item in text.split(","))
    return [(name.strip(), unquote(value.strip())) for name, equals, value in found if equals and name.strip()]
