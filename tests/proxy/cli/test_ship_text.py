"""What `turntape ship` prints."""

from pathlib import Path

import pytest

from turntape.inspector.fleet.shipping.outcome import ShippedFile
from turntape.proxy.cli.ship_text import text_line


@pytest.mark.parametrize("name", ["a\nb", "\x1b]0;title\x07", "\u202egnp", "\udcff"])
def test_the_name_of_a_file_cannot_control_the_terminal(name: str) -> None:
    line = text_line(ShippedFile(Path(f"runs/{name}.cassette.jsonl"), "new"))

    assert line.isprintable() and line.endswith(".cassette.jsonl")


def test_a_plain_name_stays() -> None:
    assert text_line(ShippedFile(Path("runs/ü.cassette.jsonl"), "new")).endswith("  runs/ü.cassette.jsonl")
