"""What a finding of each class looks like: its message and its evidence, as real runs of made-up agents gave them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Example:
    message: str
    evidence: tuple[str, ...]


EXAMPLES: dict[str, Example] = {}
"""By the id of the class."""
