"""The shape of a text: how many words, letters, digits and signs it has.

Tokens follow the shape of a text more closely than its bytes: source code has more tokens per byte than prose. There is
no vocabulary here. What a word or a digit is in tokens is learned of each model from the API's own counts.
"""

import re

type Shape = tuple[int, ...]
"""One number for each of `FEATURES`."""

FEATURES = ("answer", "reasoning", "content", "words", "letters", "digits", "signs", "breaks", "other bytes")
"""`answer` is 1 for what is around an answer and is not in its count as output; `reasoning` are the tokens of
reasoning in that count, which may come back or not; `content` is 1 for what is around each content. `breaks` are
runs of white space other than one space."""
AROUND = 3
"""So many features are not text."""
USUAL: tuple[float, ...] = (2.0, 0.5, 4.0, 0.75, 0.08, 0.45, 0.55, 0.5, 0.4)
"""Tokens for one of each, before anything is known of a model."""

_CLASSES = bytes(
    0x61 if 65 <= c <= 90 or 97 <= c <= 122  # a: letters
    else 0x30 if 48 <= c <= 57  # 0: digits
    else 0x20 if c in b" \t\r\n\v\f"
    else 0x78 if c >= 128  # x: bytes of other characters
    else 0x2E  # .: signs
    for c in range(256)
)  # fmt: skip
_WORD = re.compile(rb"a+")
_BREAK = re.compile(rb"  +")
_NEW_LINES = re.compile(rb"[\t\r\n\v\f]")
NO_TEXT: Shape = (0, 0, 1, *(0 for _ in FEATURES[AROUND:]))


def shape_of(text: bytes) -> Shape:
    """The shape of a text in UTF-8."""
    if not text:
        return NO_TEXT
    classes = text.translate(_CLASSES)
    words = sum(1 for _ in _WORD.finditer(classes))
    breaks = sum(1 for _ in _BREAK.finditer(_NEW_LINES.sub(b"  ", text)))
    letters, digits, signs, other = (classes.count(one) for one in (b"a", b"0", b".", b"x"))
    return (0, 0, 1, words, letters, digits, signs, breaks, other)


def tokens_of(shape: Shape, rates: tuple[float, ...]) -> float:
    """The tokens of a shape at these rates."""
    return sum(count * rate for count, rate in zip(shape, rates, strict=True) if count)
