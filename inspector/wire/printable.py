"""Text for printing: safe text from the wire, and numbers with their noun."""

from decimal import Decimal

from turntape.cassettes.counted import several as several
from turntape.cassettes.regex import regex

_CONTROL = regex(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def safe(text: str) -> str:
    """Text from the wire without control characters, which would otherwise control the terminal.

    Tabs become spaces. Lone surrogates are shown by their number.
    """
    if text.isprintable():
        return text
    text = text.replace("\t", "    ").replace("\r\n", "\n")
    text = _CONTROL.sub(lambda m: f"\\x{ord(m.group()):02x}", text)
    return text.encode("utf-8", "backslashreplace").decode()


_DECIMALS = ((Decimal("0.9995"), 2), (Decimal("0.00995"), 3), (Decimal("0.000995"), 4), (Decimal("0.0000995"), 5))
"""From this amount on, so many decimals show two digits or more."""
_LEAST = Decimal("0.00000995")


def dollars(amount: Decimal | None) -> str:
    """An amount in US dollars with two or three significant digits, at most nine characters; `unpriced` for None.

    What is less than a thousandth of a cent is `<$0.00001`, never `$0`.
    """
    if amount is None:
        return "unpriced"
    if amount < 0:
        return f"-{dollars(-amount)}"
    if amount >= Decimal("99.995"):
        return f"${amount:,.0f}"
    if amount < _LEAST:
        return "<$0.00001" if amount else "$0"
    return f"${amount:.{next((digits for least, digits in _DECIMALS if amount >= least), 6)}f}"
