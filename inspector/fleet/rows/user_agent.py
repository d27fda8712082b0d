"""The program that sent a request, as its user agent names it.

`claude-cli/2.0.1 (external, cli)`, `OpenAI/Python 3.54.0` and `GeminiCLI/0.9.0/gemini-3-pro (linux; x64)` are the
shapes that real clients send.
"""

from turntape.cassettes.regex import regex

_PRODUCT = regex(r"(?P<name>[\w.@+-]+(?:/[A-Za-z][\w.+-]*)?)[/ ]v?(?P<version>\d[\w.+-]*)")
_BARE = regex(r"[\w.@+-]+(?:/[A-Za-z][\w.+-]*)?")
_LONGEST = 64


def client_of(user_agent: str | None) -> tuple[str | None, str | None]:
    """The name of the program and its version; None where the header does not say."""
    if not user_agent:
        return None, None
    found = _PRODUCT.match(user_agent)
    if found:
        return found["name"][:_LONGEST], found["version"][:_LONGEST]
    first = _BARE.match(user_agent)
    return (first[0][:_LONGEST] if first and first.end() == len(user_agent) else None), None
