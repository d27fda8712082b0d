"""The shape of a text: how many words, letters, digits and signs it has.

Tokens follow the shape of a text more closely than its bytes: source code has more tokens per byte than prose. There is
no vocabulary here. What a word or a digit is in tokens is learned of each model from the API's own counts.
"""

from collections.abc import Iterator

from turntape.cassettes.regex import regex

type Shape = tuple[int, ...]
"""One number for each of `FEATURES`."""

FEATURES = (
    "answer",
    "reasoning before calls",
    "reasoning before text",
    "message",
    "content",
    "call",
    "call sent back",
    "words",
    "letters",
    "letters of long words",
    "capitals",
    "digits",
    "numbers",
    "signs",
    "groups of signs",
    "spaces",
    "line ends",
    "indents",
    "other bytes",
)
"""`answer` is 1 for an answer that is sent back: what is around it has so many tokens more than what is around any
message, or fewer; `reasoning` are the tokens of reasoning in its count as output, which may come back or not; `message`
is 1 for the first content of a message, `content` for each. `call` is 1 for a call, which is written in a form of the
model's own; `call sent back` for one whose form in the history may be another one. Letters of long words are those
after the sixth. Spaces are all bytes of white space; line ends are counted once for several in a row, indents are runs
of spaces."""
AROUND, TEXT = 5, 7
"""So many features are around contents; from the second place on, they are of texts."""
USUAL: tuple[float, ...] = (
    *(0.0, 0.5, 0.5, 3.0, 2.0),
    *(6.0, 0.0),
    *(0.55, 0.07, 0.12, 0.15, 0.3, 0.3, 0.35, 0.35, 0.03, 0.4, 0.4, 0.4),
)
"""Tokens for one of each, before anything is known of a model."""
SPREAD: tuple[float, ...] = (
    *(1.5, 0.4, 0.4, 3.0, 1.5),
    *(6.0, 1.0),
    *(0.33, 0.15, 0.07, 0.09, 0.18, 0.18, 0.21, 0.21, 0.15, 0.24, 0.6, 0.24),
)
"""How far models usually are from that."""
ANSWER, REASONING, MESSAGE, CONTENT, CALL, CALLED = 0, (1, 2), 3, 4, 5, 6
"""The places of these features."""
MAY_BE_LESS = frozenset({ANSWER, CALLED})
"""The features that may have less than no tokens."""

_LONG = 6
_CLASSES = bytes(
    0x61 if 97 <= c <= 122  # a: small letters
    else 0x41 if 65 <= c <= 90  # A: capitals
    else 0x30 if 48 <= c <= 57  # 0: digits
    else 0x20 if c == 32
    else 0x0A if c in b"\t\r\n\v\f"
    else 0x78 if c >= 128  # x: bytes of other characters
    else 0x2E  # .: signs
    for c in range(256)
)  # fmt: skip
_WORD = regex(rb"[aA]+")
_LONG_WORD = regex(rb"[aA]{%d}([aA]+)" % _LONG)
_RUNS = tuple(regex(pattern) for pattern in (rb"0+", rb"\.+", rb"\n+", rb"  +"))
NO_TEXT: Shape = (0, 0, 0, 0, 1, *(0 for _ in FEATURES[AROUND:]))


def shape_of(text: bytes) -> Shape:
    """The shape of a text in UTF-8."""
    if not text:
        return NO_TEXT
    classes = text.translate(_CLASSES)
    if len(classes) > _BLOCK:
        parts = [_counted(block) for block in _blocks(classes)]
        return (*NO_TEXT[:TEXT], *map(sum, zip(*parts, strict=True)))
    return (*NO_TEXT[:TEXT], *_counted(classes))


_BLOCK = 1 << 18
"""Bytes of a text that are counted at a time: what is found in a large one would take many times its memory."""
_SAME = regex(rb"[aA]+|0+|\.+|\n+| +|x+")


def _blocks(classes: bytes) -> Iterator[bytes]:
    """The text in parts, each with whole runs of equal classes."""
    at = 0
    while at < len(classes):
        run = _SAME.match(classes, at + _BLOCK)
        end = run.end() if run is not None else len(classes)
        yield classes[at:end]
        at = end


def _counted(classes: bytes) -> tuple[int, ...]:
    words = len(_WORD.findall(classes))
    long = sum(map(len, _LONG_WORD.findall(classes)))
    small, capitals, digits, signs, other = (classes.count(one) for one in (b"a", b"A", b"0", b".", b"x"))
    spaces = len(classes) - small - capitals - digits - signs - other
    numbers, groups, lines, indents = (len(pattern.findall(classes)) for pattern in _RUNS)
    return words, small + capitals, long, capitals, digits, numbers, signs, groups, spaces, lines, indents, other


def begins_message(shape: Shape) -> Shape:
    """The shape of a content that is the first of its message."""
    return (*shape[:MESSAGE], 1, *shape[MESSAGE + 1 :])


def of_call(shape: Shape) -> Shape:
    """The shape of a call, from that of its name and arguments."""
    return (*shape[:CALL], 1, *shape[CALL + 1 :])


def tokens_of(shape: Shape, rates: tuple[float, ...]) -> float:
    """The tokens of a shape at these rates."""
    return sum(count * rate for count, rate in zip(shape, rates, strict=True) if count)
