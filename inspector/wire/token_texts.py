"""The tokens of an answer, as an API lists them with their probabilities."""

from collections.abc import Iterable, Iterator

from turntape.cassettes.regex import regex

from .json_value import Object, as_object, is_array, is_object

_PROBABILITY = ("logprob", "logProbability", "log_probability")
_DEEPEST = 8
_NUMBERED = regex(r"token_id:\d+|bytes:(?:\\x[0-9a-fA-F]{2})+")
"""How servers write a token that they do not spell as text."""


def token_bytes(bodies: Iterable[object]) -> bytes | None:
    """The tokens of all bodies, joined in order; None where no token is listed, or where one has no text."""
    found: list[bytes] = []
    for body in bodies:
        for token in _tokens(body, 0):
            spelled = _spelled(token)
            if spelled is None:
                return None
            found.append(spelled)
    return b"".join(found) if found else None


def _byte_level() -> dict[str, int]:
    """The letters by which vocabularies of the GPT-2 kind write bytes: `Ġ` is a space and `Ċ` a new line.

    https://github.com/openai/gpt-2/blob/master/src/encoder.py (`bytes_to_unicode`, read 2026-11-30)
    """
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    other = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(256 + place): byte for place, byte in enumerate(other)}


_BYTE_LEVEL = _byte_level()


def from_byte_level(spoken: bytes) -> bytes:
    """The text of tokens that a server lists as its vocabulary writes them; empty when they are not written so."""
    letters = spoken.decode("utf-8", "replace")
    return bytes(_BYTE_LEVEL[letter] for letter in letters) if all(map(_BYTE_LEVEL.__contains__, letters)) else b""


def _spelled(token: Object) -> bytes | None:
    codes, text = token.get("bytes"), token.get("token")
    if is_array(codes) and codes:
        numbers = [code for code in codes if isinstance(code, int) and 0 <= code < 256]
        return bytes(numbers) if len(numbers) == len(codes) else None
    if not isinstance(text, str) or _NUMBERED.fullmatch(text):
        return None
    return text.encode("utf-8", "replace")


def _tokens(value: object, depth: int) -> Iterator[Object]:
    if depth > _DEEPEST:
        return
    if is_array(value):
        items = [as_object(item) for item in value]
        if items and all(_is_token(item) for item in items):
            yield from items
            return
        for item in value:
            yield from _tokens(item, depth + 1)
    elif is_object(value):
        for inner in value.values():
            if is_array(inner) or is_object(inner):
                yield from _tokens(inner, depth + 1)


def _is_token(item: Object) -> bool:
    return isinstance(item.get("token"), str) and any(isinstance(item.get(key), int | float) for key in _PROBABILITY)
