"""ATIF, the Agent Trajectory Interchange Format of Harbor and Terminal-Bench, version 1.7.

https://harborframework.com/docs/trajectory-format and the RFC behind it (read 2026-11-21). A thread is a trajectory;
the first one of a run is the document, and the others are in `subagent_trajectories`. The steps are the system
prompt, the user's messages and the turns; an observation holds what the next request shows of a turn's calls.
"""

import json
from collections.abc import Iterable
from typing import cast

from turntape.cassettes.tape.format import stamp
from turntape.cassettes.tape.model import RoundTrip

from ..tools.tool_run import ToolRun
from ..wire.json_value import Object, as_object, is_object
from ..wire.values import Tool, ToolCall, ToolResult
from .thread_summary import SentMessage, ThreadSummary, TurnSummary, run_summary

VERSION = "ATIF-v1.7"
_UNKNOWN = "unknown"
"""For required fields that the wire does not contain."""
_NOTE = (
    "Made by turntape from HTTP traffic. Each thread of the run is a trajectory; "
    "those in subagent_trajectories may be subagents, or calls for a title or a summary."
)


def atif(round_trips: Iterable[RoundTrip]) -> str:
    """The run as one ATIF document, in JSON."""
    summary = run_summary(round_trips)
    threads = summary.threads
    if not threads:
        document = _trajectory(ThreadSummary(None, "t1"))
    else:
        first, *others = threads
        document = _trajectory(first)
        if others:
            document["subagent_trajectories"] = [_trajectory(thread) for thread in others]
    document["notes"] = _NOTE
    alone = {"unjoined_tool_runs": summary.unjoined, "earlier_tool_runs": summary.of_earlier}
    if extra := {name: [_tool_run(run) for run in runs] for name, runs in alone.items() if runs}:
        document["extra"] = extra
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _trajectory(thread: ThreadSummary) -> Object:
    steps = [step for turn in thread.turns for step in _steps(turn)]
    for number, step in enumerate(steps, 1):
        step["step_id"] = number
    models = [_model(turn) for turn in thread.turns]
    name = thread.run or _UNKNOWN
    return _given(
        schema_version=VERSION,
        session_id=name if thread.run else None,
        trajectory_id=f"{thread.run}/{thread.name}" if thread.run else thread.name,
        agent=_given(
            name=name,
            version=_UNKNOWN,
            model_name=next((model for model in models if model), None),
            tool_definitions=[_definition(tool) for tool in thread.tools] or None,
        ),
        steps=steps,
        final_metrics=_totals(thread, len(steps)),
    )


def _steps(turn: TurnSummary) -> list[Object]:
    steps = [_said(said, turn) for said in turn.said]
    emission, label = turn.emission, turn.label
    ids = [call.id or f"turn-{label['turn']}-call-{place + 1}" for place, call in enumerate(emission.calls)]
    api = as_object(label["api"])
    unparsed = {i: c.arguments_raw for i, c in zip(ids, emission.calls, strict=True) if not is_object(c.arguments)}
    failed = [result.call_id for result in turn.results if result.is_error]
    extra = _given(
        round_trip=label["index"],
        finish=api.get("finish_raw"),
        effective=api.get("effective"),
        error=api.get("error"),
        refusal=emission.refusal,
        arguments_raw=unparsed or None,
        failed_results=failed or None,
        findings=label["findings"] or None,
        tool_runs=[_tool_run(run) for run in turn.tool_runs] or None,
    )
    steps.append(
        _given(
            step_id=0,
            timestamp=stamp(turn.started_at),
            source="agent",
            model_name=_model(turn),
            message=emission.text or emission.refusal or "",
            reasoning_content=emission.reasoning or None,
            tool_calls=[_call(call, i) for call, i in zip(emission.calls, ids, strict=True)] or None,
            observation=_observation(turn.results, emission.calls, ids),
            metrics=_metrics(turn),
            llm_call_count=1,
            extra=extra or None,
        )
    )
    return steps


def _tool_run(run: ToolRun) -> Object:
    """A run as `show --json` has it, with the result as it was returned; the observation is what the model saw."""
    return _given(**run.as_json(), returned=run.returned_text)


def _said(said: SentMessage, turn: TurnSummary) -> Object:
    if said.role != "assistant":
        return _given(step_id=0, timestamp=stamp(turn.started_at), source=said.role, message=said.text)
    calls = [_call(call, call.id or f"earlier-call-{place + 1}") for place, call in enumerate(said.calls)]
    return _given(
        step_id=0,
        timestamp=stamp(turn.started_at),
        source="agent",
        message=said.text,
        tool_calls=calls or None,
        is_copied_context=True,
    )


def _call(call: ToolCall, identity: str) -> Object:
    arguments = call.arguments if is_object(call.arguments) else {}
    return {"tool_call_id": identity, "function_name": call.name, "arguments": arguments}


def _observation(results: tuple[ToolResult, ...], calls: tuple[ToolCall, ...], ids: list[str]) -> Object | None:
    from ..analysis.dispatch import answers

    found = answers(calls, results)
    shown = [{"source_call_id": ids[place], "content": found[place].text} for place in sorted(found)]
    return {"results": shown} if shown else None


def _model(turn: TurnSummary) -> str | None:
    return cast(str | None, turn.label["response_model"] or turn.label["request_model"])


def _cost(turn: TurnSummary) -> float | None:
    price = turn.label["cost_usd"]
    return None if price is None else float(cast(str, price))


def _metrics(turn: TurnSummary) -> Object | None:
    usage = turn.usage
    if usage is None:
        return None
    extra = _given(reasoning_tokens=usage.reasoning, cache_write_tokens=usage.cache_write)
    return (
        _given(
            prompt_tokens=usage.input,
            completion_tokens=usage.output,
            cached_tokens=usage.cache_read,
            cost_usd=_cost(turn),
            extra=extra or None,
        )
        or None
    )


def _totals(thread: ThreadSummary, steps: int) -> Object:
    def total(values: Iterable[int | float | None]) -> int | float | None:
        known = [value for value in values if value is not None]
        return sum(known) if known else None

    used = [turn.usage for turn in thread.turns if turn.usage is not None]
    return _given(
        total_prompt_tokens=total(usage.input for usage in used),
        total_completion_tokens=total(usage.output for usage in used),
        total_cached_tokens=total(usage.cache_read for usage in used),
        total_cost_usd=total(_cost(turn) for turn in thread.turns),
        total_steps=steps,
    )


def _definition(tool: Tool) -> Object:
    function = _given(name=tool.name, description=tool.description, parameters=tool.schema)
    return {"type": "function", "function": function}


def _given(**fields: object) -> Object:
    return {key: value for key, value in fields.items() if value is not None}
