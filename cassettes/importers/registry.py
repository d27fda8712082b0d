"""The formats that can be read, most specific first. The format of mitmproxy is added where mitmproxy is installed."""

from collections.abc import Iterable
from pathlib import Path

from .cassetter import CASSETTER
from .format import Format, ImportFault
from .go_vcr import GO_VCR
from .har import HAR
from .httprr import HTTPRR
from .ruby_vcr import RUBY_VCR
from .vcrpy import VCRPY

FORMATS: tuple[Format, ...] = (HAR, CASSETTER, GO_VCR, HTTPRR, VCRPY, RUBY_VCR)


def detected(data: bytes, path: Path, formats: Iterable[Format] = FORMATS) -> Format:
    """The format of these bytes. Raises ImportFault when it is unknown."""
    known = tuple(formats)
    found = next((kind for kind in known if kind.sniff(data)), None)
    if found is not None:
        return found
    if data.lstrip()[:12] == b'{"turntape":':
        raise ImportFault(f"{str(path)!r} is a turntape cassette already; use it as it is")
    if not data.strip():
        raise ImportFault(f"{str(path)!r} is empty; name a file that holds a recording")
    names = ", ".join(kind.title for kind in known)
    raise ImportFault(f"{str(path)!r} has a format that turntape does not read ({names}); check the name of the file")
