"""Which cassette a recording of another tool becomes."""

from pathlib import Path

SUFFIX = ".cassette.jsonl"
ENDINGS = frozenset({".yaml", ".yml", ".json", ".toml", ".har", ".httprr", ".flow", ".flows", ".mitm", ".dump"})
"""Endings that are removed from a file name before ours is added."""


PACKED_ENDINGS = frozenset({".gz", ".zst"})
"""Endings of files that are packed, which come after those of their format."""


def stem_of(source: Path) -> str:
    """The name of a recording without its ending."""
    source = source.with_suffix("") if source.suffix.lower() in PACKED_ENDINGS else source
    return source.stem if source.suffix.lower() in ENDINGS else source.name


def beside(source: Path) -> Path:
    """The cassette of a recording, beside it: `a.cassette.jsonl` for `a.yaml`; `a.yaml.cassette.jsonl` where two
    recordings would share a name, and that file is there."""
    full = source.with_name(source.name + SUFFIX)
    return full if full.exists() else source.with_name(stem_of(source) + SUFFIX)
