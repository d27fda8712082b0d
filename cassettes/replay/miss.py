"""The error for a request that no recording answers."""

from functools import cached_property

import orjson

from ..errors import ReplayMiss
from ..matching.embedded_files import is_file
from ..matching.grades import Grade
from ..matching.json_diff import Difference, words
from ..matching.request_fields import part_of
from ..matching.surrounding_words import expressions_for
from ..matching.volatile_text import fields_for, may_be_meant, names_for
from ..regex import regex
from ..tape.model import RoundTrip
from ..tape.turn_names import TurnName

KIND = "turntape_replay_miss"
"""The type of the error that a client gets."""
_PLACE = regex(r"/\d+(?=/|$)")
_NAMED = 10
"""At most this many differences are in the error that a client gets."""


class Miss(ReplayMiss):
    """No recording answers a request. The message names the nearest recorded turn and where they differ."""

    def __init__(
        self,
        method: str,
        path: str,
        nearest: RoundTrip | None,
        found: list[Difference],
        played: int,
        recorded: int,
        *,
        turn: TurnName | None = None,
        likeness: Grade = "miss",
        ignored: tuple[Difference, ...] = (),
        taken_by: str | None = None,
        nearest_played: bool = False,
        is_one_more: bool = False,
    ) -> None:
        self.method = method
        self.path = path
        self.nearest = nearest
        """The recorded round trip that is most like the request; None when none has its method and path."""
        self.differences = found
        """Where request and nearest recording differ, or for one request more, the last recording of its path; empty
        when all equal recordings were played already."""
        self.played = played
        """How many recordings equal the request, all of them played."""
        self.turn = turn
        """The turn of the nearest recording, or of the one that was played already."""
        self.grade: Grade = "miss"
        self.likeness: Grade = likeness
        """How similar the nearest recording is: the same turn with a change, or another turn (`miss`)."""
        self.ignored = ignored
        self.taken_by = taken_by
        """The match of an earlier, different request that already got the recording of an equal one, if any."""
        self.nearest_played = nearest_played
        """True when the nearest recording has already answered another request."""
        self.is_one_more = is_one_more
        """True when only the method and path were recorded, and the first recording answers another question."""
        self.after: TurnName | None = None
        """The last turn that was requested before this one."""
        self.refused: str | None = None
        """Why the recorded answer cannot stay, where restamp was requested."""
        super().__init__(self._sentence(recorded))

    @property
    def volatile(self) -> list[str]:
        """Names for `ignore_text` that cover every text that differs; empty when something else differs too."""
        return self._names if self._has_twin else []

    @cached_property
    def _names(self) -> list[str]:
        return names_for(self.differences)

    @property
    def _has_twin(self) -> bool:
        """True when the nearest recording still waits for a request like this one."""
        return self.is_same_turn or (self.nearest is not None and not self.nearest_played)

    @property
    def ignorable(self) -> dict[str, list[str]]:
        """The arguments of the mark with which this request is answered, when everything that differs looks new in each
        run: `ignore_text` and `ignore`; empty when something else differs too."""
        names, fields = self.volatile, fields_for(self.differences) if self._has_twin else []
        if not names and len(fields) < len(self.differences):
            return {}
        return {name: given for name, given in (("ignore", fields), ("ignore_text", names)) if given}

    @property
    def coverable(self) -> dict[str, list[str]]:
        """The arguments of the mark with which this request is answered, whether what differs looks new in each run or
        not: names, expressions with the words around a text, places of settings. Empty when there are none, as for
        another model, or messages that are new or gone."""
        if given := self.ignorable:
            return given
        fields: list[str] = []
        texts: list[str] = []
        for one in self.differences if self._has_twin else ():
            part = part_of(one.pointer)
            if part in ("model", "stream"):
                return {}
            if isinstance(one.recorded, str) and isinstance(one.given, str):
                is_text = not (is_file(one.recorded) or is_file(one.given))
                covering = (names_for([one]) or expressions_for(one.recorded, one.given)) if is_text else []
                texts += covering
                if covering:
                    continue
            if part in ("messages", "tool_results"):
                return {}
            fields.append(_PLACE.sub("/*", one.pointer))
        found = (("ignore", fields), ("ignore_text", texts))
        return {name: list(dict.fromkeys(values)) for name, values in found if values}

    @property
    def may_be_meant(self) -> bool:
        """True when what `ignorable` covers may also be a change that a person has made."""
        return may_be_meant(self.differences)

    @property
    def pointer(self) -> str | None:
        return self.differences[0].pointer if self.differences else None

    @property
    def is_same_turn(self) -> bool:
        """True when this turn was recorded and something in the request has changed."""
        return self.likeness != "miss"

    @property
    def is_asked_again(self) -> bool:
        """True when nothing differs: the recordings of this very request were all played to requests like it."""
        return bool(self.played) and not self.taken_by and not self.is_one_more

    def _sentence(self, recorded: int) -> str:
        what = f"no recorded round trip answers {self.method} {self.path}"
        if self.played:
            times = "once" if self.played == 1 else f"{self.played} times"
            at = f" ({self.turn})" if self.turn else ""
            if self.is_one_more:
                return (
                    f"{what}: this method and path was recorded {times}, the last time as {self.turn}, and the run "
                    "sends one request more; record again if it is intended"
                )
            if self.taken_by:
                return f"{what}: its recording{at} was already played for a different request, {self.taken_by}"
            return (
                f"{what}: it was recorded {times}{at} and is requested again; record again if the agent now repeats it"
            )
        if self.nearest is None:
            return (
                f"{what}: no recorded round trip ({recorded} in all) has this method and path; record again, or check "
                "the base URL"
            )
        first, *others = self.differences or [Difference("", "changed")]
        named = [d.pointer or "/" for d in others[:_NAMED]] + ["…"] * (len(others) > _NAMED)
        more = f" (and {len(others)} more: {', '.join(named)})" if others else ""
        turn = self.turn or f"#{self.nearest.index}"
        given = self.ignorable
        if not self.is_same_turn and not given:
            played = ", played already" if self.nearest_played else ""
            return (
                f"{what}: it is not a recorded turn; the nearest is {turn}{played}, where {first}{more}; "
                "record again if the request is intended"
            )
        if given:
            listed = ", ".join(f"{name}={orjson.dumps(values).decode()}" for name, values in given.items())
            line = f"ignore it with @pytest.mark.turntape({listed})"
            if self.may_be_meant:
                why = "record again if the change is intended; everything that differs may be new in each run"
            else:
                why = "everything that differs looks new in each run"
            return f"{what}: the nearest is {turn}, where {first}{more}; {why}: {line}"
        return f"{what}: the nearest is {turn}, where {first}{more}; record again if the change is intended"

    def document(self, status: int) -> dict[str, object]:
        """The miss as an error body that every SDK reads as an error of its API.

        One shape works for all: `error.message`, `error.type`, `error.code` (OpenAI and compatible APIs), `type: error`
        around it (Anthropic), `error.status` (Google), and a `message` beside it (AWS, Cohere, Mistral).
        """
        return {
            "type": "error",
            "object": "error",
            "error": {
                "type": KIND,
                "code": status,
                "status": "INVALID_ARGUMENT",
                "message": str(self),
                "param": self.pointer,
            },
            "message": str(self),
            "turntape": {
                "nearest": self.nearest.index if self.nearest else None,
                "turn": self.turn.number if self.turn else None,
                "thread": self.turn.thread if self.turn else None,
                "likeness": self.likeness,
                "differences": [_as_json(difference) for difference in self.differences[:_NAMED]],
            },
        }


def _as_json(difference: Difference) -> dict[str, object]:
    found: dict[str, object] = {
        "pointer": difference.pointer,
        "kind": difference.kind,
        "recorded": difference.recorded,
        "given": difference.given,
    }
    if isinstance(difference.recorded, str) and isinstance(difference.given, str):
        found["words"] = [list(pair) for pair in words(difference.recorded, difference.given)]
    return found
