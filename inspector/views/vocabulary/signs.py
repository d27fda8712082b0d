"""The signs of the views, each with the words that explain it, for the help page and for legends."""

from turntape.cassettes.frozen import frozen

from ...run.strip import MarkKind
from .style import Style


@frozen
class Sign:
    """A sign of one cell."""

    glyph: str
    style: Style
    words: str
    """What it means, in a few words."""


MARKS: dict[MarkKind, Sign] = {
    "error": Sign("✗", "bad", "an error: a finding with the severity error"),
    "warning": Sign("!", "warn", "a warning: a finding with the severity warning"),
    "failed": Sign("⊘", "bad", "a failed attempt: an error of the API, a cut, or no answer"),
    "window": Sign("⊤", "warn", "the context window is nearly full"),
    "miss": Sign("¢", "warn", "a cache miss: tokens were paid again; one that no API promised to avoid has no mark"),
    "compaction": Sign("≈", "client", "the history was compacted"),
    "retry": Sign("↻", "dim", "another attempt of the same turn"),
}
"""The marks in the growth strip, the most important first."""

RETRY = ("4·2", "turn 4, second attempt")
"""The notation of attempts in every view, with its meaning."""
ADDED = ("+48k cat build.log", "what a turn added to the prompt, by the API's own counts, and the largest part of it")
RANGE = (
    "12–18",
    "a bar for several turns: it stacks their mean, and the faint part above it goes up to the highest of them",
)
UNKNOWN = ("–", "not known: the API did not report the tokens, or the model has no price")
"""Other signs, with their meaning."""
