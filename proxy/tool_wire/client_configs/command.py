"""`turntape mcp wrap FILE` and `turntape mcp unwrap FILE`."""

import argparse

from turntape.cassettes.errors import TurntapeError


def main(options: argparse.Namespace) -> int:
    """Run `options.action`, which is `wrap` or `unwrap`, on `options.files`; returns the exit code."""
    raise TurntapeError(f"`turntape mcp {options.action}` is not there yet")
