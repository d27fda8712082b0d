"""A rule: one class of failure, its texts for the user, and the function that finds it.

    @rule(
        "client-ignored-limit", "client", "warning", "P",
        says="The client sent a request although the gateway had closed the session.",
        fix="Stop when the gateway answers 499.",
        not_when=("The session was opened again",),
    )
    def ignored_limit(context: RuleContext) -> Iterator[Note]:
        if ...:
            yield Note("the request came after 499", (f"{context.at} request",))

Every note needs evidence. A rule that runs at several moments is declared once; its other checks are added with
`RULE.also(...)` and share its texts.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Literal

from turntape.cassettes.frozen import frozen

from ..wire.protocols.protocol import Protocol
from .finding import Finding, Layer, Severity, Tier, shortened
from .rule_context import RuleContext
from .tool_context import ToolContext

type Moment = Literal["ended", "followed", "closed", "tool"]
"""When a rule runs: as a turn ends, as the next turn of its thread ends, as the recording ends; or (`tool`) whenever
more is seen of the tools' own wire."""

type Check = Callable[[RuleContext], Iterator["Note"]]
type ToolCheck = Callable[[ToolContext], Iterator["Note"]]


@frozen
class Note:
    """What a check reports about one turn. Layer, severity and tier override the rule's where they are given."""

    message: str
    evidence: tuple[str, ...]
    severity: Severity | None = None
    layer: Layer | None = None
    tier: Tier | None = None
    because_of: tuple[str, ...] = ()
    key: object = None
    """What this is about. Within a thread, a rule reports each key once; None is always reported."""


@frozen
class Rule:
    """One class of failure, and the function that finds it."""

    id: str
    layer: Layer
    severity: Severity
    tier: Tier
    says: str
    """What it means, in one sentence."""
    fix: str
    """What to do about it."""
    not_when: tuple[str, ...]
    """The situations in which it reports nothing, or something milder. They are printed to users; each has a test."""
    check: Check
    when: Moment = "ended"
    protocols: tuple[str, ...] = ()
    """The names of the protocols that it applies to; empty means all."""
    trait: Callable[[Protocol], bool] | None = None
    """Or a condition for the protocols to which the rule applies."""
    advice: bool = False
    """True for lint: it blames no layer and says what could be better."""
    aliases: tuple[str, ...] = ()
    """Former ids of the class. They are accepted wherever an id is."""
    tool_check: ToolCheck | None = None
    """The function of a rule about tools, in place of `check`."""

    @property
    def switch(self) -> str | None:
        """The option that turns it on: `--lint`, `--hints`, or None when it is always on."""
        return "--lint" if self.advice else "--hints" if self.tier == "H" else None

    @property
    def exceptions(self) -> str:
        """`not_when` as one sentence; empty when there are no exceptions."""
        first, *others = self.not_when or ("",)
        return "; ".join([first, *(other[:1].lower() + other[1:] for other in others)]) + "." if first else ""

    def also(self, when: Moment, *, tier: Tier | None = None) -> "Callable[[Check], Rule]":
        """A decorator: a second check of the same class, at another moment or with another certainty."""

        def made(check: Check) -> Rule:
            return replace(self, check=check, when=when, tier=tier or self.tier)

        return made

    def applies_to(self, protocol: Protocol) -> bool:
        """Whether the rule is for this protocol."""
        if self.protocols and protocol.name not in self.protocols:
            return False
        return self.trait is None or self.trait(protocol)

    def apply(self, context: RuleContext) -> Iterator[Finding]:
        """The notes of this rule for a turn. Exceptions of its check are passed on."""
        if self.applies_to(context.protocol):
            yield from self.found(context)

    def found(self, context: RuleContext) -> Iterator[Finding]:
        """As `apply`, for a turn of a protocol that the rule is for."""
        for note in self.check(context):
            if note.key is not None:
                if (self.id, note.key) in context.thread.reported:
                    continue
                context.thread.reported.add((self.id, note.key))
            yield self._finding(note)

    def apply_to_tools(self, context: ToolContext) -> Iterator[Finding]:
        """The notes of a rule about tools. Exceptions of its check are passed on."""
        for note in self.tool_check(context) if self.tool_check is not None else ():
            yield self._finding(note)

    def _finding(self, note: Note) -> Finding:
        return Finding(
            self.id,
            note.layer or self.layer,
            note.severity or self.severity,
            note.tier or self.tier,
            shortened(note.message),
            note.evidence,
            self.fix,
            note.because_of,
            self.aliases,
        )


def _nothing(context: RuleContext) -> Iterator[Note]:
    """The check of a rule that looks at no turn."""
    yield from ()


def tool_rule(
    id: str,
    layer: Layer,
    severity: Severity,
    tier: Tier,
    *,
    says: str,
    fix: str,
    not_when: tuple[str, ...] = (),
) -> Callable[[ToolCheck], Rule]:
    """A decorator that makes a rule about tools of a check. Its notes need no `key`: it runs again each time."""

    def made(check: ToolCheck) -> Rule:
        return Rule(id, layer, severity, tier, says, fix, not_when, _nothing, "tool", tool_check=check)

    return made


def rule(
    id: str,
    layer: Layer,
    severity: Severity,
    tier: Tier,
    *,
    says: str,
    fix: str,
    not_when: tuple[str, ...] = (),
    when: Moment = "ended",
    protocols: tuple[str, ...] = (),
    trait: Callable[[Protocol], bool] | None = None,
    advice: bool = False,
    aliases: tuple[str, ...] = (),
) -> Callable[[Check], Rule]:
    """A decorator that makes a rule of a check."""

    def made(check: Check) -> Rule:
        return Rule(id, layer, severity, tier, says, fix, not_when, check, when, protocols, trait, advice, aliases)

    return made
