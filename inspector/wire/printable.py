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


def dollars(amount: Decimal | None) -> str:
    """An amount in US dollars with about three significant digits; `unpriced` for None."""
    if amount is None:
        return "unpriced"
    if amount >= Decimal("99.995"):
        return f"${amount:,.0f}"
    if amount >= Decimal("0.9995"):
        return f"${amount:.2f}"
    if amount >= Decimal("0.00995"):
        return f"${amount:.3f}"
    return f"${amount:.4f}" if amount >= Decimal("0.0001") else f"${amount:.6f}" if amount else "$0"
