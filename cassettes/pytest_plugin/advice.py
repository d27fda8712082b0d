"""What to do about a failed replay, as commands to copy, the likeliest first."""

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, cast

from ..counted import several
from ..errors import TurntapeError
from ..frozen import frozen
from ..replay.miss import Miss
from ..replay.new_cassette import is_unfinished
from ..replay.player import Player
from ..replay.restamp import refusal
from ..replay.session import Session
from ..tape.lines import KEEP_ONE_SIDE
from ..tape.model import RoundTrip
from .marker import own_settings
from .naming import is_cassette

type Cost = Callable[[Sequence[RoundTrip]], Decimal | None]
"""What round trips cost when they were recorded, in US dollars; None if no price is known."""

_BESIDE_IT = (".trajectory.txt", ".cassette.faults.toml")
"""The endings of files that belong to a cassette."""
_BESIDE = 60
"""At most this many neighbours of a missing cassette are searched."""


@frozen
class Advice:
    """Knows how to run one test again."""

    again: Callable[[str], str]
    """The command that runs the test again with an option."""
    mark: Mapping[str, Any]
    """The arguments of its mark."""
    cost: Cost
    file: Path
    """The test file."""
    is_of_a_test: Callable[[Path], bool]
    """True when a cassette may belong to a test of the file."""
    has_mark: bool = True
    """False for a fixture."""
    test: str = ""
    """The name of the test."""
    left: Callable[[], Iterable[tuple[Path, Path]]] = tuple
    """The folders of cassettes whose test files are gone, with these files."""

    def of(self, session: Session, misses: Sequence[Miss], *, moved: bool, left: bool) -> list[str]:
        """What to do when the run differs from the recording."""
        found = [miss.ignorable for miss in misses]
        if found and all(found):
            line = self._ignoring(found)
            if not any(miss.may_be_meant for miss in misses):
                return ["everything that differs looks new in each run; ignore it:", line]
            return ["if what differs is new in each run, ignore it:", line, *self._accepting(session, misses)]
        ways = self._accepting(session, misses, moved=moved, left=left)
        if not misses or not self.has_mark or all(map(can_stay, misses)):
            return ways
        covered = [miss.coverable for miss in misses]
        if all(covered):
            return [*ways, "or if what differs does not matter, ignore it:", self._ignoring(covered)]
        if all(miss.nearest is not None and miss.nearest.route == "import" for miss in misses):
            line = f"  {self._marked(profile='sequence')}"
            return [*ways, "or take the answers in their order, whatever is asked:", line]
        return ways

    def _ignoring(self, found: Sequence[Mapping[str, Sequence[str]]]) -> str:
        """The mark of the test with what all these requests need."""
        given = {name: self._listed(name) for name in ("ignore", "ignore_text")}
        for one in found:
            for name, values in one.items():
                given[name] += [value for value in values if value not in given[name]]
        return f"  {self._marked(**{name: values for name, values in given.items() if values})}"

    def _accepting(
        self, session: Session, misses: Sequence[Miss], *, moved: bool = False, left: bool = False
    ) -> list[str]:
        """What to do when somebody has changed the run."""
        trips = list(session.player.cassette)
        stays = ("keep the recorded answers (no API is called)", self.again("--turntape-mode=restamp"))
        live = (f"record again{self._price(trips)}", self.again("--turntape-mode=all"))
        only_again = bool(misses) and all(miss.is_asked_again for miss in misses)
        marks = {
            name: True
            for name, counts in (
                ("any_order", moved and not misses),
                ("partial", left and not misses),
                ("repeats", only_again),
            )
            if counts and self.has_mark
        }
        expected = ("allow it in this test", self._marked(**marks))
        ways = [
            *([stays] if misses and all(map(can_stay, misses)) else ()),
            *self._from_the_change(session, misses),
            live,
            *([expected] if marks else ()),
        ]
        return [
            line
            for number, (why, command) in enumerate(ways)
            for line in (f"{'or' if number else 'if the change is intended,'} {why}:", f"  {command}")
        ]

    def _from_the_change(self, session: Session, misses: Sequence[Miss]) -> list[tuple[str, str]]:
        """Recording again from the first turn that has changed: what comes before it costs nothing."""
        turn = misses[0].turn if misses and misses[0].is_same_turn else None
        if turn is None or turn.number is None or turn.number < 2 or turn.thread is not None or not self.has_mark:
            return []
        left = [
            trip
            for name, trip in zip(session.player.turns, session.player.cassette, strict=True)
            if name.index >= turn.index
        ]
        return [
            (
                f"record again from turn {turn.number}{self._price(left)}",
                self.again(f"--turntape-rerecord-from={turn.number}"),
            )
        ]

    def of_damage(self, session: Session) -> list[str]:
        """What to do when the cassette has a conflict, or lines that cannot be read."""
        path = shlex.quote(from_here(session.path))
        if any(KEEP_ONE_SIDE in said for said in session.player.cassette.problems):
            ways = ["keep one side:", *(f"  git checkout {side} {path}" for side in ("--ours", "--theirs"))]
        else:
            ways = ["restore the file, if version control has it whole:", f"  git checkout HEAD {path}"]
        return [*ways, "or record again:", f"  {self.again('--turntape-mode=all')}"]

    def without_cassette(self, session: Session) -> list[str]:
        """What to do when the cassette is missing: it may belong to the test under its earlier name."""
        if (left := session.interrupted) is not None:
            return [
                f"{from_here(left)} is what an interrupted recording of it has left",
                "record it again, with a key in the environment:",
                f"  {self.again('--turntape-mode=once')}",
            ]
        twin = self._twin(session)
        if twin is None:
            return ["record it, with a key in the environment:", f"  {self.again('--turntape-mode=once')}"]
        if twin.parent == session.path.parent:
            said = f"{twin.name} beside it holds this very request; if the test was renamed:"
        elif twin.parent.parent == session.path.parent.parent:
            said = f"{twin.parent.name}/ beside its folder holds this very request; if the test file was renamed:"
        else:
            said = f"{from_here(twin.parent)}/ holds this very request; if the test file was moved:"
        return [said, *(f"  {command}" for command in _moving(twin, session.path))]

    def moves(self, session: Session) -> list[str]:
        """The commands that give a test without a cassette the one of its earlier name; empty when there is none."""
        twin = self._twin(session)
        return _moving(twin, session.path) if twin is not None else []

    def _price(self, trips: Sequence[RoundTrip]) -> str:
        cost = self.cost(trips)
        about = f", about ${cost:.2f}" if cost is not None and cost >= Decimal("0.01") else ", less than $0.01"
        return f" ({several(len(trips), 'call')}{about if cost is not None else ''})"

    def _listed(self, name: str) -> list[str]:
        value: Any = {**self.mark, **self._own}.get(name, ())
        return [value] if isinstance(value, str) else list(value)

    @property
    def _own(self) -> dict[str, Any]:
        return own_settings(self.mark, self.test)

    def _marked(self, **more: Any) -> str:
        if own := self._own:
            more = {"tests": {**self.mark["tests"], self.test: {**own, **more}}}
        given = ", ".join(f"{name}={_written(value, raw=True)}" for name, value in {**self.mark, **more}.items())
        return f"@pytest.mark.turntape({given})"

    def _twin(self, session: Session) -> Path | None:
        """A cassette of no test that answers the request that has no cassette: in the same folder under another name,
        or under the same name in the folder of a test file that is gone."""
        folder = session.path.parent
        if folder.is_dir():
            near = (path for path in folder.iterdir() if is_cassette(path.name) and not is_unfinished(path))
            found = _by_likeness(session.path, (path for path in near if not self.is_of_a_test(path)))
        else:
            # A file that was moved keeps its name, and one that was renamed its place.
            gone = (
                at / session.path.name
                for at, file in self.left()
                if at != folder and (file.name == self.file.name or file.parent == self.file.parent)
            )
            found = _by_likeness(session.path, [path for path in gone if path.is_file()])
        return next((path for path in found[:_BESIDE] if _answers(path, session)), None)


def _by_likeness(wanted: Path, found: Iterable[Path]) -> list[Path]:
    """Paths whose folder and name are most like the wanted ones come first: the parameters of a test send the same."""
    said = SequenceMatcher(b="/".join(wanted.parts[-2:]), autojunk=False)

    def unlike(path: Path) -> tuple[float, Path]:
        said.set_seq1("/".join(path.parts[-2:]))
        return -said.ratio(), path

    return sorted(found, key=unlike)


def _answers(path: Path, session: Session) -> bool:
    """True when a cassette has the request that found none."""
    asked = session.unanswered
    if asked is None:
        return False
    try:
        Player(path, matching=session.player.matching).answer(asked.method, asked.url, asked.headers, asked.body)
    except TurntapeError:
        return False
    return True


def _moving(twin: Path, path: Path) -> list[str]:
    """The commands that rename a cassette with the files that belong to it, or the folder of a test file."""
    pairs = _moves(twin, path) if twin.parent == path.parent else [(twin.parent, path.parent)]
    beside = path.parent.parent
    made = [] if beside.is_dir() else [f"mkdir -p {shlex.quote(from_here(beside))}"]
    return [*made, *(f"mv {shlex.join(map(from_here, pair))}" for pair in pairs)]


def _moves(twin: Path, path: Path) -> list[tuple[Path, Path]]:
    """What to rename: the cassette, and the files that belong to it."""
    stem, new = (one.name.partition(".cassette.")[0] for one in (twin, path))
    end = twin.name.removeprefix(stem)
    others = [beside for ending in _BESIDE_IT if (beside := twin.with_name(stem + ending)).is_file()]
    return [(twin, path.with_name(new + end))] + [(one, path.with_name(new + one.name[len(stem) :])) for one in others]


def from_here(path: Path) -> str:
    """A path as it is written where pytest was started."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def settings_of(misses: Sequence[Miss]) -> list[str]:
    """Lines for `[replay]` in `turntape.toml` with which all these requests are answered, where all can be ignored."""
    given: dict[str, list[str]] = {}
    for miss in misses:
        for name, values in miss.ignorable.items():
            given.setdefault(name, []).extend(values)
    return [f"{name} = {_written(list(dict.fromkeys(values)))}" for name, values in sorted(given.items())]


def can_stay(miss: Miss) -> bool:
    """True when the recorded answer may answer this request too."""
    nearest = miss.nearest
    return miss.is_same_turn and (nearest is None or refusal(tuple(miss.differences), nearest) is None)


def _written(value: object, *, raw: bool = False) -> str:
    """A value as Python with double quotes; a text with a backslash as a raw string, which TOML does not have."""
    if isinstance(value, str):
        if raw and "\\" in value and not value.endswith("\\") and '"' not in value and "\n" not in value:
            return f'r"{value}"'
        return f'"{value}"' if '"' not in value and "\\" not in value else repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_written(one, raw=raw) for one in cast('Sequence[object]', value))}]"
    if isinstance(value, Mapping):
        pairs = cast("Mapping[str, object]", value).items()
        return f"{{{', '.join(f'{_written(name)}: {_written(one, raw=raw)}' for name, one in pairs)}}}"
    return repr(value)
