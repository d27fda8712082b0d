"""From turns to findings, while the run is being recorded.

A turn is judged as it ends, again when the next turn of its thread ends, and when the recording ends. The cost of a
turn does not grow with the run.
"""

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import field

from turntape.cassettes.frozen import mutable
from turntape.cassettes.tape.command_end import CommandEnd

from ..analysis.dispatch import Dispatch
from ..analysis.pricing import Cost
from ..analysis.turn import Turn
from ..tools.definitions import Definition
from ..tools.join import ToolJoin
from ..tools.model_calls import TurnCalls
from ..tools.session_state import WireNote
from ..tools.tool_run import ToolRun
from ..wire.exchange import Exchange
from ..wire.socket_turn import SessionEnd
from ..wire.values import Tool
from . import causes, severity
from .catalogue import catalogue
from .finding import Finding, roots_first
from .memory import RunMemory, ThreadMemory, request_key
from .memory_update import after_rules, before_rules
from .rule import Moment, Rule
from .rule_context import RuleContext
from .tool_context import Over, ToolContext

log = logging.getLogger(__name__)


@mutable
class JudgedTurn:
    """A turn that may still get more findings."""

    context: RuleContext
    findings: list[Finding] = field(default_factory=list[Finding])
    cost: Cost | None = None
    """What it cost; None where that is not known, or not asked for."""
    tool_calls: TurnCalls | None = None
    """Its calls with their tool runs; None where the tools' own wire was not recorded."""
    tool_offers: list[tuple[Tool, Definition]] = field(default_factory=list[tuple[Tool, Definition]])
    """The tools of servers that it offers to the model for the first time."""
    tool_outdated: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    """The servers of tools that it offers as they were before an announced change, with the round trip of that."""
    tool_causes: tuple[str, ...] = ()
    """The findings about the tool runs of the previous turn: they explain what is missing in this one's request."""
    tool_sent: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """The parts of its request, as JSON pointers, that tool servers sent as they are, and whether nothing is around
    what they sent; only those of interest here."""
    tool_findings: list[Finding] = field(default_factory=list[Finding])
    """What the tools' own wire shows. It is replaced whenever more is seen of that wire."""


class RuleEngine:
    """`ended`, `followed` and `closed` give the findings of a turn at each moment.

    A rule that raises an exception is reported once, in `problems` and in the log, and the other rules still run.
    """

    def __init__(self, *, hints: bool = False, advice: bool = False) -> None:
        table = catalogue()
        on = {None, *(["--hints"] if hints else []), *(["--lint"] if advice else [])}
        chosen = [rule for rule in table.rules if rule.switch in on]
        self._rules: dict[Moment, tuple[Rule, ...]] = {
            moment: tuple(rule for rule in chosen if rule.when == moment)
            for moment in ("ended", "followed", "closed", "tool")
        }
        self._for_protocol: dict[tuple[Moment, str], list[Rule]] = {}
        self._threads: defaultdict[str, ThreadMemory] = defaultdict(ThreadMemory)
        self._runs: defaultdict[str | None, RunMemory] = defaultdict(RunMemory)
        self._failed: set[str] = set()
        self.problems: list[str] = list(table.problems)
        """Rules that could not be loaded or that raised, one sentence each."""

    def ended(
        self, turn: Turn, before: JudgedTurn | None, exchange: Exchange | None = None, broken: str | None = None
    ) -> JudgedTurn:
        """The turn as it looks when it ends; `before` is the previous turn, or attempt, of its thread.

        `exchange` is what its reading was made of, with what was parsed for that. `broken` says why `before` may not be
        the turn before it, as a clause: the recording lacks something between the two.
        """
        thread, run = self._threads[turn.thread], self._runs[turn.round_trip.run]
        context = RuleContext(
            turn,
            thread,
            run,
            before.context.turn if before else None,
            known_echo=before.context.next_echo if before and before.context.following is turn else None,
            known_exchange=exchange,
            broken=broken,
            sent_before=run.requests.get(request_key(turn)) if turn.round_trip.request.body else None,
        )
        judged = JudgedTurn(context)
        thread.recent = before.findings if before else []
        before_rules(context)
        self._judge("ended", judged)
        after_rules(context)
        context.release()
        return judged

    def followed(self, judged: JudgedTurn, following: Turn, dispatch: Dispatch, broken: str | None = None) -> None:
        """Adds what the next turn of the thread shows of this one; `broken` as in `ended`, between these two."""
        context = judged.context
        context.broken = broken
        context.following, context.dispatch, context.over = following, dispatch, "followed"
        if dispatch.results:
            context.thread.dispatched += 1
        judged.findings[:] = [severity.followed(finding, context) for finding in judged.findings]
        self._judge("followed", judged)

    @staticmethod
    def recovered(judged: JudgedTurn) -> bool:
        """Makes the findings of a failed turn milder, now that its thread has an answer; False when nothing changes."""
        milder = [severity.recovered(finding) for finding in judged.findings]
        changed = milder != judged.findings
        judged.findings[:] = roots_first(milder)
        return changed

    @staticmethod
    def part_of_storm(judged: JudgedTurn) -> bool:
        """Makes the rate limits of an attempt echoes of the storm that it belongs to; False when nothing changes."""
        found = [causes.of_storm(finding) for finding in judged.findings]
        changed = found != judged.findings
        judged.findings[:] = roots_first(found)
        return changed

    def closed(
        self,
        judged: JudgedTurn,
        dispatch: Dispatch,
        *,
        later: bool,
        command: CommandEnd | None = None,
        session: SessionEnd | None = None,
    ) -> None:
        """Adds what the end of the recording shows; `later` when the run went on after this turn.

        `command`: how the recorded command ended, if this is the last turn before that. `session`: how the session of
        this turn ended.
        """
        context = judged.context
        context.command = command
        context.session_end = session if session is not None and session.at is not None else None
        context.session_notes = session.notes if session is not None else ()
        context.dispatch, context.over, context.later = dispatch, "closed", later
        self._judge("closed", judged)

    def tool_calls(self, judged: JudgedTurn, join: ToolJoin, over: Over) -> list[Finding]:
        """All findings about the tool runs of a turn's calls, as far as they are known."""
        turn = judged.context.turn
        return self._about_tools(
            ToolContext(
                over,
                turn,
                judged.tool_calls,
                join=join,
                offers=judged.tool_offers,
                outdated=judged.tool_outdated,
                found=frozenset(one.id for one in judged.findings),
                inherited=[one for one in judged.findings if causes.inherited(one, judged.tool_sent)],
            ),
            judged.context.index,
        )

    def tool_wire(self, notes: Iterable[WireNote]) -> list[Finding]:
        """The findings about what is on a tool's wire beside its runs."""
        return [found for note in notes for found in self._about_tools(ToolContext(note=note), note.index)]

    def loose_run(self, run: ToolRun, join: ToolJoin) -> list[Finding]:
        """The findings about a run that no call has, at the end of the recording."""
        return self._about_tools(ToolContext(loose=run, join=join), run.index)

    def _about_tools(self, context: ToolContext, index: int) -> list[Finding]:
        made: list[Finding] = []
        for rule in self._rules["tool"]:
            try:
                made += rule.apply_to_tools(context)
            except Exception as exc:  # noqa: BLE001 - as in `_judge`
                self._report(rule, exc, index)
        return roots_first(made)

    def _judge(self, moment: Moment, judged: JudgedTurn) -> None:
        judged.context.begin(judged.findings)
        known = {(finding.id, finding.evidence) for finding in judged.findings}
        for rule in self._rules_for(moment, judged.context):
            try:
                self._apply(rule, judged, moment, known)
            except Exception as exc:  # noqa: BLE001 - a rule may come from anybody and must not stop the others
                self._report(rule, exc, judged.context.index)
        # Not while the rules run, since these causes are found after what follows from them.
        explained = causes.of_form(judged.findings, judged.context)
        judged.findings[:] = roots_first(causes.of_weight(explained, judged.context))

    def _rules_for(self, moment: Moment, context: RuleContext) -> list[Rule]:
        """The rules for the protocol of a turn, which are looked up once for each protocol."""
        key = moment, context.protocol.name
        if key not in self._for_protocol:
            self._for_protocol[key] = chosen = list[Rule]()
            for rule in self._rules[moment]:
                try:
                    if rule.applies_to(context.protocol):
                        chosen.append(rule)
                except Exception as exc:  # noqa: BLE001 - as in `_judge`
                    self._report(rule, exc, context.index)
        return self._for_protocol[key]

    def _apply(self, rule: Rule, judged: JudgedTurn, moment: Moment, known: set[tuple[str, tuple[str, ...]]]) -> None:
        for found in rule.found(judged.context):
            finding = causes.at(severity.at(moment, found, judged.context), judged.context)
            if (finding.id, finding.evidence) not in known:
                known.add((finding.id, finding.evidence))
                judged.findings.append(finding)

    def _report(self, rule: Rule, exc: Exception, index: int) -> None:
        if rule.id in self._failed:
            return
        self._failed.add(rule.id)
        sentence = (
            f"the rule {rule.id!r} ({(rule.tool_check or rule.check).__module__}) failed on round trip #{index}: "
            f"{type(exc).__name__}: {exc}; its other findings may be missing"
        )
        self.problems.append(sentence)
        log.warning("turntape: %s", sentence, exc_info=log.isEnabledFor(logging.DEBUG))
