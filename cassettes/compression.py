"""Zstandard, from the standard library where it has it (3.14) and from its backport before."""

import sys

if sys.version_info >= (3, 14):
    from compression.zstd import CompressionParameter, ZstdCompressor, ZstdDecompressor, ZstdError
else:
    from backports.zstd import CompressionParameter, ZstdCompressor, ZstdDecompressor, ZstdError

__all__ = ["CompressionParameter", "ZstdCompressor", "ZstdDecompressor", "ZstdError", "compressor"]


def compressor() -> ZstdCompressor:
    """A compressor for one recording: a window of 8 MB, which plain `zstdcat` reads back."""
    return ZstdCompressor(options={CompressionParameter.compression_level: 3, CompressionParameter.window_log: 23})
