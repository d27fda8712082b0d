"""Updates the memory of a thread and a run with a turn, before and after the rules look at it."""

from collections.abc import Sequence
from dataclasses import replace

from ..analysis.conversation import Unit, call_meaning, joined, meanings_emitted, parted, text_meaning
from ..wire.per_message import PerMessage
from ..wire.values import Emission, Tool, ToolCall
from .agents import agent_of
from .causes import STORM
from .memory import (
    Explained,
    FailedRequest,
    GivenResult,
    PastTurn,
    RejectedBefore,
    SentRequest,
    Subagent,
    asked_key,
    block_hash,
    request_key,
)
from .rule_context import RuleContext
from .rules.errors import REQUEST_REJECTED, error_status, rejection_text
from .rules.exchanged import SHOWN, answer_continued
from .rules.results import new_results, tool_of
from .rules.retries import fault_of
from .tool_pairing.model import ids_of

_MOST_BLOCKS = 20_000
_MOST_COUNTS = 200
_MOST_RESULTS = 500
_MOST_SUBAGENTS = 500
_MOST_AGENTS = 500
_TASK = 4_000
"""This many characters of a subagent's first message are kept."""
_CACHE = b"cache"
_CACHE_MARKERS = (b"cache_control", b"cachePoint", b"prompt_cache_breakpoint")
_REJECTED = (400, 413, 422)
_CAPS = frozenset({"length", "context_full"})
"""Finishes after which all calls but the last one are complete."""
_UNFIT = frozenset({"length", "context_full", "refusal", "content_filter", "malformed"})
"""Finishes whose calls must not be run."""


def before_rules(context: RuleContext) -> None:
    """Note what the rules need for this turn: offered tools, cache marks, results of the last turn."""
    if not context.is_attempt:
        context.thread.turns += 1
    thread = context.thread
    if not thread.cached and _has_marks(context.turn.round_trip.request.body):
        thread.cached = True
    run = context.run
    run.generations += 1
    for tool, size in zip(context.request.tools, _sizes.of(context.request.tools), strict=True):
        if not tool.server:
            offered, called, _ = run.tools.get(tool.name, (0, 0, 0))
            run.tools[tool.name] = (offered + 1, called, size)
    _note_results(context)


def _has_marks(body: bytes) -> bool:
    """Whether a request marks what is to be cached. What all marks share is looked for first: bodies are long."""
    return _CACHE in body and any(marker in body for marker in _CACHE_MARKERS)


def _size(tool: Tool) -> int:
    return len(tool.name) + len(tool.description or "") + len(str(tool.schema or ""))


_sizes = PerMessage(_size)


def _note_results(context: RuleContext) -> None:
    """Adds the results that the client gave to the turn that made the calls."""
    results = [result for _, result in new_results(context)]
    if (called_in := answer_continued(context)) is not None:
        kept, trip = context.run.results, context.turn.round_trip
        ended = trip.started_at + (trip.ended_at or 0) / 1e6
        for result in results:
            if result.call_id:
                given = GivenResult(result.text.strip()[:SHOWN], result.is_error, context.index, ended)
                kept.setdefault((called_in, result.call_id), given)
        while len(kept) > _MOST_RESULTS:
            del kept[next(iter(kept))]
    context.thread.answered_tools.update(tool_of(context, result) for result in results)
    steps = context.thread.steps
    if steps and results:
        steps[-1] = replace(
            steps[-1],
            results=tuple(hash(result.text.strip()) for result in results),
            result_texts=tuple(result.text[:80] for result in results),
            errors=sum(result.is_error for result in results),
        )


def after_rules(context: RuleContext) -> None:
    """Note what the rules need for later turns."""
    _note_calls(context)
    _note_tools(context)
    _note_words(context)
    _note_blocks(context)
    _note_request(context)
    _note_outcome(context)
    _note_overload(context)
    _note_rejection(context)
    _note_subagent(context)
    _note_agent(context)
    for _, blob in context.blobs:
        context.thread.blobs[blob] = context.thread.blobs.get(blob, 0) + 1


def _note_calls(context: RuleContext) -> None:
    thread, run, index = context.thread, context.run, context.index
    seen: set[tuple[int, str]] = set()
    thread.unfit_lately.clear()
    made = tuple(call.id for call in context.emission.calls if call.id)
    if made and context.reading.response_id:
        run.calls_of[context.reading.response_id] = (index, made)
    for call in context.emission.calls:
        if call.name in run.tools:
            offered, called, size = run.tools[call.name]
            run.tools[call.name] = (offered, called + 1, size)
        run.called_in.setdefault(call.id or call.name, index)
        if call.id is None:
            continue
        if (call.choice, call.id) in seen or (call.id in thread.emitted_calls and not context.is_attempt):
            run.ids_given_twice.add(call.id)
        seen.add((call.choice, call.id))
        run.call_ids.add(call.id)
        thread.emitted_calls[call.id] = (index, call.name, call_meaning(call))
        if (why := _unfit(context, call)) is not None:
            thread.unfit_calls[call.id] = (index, why)
            thread.unfit_lately.add(call.id)
        else:
            thread.unfit_calls.pop(call.id, None)


def _note_tools(context: RuleContext) -> None:
    """Keeps the tools of a conversation whose later requests do not repeat them."""
    known, held = context.reading.response_id, context.kept_tools
    if known is None or not context.protocol.requests.keeps_tools:
        return
    if context.request.tools:
        context.run.kept_tools[known] = (context.index, context.request.tools)
    elif held is not None:
        context.run.kept_tools[known] = held


def _note_words(context: RuleContext) -> None:
    """What the request held and what the answer says, by meaning."""
    turn, thread, said = context.turn, context.thread, context.run.said
    added: Sequence[Unit] = turn.conversation.units[turn.shared if thread.sent else 0 :]
    if thread.sent and context.before is not None and turn.shared < len(turn.conversation.units.front.items):
        added = parted(context.before.conversation.units, turn.conversation.units)[1]
    thread.sent.update(unit.meaning for unit in (*added, *joined(added)))
    emission = context.emission
    meanings = {*meanings_emitted(emission), text_meaning("assistant", emission.reasoning)}
    for choice in emission.choices:
        meanings |= meanings_emitted(Emission(content=choice.content))
    for meaning in meanings:
        said.setdefault(meaning, context.index)


def _unfit(context: RuleContext, call: ToolCall) -> str | None:
    """Why a call must not be run, or None when it may."""
    finish, emission = context.finish, context.emission
    whole_before_cap = finish.label in _CAPS and call.complete and call is not emission.calls[-1]
    if finish.label in _UNFIT and not whole_before_cap:
        return finish.label
    if emission.emitted == "partial_call" and not call.complete:
        return "partial"
    return "cut" if finish.effective in ("cut", "error") else None


def _note_blocks(context: RuleContext) -> None:
    emitted, items = context.run.emitted, context.run.items
    if len(emitted) >= _MOST_BLOCKS:
        return
    for part in context.emission.content:
        if part.item_id is not None and len(items) < _MOST_BLOCKS:
            call = part.call if part.call is not None and not part.call.server else None
            items[part.item_id] = (call.id, call.name) if call is not None and call.id else None
    for part in context.emission.content:
        if part.call is not None and part.call.server and part.call.id:
            context.run.server_calls.setdefault(part.call.id, (context.index, part.call))
        if part.raw is not None:
            emitted.setdefault(block_hash(part.raw), context.index)
            own, call = ids_of(part.raw)
            context.run.block_ids.update(filter(None, [own]))
            context.run.unknown_calls.update(filter(None, [call or own] if part.kind == "other" else []))


def _note_request(context: RuleContext) -> None:
    turn, run, usage = context.turn, context.run, context.reading.usage
    run.asked[asked_key(turn)] = context.index
    key = request_key(turn)
    earlier = run.requests.get(key)
    run.requests[key] = SentRequest(
        context.index,
        turn.thread,
        started=turn.round_trip.started_at,
        ended=turn.round_trip.started_at + (turn.round_trip.ended_at or 0) / 1e6,
        effective=context.finish.effective,
        status=context.status,
        billed=usage is not None and usage.output is not None and context.succeeded,
        count=(earlier.count if earlier else 0) + 1,
    )
    if context.reading.response_id:
        run.answers[context.reading.response_id] = context.parameter("store") is not False


_MOST_REQUESTS = 500


def _note_overload(context: RuleContext) -> None:
    """Keeps what a request held that the API failed to answer: a retry must hold it too, and hold it once."""
    run, trip, prefix = context.run, context.turn.round_trip, context.turn.conversation.prefixes[-1]
    failed = context.turn.failed and trip.response is not None
    run.failed = FailedRequest(context.index, trip.started_at, prefix) if failed else None
    if context.emission.calls and not context.turn.failed and len(run.calls_after) < _MOST_REQUESTS:
        run.calls_after[agent_of(context.request), prefix] = run.calls_behind[prefix] = context.index
    context.run.overloaded = None
    if context.turn.failed and error_status(context) not in _REJECTED:
        conversation = context.turn.conversation
        results = [place for place, unit in enumerate(conversation.units) if unit.kind == "result"]
        if results:
            context.run.overloaded = (context.index, tuple(conversation.prefixes), results[-1])


def _note_outcome(context: RuleContext) -> None:
    thread, usage, index = context.thread, context.reading.usage, context.index
    if context.turn.failed:
        thread.failures.append(index)
        thread.storming = thread.storming or bool(context.has(STORM))
    else:
        thread.failures.clear()
        thread.storming = False
        if usage is not None and usage.input:
            if not thread.input_tokens:
                thread.first_size = len(context.turn.round_trip.request.body)
            thread.input_tokens.append((index, usage.input))
            if len(thread.input_tokens) > _MOST_COUNTS:
                del thread.input_tokens[1]
    if usage is not None and (usage.cache_read or usage.cache_write):
        thread.cached = True
    if context.succeeded:
        calls = context.emission.calls
        hashes, names = tuple(call_meaning(call) for call in calls), tuple(call.name for call in calls)
        thread.steps.append(PastTurn(index, hashes, names, (), (), 0, usage.output if usage else None))


def _note_rejection(context: RuleContext) -> None:
    thread, said = context.thread, context.rejection
    fault = fault_of(said) if said is not None and error_status(context) in _REJECTED else None
    if said is not None and fault is not None:
        last = thread.rejected
        if last is not None and (last.rule_id, last.pointer) == (fault, said.pointer):
            thread.rejected = replace(last, count=last.count + 1)
        else:
            thread.rejected = RejectedBefore(fault, said.pointer, context.index)
    elif context.succeeded:
        thread.rejected = None
    cause = next((finding for finding in context.found if finding.id == REQUEST_REJECTED and finding.because_of), None)
    if cause is not None:
        thread.explained = Explained(rejection_text(context), cause.because_of, cause.layer)


def _note_agent(context: RuleContext) -> None:
    """Keeps which agents there are, and which threads wait for results."""
    run, calls = context.run, context.emission.calls
    if (agent := agent_of(context.request)) is not None and len(run.agents) < _MOST_AGENTS:
        answered = any(message.role == "assistant" for message in context.request.messages)
        run.agents[agent] = run.agents.get(agent, False) or answered or bool(calls)
    run.open_calls.pop(context.turn.thread, None)
    if calls and context.succeeded:
        run.open_calls[context.turn.thread] = context.index


def _note_subagent(context: RuleContext) -> None:
    """Keeps the task of a subagent, and where it answered."""
    turn, known = context.turn, context.run.subagents
    if turn.edge.kind == "subagent" and len(known) < _MOST_SUBAGENTS:
        first = next((message for message in context.request.messages if message.role == "user"), None)
        text = "\n".join(part.text for part in first.parts if part.kind == "text") if first else ""
        known.setdefault(turn.thread, Subagent(turn.edge.thread, text[:_TASK]))
    agent = known.get(turn.thread)
    if agent is not None and context.succeeded and context.emission.emitted == "text":
        agent.answer = (context.index, len(context.emission.text.strip()))
