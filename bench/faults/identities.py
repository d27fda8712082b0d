"""Ids and signatures that look like those of the APIs and are the same in every run."""

import base64
from hashlib import blake2b

_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def letters(seed: str, length: int, alphabet: str = _LETTERS) -> str:
    """`length` characters that depend on `seed` alone."""
    number = int.from_bytes(b"".join(blake2b(f"{seed}/{i}".encode()).digest() for i in range(1 + length // 64)))
    made: list[str] = []
    for _ in range(length):
        number, place = divmod(number, len(alphabet))
        made.append(alphabet[place])
    return "".join(made)


def lower(seed: str, length: int) -> str:
    return letters(seed, length, "0123456789abcdefghijklmnopqrstuvwxyz")


def digits(seed: str, length: int) -> str:
    return letters(seed, length, "0123456789abcdef")


def signature(seed: str, size: int = 180) -> str:
    """Opaque bytes in base64, as thinking is signed with."""
    data = b"".join(blake2b(f"{seed}#{i}".encode()).digest() for i in range(1 + size // 64))[:size]
    return base64.b64encode(data).decode()
