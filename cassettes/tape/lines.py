"""The lines of a cassette by kind, and the round trips in them.

A line is kept as it was read; its bodies are made when they are used. Deltas are followed by byte ranges, so that the
bodies in between are never built.
"""

import shlex
from array import array
from pathlib import Path
from reprlib import repr as clipped
from typing import cast

import orjson

from ..errors import CassetteError
from .carried import CONTINUED, carries_in
from .carried import FIELD as CARRIED
from .command_end import FIELD as COMMAND_ENDED
from .command_end import CommandEnd, read_command_end
from .delta import Window
from .format import read_round_trip
from .json_fields import Json, a_body, a_list, optional, restored
from .model import Lazy, RoundTrip, ToolServer
from .running_session import CONTINUES, unfinished
from .running_session import FIELD as RUNNING
from .tool_servers import read_tool_server
from .trip_lines import TripLines, delta_body

_BROKEN = (ValueError, CassetteError)
"""What reading raises for a line that breaks the format."""


HELD = 24_000_000
"""About how many bytes of bodies are held for the deltas that may follow."""


MOST_PROBLEMS = 200
"""How many problems of a file are listed: a damaged one may have one in each line."""


CONFLICT_BEGINS = b"<<<<<<< "
"""The start of the line that Git writes before the two sides of a merge conflict."""
_IN_CONFLICT = (b"=======", b">>>>>>> ", b"||||||| ")
KEEP_ONE_SIDE = "keep one side with"
"""How the advice about a merge conflict begins."""


def keep_one_side(path: Path | None) -> str:
    """What to do about a merge conflict in the file."""
    name = shlex.quote(str(path)) if path else "FILE"
    return f"{KEEP_ONE_SIDE} `git checkout --ours {name}` or `git checkout --theirs {name}`, or record again"


class Windows:
    """The last bodies to which a delta may refer: of requests, and of the answers of tool servers.

    A body that is no longer held is made from its parts again, so few large bodies are held.
    """

    def __init__(self) -> None:
        self._requests = Window(HELD)
        self._answers = Window(HELD)

    def of(self, fields: Json) -> Window:
        """The window for the line of a round trip."""
        return self._answers if "mcp" in fields else self._requests


class Lines:
    """The lines of a cassette, sorted by kind in the order of the file."""

    def __init__(self, *, keep_labels: bool = True, path: Path | None = None) -> None:
        self._keep_labels = keep_labels
        self._path = path
        self.trips = TripLines()
        """The lines of round trips, exchanges with tool servers included."""
        self.used = -1
        """The highest number of a round trip or a label."""
        self.labels: dict[int, dict[str, object]] = {}
        self.problems: list[str] = []
        self.continued: frozenset[int] = frozenset()
        """The round trips that the next segment carries."""
        self.command_end: CommandEnd | None = None
        """How the recorded command ended; the last such line counts."""
        self._servers: dict[str, list[Json]] = {}
        """Session of a tool server → its lines."""
        self._running: dict[str, list[Json]] = {}
        """WebSocket session → its lines, as long as its round trip has not come."""
        self._positions: dict[int, int] = {}
        """Round trip number → place in `trips`, for the lines read so far."""
        self._bases: dict[int, int] = {}
        """Place of a delta → place of the body that it refers to: the last one before it with that number."""
        self._missing: dict[int, int] = {}
        """Round trips that are not in the file although a delta refers to their body: number → that of the first."""
        self._cut: dict[int, int] = {}
        """Place of a delta that refers to a missing round trip, directly or through others → number of that one."""
        self.carried: set[int] = set()
        """The places of round trips that an earlier segment has."""
        self.has_tool_wire = False
        self._conflict = False
        """True when there is a line that begins a merge conflict."""
        self._parts = array("q")
        """Of each body that may be a delta, how many bytes it takes from the start and from the end of its base, and
        how many it adds; -1 for what is not known yet or cannot be."""

    def add(self, line: bytes, number: int) -> None:
        """Take in one line of the file; a line that cannot be read is noted in `problems`."""
        if not line or line.isspace():
            return
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError:
            if line.startswith(CONFLICT_BEGINS):
                self._conflict = True
                advice = keep_one_side(self._path)
                self._complain(f"line {number} begins a merge conflict, and both sides are read; {advice}")
            elif not (self._conflict and line.startswith(_IN_CONFLICT)):
                self._complain(f"line {number} is not valid JSON and was skipped; the recording was cut there")
            return
        if isinstance(value, dict):
            self._add_fields(cast(Json, value), number)
        else:
            self._complain(f"line {number} is not a JSON object and was skipped")

    def _add_fields(self, fields: Json, number: int) -> None:
        if isinstance(fields.get(CONTINUED), dict):
            self.continued = carries_in(fields)
            return
        if COMMAND_ENDED in fields:
            try:
                self.command_end = read_command_end(fields)
            except ValueError as exc:
                self._complain(f"line {number} cannot be read: {exc}")
            return
        name = next((name for name in _KINDS if name in fields), None)
        if name == "tool_server":
            self._servers.setdefault(str(fields[name]), []).append(fields)
        elif name == RUNNING and fields.get(CONTINUES) is True:
            self._running.pop(str(fields[name]), None)
        elif name == RUNNING:
            self._running.setdefault(str(fields[name]), []).append(fields)
        elif name is not None:  # a newer minor version may have lines that we do not know
            self._add_numbered(name, fields, number)

    def _add_numbered(self, name: str, fields: Json, number: int) -> None:
        """Take in a round trip or a label; both say which number they have."""
        index = fields[name]
        if type(index) is not int or index < 0:
            self._complain(f"line {number} has {name} {clipped(index)}, which is not a number, and was skipped")
        elif name != "label":
            self._add_trip(index, fields, number)
        elif not isinstance(fields.get("of"), dict):
            self._complain(f"line {number} is a label without an object and was skipped")
        else:
            if self._keep_labels:
                self.labels[index] = cast(dict[str, object], fields["of"])
            self.used = max(self.used, index)

    def _add_trip(self, index: int, fields: Json, number: int) -> None:
        place = len(self.trips)
        body = delta_body(fields)
        self._parts.extend(_parts_of(body))
        base = body.get("base")
        if isinstance(base, int):
            known = self._positions.get(base)
            if known is None:
                self._missing.setdefault(base, index)
                self._cut[place] = base
            elif known in self._cut:
                self._cut[place] = self._cut[known]
            if known is not None:
                self._bases[place] = known
        if index in self._positions:
            self._complain(f"line {number} is a second round trip {index}; labels for it may mean the first")
        self._positions[index] = place
        self._running.pop(str(fields.get(RUNNING)), None)
        if CARRIED in fields:
            self.carried.add(place)
        self.has_tool_wire = self.has_tool_wire or "mcp" in fields
        self.trips.append(fields)
        self.used = max(self.used, index)

    def complain(self, problem: str) -> None:
        """Note a problem, unless it is already noted."""
        if problem not in self.problems:
            self._complain(problem)

    def _complain(self, problem: str) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)
        elif len(self.problems) == MOST_PROBLEMS:
            self.problems.append("there are more problems; they are not listed")

    @property
    def has_sessions(self) -> bool:
        """True when there are lines of sessions whose round trip has not come."""
        return bool(self._running)

    def end(self) -> None:
        """The file has been read: sessions whose round trip was never written become round trips."""
        running, self._running = self._running, {}
        number = 0
        for lines in running.values():
            while number in self._positions:
                number += 1
            if (fields := unfinished(number, lines)) is not None:
                self._add_trip(number, fields, 0)

    def servers(self) -> dict[str, ToolServer]:
        """Session → tool server, in the order in which they started; one that cannot be read is noted as a problem."""
        found: dict[str, ToolServer] = {}
        for session, lines in self._servers.items():
            try:
                found[session] = read_tool_server(session, lines)
            except ValueError as exc:
                self.complain(f"the tool server {clipped(session)} cannot be read: {exc}")
        return found

    def place(self, number: int) -> int | None:
        """The place of the round trip with that number; None when there is none."""
        return self._positions.get(number)

    def read(self, place: int, windows: Windows | None) -> RoundTrip | None:
        """The round trip at `place`; None when it cannot be read, which is then noted as a problem.

        With windows, which hold the bodies of the places just before, the bodies are made at once; without them,
        when they are used. A body that refers to a missing round trip is empty, and a fault says so.
        """
        if place in self._cut:
            return self._read_cut(place)
        line = self.trips[place]
        window = windows.of(line) if windows else None

        def later(stored: Json) -> bytes:
            try:
                return self.body(place) if "base" in stored else restored(stored)
            except _BROKEN as exc:
                problem = f"a body of round trip {_number(line)} cannot be read: {exc}"
                self.complain(problem)
                raise CassetteError(problem) from exc

        def resolve(stored: Json) -> Lazy:
            if window is None:
                return lambda: later(stored)
            if "base" not in stored:
                return restored(stored)
            base = self._bases.get(place, -1)
            if base not in window:
                return self.body(place, window)
            prefix, suffix = cast(int, stored["prefix"]), cast(int, stored["suffix"])
            earlier = window[base]
            fits(prefix, suffix, len(earlier), _number(line))
            view = memoryview(earlier)  # so that the bytes are copied once
            return b"".join((view[:prefix], restored(stored), view[len(view) - suffix :]))

        try:
            trip = read_round_trip(line, resolve)
        except _BROKEN as exc:
            self.complain(f"round trip {_number(line)} cannot be read: {exc}")
            return None
        if window is not None:
            window.add(place, _shortened(trip))
        return trip

    def _read_cut(self, place: int) -> RoundTrip | None:
        line = self.trips[place]
        missing = self._cut[place]
        self.complain(
            f"the body of round trip {self._missing[missing]} refers to round trip {missing}, which is not in the file "
            "before it; this body and those that refer to it are missing"
        )
        fault = f"a body is missing: it refers to round trip {missing}, which is not in the file before it"
        try:
            faults = optional(line, "faults", a_list, [])
            return read_round_trip(
                {**line, "faults": [*faults, fault]}, lambda body: b"" if "base" in body else restored(body)
            )
        except _BROKEN as exc:
            self.complain(f"round trip {_number(line)} cannot be read: {exc}")
            return None

    def body(self, place: int, window: Window | None = None) -> bytes:
        """The body that may be a delta of the round trip at `place`, with its deltas resolved by byte ranges.

        It is the request's, and for an exchange with a tool server the answer's. Bodies that the window holds are not
        made again.

        Raises ValueError or CassetteError when it breaks the format or refers to a body that is missing.
        """
        pieces: list[memoryview] = []
        known: dict[int, memoryview] = {}
        todo: list[tuple[int, int, int, bool]] = [(place, 0, self._size(place), False)]
        while todo:
            owner, start, stop, is_own = todo.pop()
            held = window.get(owner) if window is not None and not is_own else None
            if held is not None:
                pieces.append(memoryview(held)[start:stop])
                continue
            prefix, suffix, middle = self._parts[3 * owner : 3 * owner + 3]
            if is_own or prefix < 0:
                if owner not in known:
                    known[owner] = memoryview(restored(self._stored(owner)))
                pieces.append(known[owner][start:stop])
                continue
            base = self._base(owner)
            size = self._size(base)
            if prefix + suffix > size:
                fits(prefix, suffix, size, _number(self.trips[owner]))
            tail = prefix + middle
            offset = size - suffix - tail
            parts = (
                (base, start, min(stop, prefix), False),
                (owner, max(start - prefix, 0), min(stop, tail) - prefix, True),
                (base, max(start, tail) + offset, stop + offset, False),
            )
            todo.extend(part for part in reversed(parts) if part[1] < part[2])
        return b"".join(pieces)

    def _base(self, place: int) -> int:
        """The place of the body that the delta at `place` refers to, always before it: every chain ends."""
        base = self._bases.get(place)
        if base is None:
            line = self.trips[place]
            raise CassetteError(
                f"the body of round trip {_number(line)} refers to round trip {delta_body(line)['base']}, "
                "which is not in the file before it"
            )
        return base

    def _stored(self, place: int) -> Json:
        body = delta_body(self.trips[place])
        return a_body(body, "body") if body else {"text": ""}

    def _size(self, place: int) -> int:
        """The length of the body at `place` that may be a delta."""
        prefix, suffix, own = self._parts[3 * place : 3 * place + 3]
        if own < 0:
            stored = self._stored(place)
            if prefix < 0 and "base" in stored:  # more than any body has
                fits(_MOST, _MOST, 0, _number(self.trips[place]))
            own = self._parts[3 * place + 2] = len(restored(stored))
        return own + prefix + suffix if prefix >= 0 else own


_KINDS = ("n", "mcp", "label", "tool_server", RUNNING)
"""The field that gives the kind of a line."""


def _number(fields: Json) -> object:
    """The number of the line of a round trip."""
    return fields["mcp"] if "mcp" in fields else fields["n"]


def _shortened(trip: RoundTrip) -> bytes:
    """The body of a round trip that may be stored as a delta."""
    if trip.tool_wire is None:
        return trip.request.body
    return trip.response.body if trip.response else b""


_MOST = 1 << 62
"""More bytes than any body has."""


def _parts_of(body: Json) -> tuple[int, int, int]:
    """What `Lines` keeps of a stored body."""
    prefix, suffix, text = body.get("prefix"), body.get("suffix"), body.get("text")
    own = -1
    if isinstance(text, str):
        own = len(text) if text.isascii() else len(text.encode())
    if "base" not in body:
        return -1, -1, own
    if type(prefix) is int and type(suffix) is int and 0 <= prefix < _MOST and 0 <= suffix < _MOST:
        return prefix, suffix, own
    return -1, -1, -1


def fits(prefix: int, suffix: int, size: int, number: object) -> None:
    """Raises CassetteError when a delta takes more bytes of its base than there are, or fewer than none."""
    if prefix < 0 or suffix < 0 or prefix + suffix > size:
        raise CassetteError(f"the body of round trip {number} takes more of an earlier one than that has")
