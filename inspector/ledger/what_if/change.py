"""What is changed of a run before it is priced again."""

from typing import Literal

from turntape.cassettes.frozen import frozen

type Tier = Literal["batch", "flex", "priority"]
type Lifetime = Literal["5m", "1h", "none"]
type Place = Literal["tools", "system", "last"]

PLACES: tuple[Place, ...] = ("tools", "system", "last")


@frozen(kw_only=True)
class Change:
    """A change of a run; every field that is left out stays as it was."""

    model: str | None = None
    """Another model, by its name in the price list: `claude-haiku-4-5`, or `anthropic/claude-haiku-4-5`."""
    tier: Tier | None = None
    cache: Lifetime | None = None
    """The lifetime of cache entries; `none` for no cache. Marks are put where the run has none."""
    marks: tuple[Place, ...] = ()
    """Where cache marks are, instead of where the run has them: behind the tools, the system prompt, the last piece."""
    sort_tools: bool = False
    without: tuple[str, ...] = ()
    """Tools whose definitions are not sent."""
    cap: int | None = None
    """The most tokens that a tool's result has."""
    no_clock: bool = False
    """Without dates, times and ids in tools and system prompt."""

    def __or__(self, other: "Change") -> "Change":
        """Both changes together."""
        return Change(
            model=other.model or self.model,
            tier=other.tier or self.tier,
            cache=other.cache or self.cache,
            marks=other.marks or self.marks,
            sort_tools=other.sort_tools or self.sort_tools,
            without=tuple(dict.fromkeys((*self.without, *other.without))),
            cap=self.cap if other.cap is None else other.cap,
            no_clock=other.no_clock or self.no_clock,
        )

    @property
    def prompt(self) -> bool:
        """Whether the prompts or their cache are others, and not only the prices."""
        return bool(
            self.cache or self.marks or self.sort_tools or self.without or self.cap is not None or self.no_clock
        )

    def words(self) -> str:
        """The change in a few words."""
        said = [
            f"on {self.model}" if self.model else "",
            {"batch": "as batch requests", "flex": "on the flex tier", "priority": "on the priority tier"}.get(
                self.tier or "", ""
            ),
            {"none": "without a cache", "5m": "cache entries kept 5 minutes", "1h": "cache entries kept 1 hour"}.get(
                self.cache or "", ""
            ),
            f"cache marks behind {_listed(self.marks)}" if self.marks else "",
            "tools always in the same order" if self.sort_tools else "",
            f"without the {'tool' if len(self.without) == 1 else 'tools'} {', '.join(self.without)}"
            if self.without
            else "",
            f"results capped at {self.cap:,} tokens" if self.cap is not None else "",
            "no date, clock or id in the system prompt and the tools" if self.no_clock else "",
        ]
        return ", ".join(filter(None, said)) or "as it was"


def _listed(marks: tuple[Place, ...]) -> str:
    words = {"tools": "the tools", "system": "the system prompt", "last": "the last piece"}
    return " and ".join(words[one] for one in marks)
