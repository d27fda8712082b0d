"""Memory of large bodies: it goes back to the system when they are no longer used."""

import sys

_MMAP_THRESHOLD = -3
"""The option of `mallopt` (glibc, malloc.h)."""
LARGE = 1_000_000
"""Blocks from this many bytes on are given back one by one."""


def give_back_large_blocks() -> bool:
    """Let glibc give back large blocks as soon as they are freed; False where the system does it its own way.

    Without it glibc keeps freed blocks of up to 32 MB and puts small ones into them, so that they stay.
    """
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    try:
        return bool(ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, LARGE))
    except (AttributeError, OSError):  # another C library
        return False
