"""What a rule expects for a request, before its answer is looked at."""

from collections.abc import Sequence
from typing import Protocol

from turntape.cassettes.frozen import frozen

from ...wire.values import Usage
from ..model import Expectation, Figure
from .prompt import Prompt


@frozen
class Prediction:
    """The read that the rule allows, and why it is not more."""

    expected: Expectation
    read: Figure | None
    position: int = -1
    """The last block of the prompt that is read; -1: none."""
    dead: int | None = None
    """The place of the turn whose entry would have been longer, and is no longer alive."""
    dead_tokens: int = 0
    short: bool = False
    """True when an entry is missing because the prefix is shorter than the API keeps."""
    read_less: int | None = None
    """The read if the earlier request was kept without its answer; None where that is the same."""


NOTHING = Prediction("expected", Figure.exact(0))
MAYBE_NOTHING = Figure(0, 0, 0, "estimated")
"""The read of a prompt that the tape did not show before, where others use the cache too."""
UNKNOWN = Prediction("unknown", None)


@frozen
class Answered:
    """What the answer counts."""

    usage: Usage
    sums: bool
    """True when its counts are sums over several runs of the model (tools of the API)."""

    @property
    def read(self) -> int | None:
        return self.usage.cache_read

    @property
    def written(self) -> int | None:
        return self.usage.cache_write


class CacheState(Protocol):
    """One cache of one provider and model, over a run."""

    def predict(self, prompt: Prompt) -> Prediction:
        """What the rule says of a request, from earlier answers only."""
        ...

    def written(self, prompt: Prompt, prediction: Prediction, total: int | None) -> Figure | None:
        """What it says is written; `total` are the request's input tokens."""
        ...

    def end(self, prompt: Prompt, total: int) -> Figure | None:
        """Where what is kept ends, in a request with `total` input tokens; None where no mark says so."""
        ...

    def learn(self, prompt: Prompt, prediction: Prediction, answered: Answered) -> None:
        """Take in what the answer counts."""
        ...

    def reachable(self, nodes: Sequence[int]) -> int | None:
        """How many tokens a request that begins with this earlier prompt can read at most; None: not known."""
        ...
