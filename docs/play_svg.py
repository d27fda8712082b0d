"""Draws a run being played as an animated SVG: turns arrive, the cost grows, the finding appears.

`docs/screens.py` writes it to docs/play.svg, the first picture of the README. It has CSS animations and no script, so a
page that shows it as an image plays it. Who asked for less motion sees the whole run.
"""

from collections.abc import Iterator
from decimal import Decimal
from html import escape

from turntape.inspector.run.row import Row
from turntape.inspector.run.run_index import Run
from turntape.inspector.run.strip import KINDS, StripTurn, axis, strip_of
from turntape.inspector.views.text.number_format import count, dollars
from turntape.inspector.views.text.status_styles import FINISH, FINISH_WORDS, OUTCOME, OUTCOME_WORDS
from turntape.inspector.views.text.terminal_text import GLYPHS, clip, wrap
from turntape.inspector.views.vocabulary.kinds import KIND_LOOKS
from turntape.inspector.views.vocabulary.signs import MARKS
from turntape.inspector.views.vocabulary.style import STYLE_LOOKS

WIDTH, ROW = 900, 21
LEFT, TOP = 24, 48
CHARTS = TOP + 46
"""Where the chart of the first thread begins."""
CHART = 96
"""Height of the chart of the first thread; the other ones have a third of it."""
CELL = 7.8
"""The width of a character, more or less: fonts differ, and the columns have room for it."""
REST, HOLD = 0.8, 5.0
"""Seconds of a turn at least, and of the whole run at the end."""
GROWS = 0.45
"""Seconds in which a bar grows."""
_LIGHT = {"ground": "#ffffff", "raised": "#f3f4f7", "edge": "#d9dce2"}
_DARK = {"ground": "#14161c", "raised": "#1c1f27", "edge": "#31353e"}


def play_svg(run: Run) -> str:
    """The run of a cassette as an animated picture."""
    return "\n".join(_Picture(run).parts()) + "\n"


class _Picture:
    def __init__(self, run: Run) -> None:
        self.rows = run.rows
        self.strip = strip_of(run.rows.all)
        self.turns = self.strip.in_order
        self.begins = [*_begins(self.turns)]
        self.whole = self.begins[-1] + HOLD
        self.first = run.rows.first_trouble()
        lanes = len(self.strip.lanes)
        self.list_top = CHARTS + CHART + (lanes - 1) * (CHART // 3 + 8) + 52
        self.finding_top = self.list_top + len(self.turns) * ROW + 12
        self.height = self.finding_top + 92

    def parts(self) -> Iterator[str]:
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" width="{WIDTH}" '
            f'height="{self.height}" role="img" aria-label="a run is played in turntape: turn by turn the cost grows, '
            'and the finding appears">'
        )
        yield f"<style>{self._style()}</style>"
        yield f'<rect class="ground" width="{WIDTH}" height="{self.height}" rx="10"/>'
        yield from (f'<circle cx="{22 + 18 * at}" cy="20" r="5.5" fill="{colour}"/>' for at, colour in _DOTS)
        yield _text(WIDTH / 2, 24, "turntape view run.cassette.jsonl", "dim", anchor="middle")
        yield from self._counter()
        yield from self._lanes()
        for number, turn in enumerate(self.turns):
            yield from self._row(number, turn)
        yield from self._finding()
        yield "</svg>"

    def _style(self) -> str:
        lights = {**_LIGHT, **{name: look.light for name, look in STYLE_LOOKS.items()}}
        darks = {**_DARK, **{name: look.dark for name, look in STYLE_LOOKS.items()}}
        light, dark = ("".join(f"--{name}:{value};" for name, value in of.items()) for of in (lights, darks))
        rules = [
            f"svg{{{light}}}",
            f"@media(prefers-color-scheme:dark){{svg{{{dark}}}}}",
            "text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}",
            "text.big{font-size:24px;font-weight:700}text.small{font-size:11px}text.strong{font-weight:700}",
            ".ground{fill:var(--ground);stroke:var(--edge)}.raised{fill:var(--raised)}.edge{stroke:var(--edge)}",
            "".join(f".{name}{{fill:var(--{name})}}" for name in STYLE_LOOKS),
            ".line{stroke:var(--money);stroke-width:2;fill:none}.bar{transform-box:fill-box;transform-origin:bottom}",
        ]
        for number in range(len(self.turns)):
            rules.append(self._rules(number))
        rules.append("@media(prefers-reduced-motion:reduce){*{animation:none!important}.gone{opacity:0}}")
        return "".join(rules)

    def _rules(self, number: int) -> str:
        """The animations of a turn: it appears, its bar grows, its figure goes when the next one comes."""
        start = self._share(self.begins[number])
        grown = self._share(self.begins[number] + GROWS)
        gone = self._share(self.begins[number + 1])
        last = number == len(self.turns) - 1
        seen = f"0%,{start - 0.01:.2f}%{{opacity:0}}{start:.2f}%"
        run = f"{self.whole:.1f}s linear infinite"
        return (
            f"@keyframes a{number}{{{seen},100%{{opacity:1}}}}.a{number}{{animation:a{number} {run}}}"
            f"@keyframes b{number}{{0%,{start:.2f}%{{transform:scaleY(0)}}{grown:.2f}%,100%{{transform:none}}}}"
            f".b{number}{{animation:b{number} {run}}}"
            + (
                f".c{number}{{animation:a{number} {run}}}"
                if last
                else f"@keyframes c{number}{{{seen},{gone - 0.01:.2f}%{{opacity:1}}{gone:.2f}%,100%{{opacity:0}}}}"
                f".c{number}{{animation:c{number} {run}}}"
            )
        )

    def _share(self, seconds: float) -> float:
        return max(0.01, 100 * seconds / self.whole)

    def _counter(self) -> Iterator[str]:
        """What the run has cost, and how many tokens it has sent."""
        sent = 0
        for number, turn in enumerate(self.turns):
            sent += turn.row.usage.input or 0
            gone = " gone" if number < len(self.turns) - 1 else ""
            yield f'<g class="c{number}{gone}">'
            yield _text(LEFT, TOP + 20, dollars(turn.so_far), "money big")
            words = f"{count(sent)} tokens sent · {self.rows.name_of(turn.place)}"
            yield _text(LEFT + 118, TOP + 18, words, "dim")
            yield "</g>"

    def _lanes(self) -> Iterator[str]:
        scale = axis(max((turn.amount("dollars") or Decimal(0) for turn in self.turns), default=Decimal(0)), "dollars")
        longest = max(len(lane.turns) for lane in self.strip.lanes)
        numbers = {turn.place: number for number, turn in enumerate(self.turns)}
        left, right = LEFT + 74, WIDTH - LEFT - 52
        wide = (right - left) / longest
        top = CHARTS
        for at, lane in enumerate(self.strip.lanes):
            tall = CHART if not at else CHART // 3
            yield f'<rect class="raised" x="{left}" y="{top}" width="{right - left}" height="{tall}" rx="3"/>'
            yield _text(LEFT, top + 12, lane.thread, "text strong")
            yield _text(LEFT, top + 26, lane.kind.replace("_", " "), "dim small")
            if not at:
                yield _text(right + 6, top + 10, scale.ticks[-1].label, "dim small")
            # A lower chart has the same scale, and so shows less of it.
            for place, turn in enumerate(lane.turns):
                x = left + place * wide + 2
                yield from self._bar(x, top + tall, wide - 4, turn, numbers[turn.place], float(scale.top))
            yield from self._so_far(lane.turns, left, top + tall, wide, tall, numbers)
            top += tall + 8
        yield from self._legend(left, top + 8)

    def _legend(self, x: float, y: float) -> Iterator[str]:
        """The kinds that occur."""
        for kind, amount in zip(KIND_LOOKS, self.strip.sums("dollars"), strict=True):
            if amount:
                yield f'<rect class="{kind.name}" x="{x:.0f}" y="{y - 9}" width="9" height="9" rx="1"/>'
                yield _text(x + 14, y, kind.title, "dim small")
                x += 14 + 7 * len(kind.title) + 18
        yield f'<path class="line" d="M{x:.0f} {y - 4}h14"/>'
        yield _text(x + 20, y, "the cost so far", "dim small")

    def _bar(self, x: float, bottom: float, wide: float, turn: StripTurn, number: int, most: float) -> Iterator[str]:
        yield f'<g class="bar b{number}">'
        y = bottom
        for (name, _), amount in zip(KINDS, turn.dollars or (), strict=False):
            tall = float(amount) / most * CHART
            if tall > 0.05:
                y -= tall
                yield f'<rect class="{name}" x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{tall:.1f}"/>'
        yield "</g>"
        for mark in turn.marks[:1] if turn.row.thread == self.strip.lanes[0].thread else ():
            sign = MARKS[mark.kind]
            yield _text(x + wide / 2, CHARTS - 4, sign.glyph, f"{sign.style} strong a{number}", anchor="middle")

    def _so_far(
        self, turns: tuple[StripTurn, ...], left: float, bottom: float, wide: float, tall: int, numbers: dict[int, int]
    ) -> Iterator[str]:
        """The cost of the run so far, on a separate scale."""
        total = float(self.strip.total or 0)
        if not total:
            return
        before = float(turns[0].so_far - (turns[0].row.cost or 0)) / total
        for at, turn in enumerate(turns):
            after = float(turn.so_far) / total
            x, y = left + at * wide, bottom - before * (tall - 4)
            yield (
                f'<path class="line a{numbers[turn.place]}" '
                f'd="M{x:.1f} {y:.1f}L{x + wide:.1f} {bottom - after * (tall - 4):.1f}"/>'
            )
            before = after

    def _row(self, number: int, turn: StripTurn) -> Iterator[str]:
        row, y = turn.row, self.list_top + number * ROW
        yield f'<g class="a{number}">'
        look = {"error": "bad", "warning": "warn"}.get(row.worst or "", "dim")
        yield _text(LEFT, y, f"{row.thread} {row.label}", f"{look} strong")
        yield _text(LEFT + 62, y, GLYPHS["model"], "model")
        yield _text(LEFT + 80, y, clip(_done(row), 52), "plain")
        yield _text(LEFT + 500, y, GLYPHS["api"], "api")
        if row.error:
            status = f"{row.status} " if row.status is not None and row.status >= 400 else ""
            yield _text(LEFT + 518, y, clip(f"{status}{row.error}", 36), "bad")
        else:
            finish, outcome = row.finish or "", row.outcome or ""
            yield _text(LEFT + 518, y, FINISH_WORDS.get(finish, finish), FINISH.get(finish, "warn"))
            yield _text(LEFT + 628, y, GLYPHS["client"], "client")
            yield _text(LEFT + 646, y, OUTCOME_WORDS.get(outcome, outcome), OUTCOME.get(outcome, "dim"))
        price = dollars(row.cost) if row.cost is not None else "–"
        yield _text(WIDTH - LEFT, y, price, "money", anchor="end")
        yield "</g>"

    def _finding(self) -> Iterator[str]:
        """The first finding, from the turn on in which it occurred."""
        if self.first is None:
            return
        number = next(at for at, turn in enumerate(self.turns) if turn.place == self.first)
        row = self.rows.all[self.first]
        found = next(mark for mark in row.findings if mark.severity == row.worst)
        y = self.finding_top
        yield f'<g class="a{number}">'
        yield f'<rect class="raised" x="{LEFT - 8}" y="{y}" width="{WIDTH - 2 * LEFT + 16}" height="80" rx="4"/>'
        yield f'<rect class="bad" x="{LEFT - 8}" y="{y}" width="3" height="80"/>'
        head = f"✗ {self.rows.name_of(self.first)}  {GLYPHS[found.layer]} {found.layer}  {found.id}"
        yield _text(LEFT + 6, y + 20, head, "bad strong")
        room = int((WIDTH - 2 * LEFT - 12) / CELL)
        lines = wrap(found.message, room)[:2]
        for at, line in enumerate(lines):
            yield _text(LEFT + 6, y + 39 + 17 * at, line, "plain")
        yield _text(LEFT + 6, y + 39 + 17 * len(lines), clip(f"fix  {found.fix}", room), "good")
        yield "</g>"


_DOTS = ((0, "#ff5f57"), (1, "#febc2e"), (2, "#28c840"))


def _begins(turns: tuple[StripTurn, ...]) -> Iterator[float]:
    """When each turn appears, in seconds, and when the last one is done: long turns a little later."""
    at = 0.4
    for turn in turns:
        yield at
        at += min(2.0, max(REST, (turn.row.duration_ms or 0) / 7000))
    yield at


def _done(row: Row) -> str:
    """What the model did in a turn."""
    words = ", ".join(row.done) or row.said
    return f"cut: {words}" if row.emitted == "partial_call" else words


def _text(x: float, y: float, words: str, look: str, *, anchor: str = "") -> str:
    placed = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x:.0f}" y="{y:.0f}" class="{look}"{placed}>{escape(words)}</text>'
