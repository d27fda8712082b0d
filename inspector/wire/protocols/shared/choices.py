"""Answers with several choices: what each of them holds, and which finish counts for the turn."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from ...values import Choice, FinishLabel, Part

MOST_SEVERE_FIRST: tuple[FinishLabel, ...] = (
    "error",
    "cancelled",
    "malformed",
    "content_filter",
    "refusal",
    "context_full",
    "limit",
    "length",
    "cut",
    "pause",
    "unknown",
    "tool_calls",
    "stop_sequence",
    "complete",
)
"""A turn's finish is the most severe of its choices': a failure in one of them must not be hidden by the others."""

type Verdict = tuple[str | None, FinishLabel | None]
"""A choice's own word, and its label."""


def most_severe(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict of the choice that ended worst; the first of equals. A choice without a finish word counts last."""
    return min(verdicts, key=_rank, default=(None, None))


def _rank(verdict: Verdict) -> int:
    label = verdict[1]
    return len(MOST_SEVERE_FIRST) if label is None else MOST_SEVERE_FIRST.index(label)


def choices_of(parts: Iterable[Part], verdicts: Sequence[Verdict], pointer: str) -> tuple[Choice, ...]:
    """Each choice with the parts whose pointer begins with `pointer` and its place; empty unless there are several."""
    if len(verdicts) < 2:
        return ()
    by_place: defaultdict[str, list[Part]] = defaultdict(list)
    for part in parts:
        if part.pointer.startswith(f"{pointer}/"):
            by_place[part.pointer[len(pointer) + 1 :].partition("/")[0]].append(part)
    return tuple(Choice(place, raw, label, tuple(by_place[str(place)])) for place, (raw, label) in enumerate(verdicts))
