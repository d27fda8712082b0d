"""Tool runs as lines of text: beside the turn whose call they ran, and all of a cassette for `show --tools`."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal, cast

from turntape.cassettes.tape.model import ToolServer
from turntape.cassettes.tape.reader import Cassette

from ...tools.run_words import WHOLE, alone_words, joined_words, outcome_words, seen_words
from ...tools.tool_run import ToolRun
from ...wire.json_value import as_object, compact
from ...wire.printable import safe
from .number_format import lasted, several, size
from .terminal_text import GLYPHS, Line, Span, Style, ansi, clip, flow, folded, width_of, wrap
from .tool_diff import as_returned, as_seen, cut_note, diff_lines

if TYPE_CHECKING:
    from ...run.labelled import Key

_INDENT = " " * 11
_NAME = 20
"""For so many cells of a tool's name a narrow line leaves out other facts."""
_LEAST = 8
"""So many stay where there is no other fact to leave out."""
_RESULT_LINES = 12
"""Lines of a result in `show --tools`."""
_TURN_LINES = 200
"""Lines of a result in `show --turn`."""


def tool_lines(runs: Iterable[ToolRun], width: int) -> Iterator[Line]:
    """One line for each run, below the client's label."""
    head: Line = [("  ", "plain"), (f"{GLYPHS['tool']} {'tool':<7}", "tool")]
    for run in runs:
        yield from flow([*head, *run_spans(run)], width, _INDENT + "  ")
        head = [(_INDENT, "plain")]


def run_spans(run: ToolRun, *, number: bool = False) -> Line:
    """A run in one line: tool, server, time, how it ended, what was seen of the result, sizes, how it was joined."""
    return [(clip(run.name, 60), "bold"), *_facts(run, number=number).values()]


type _Fact = Literal["server", "span", "number", "time", "outcome", "seen", "sizes", "joined"]

_LEFT_OUT: tuple[_Fact, ...] = ("joined", "span", "number", "server", "sizes")
"""What a narrow line leaves out, in this order: the block of a run says it too, but for how it was joined."""


def _facts(run: ToolRun, *, number: bool) -> dict[_Fact, Span]:
    """What is said of a run after its name, in this order."""
    spans: dict[_Fact, Span] = {"server": (f" on {clip(run.server, 40)}", "dim")}
    if run.source == "span":
        spans["span"] = (" (from a span)", "dim")
    if number:
        spans["number"] = (f"  #{run.index}", "dim")
    if run.duration_ms is not None:
        spans["time"] = (f"  {lasted(run.duration_ms)}", "plain")
    if words := outcome_words(run):
        spans["outcome"] = (f"  {words}", "bad")
    if words := seen_words(run):
        spans["seen"] = (f"  {words}", seen_style(run))
    if sizes := sizes_of(run):
        spans["sizes"] = (f"  {sizes}", "dim")
    if run.joined and (words := joined_words(run)):
        spans["joined"] = (f"  {words}", "dim")
    return spans


def run_spans_in(run: ToolRun, width: int, *, number: bool = False) -> Line:
    """As `run_spans`; a narrow line leaves out what matters less than how it ended and what was seen."""
    facts = _facts(run, number=number)

    def room() -> int:
        return width - sum(width_of(text) for text, _ in facts.values())

    for fact in _LEFT_OUT:
        if room() >= min(_NAME, width_of(run.name)):
            break
        facts.pop(fact, None)
    return [(clip(run.name, max(_LEAST, min(60, room()))), "bold"), *facts.values()]


def console_tool_line(run: Mapping[str, object], colour: bool) -> str:
    """One line for a tool run as it ends, from its object in a label: tool, server, time, how it ended, size."""
    name, server = safe(cast(str, run["name"])), safe(cast(str, run["server"]))
    line: Line = [(f"{GLYPHS['tool']} ", "tool"), (clip(name, 60), "bold"), (f" on {clip(server, 40)}", "dim")]
    if isinstance(lasts := run["duration_ms"], int | float):
        line.append((f"  {lasted(lasts)}", "plain"))
    outcome = cast(str, run["outcome"]).replace("_", " ")
    if run["is_error"] or outcome != "answered":
        line.append(("  returned an error" if outcome == "answered" else f"  {outcome}", "bad"))
    if isinstance(returned := run["returned_bytes"], int):
        line.append((f"  {size(returned)} returned", "dim"))
    return ansi(line, colour)


def seen_style(run: ToolRun) -> Style:
    """The style of what the model saw: quiet when that is what was returned."""
    if run.seen_as in WHOLE and not run.lost:
        return "dim"
    return "bad" if run.seen_as in ("dropped", "other") else "warn"


def sizes_of(run: ToolRun) -> str:
    """How much was returned, and how much was seen where that is another thing.

    A result is counted as JSON, and what was seen as text: where all of it was seen, the two differ for no reason.
    """
    if run.returned_bytes is None:
        return ""
    differs = run.seen_bytes is not None and (run.seen_as not in WHOLE or run.lost)
    seen = f", {size(run.seen_bytes or 0)} seen" if differs else ""
    return f"{size(run.returned_bytes)} returned{seen}"


def call_of(run: ToolRun) -> str:
    """A run as a call: `read(path="x")`."""
    arguments = as_object(run.arguments)
    if run.arguments and not arguments:
        return f"{run.name}({run.arguments_raw})"
    return f"{run.name}({', '.join(f'{key}={compact(value)}' for key, value in arguments.items())})"


def unjoined_lines(runs: Iterable[ToolRun], width: int) -> Iterator[Line]:
    """The runs that no turn of this recording shows, after all turns."""
    runs = list(runs)
    without = [run for run in runs if run.joined is None]
    earlier = [run for run in runs if run.joined is not None]
    for group, why in ((without, "without a call of the model"), (earlier, "of calls in the file before")):
        if group:
            yield []
            yield [(f"{GLYPHS['tool']} ", "tool"), (f"{several(len(group), 'tool run')} {why}", "bold")]
        for run in group:
            yield from flow([("    ", "plain"), *run_spans(run, number=True)], width, "      ")


def loose_lines(runs: Iterable[ToolRun], width: int) -> Iterator[Line]:
    """The runs that no turn of this recording shows, at their place among the turns."""
    for run in runs:
        yield from flow([(f"{GLYPHS['tool']} ", "tool"), *run_spans(run, number=True), _alone(run)], width, "    ")


def _alone(run: ToolRun) -> tuple[str, Style]:
    """Why no turn shows the run."""
    return (f"  {alone_words(run)}", "warn" if run.joined is None else "dim")


def turn_runs(runs: Iterable[ToolRun], width: int) -> Iterator[Line]:
    """The runs of one turn in full: arguments, and the result as returned against the result as seen."""
    for run in runs:
        yield []
        yield from flow([(f"{GLYPHS['tool']} ", "tool"), *run_spans(run, number=True)], width, "    ")
        yield from _wrapped(call_of(run), width, "dim")
        yield from _result(run, width, _TURN_LINES)


def tools_text(cassette: Cassette, title: str, *, thread: str | None = None, width: int = 100) -> Iterator[Line]:
    """All tool servers and tool runs of a cassette, in the order of the calls; with `thread` only its runs."""
    from ...run.labels import label_stream  # it loads the rules, which the lines of one run do not need

    width = max(40, width)
    found: dict[Key, tuple[str, str, tuple[ToolRun, ...]]] = {}
    messages = 0
    for key, one in label_stream(cassette):
        label = one.label
        if key not in found:
            messages += one.reading.kind == "tools"
        turn, of = (f"turn {label['turn']}", cast(str, label["thread"])) if one.turn else ("", "")
        runs = one.tool_runs if thread is None or label["thread"] == thread else ()
        found[key] = turn, of, tuple(run.small() for run in runs)
    many = len({of for _, of, _ in found.values() if of}) > 1
    listed = [(f"{turn} of {of}" if of and many else turn, run) for turn, of, runs in found.values() for run in runs]
    listed.sort(key=lambda one: one[1].started_at)
    yield [(title, "bold")]
    if not messages:
        yield from _wrapped("no messages of tool servers were recorded; `turntape run` records those of known clients",
                            width, "dim", "")  # fmt: skip
        return
    alone = sum(run.joined is None for _, run in listed)
    facts = [several(len(listed), "tool run"), several(messages, "message") + " of tool servers"]
    facts += [f"{alone} without a call of the model"] if alone else []
    yield from folded([(" · ".join(facts), "dim")], width, "  ")
    yield from _servers(cassette.tool_servers, width)
    for where, run in listed:
        yield []
        place: Line = [(f"  {where}", "dim") if where else _alone(run)]
        yield from flow([(f"{GLYPHS['tool']} ", "tool"), *run_spans(run, number=True), *place], width, "    ")
        yield from _wrapped(call_of(run), width, "dim")
        yield from _result(run, width, _RESULT_LINES)


def _servers(servers: Mapping[str, ToolServer], width: int) -> Iterator[Line]:
    if servers:
        yield []
    for one in servers.values():
        command = safe(" ".join(one.command)) if one.command else one.transport
        spans: Line = [(f"{clip(one.server, 40)}  ", "tool"), (clip(command, max(40, width - 40)), "plain")]
        if one.pid is not None:
            spans.append((f"  pid {one.pid}", "dim"))
        if one.signal is not None:
            spans.append((f"  ended by {one.signal}", "warn"))
        elif one.exit is not None:
            spans.append((f"  exit {one.exit}", "warn" if one.exit else "dim"))
        yield from flow(spans, width, "    ")


def _result(run: ToolRun, width: int, most: int) -> Iterator[Line]:
    """The result; where the model saw another one, both as a difference."""
    returned, seen = as_returned(run), as_seen(run)
    if run.seen_as in WHOLE or run.seen_as is None:
        yield from _some(([(line, "plain")] for line in _lines(returned, width)), most)
        return
    yield [("    − as returned  ", "bad"), ("+ as seen", "good")]
    marks = {"equal": "  ", "removed": "− ", "added": "+ "}
    looks: dict[str, Style] = {"equal": "dim", "removed": "bad", "added": "good"}
    shown = (
        [(marks[one.change] + line, looks[one.change])]
        for one in diff_lines(returned, seen)
        for line in _lines(one.text, width - 2)
    )
    yield from _some(cast("Iterator[Line]", shown), most)
    if note := cut_note(run):
        yield [("    ", "plain"), (note, "dim")]


def _lines(text: str, width: int) -> Iterator[str]:
    for line in safe(text).split("\n") if text else ():
        yield from wrap(line, max(20, width - 4))


def _some(lines: Iterator[Line], most: int) -> Iterator[Line]:
    """The first lines, and how many follow."""
    rest = 0
    for number, line in enumerate(lines):
        if number < most:
            yield [("    ", "plain"), *line]
        else:
            rest += 1
    if rest:
        yield [("    ", "plain"), (f"… {several(rest, 'more line')}", "dim")]


def _wrapped(text: str, width: int, style: Style, indent: str = "    ") -> Iterator[Line]:
    for line in wrap(safe(text), max(20, width - len(indent)))[:6]:
        yield [(indent, "plain"), (line, style)]
