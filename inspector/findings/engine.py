"""From turns to findings, while the run is being recorded.

A turn is looked at as it ends, again when the next turn of its thread ends, and at the close. What it costs does
not grow with the run.
"""

from collections import defaultdict
from dataclasses import dataclass, field, replace

from ..analysis.dispatch import Dispatch
from ..analysis.threads import Turn
from ..analysis.units import call_meaning
from ..wire.values import Part
from .finding import Finding, Moment, Rule, rooted
from .rule_context import Case, RunMemory, Sent, Step, ThreadMemory, block_hash
from .rules import ADVICE, HINTS, RULES
from .rules.errors import error_status
from .rules.results import new_results

_MOST_IDS = 20_000


@dataclass(slots=True)
class Diagnosed:
    """A turn whose findings may still grow."""

    case: Case
    findings: list[Finding] = field(default_factory=list[Finding])


class Diagnosis:
    """`ended`, `followed` and `closed` give the findings of a turn at each moment."""

    def __init__(self, *, hints: bool = False, advice: bool = False) -> None:
        chosen = (*RULES, *(HINTS if hints else ()), *(ADVICE if advice else ()))
        self._rules: dict[Moment, tuple[Rule, ...]] = {
            moment: tuple(rule for rule in chosen if rule.when == moment) for moment in ("ended", "followed", "closed")
        }
        self._threads: defaultdict[str, ThreadMemory] = defaultdict(ThreadMemory)
        self._runs: defaultdict[str | None, RunMemory] = defaultdict(RunMemory)

    def ended(self, turn: Turn, before: Diagnosed | None) -> Diagnosed:
        """The turn as it stands when it ends; `before` is the previous turn, or attempt, of its thread."""
        thread, run = self._threads[turn.thread], self._runs[turn.round_trip.run]
        sent = run.bodies.get(turn.body)
        case = Case(turn, thread, run, before.case.turn if before else None, sent_before=sent)
        if before is not None and before.case.following is turn:
            case.known_echo = before.case.next_echo
        done = Diagnosed(case)
        thread.recent = before.findings if before else []
        if not case.is_attempt:
            thread.turns += 1
        _note_request(case)
        _note_results(case)
        self._ask("ended", done)
        _remember(case)
        # A run must not stay in memory: what was needed of these is said.
        case.before = case.known_echo = None
        for view in ("exchange", "echo", "pairs", "blobs", "calls", "tools", "fresh", "fields"):
            case.__dict__.pop(view, None)
        return done

    def followed(self, done: Diagnosed, following: Turn, dispatch: Dispatch) -> None:
        """Adds what the next turn of the thread shows of this one."""
        case = done.case
        case.following, case.dispatch, case.over = following, dispatch, "followed"
        if dispatch.results:
            case.thread.dispatched += 1
        self._ask("followed", done)

    def closed(self, done: Diagnosed, dispatch: Dispatch, *, later: bool) -> None:
        """Adds what the end of the recording shows; `later` when the run went on after this turn."""
        done.case.dispatch, done.case.over, done.case.later = dispatch, "closed", later
        self._ask("closed", done)

    def _ask(self, moment: Moment, done: Diagnosed) -> None:
        case = done.case
        case.found = done.findings
        for rule in self._rules[moment]:
            for finding in rule.apply(case):
                same = any(f.id == finding.id and f.evidence == finding.evidence for f in done.findings)
                if not same:
                    done.findings.append(finding)
        done.findings[:] = rooted(done.findings)


def _note_request(case: Case) -> None:
    """What must be known of a request before the rules look at it."""
    if any(marker in case.turn.round_trip.request.body for marker in (b"cache_control", b"cachePoint")):
        case.thread.cached = True
    run = case.run
    run.generations += 1
    for tool in case.request.tools:
        if not tool.server:
            offered, called, _ = run.tools.get(tool.name, (0, 0, 0))
            size = len(tool.name) + len(tool.description or "") + len(str(tool.schema or ""))
            run.tools[tool.name] = (offered + 1, called, size)


def _note_results(case: Case) -> None:
    """What the client gave back for the calls of the last turn: rules about repetition look at it."""
    results = [part.result for part in new_results(case) if part.result is not None]
    steps = case.thread.steps
    if steps and results:
        steps[-1] = replace(
            steps[-1],
            results=tuple(hash(result.text.strip()) for result in results),
            result_texts=tuple(result.text[:80] for result in results),
            errors=sum(result.is_error for result in results),
        )


def _remember(case: Case) -> None:
    """What later turns must know of this one."""
    turn, thread, run = case.turn, case.thread, case.run
    index, emission, finish = case.index, case.emission, case.finish
    usage = case.reading.usage
    _remember_emission(case)
    ended = turn.round_trip.started_at + (turn.round_trip.ended_at or 0) / 1e6
    earlier = run.bodies.get(turn.body)
    billed = usage is not None and usage.output is not None and case.succeeded
    run.bodies[turn.body] = Sent(
        index,
        turn.thread,
        turn.round_trip.started_at,
        ended,
        finish.effective,
        case.status,
        billed,
        (earlier.count if earlier else 0) + 1,
    )
    if case.reading.response_id:
        run.answers[case.reading.response_id] = case.parameter("store") is not False
    if turn.failed:
        thread.failures.append(index)
    else:
        thread.failures.clear()
        if usage is not None and usage.input:
            thread.input_tokens.append((index, usage.input))
            if len(thread.input_tokens) > 200:
                del thread.input_tokens[1]
    if usage is not None and (usage.cache_read or usage.cache_write):
        thread.cached = True
    said = case.complaint
    if said is not None and said.ids and error_status(case) in (400, 413, 422):
        last = thread.rejected
        again = last is not None and last[0] == said.ids[0] and last[1] == said.pointer
        thread.rejected = (
            (last[0], last[1], last[2], last[3] + 1) if again and last else (said.ids[0], said.pointer, index, 1)
        )
    elif case.succeeded:
        thread.rejected = None
    if case.succeeded:
        thread.steps.append(
            Step(
                index,
                tuple(call_meaning(call) for call in emission.calls),
                tuple(call.name for call in emission.calls),
                (),
                (),
                0,
                usage.output if usage else None,
            )
        )
    for _, blob in case.blobs:
        thread.blobs[blob] = thread.blobs.get(blob, 0) + 1


def _remember_emission(case: Case) -> None:
    thread, run, index = case.thread, case.run, case.index
    emission, finish = case.emission, case.finish
    partial = emission.emitted == "partial_call"
    seen: set[str] = set()
    for call in emission.calls:
        offered, called, size = run.tools.get(call.name, (0, 0, 0))
        if call.name in run.tools:
            run.tools[call.name] = (offered, called + 1, size)
        if call.id is None:
            continue
        if call.id in seen or (call.id in thread.emitted_calls and not case.is_attempt):
            run.doubled.add(call.id)
        seen.add(call.id)
        thread.emitted_calls[call.id] = (index, call.name, call_meaning(call))
        unfit = finish.label in _UNFIT and (
            finish.label not in _CAPS or not call.complete or call is emission.calls[-1]
        )
        why = finish.label if unfit else "partial" if partial and not call.complete else None
        if why is None and finish.effective in ("cut", "error"):
            why = "cut"
        if why is not None:
            thread.cut_calls[call.id] = (index, why)
        else:
            thread.cut_calls.pop(call.id, None)
    if len(run.emitted) < _MOST_IDS:
        for part in emission.content:
            for raw in _blocks(part):
                run.emitted.setdefault(block_hash(raw), index)


_CAPS = frozenset({"length", "context_full"})
"""Labels that leave the calls before the last one whole."""
_UNFIT = frozenset({"length", "context_full", "refusal", "content_filter", "malformed"})


def _blocks(part: Part) -> list[object]:
    return [part.raw] if part.raw is not None else []
