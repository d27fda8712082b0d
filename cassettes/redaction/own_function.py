"""A user's own search for secrets, which must not fail in silence.

The function gets a text and gives the secrets in it. When it fails, the text is withheld: nobody knows what is in it.
"""

import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import cast

from ..errors import CassetteError
from .body_search import Spans
from .not_searched import NotSearched

type FindSecrets = Callable[[str], Iterable[str]]
"""The texts that are secret in a text. It is called for bodies, messages, header values and URLs, decoded too."""


class FunctionFailed(NotSearched):
    """The function raised an exception, or gave something else than texts."""

    def __init__(self, what: str) -> None:
        super().__init__(f"the redaction function failed ({what})")


def imported(name: str) -> FindSecrets:
    """The function `module:function`. Raises CassetteError when there is none."""
    module, _, attribute = name.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except Exception as exc:  # what the module does when it is imported may fail in any way
        raise CassetteError(
            f"redact_function {name!r} cannot be imported: {_cause(exc)}; write 'module:function', and install the "
            "module or set PYTHONPATH"
        ) from exc
    if not callable(found):
        raise CassetteError(f"redact_function {name!r} is not a function; write 'module:function'")
    if _is_pythons(module) or _is_pythons(getattr(found, "__module__", None)):
        # Settings of a repository that somebody else wrote must not hand each text to a shell, as os:system would.
        raise CassetteError(
            f"redact_function {name!r} is a function of Python itself, which searches for no secrets; "
            "name a function of your project"
        )
    return cast(FindSecrets, found)


def _cause(error: Exception) -> str:
    """What a missing module or name says in its words; of another error its kind too."""
    return str(error) if isinstance(error, ImportError | AttributeError) else f"{type(error).__name__}: {error}"


def _is_pythons(module: str | None) -> bool:
    return module is not None and module.partition(".")[0] in sys.stdlib_module_names - {"__main__"}


def named_by(function: FindSecrets, body: bytes) -> Spans:
    """The places of the secrets that the function names. Raises FunctionFailed."""
    text = body.decode("utf-8", "surrogateescape")
    try:
        given = function(text)
        secrets = [one.encode("utf-8", "surrogateescape") for one in ([given] if isinstance(given, str) else given)]
    except Exception as exc:
        raise FunctionFailed(type(exc).__name__) from exc
    spans: Spans = {}
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        at = body.find(secret)
        while at >= 0:
            spans.setdefault(at, (at + len(secret), 0))
            at = body.find(secret, at + len(secret))
    return spans
