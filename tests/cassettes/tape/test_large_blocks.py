"""Freed memory of large bodies goes back to the system."""

import subprocess
import sys

import pytest

CHILD = """
import sys
from turntape.cassettes.tape.large_blocks import give_back_large_blocks

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096

assert give_back_large_blocks()
first = bytearray(24_000_000); del first
before, blocks = resident(), []
for _ in range(6):
    blocks.append(bytearray(b"x" * 12_000_000))
    blocks.append(bytearray(50_000))
del blocks[::2]
print((resident() - before) // 1_000_000)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the C library of Linux")
def test_large_blocks_are_given_back_although_small_ones_came_later() -> None:
    said = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, check=True).stdout

    assert int(said) < 12
