"""What a finding of a class looks like."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Example:
    """What a finding of a class looks like."""

    message: str
    evidence: tuple[str, ...]
