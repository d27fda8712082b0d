"""What is left out of a request before it is compared and stored: vcrpy's `filter_…` options.

A replacement is a text, None to remove the value, or a function of name, value and request that gives one of these.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qsl, urlencode

from .request import Request

type Given = "str | None | Callable[[str, str, Request], str | None]"
type Named = "Iterable[str | tuple[str, Given]]"
type Filter = Callable[[Request], Request | None]


def _replaced(given: Given, name: str, value: Any, request: Request) -> Any:
    return given(name, value, request) if callable(given) else given


def _by_name(named: Named) -> dict[str, Given]:
    return dict((one, None) if isinstance(one, str) else (one[0], one[1]) for one in named)


def headers(named: Named) -> Filter:
    """Replaces or removes header fields."""

    def change(request: Request) -> Request:
        for name, given in _by_name(named).items():
            if name not in request.headers:
                continue
            value = _replaced(given, name, request.headers[name], request)
            if value is None:
                del request.headers[name]
            else:
                request.headers[name] = value
        return request

    return change


def query(named: Named) -> Filter:
    """Replaces or removes parameters in the query."""

    def change(request: Request) -> Request:
        known, parts = _by_name(named), request.parsed_uri
        pairs = parse_qsl(parts.query, keep_blank_values=True)
        if not known.keys() & {name for name, _ in pairs}:
            return request
        request.uri = parts._replace(query=_form(pairs, known, request)).geturl()
        return request

    return change


def post_data(named: Named) -> Filter:
    """Replaces or removes the values of a form, or the fields at the top of a JSON body."""

    def change(request: Request) -> Request:
        if request.method != "POST" or not request.body:
            return request
        known = _by_name(named)
        if "json" in request.headers.get("content-type", ""):
            request.body = _in_json(request.body, known, request)
            return request
        pairs = parse_qsl(request.body.decode("utf-8", "surrogateescape"), keep_blank_values=True)
        if known.keys() & {name for name, _ in pairs}:
            request.body = _form(pairs, known, request)
        return request

    return change


def _form(pairs: list[tuple[str, str]], known: dict[str, Given], request: Request) -> str:
    new = [(name, _replaced(known[name], name, value, request) if name in known else value) for name, value in pairs]
    return urlencode([(name, value) for name, value in new if value is not None])


def _in_json(body: bytes, known: dict[str, Given], request: Request) -> bytes:
    try:
        fields = json.loads(body)
    except ValueError:
        return body
    if not isinstance(fields, dict) or not known.keys() & fields.keys():
        return body
    for name in known.keys() & fields.keys():
        value = _replaced(known[name], name, fields[name], request)
        if value is None:
            del fields[name]
        else:
            fields[name] = value
    return json.dumps(fields).encode()


def ignored_hosts(hosts: Iterable[str]) -> Filter:
    """Lets requests to these hosts pass: they are neither answered nor recorded."""
    known = frozenset(hosts)
    return lambda request: None if request.host in known else request


def replace_headers(request: Request, replacements: Named) -> Request | None:
    """The request with other header fields: `[(name, value), …]`."""
    return headers(replacements)(request)


def remove_headers(request: Request, headers_to_remove: Iterable[str]) -> Request | None:
    """The request without these header fields."""
    return headers(headers_to_remove)(request)


def replace_query_parameters(request: Request, replacements: Named) -> Request | None:
    """The request with other parameters in its query."""
    return query(replacements)(request)


def remove_query_parameters(request: Request, query_parameters_to_remove: Iterable[str]) -> Request | None:
    """The request without these parameters in its query."""
    return query(query_parameters_to_remove)(request)


def replace_post_data_parameters(request: Request, replacements: Named) -> Request | None:
    """The request with other values in its form or JSON body."""
    return post_data(replacements)(request)


def remove_post_data_parameters(request: Request, post_data_parameters_to_remove: Iterable[str]) -> Request | None:
    """The request without these values in its form or JSON body."""
    return post_data(post_data_parameters_to_remove)(request)


def decode_response(response: Any) -> Any:
    """The answer itself: here, answers have no content-encoding."""
    return response
