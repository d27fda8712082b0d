"""What a finding of a class looks like."""

from turntape.cassettes.frozen import frozen


@frozen
class Example:
    """What a finding of a class looks like."""

    message: str
    evidence: tuple[str, ...]
