"""Signs for terminals without Unicode: each sign of the views has an ASCII character that is one cell wide too."""

import unicodedata

_PAIRS = (
    ("◆■▶●○", "*#>oo"),  # the layers
    ("→←↑↓↵⏎", "><^v><"),
    ("✗⊘⊤¢≈↻✓▴⚙", "xfTc~r+^%"),
    ("▾▸⋯…", "v>~~"),
    ("·–—−×±≥≤≠ʼ’‘“”", ".---x+><!'''\"\""),
    ("▁▂▃▄▅▆▇█", "__--==##"),  # bars from below
    ("▏▎▍▌▋▊▉▕▔▀▐", "|--####|--|"),  # bars from the left, and frames
    ("░▒▓◼◇▚▤", ".:+@o%&"),  # the kinds of tokens without colours
    ("─━│┃┄┆╌╍╎╏", "--||-:--::"),
    ("┌┐└┘├┤┬┴┼╭╮╰╯╔╗╚╝", "+++++++++++++++++"),
    ("⏸⏵", "=>"),
)
TABLE: dict[str, str] = {sign: other for signs, others in _PAIRS for sign, other in zip(signs, others, strict=True)}
"""Sign → ASCII character."""

_KEYS = {"←": "Left", "→": "Right", "↑": "Up", "↓": "Down", "↵": "Enter"}


def keys_in_words(keys: str) -> str:
    """Keys such as `h ←`, with words for the signs: as characters, `<` and `v` are other keys."""
    return " ".join(_KEYS.get(key, key) for key in keys.split(" "))


def in_ascii(text: str) -> str:
    """`text` in ASCII, with the same width in cells; a letter that ASCII does not have is a question mark."""
    return text if text.isascii() else "".join(map(_one, text))


def _one(character: str) -> str:
    if character.isascii():
        return character
    if known := TABLE.get(character):
        return known
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Mn", "Me"):
        return ""
    return "??" if unicodedata.east_asian_width(character) in "WF" else "?"
