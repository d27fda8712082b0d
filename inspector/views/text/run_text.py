"""The text of `turntape show`.

`story` gives styled lines. The terminal, the SVG picture and the tests render the same lines.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from turntape.cassettes.frozen import frozen
from turntape.cassettes.tape.model import RoundTrip
from turntape.cassettes.tape.reader import Cassette

from ...run.labels import Key, Label, LabelledRoundTrip, label_stream
from ...tools.tool_run import ToolRun
from ...wire.printable import safe
from ...wire.values import Emission
from ..vocabulary.nothing import NOTHING_RECORDED
from .number_format import spent
from .run_head import TurnFigures, head_lines, turn_figures
from .terminal_text import Line, ansi, clip, flow, folded, wrap
from .tool_text import loose_lines, tool_lines, unjoined_lines
from .turn_lines import (
    PREVIEW,
    UNDER,
    Many,
    dispatch_line,
    emission_lines,
    finding_lines,
    finish_line,
    new_lines,
    other_line,
    title_line,
    tokens_line,
)
from .whole_turn import whole_turn


def show_text(
    round_trips: Cassette | Iterable[RoundTrip],
    *,
    turn: int | None = None,
    thread: str | None = None,
    colour: bool = False,
    width: int = 100,
    hints: bool = False,
) -> Iterator[str]:
    """The run, line by line. `turn`: one turn in full. `thread`: one thread. An unknown one gives nothing."""
    for line in story(round_trips, turn=turn, thread=thread, width=width, hints=hints):
        yield ansi(line, colour)


def story(
    round_trips: Cassette | Iterable[RoundTrip],
    *,
    turn: int | None = None,
    thread: str | None = None,
    width: int = 100,
    hints: bool = False,
) -> Iterator[Line]:
    """The run as styled lines; `hints` adds the findings of tier H."""
    width = max(40, width)
    rows: dict[Key, _TurnText] = {}
    prompts, called = _SystemPrompts(), dict[str, str]()
    again = round_trips.round_trip if isinstance(round_trips, Cassette) and round_trips.path else None
    for key, one in label_stream(round_trips, hints=hints, again=again):
        if thread is not None and one.label["thread"] != thread:
            continue
        if turn is None:
            runs = tuple(run.small() for run in one.tool_runs)
            reported = [*prompts.lines(key, one, width), *_reported(one, called, width)]
            rows[key] = _TurnText(turn_figures(one), reported, tokens_line(one), runs)
        elif one.label["turn"] == turn:
            rows[key] = _TurnText(turn_figures(one), list(whole_turn(one, width)), [], ())
    done = [rows[key] for key in sorted(rows)]
    if turn is not None:
        for row in done:
            yield from row.reported
        return
    if thread is not None and not done:
        return
    if isinstance(round_trips, Cassette):
        name = safe(round_trips.path.name) if round_trips.path else "a run"
        yield from head_lines(name, [row.figures for row in done], width)
    if not done:
        for text in wrap(NOTHING_RECORDED, width):
            yield [(text, "warn")]
    yield from _summaries(done, width, of_one_run=isinstance(round_trips, Cassette))
    if isinstance(round_trips, Cassette):
        for problem in round_trips.problems:
            yield []
            yield [("! ", "warn"), (safe(problem), "plain")]


@frozen
class _TurnText:
    """The lines of a round trip, kept until all are read; no bodies."""

    figures: TurnFigures
    reported: list[Line]
    tokens: Line
    tool_runs: tuple[ToolRun, ...]

    @property
    def label(self) -> Label:
        return self.figures.label


class _SystemPrompts:
    """The system prompts that an API has apart from the messages: each is shown where it is new in its thread."""

    def __init__(self) -> None:
        self._latest: dict[str, int] = {}
        """A hash of the last one of each thread, because a run must not stay in memory."""
        self._new: dict[Key, str | None] = {}
        """How that of a turn is introduced; None where it was shown before. A turn may be given twice."""

    def lines(self, key: Key, one: LabelledRoundTrip, width: int) -> Iterator[Line]:
        if one.turn is None or not (text := " ".join(filter(None, (part.text for part in one.reading.request.system)))):
            return
        if key not in self._new:
            now, before = hash(text), self._latest.get(one.turn.thread)
            self._latest[one.turn.thread] = now
            self._new[key] = "system: " if before is None else "system, changed: " if before != now else None
        if (lead := self._new[key]) is not None:
            yield from folded([("    ", "plain"), (lead, "dim"), (clip(text, 400), "plain")], width, "      ", PREVIEW)


def _reported(one: LabelledRoundTrip, called: dict[str, str], width: int) -> Iterator[Line]:
    """What went over the wire: what is new in the request, the emission, the finish.

    `called` are the names of the calls of all answers so far, by id: a history that the API holds has only the results.
    """
    if one.turn is not None:
        yield from new_lines(one, called, width)
        called.update((call.id, call.name) for call in (one.reading.emission or Emission()).calls if call.id)
        yield from emission_lines(one, width)
        yield from folded(finish_line(one), width, UNDER)


def _summaries(rows: Sequence[_TurnText], width: int, *, of_one_run: bool) -> Iterator[Line]:
    """Each turn in short with what was spent until then; after them the other runs of tool servers."""
    turns = [row.label for row in rows if row.label["turn"] is not None]
    threads, runs = ({label[key] for label in turns} for key in ("thread", "run"))
    many = Many(len(threads) > 1, len(runs) > 1 or not of_one_run)
    so_far: Decimal | None = None
    unpriced = 0
    for row in rows:
        if row.label["kind"] == "tools" and not row.label["findings"]:
            continue
        if (cost := row.figures.cost) is not None:
            so_far = (so_far or Decimal(0)) + cost
        unpriced += row.figures.unpriced
        yield []
        yield from _summary(row, "" if so_far is None else spent(so_far, unpriced), many, width)
    loose = (row.tool_runs for row in rows if row.label["turn"] is None and not row.label["findings"])
    yield from unjoined_lines((run for runs in loose for run in runs), width)


def _summary(row: _TurnText, so_far: str, many: Many, width: int) -> Iterator[Line]:
    label = row.label
    if label["turn"] is None:
        yield from loose_lines(row.tool_runs, width) if row.tool_runs else folded(other_line(label), width, "    ")
        yield from finding_lines(label, width)
        return
    yield from flow(title_line(label, row.figures.unpriced, many, so_far), width, "    ")
    yield from row.reported
    yield from folded(dispatch_line(label), width, UNDER)
    yield from tool_lines(row.tool_runs, width)
    yield from folded(row.tokens, width, "      ")
    yield from finding_lines(label, width)
