"""The problems of a test's replay, in sentences that name the turn and the layer that diverged first."""

from collections.abc import Callable, Sequence

from ..counted import several
from ..replay.report import Divergence, Report
from ..replay.session import Session
from ..replay.tool_recording import Asked
from ..tape.turn_names import TurnName
from .marker import Marker
from .tool_servers import ToolServers

type Actions = Callable[[], Sequence[str] | None]
"""What happened in each recorded round trip, in a few words, by place; None if it is unknown."""

_SHOWN = 8
"""At most this many problems of one kind are listed."""


def problems(session: Session, settings: Marker, tools: ToolServers, actions: Actions, *, passed: bool) -> list[str]:
    """The problems that fail the test. Missing requests and wrong order count only in a test that `passed`."""
    live_differences = [f"the live API no longer answers as recorded: {one}" for one in session.live_differences]
    if not session.exists:
        missing = tools.without_recording()
        said = [*map(str, session.misses), *([missing] if missing else ())]
        return [*dict.fromkeys(said), *live_differences]
    if not session.plan.plays or session.plan.calls == "missing":
        return live_differences
    return [*_differences(session, settings, tools, actions, passed=passed), *live_differences]


def expects_all(session: Session, settings: Marker) -> bool:
    """True when the test must request every recorded round trip."""
    plan = session.plan
    return (
        plan.plays and plan.calls != "missing" and session.exists and not settings.partial and not session.player.faulty
    )


def _differences(
    session: Session, settings: Marker, tools: ToolServers, actions: Actions, *, passed: bool
) -> list[str]:
    report = session.player.report()
    strays = set(map(id, session.strays))
    changed = [miss for miss in report.changed if id(miss) not in strays]
    extra = [miss for miss in report.extra if id(miss) not in strays]
    moved = report.reordered if passed and not settings.any_order else ()
    known = {miss.turn for miss in changed}
    left = report.unplayed if passed and expects_all(session, settings) else ()
    imported = _imported(session)
    left = [turn for turn in left if turn not in known and turn not in imported]
    missing = tools.without_recording()
    tool_misses = [missing] if missing else tools.misses()
    not_called = tools.left_over if passed and expects_all(session, settings) else []
    if not (changed or extra or moved or left or tool_misses or not_called):
        return []
    lines = [
        *_some("", tool_misses),
        *_some("changed: ", [tools.described(miss) for miss in changed]),
        *_some(
            "extra: ",
            [f"after {miss.after}: {tools.described(miss)}" if miss.after else tools.described(miss) for miss in extra],
        ),
        *_some("order: ", moved),
        *_left(session, left, actions, behind_a_miss=bool(changed or extra or tool_misses)),
        *_not_called(not_called, behind_a_miss=bool(changed or extra or tool_misses)),
    ]
    first = _first(report, missed=bool(changed or extra), tools=bool(tool_misses), turns=bool(left))
    return [f"the run is not the recorded one; {first}", *lines, _advice(bool(moved), bool(left or not_called))]


def _imported(session: Session) -> set[TurnName]:
    """The turns of recordings that another tool made. That tool did not ask for all of them, so neither do we."""
    player = session.player
    return {turn for turn, trip in zip(player.turns, player.cassette, strict=True) if trip.route == "import"}


def _first(report: Report, *, missed: bool, tools: bool, turns: bool) -> Divergence | str:
    # A tool is called between two turns: what differs there may be why the next turn differs.
    if tools:
        return "a request to a tool server was not recorded"
    if report.first is not None:
        return report.first
    if missed:
        return "a request was not recorded"
    return "a recorded turn was not requested" if turns else "a recorded tool call was not made"


def _not_called(left: Sequence[Asked], *, behind_a_miss: bool) -> list[str]:
    calls = [f"the tool {one.name} of the server {one.session.server} (#{one.index})" for one in left]
    if behind_a_miss and calls:
        return [f"not called after that: {', '.join(calls)}"]
    return _some("not called: ", calls)


def _left(session: Session, left: Sequence[TurnName], actions: Actions, *, behind_a_miss: bool) -> list[str]:
    if behind_a_miss and left:  # an agent that gets no answer stops, so this is expected
        return [f"not requested after that: {', '.join(map(str, left))}"]
    said = actions() if left else None
    places = {turn: place for place, turn in enumerate(session.player.turns)}
    return _some("not requested: ", [f"{turn} ({said[places[turn]]})" if said else turn for turn in left])


def _some(lead: str, found: Sequence[object]) -> list[str]:
    more = [f"{lead}{len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
    return [*(f"{lead}{one}" for one in found[:_SHOWN]), *more]


def _advice(moved: bool, left: bool) -> str:
    marks = [name for name, counts in (("any_order=True", moved), ("partial=True", left)) if counts]
    mark = f", or mark the test with {' and '.join(marks)}" if marks else ""
    return f"record again with --turntape-mode=all if the change is intended{mark}"


def remarks(session: Session) -> list[str]:
    """What to report without failing the test: answers to requests that differ, and unanswered requests after a
    fault."""
    report = session.player.report()
    if session.player.matching.profile == "sequence":
        count = len(report.tolerated)
        said = f"{several(count, 'request')} {'differs' if count == 1 else 'differ'} from the recording"
        differing = [f"{said}: the profile sequence ignores what requests contain"] if count else []
        return [*differing, *_not_used(session, report)]
    return [
        *(f"answered although it differs: {match}" for match in report.tolerated),
        *(f"not recorded, after a fault: {miss}" for miss in session.strays),
        *_not_used(session, report),
    ]


def _not_used(session: Session, report: Report) -> list[str]:
    """A remark on turns of an imported recording that were not requested."""
    imported = _imported(session)
    left = [turn for turn in report.unplayed if turn in imported]
    if not left or session.misses or not session.plan.plays:
        return []
    verb = "was" if len(left) == 1 else "were"
    return [f"{several(len(left), 'turn')} of the imported recording {verb} not requested: record again to remove them"]
