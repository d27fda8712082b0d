"""Repeats: findings that say what another one before them says, as of each attempt of a request that is refused."""

from collections.abc import Iterable

from ...findings.finding import Finding


def repeats(found: Iterable[Finding]) -> list[int | None]:
    """For each finding the number of the first one with the same words, if that is before it."""
    first: dict[tuple[str, str, str], int] = {}
    made: list[int | None] = []
    for number, one in enumerate(found):
        at = first.setdefault((one.id, one.message, one.fix), number)
        made.append(at if at != number else None)
    return made
