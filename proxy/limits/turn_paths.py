"""Which requests are turns, decided by method and path alone: nothing is parsed in the proxy's event loop."""

from urllib.parse import urlsplit

from turntape.cassettes.apis.lookup import is_turn_path


def path_of(url: str) -> str:
    """The path of a URL, or of a request target, without its query and without a slash at the end."""
    return urlsplit(url).path.rstrip("/")


def makes_a_turn(method: str, url: str) -> bool:
    """Whether a request asks for a generated answer. `url` may be a path."""
    return method == "POST" and is_turn_path(path_of(url))
