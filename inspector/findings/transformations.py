"""What programs do to a text by mistake on its way: known transformations, each with its inverse.

`transformation` names what made one text of another. `damage` finds what shows on a single text, without the original:
only shapes that have no other explanation.
"""

import ast
import base64
import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Literal
from urllib.parse import unquote

from turntape.cassettes.excerpts import cut
from turntape.cassettes.regex import regex

from ..wire.code_fence import unfenced
from ..wire.json_value import as_text, is_array, is_object, parse_json

type Maker = Literal["encoding", "writer"]
"""Who makes such a mistake: what encodes and decodes bytes, or whoever wrote the text."""

_ENTITY = regex(r"&(?:amp|lt|gt|quot|apos|nbsp|#\d{2,5}|#x[0-9a-fA-F]{2,4});")
_ESCAPED_CODE = regex(
    r"&amp;&amp;|[-=]&gt;|&[lg]t;=|\d&gt;&amp;\d|(?<=\w)&lt;\w+&gt;|&amp;(?:amp|lt|gt|quot|#)|\s&[lg]t;\s|&lt;&gt;|&lt;&lt;|&gt;&gt;"
)
"""Operators of code and shells that nobody writes as entities."""
_ESCAPED_PROSE = regex(r"\w&#(?:39|x27);\w|&quot;\w[^&<>]*&quot;|\w&apos;\w")
_TAG = regex(r"</?[a-zA-Z][\w-]*(?:\s[^<>]*)?/?>")
_MOJIBAKE = regex(
    "[\u00c2-\u00f4][\u0080-\u00bf\u20ac\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u017d"
    "\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u017e\u0178]+"
)
_MARKUP_END = regex(
    r"(</(?:antml:)?(?:parameter|invoke|arg_value|arg_key|tool_call|tool_use|function|function_calls?|args?|param|tool)>"
    r"|<\|[\w ]{2,40}\|>|<｜[^｜\n]{2,40}｜>|\[/?TOOL_CALLS?\])\s*\Z"
)
_BACKTICKS = regex(r"`[^`\n]+`\Z")
_BASE64 = regex(r"[A-Za-z0-9+/]{16,}={0,2}\Z")
_TYPOGRAPHY = str.maketrans(
    {
        "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2014": "-", "\u2212": "-",
        "\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"',
        "\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u200b": None, "\u2060": None, "\ufeff": None,
    }
)  # fmt: skip
_UNICODE = regex(r"(?<!\\)\\u(?:00[0-9a-fA-F]{2}|20[0-9a-fA-F]{2}|d[89ab][0-9a-fA-F]{2})")
_SPELLED = regex(r"(?<!\\)(?:\\u[0-9a-fA-F]{4}){3,}")
"""Characters of a word of any script, each as its code."""
_ESCAPED_CODES = 3
_TOKEN_BLANK = regex("(?<=\\S)[\u0120\u2581](?=\\w)")
"""How vocabularies of tokens write a space between two words. A list of tokens has the sign in front of each."""
_TOKEN_BYTE = regex(r"<0x[0-9A-F]{2}>")
_SPECIAL_TOKEN = regex(r"<\uff5c[^\uff5c\n]{2,40}\uff5c>")
_FEWEST_TOKENS = 3
_QUOTED = regex(r"\"(?:[^\"\\]++|\\.)*+(\")?|'(?:[^'\\]++|\\.)*+(')?", re.DOTALL)
"""A string; its group is empty for one that does not end."""
_ESCAPED_LINES = 3


def _undone(pattern: re.Pattern[str], text: str, undo: Callable[[str], str]) -> str | None:
    return undo(text) if pattern.search(text) else None


def _as_bytes(text: str) -> bytes:
    """The bytes that were read as Windows-1252; that code has no sign for five of them."""
    return b"".join(sign.encode("latin-1") if "\x80" <= sign <= "\x9f" else sign.encode("cp1252") for sign in text)


def _decoded(text: str) -> str | None:
    """A text whose UTF-8 was read as Latin-1 or Windows-1252."""

    def fixed(found: re.Match[str]) -> str:
        try:
            return _as_bytes(found[0]).decode()
        except UnicodeError:
            return found[0]

    made = _MOJIBAKE.sub(fixed, text)
    return made if made != text else None


def _unquoted(text: str) -> str | None:
    """The text in a JSON string."""
    bare = text.strip()
    return as_text(parse_json(bare)) if len(bare) > 2 and bare[0] == bare[-1] == '"' else None


def _lines(text: str) -> str | None:
    """A text with real line breaks in place of escaped ones."""
    if "\n" in text.strip() or "\\n" not in text:
        return None
    return text.replace("\\r", "").replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"').replace("\\\\", "\\")


def _unfenced(text: str) -> str | None:
    found = unfenced(text)
    return found[1] if found else None


def _plain_base64(text: str) -> str | None:
    bare = text.strip()
    if not _BASE64.match(bare) or len(bare) % 4:
        return None
    try:
        return base64.b64decode(bare, validate=True).decode()
    except ValueError:
        return None


_INVERSES: tuple[tuple[str, Callable[[str], str | None]], ...] = (
    ("HTML-escaped", lambda text: _undone(_ENTITY, text, html.unescape)),
    ("UTF-8 read as another encoding", _decoded),
    ("with its line breaks and quotes escaped", _lines),
    ("written as a JSON string", _unquoted),
    ("put into a code fence", _unfenced),
    ("put into backticks", lambda text: text.strip()[1:-1] if _BACKTICKS.match(text.strip()) else None),
    ("with markup of a call at its end", lambda text: _undone(_MARKUP_END, text, lambda t: _MARKUP_END.sub("", t))),
    ("encoded as base64", _plain_base64),
    ("URL-encoded", lambda text: unquote(text) if "%" in text else None),
    ("with typographic characters in place of plain ones", lambda text: text.translate(_TYPOGRAPHY)),
    ("with accents as separate characters", lambda text: unicodedata.normalize("NFC", text)),
    ("with a tokenizer's marks in place of blanks", lambda text: _undone(_TOKEN_BLANK, text, _blanks)),
    ("with NUL characters", lambda text: text.replace("\0", "") if "\0" in text else None),
)
"""What was made of a text, and how to get the text back; None where the text does not look so."""


def inverses(text: str) -> Iterator[tuple[str, str]]:
    """Each transformation that may have made this text, with what the text was before it."""
    for name, undo in _INVERSES:
        before = undo(text)
        if before is not None and before != text and before.strip():
            yield name, before


def _blanks(text: str) -> str:
    return _TOKEN_BLANK.sub(" ", text)


def _values(text: str) -> object:
    """The value that a text is as JSON, or as Python writes it; None for any other text."""
    bare = text.strip()
    if found := _MESSAGE.match(bare):
        bare = found[1]
    elif bare[:1] not in ("{", "[", "b", "'"):
        return None
    if bare[:1] in ("{", "[") and (value := parse_json(bare)) is not None:
        return value
    try:
        return ast.literal_eval(bare)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


_MESSAGE = regex(r"content=('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\") \w+=", re.DOTALL)
"""A message of a framework, as Python's `str` writes it."""
_LONGEST_WRAPPED = 200_000


def _wrapped(text: str) -> Iterator[tuple[str, str]]:
    """Each text in the object that a text is, and how it is written there."""
    waiting = [_values(text)] if len(text) <= _LONGEST_WRAPPED else []
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield "as the text of a whole object", value
        elif isinstance(value, bytes):
            yield "as Python writes bytes", value.decode("utf-8", "replace")
        elif is_object(value):
            waiting.extend(value.values())
        elif is_array(value):
            waiting.extend(value)


def _without(text: str) -> str:
    return "".join(text.split())


_IMAGES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("with every character outside ASCII replaced by '?'", lambda text: text.encode("ascii", "replace").decode()),
    ("without every character outside ASCII", lambda text: text.encode("ascii", "ignore").decode()),
    ("with the replacement character for lost ones", lambda text: re.sub(r"[^\x00-\x7f]", "\ufffd", text)),
    ("said twice", lambda text: text + text),
    ("in lower case", str.lower),
    ("in upper case", str.upper),
)


def transformation(was: str, became: str) -> str | None:
    """How `became` was made of `was`, as the end of a sentence: "HTML-escaped"; None for no known way.

    White space does not count.
    """
    old, new = _without(was), _without(became)
    if not old or not new or old == new:
        return None
    for name, before in inverses(became):
        if _without(before) == old:
            return name
    for name, before in inverses(was):
        if _without(before) == new:
            return f"no longer {name}"
    for name, value in _wrapped(became):
        if _without(value) == old:
            return name
    return next((name for name, image in _IMAGES if _without(image(was)) == new), None)


def damage(text: str) -> tuple[str, Maker] | None:
    """What is wrong with a single text, as the end of "it holds ..."; None for a text that may be meant so."""
    if "\0" in text:
        return "a NUL character", "writer"
    signs = () if text.isascii() else _MOJIBAKE.finditer(text)
    found = next((one for one in signs if _is_mojibake(one[0])), None)
    if found is not None:
        return f"UTF-8 that was read as another encoding ({found[0]!r} for {_decoded(found[0])!r})", "encoding"
    if (entity := html_escapes(text)) is not None:
        return f"HTML escapes ({entity!r})", "writer"
    if "\\u" in text and (code := _first_of(_UNICODE.finditer(text), _ESCAPED_CODES)) is not None:
        return f"escapes in place of characters ({code!r})", "encoding"
    if "\\u" in text and (word := _SPELLED.search(text)) is not None:
        return f"escapes in place of characters ({cut(word[0], 18)!r})", "encoding"
    if escaped_lines(text):
        return "'\\n' in place of line breaks", "writer"
    if (sign := token_signs(text)) is not None:
        return f"signs of the tokenizer's vocabulary ({sign!r})", "encoding"
    return None


def token_signs(text: str) -> str | None:
    """The sign that a server left in a text which it did not decode: in place of each space, or of single bytes.

    Languages that have the letter \u0120 have spaces too. Tokens of a chat template hold the signs as well.
    """
    if text.isascii():
        return _first_of(_TOKEN_BYTE.finditer(text), _FEWEST_TOKENS) if "<0x" in text else None
    signs = _TOKEN_BLANK.finditer(_SPECIAL_TOKEN.sub("", text))
    return _first_of(signs, max(_FEWEST_TOKENS, text.count(" ") + 1))


def _first_of(found: Iterator[re.Match[str]], fewest: int) -> str | None:
    """The first match, if there are that many. A list of all would take many times the memory of a long text."""
    first = next(found, None)
    if first is None or next(islice(found, fewest - 2, None), None) is None:
        return None
    return first[0]


def _is_mojibake(run: str) -> bool:
    """True for signs that are one or more other characters in UTF-8, of a kind that texts hold."""
    fixed = _decoded(run)
    return fixed is not None and not _MOJIBAKE.search(fixed) and all(one.isprintable() for one in fixed)


def html_escapes(text: str) -> str | None:
    """The first HTML escape in a text that is not HTML: an operator of code, or a quotation mark in prose."""
    if "&" not in text or _TAG.search(text):
        return None
    found = _ESCAPED_CODE.search(text) or _ESCAPED_PROSE.search(text)
    return found[0].strip() if found else None


def escaped_lines(text: str) -> bool:
    """True for a text of several lines that has `\\n` in place of each line break, outside of quoted strings."""
    if "\n" in text.strip() or text.count("\\n") < _ESCAPED_LINES:
        return False
    return _QUOTED.sub(lambda found: "" if found[1] or found[2] else found[0], text).count("\\n") >= _ESCAPED_LINES


def markup_end(text: str) -> str | None:
    """The end of a call's markup at the end of a text that does not begin such markup."""
    found = _MARKUP_END.search(text)
    if found is None:
        return None
    name = found[1].strip("</>[]|｜ ")
    return None if re.search(rf"[<\[](?:antml:)?{re.escape(name)}\b", text[: found.start()]) else found[1]
