"""What was wrong in a test's replay, as text for the person who reads the failure: what differs, then what to do."""

from collections.abc import Callable, Collection, Sequence

from ..counted import several
from ..frozen import frozen
from ..matching.json_diff import Difference
from ..regex import regex
from ..replay.difference_text import changes_of, lines_of, part_in_words, parts_of
from ..replay.live_diff import LiveDifference
from ..replay.miss import Miss
from ..replay.report import Report
from ..replay.session import Session
from ..replay.tools.recording import Asked
from ..tape.lines import KEEP_ONE_SIDE
from ..tape.turn_names import TurnName
from .advice import Advice, can_stay, from_here, settings_of
from .marker import Marker
from .tool_servers import ToolServers, called_tool

type Actions = Callable[[], Sequence[str] | None]
"""What happened in each recorded round trip, in a few words, by place; None if it is unknown."""

_REPLACED = regex(rb"REDACTED(?:-[0-9a-f]{8}|\*)|[\"']REDACT(?:ED?)?[\\\"']")
"""A value that was replaced; a short one has no room for the fingerprint."""
_FIELD = regex(rb"(\w{1,40})\\*[\"']\s*:\s*\\*[\"']?$")
"""The end of what comes before a value: the field that has it."""
_SHOWN = 8
"""At most this many problems of one kind are listed."""
_MANY = 10
"""At most this many differences of a recorded turn are shown."""
_FEW = 4
"""At most this many differences of a request that is not a recorded turn are shown."""


@frozen
class Cause:
    """Why a test fails, as far as other tests may fail for the same reason."""

    words: tuple[str, ...]
    """What has changed, line by line."""
    changes: tuple[str, ...]
    """The same without the words around it, which may differ from test to test, and by part instead of place."""
    parts: tuple[str, ...]
    """The part of the request that each difference is in."""
    ignored: tuple[str, ...]
    """The settings that ignore it, when everything that differs looks new in each run."""
    may_be_meant: bool
    """True when that may also be a change that a person has made."""
    can_stay: bool
    """True when restamp may keep the recorded answers."""


@frozen
class Found:
    """What is wrong with a replay."""

    session: Session
    settings: Marker
    tools: ToolServers
    actions: Actions
    advice: Advice
    passed: bool
    """Missing requests and wrong order count only in a test that passed."""
    ended: bool = True
    """False while fixtures of the test may still send requests."""

    def lines(self) -> list[str]:
        """The text, line by line; empty when nothing fails the test."""
        live = [_live(one) for one in self.session.live_differences]
        if self.session.refused and not self.session.plan.plays:
            return live  # why nothing was recorded is said already, and to record it would end in the same way
        if not self.session.exists:
            missing = self.tools.without_recording()
            asked = [
                line
                for miss in self.session.misses[:1]
                for line in (
                    f"there is no cassette to answer {miss.method} {miss.path}",
                    "",
                    f"{from_here(self.session.path)} does not exist",
                )
            ]
            said = [*asked, *([missing] if missing else ())]
            return [*said, *(self.advice.without_cassette(self.session) if said else ()), *live]
        if not self.session.plan.plays or self.session.plan.calls == "missing":
            return live
        return [*self._differences(), *live]

    @property
    def _misses(self) -> list[Miss]:
        strays = set(map(id, self.session.strays))
        report = self.session.player.report()
        known = [miss for miss in (*report.changed, *report.extra) if id(miss) not in strays]
        order = {id(miss): place for place, miss in enumerate(self.session.player.misses)}
        return sorted(known, key=lambda miss: order.get(id(miss), len(order)))

    def cause(self) -> Cause | None:
        """What the first request that differs has changed; None when no recorded turn has changed."""
        misses = self._misses
        changed = next((miss for miss in misses if miss.is_same_turn and miss.differences), None)
        if changed is None:
            return None
        ignored = tuple(settings_of(misses)) if all(miss.ignorable for miss in misses) else ()
        meant = any(miss.may_be_meant for miss in misses)
        found, nearest = changed.differences, changed.nearest
        return Cause(
            tuple(_first_of(found, _MANY)),
            tuple(changes_of(found, nearest)),
            tuple(parts_of(found, nearest)),
            ignored,
            meant,
            all(map(can_stay, misses)),
        )

    def _differences(self) -> list[str]:
        session, report, misses = self.session, self.session.player.report(), self._misses
        moved = report.reordered if self.passed and not self.settings.any_order else ()
        known = {miss.turn for miss in misses if miss.is_same_turn}
        every = self.passed and self.ended and expects_all(session, self.settings)
        unplayed = [turn for turn in (report.unplayed if every else ()) if turn not in known]
        imported = imported_turns(session, unplayed)
        left = [turn for turn in unplayed if turn not in imported]
        missing = self.tools.without_recording()
        tool_misses = [missing] if missing else self.tools.misses()
        not_called = self.tools.left_over if every else []
        if not (misses or moved or left or tool_misses or not_called):
            return []
        missed = bool(misses or tool_misses)
        damaged = damage(session)
        lines = [
            damaged.partition(f"; {KEEP_ONE_SIDE}")[0] if damaged else self._first(report, misses, tool_misses, left),
            "",
            *_some(tool_misses),
            *_requests(misses, self.tools),
            *_some([f"order: {one}" for one in moved]),
            *self._left(left, behind_a_miss=missed),
            *_not_called(not_called, behind_a_miss=missed),
        ]
        # What a damaged recording does not answer may still be right: accepting it as a change would keep the damage.
        if damaged:
            return [*lines, "", *self.advice.of_damage(session)]
        return [*lines, "", *self.advice.of(session, misses, moved=bool(moved), left=bool(left or not_called))]

    def _first(
        self, report: Report, misses: Sequence[Miss], tool_misses: Sequence[str], left: Sequence[TurnName]
    ) -> str:
        """The first thing that differs, in one clause."""
        # A tool is called between two turns: what differs there may be why the next turn differs.
        if tool_misses:
            return "a request to a tool server was not recorded"
        if misses:
            return _clause(misses)
        if report.first is not None:
            return f"{report.first.words} ({report.first.layer})"
        return "a recorded turn was not requested" if left else "a recorded tool call was not made"

    def _left(self, left: Sequence[TurnName], *, behind_a_miss: bool) -> list[str]:
        if behind_a_miss and left:  # an agent that gets no answer stops, so this is expected
            return [f"not requested after that: {'; '.join(map(str, left))}"]
        said = self.actions() if left else None
        places = {turn: place for place, turn in enumerate(self.session.player.turns)}
        return _some(
            [f"not requested: {turn} ({said[places[turn]]})" if said else f"not requested: {turn}" for turn in left]
        )


def damage(session: Session) -> str | None:
    """What of the cassette could not be read, in one sentence; None for a whole one."""
    first, *others = session.player.cassette.problems or [None]
    more = f" (and {len(others)} more)" if others else ""
    return f"the cassette is damaged: {first}{more}" if first else None


def expects_all(session: Session, settings: Marker) -> bool:
    """True when the test must request every recorded round trip."""
    plan = session.plan
    return (
        plan.plays and plan.calls != "missing" and session.exists and not settings.partial and not session.player.faulty
    )


def imported_turns(session: Session, among: Collection[TurnName]) -> set[TurnName]:
    """Those of these turns that another tool has recorded. That tool did not ask for all of them, so neither do we."""
    if not among:
        return set()  # no round trip has to be read
    player = session.player
    named = zip(player.turns, player.cassette, strict=True)
    return {turn for turn, trip in named if turn in among and trip.route == "import"}


def _live(one: LiveDifference) -> str:
    return f"the live API no longer answers as recorded: {one}"


def _clause(misses: Sequence[Miss]) -> str:
    """What the first of them is, and how often it comes when nothing was recorded for it."""
    miss = misses[0]
    if miss.played:
        same = [one for one in misses if _more_of(one) == _more_of(miss)]
        if miss.is_one_more:
            more = "one request" if len(same) == 1 else several(len(same), "request")
            return f"the run sent {more} more than the recorded {miss.played} of {miss.method} {miss.path}"
        return f"{miss.turn} was requested again{f', {len(same)} times' if len(same) > 1 else ''}"
    if miss.refused:
        return f"{miss.turn} cannot keep its recorded answer: {miss.refused}"
    if miss.is_same_turn:
        if (tool := called_tool(miss)) is not None:
            return f"the call of {tool} has changed ({miss.turn})"
        named = dict.fromkeys(part_in_words(one, miss.nearest) for one in miss.differences)
        return f"{miss.turn} has changed in {_and(list(named)[:3]) or 'its body'}"
    after = f" after {miss.after}" if miss.after else ""
    return f"{miss.method} {miss.path} was requested{after} and is not in the recording"


def _more_of(miss: Miss) -> tuple[object, ...]:
    """What was recorded less often than it was requested."""
    return (bool(miss.played), miss.is_one_more, miss.method, miss.path, None if miss.is_one_more else miss.turn)


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""


def _requests(misses: Sequence[Miss], tools: ToolServers) -> list[str]:
    """Each request that was not answered, with what differs. Those with equal differences are said once, and so are
    those that are more than were recorded, as all but the first come from the first."""
    groups: dict[tuple[str, ...], tuple[list[str], list[Miss]]] = {}
    for miss in misses:
        said = _of_request(miss, tools)
        groups.setdefault(tuple(said[:1] if miss.is_one_more else said), (said, []))[1].append(miss)
    lines: list[str] = []
    for (head, *rest), its in list(groups.values())[:_SHOWN]:
        turns = "; ".join(dict.fromkeys(str(miss.turn) for miss in its if miss.is_same_turn))
        if turns and len(its[0].differences) == 1 and rest:
            lines += [f"{turns}, {rest[0]}", *rest[1:]]
        else:
            lines += [f"{turns}{head}", *(f"  {line}" for line in rest)]
    more = len(groups) - _SHOWN
    return [*lines, f"and {several(more, 'more request')}"] if more > 0 else lines


def _of_request(miss: Miss, tools: ToolServers) -> list[str]:
    """The lines of one request; the first continues the names of turns if it is a recorded turn."""
    if miss.is_same_turn:
        return [":", *_first_of(miss.differences, _MANY)]
    if miss.played or miss.nearest is None:
        after = f"after {miss.after}: " if miss.after else ""
        more = [f"it differs from {miss.turn}:", *_first_of(miss.differences, _FEW)] if miss.differences else []
        return [f"{after}{tools.described(miss)}", *more]
    after = f" after {miss.after}" if miss.after else ""
    played = ", which was played already" if miss.nearest_played else ""
    head = f"{miss.method} {miss.path}{after} is not in the recording; the nearest is {miss.turn}{played}:"
    return [head, *_first_of(miss.differences, _FEW)]


def _first_of(found: Sequence[Difference], most: int) -> list[str]:
    """The lines of the first differences, and how many more there are."""
    more = len(found) - most
    return [*lines_of(found[:most]), *([f"and {several(more, 'more difference')}"] if more > 0 else ())]


def _not_called(left: Sequence[Asked], *, behind_a_miss: bool) -> list[str]:
    calls = [f"the tool {one.name} of the server {one.session.server} (#{one.index})" for one in left]
    if behind_a_miss and calls:
        return [f"not called after that: {', '.join(calls)}"]
    return _some([f"not called: {call}" for call in calls])


def _some(found: Sequence[str]) -> list[str]:
    more = len(found) - _SHOWN
    return [*found[:_SHOWN], *([f"and {more} more"] if more > 0 else ())]


def remarks(session: Session) -> list[str]:
    """What to report without failing the test: answers to requests that differ, and unanswered requests after a
    fault."""
    report = session.player.report()
    if session.restamp is not None:
        if session.misses or not session.restamp.changed:
            return []
        if not session.restamp.written:
            return ["no request was rewritten: the test did not pass"]
        return [f"{several(session.restamp.written, 'request')} rewritten, the answers stay"]
    if session.player.matching.profile == "sequence":
        return []  # the session says once how many requests differ
    return [
        *(f"answered although it differs: {match}" for match in report.tolerated),
        *(f"not recorded, {_why_no_miss(session)}: {miss}" for miss in session.strays),
    ]


def ignored_requests(session: Session) -> int:
    """How many requests differ from the recording, and the profile of the test ignores it."""
    return len(session.player.report().tolerated) if session.player.matching.profile == "sequence" else 0


def left_of_import(session: Session) -> int:
    """How many turns of an imported recording were not requested, where all of them could have been."""
    if session.misses or not session.plan.plays:
        return 0
    return len(imported_turns(session, session.player.report().unplayed))


def replaced_values(session: Session) -> str | None:
    """Which answers that this run got have a value that was replaced as a secret; None if none has."""
    by_turn = dict(zip(session.player.turns, session.player.cassette, strict=True))
    for match in session.player.matches:
        answer = by_turn[match.turn].response
        found = _REPLACED.search(answer.body) if answer is not None else None
        if answer is not None and found is not None:
            field = _FIELD.search(answer.body[max(0, found.start() - 60) : found.start()])
            place = f"in the field {field[1].decode()}, whose value" if field else "where a value"
            remedy = "turntape.toml, and import the suite again, as it was before"
            if not session.is_imported:
                remedy = "the mark or in turntape.toml, and record again"
            return (
                f"the answer of {match.turn} has REDACTED {place} looked secret; if the test needs it: "
                f'redact_keep=["its text"] in {remedy}'
            )
    return None


def _why_no_miss(session: Session) -> str:
    return "after a fault" if session.player.faulty else "and no request to an LLM"
