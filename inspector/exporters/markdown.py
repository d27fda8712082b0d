"""The run as Markdown: for an issue, a pull request, or another model to read."""

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import cast

from turntape.cassettes.regex import regex
from turntape.cassettes.tape.model import RoundTrip

from ..run.label_costs import is_unpriced
from ..tools.run_words import WHOLE, joined_words, outcome_words, seen_words
from ..tools.tool_run import ToolRun
from ..wire.json_value import Object, as_array, as_object, compact
from ..wire.printable import dollars, safe, several
from ..wire.values import ToolCall
from .thread_summary import RunSummary, SentMessage, TurnSummary, run_summary

_LONGEST = 4_000
"""Characters of a result as it was returned."""
_TICKS = regex(r"`+")


def markdown(round_trips: Iterable[RoundTrip], title: str = "Run") -> Iterator[str]:
    """The run, line by line, without line ends and without control characters but tabs."""
    yield from ("\t".join(map(safe, line.split("\t"))) for line in _lines(round_trips, title))


def _lines(round_trips: Iterable[RoundTrip], title: str) -> Iterator[str]:
    summary = run_summary(round_trips)
    threads = summary.threads
    yield f"# {_inline(title)}"
    yield ""
    yield _summary(summary)
    for thread in threads:
        if len(threads) > 1:
            yield ""
            yield f"## Thread {thread.name}" + (f" of run {_inline(thread.run)}" if thread.run else "")
        for turn in thread.turns:
            yield from _turn(turn, "###" if len(threads) > 1 else "##")
    for runs, why in (
        (summary.unjoined, "without a call of the model"),
        (summary.of_earlier, "of calls in the file before"),
    ):
        if runs:
            yield ""
            yield f"## Tool runs {why}"
        for run in runs:
            yield ""
            yield _run_facts(run)
            yield ""
            yield from _fenced(run.arguments_raw, "json")
            yield from _returned(run)


def _summary(summary: RunSummary) -> str:
    threads = summary.threads
    turns = [turn for thread in threads for turn in thread.turns]
    calls = sum(len(turn.emission.calls) for turn in turns)
    prices = [Decimal(cast(str, price)) for turn in turns if (price := turn.label["cost_usd"]) is not None]
    distinct = len({(turn.label["thread"], turn.label["turn"]) for turn in turns})
    parts = [several(distinct, "turn"), several(calls, "tool call")]
    if runs := sum(len(turn.tool_runs) for turn in turns) + len(summary.unjoined) + len(summary.of_earlier):
        parts.append(several(runs, "tool run"))
    if len(threads) > 1:
        parts.insert(0, several(len(threads), "thread"))
    if prices:
        is_least = any(is_unpriced(turn.label) for turn in turns)
        parts.append(f"{'≥' if is_least else ''}{dollars(sum(prices, Decimal(0)))}")
    findings = sum(len(as_array(turn.label["findings"])) for turn in turns)
    return " · ".join([*parts, several(findings, "finding")])


def _turn(turn: TurnSummary, level: str) -> Iterator[str]:
    label, emission = turn.label, turn.emission
    model = label["response_model"] or label["request_model"]
    yield ""
    yield f"{level} Turn {label['turn']}" + (f" · {_inline(str(model))}" if model else "")
    for said in turn.said:
        yield from _said(said)
    if emission.reasoning:
        yield ""
        yield "<details><summary>reasoning</summary>"
        yield ""
        yield from _quoted(emission.reasoning)
        yield ""
        yield "</details>"
    if text := emission.text or emission.refusal:
        yield ""
        yield "**assistant**" + (" (refusal)" if emission.refusal and not emission.text else "")
        yield ""
        yield from _quoted(text)
    for call in emission.calls:
        yield from _call(call, turn)
    yield ""
    yield _facts(turn)
    for finding in as_array(label["findings"]):
        fields = as_object(finding)
        where = f"{fields.get('severity')}, {fields.get('layer')} layer"
        yield f"- **{where}**: {_inline(str(fields.get('message')))} (`{fields.get('id')}`)"


def _said(said: SentMessage) -> Iterator[str]:
    yield ""
    yield f"**{said.role}**"
    if said.text:
        yield ""
        yield from _quoted(said.text)
    for call in said.calls:
        yield ""
        yield from _fenced(_arguments(call), "json")


def _call(call: ToolCall, turn: TurnSummary) -> Iterator[str]:
    yield ""
    yield f"**call** {_code(call.name)}"
    yield ""
    yield from _fenced(_arguments(call), "json")
    for result in turn.results:
        if result.call_id == call.id if call.id is not None else result.name in (call.name, None):
            yield ""
            yield "**result**" + (" (error)" if result.is_error else "")
            yield ""
            yield from _fenced(result.text, "")
    for run in turn.tool_runs:
        if run.call_id == call.id:
            yield ""
            yield _run_facts(run)
            if run.seen_as not in WHOLE:
                yield from _returned(run)


def _run_facts(run: ToolRun) -> str:
    """A run in one line: where, how long, how it ended, what the model saw of it."""
    facts = [f"**ran** {_code(run.name)} on {_code(run.server)}"]
    if run.duration_ms is not None:
        facts.append(f"{run.duration_ms:,.0f} ms")
    facts += [words for words in (outcome_words(run), seen_words(run), joined_words(run)) if words]
    return " · ".join(facts)


def _returned(run: ToolRun) -> Iterator[str]:
    """The result as it was returned, where the model saw another one."""
    if not run.returned_text:
        return
    yield ""
    cut = len(run.returned_text) > _LONGEST
    yield "**as returned**" + (f" (the first {_LONGEST:,} of {len(run.returned_text):,} characters)" if cut else "")
    yield ""
    yield from _fenced(run.returned_text[:_LONGEST], "")


def _arguments(call: ToolCall) -> str:
    return compact(call.arguments) if call.arguments is not None else call.arguments_raw


def _facts(turn: TurnSummary) -> str:
    label: Object = turn.label
    api, client, usage = as_object(label["api"]), as_object(label["client"]), turn.usage
    finish = api.get("finish_raw") or api.get("finish")
    facts = [f"finish {_code(str(finish))}" if finish else "no finish"]
    if (effective := api.get("effective")) and effective != api.get("finish"):
        facts.append(f"in effect {effective}")
    if error := as_object(api.get("error")):
        facts.append(f"error: {_inline(str(error.get('message')))}")
    if outcome := client.get("outcome"):
        facts.append(f"client: {str(outcome).replace('_', ' ')}")
    if usage is not None and usage.input is not None:
        facts.append(f"{usage.input:,} tokens in" + (f" ({usage.cache_read:,} cached)" if usage.cache_read else ""))
    if usage is not None and usage.output is not None:
        facts.append(f"{usage.output:,} out")
    if label["cost_usd"] is not None:
        least = "≥" if is_unpriced(label) else ""
        facts.append(f"{least}{dollars(Decimal(cast(str, label['cost_usd'])))}")
    return " · ".join(facts)


def _quoted(text: str) -> Iterator[str]:
    yield from (f"> {line}".rstrip() for line in text.splitlines())


def _fenced(text: str, language: str) -> Iterator[str]:
    """A code block whose fence is longer than any in the text."""
    fence = "`" * max(3, *(len(run) + 1 for run in _TICKS.findall(text)), 3)
    yield fence + language
    yield from text.splitlines()
    yield fence


def _code(text: str) -> str:
    fence = "`" * (max((len(run) for run in _TICKS.findall(text)), default=0) + 1)
    return f"{fence}{text}{fence}"


def _inline(text: str) -> str:
    """Text in one line that means itself."""
    return re.sub(r"([\\`*_<>#|\[\]])", r"\\\1", " ".join(text.split()))
