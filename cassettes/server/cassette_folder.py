"""Any number of cassettes on one replay server, each with its own URL prefix.

`/s/NAME/openai/v1/…` is answered from the cassette NAME. `/s/NAME@AGENT/…` starts an independent replay of it, so
that several agents or test runs can play one cassette without using up each other's answers. Without a prefix, all
files that were named on the command line answer as one cassette.
"""

import difflib
import os
from collections import OrderedDict
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from urllib.parse import quote, unquote

from ..errors import CassetteError
from ..faults.fault import NO_FAULTS, overlay_of
from ..matching.grades import Matching
from ..matching.request_key import path_key
from ..regex import regex
from ..replay.miss import Miss
from ..replay.new_cassette import is_unfinished
from ..replay.player import Player
from ..replay.uploads import is_discovery
from ..tape.model import RoundTrip
from ..tape.reader import Cassette

_SUFFIX = regex(r"(?:\.cassette)?\.jsonl(?:\.zst)?$")


MOST_AGENTS = 500
"""So many agents have a replay at the same time. Each name in a URL would else take memory that is never free again."""


class CassetteFolder:
    """Cassettes by name. A folder offers each cassette in it by its path there; they are read when first asked for.

    `on_miss` is called with the name and the miss of each request that is not answered. Raises CassetteError for a file
    that is not a cassette, for a folder without one, and for `faults` with several.
    """

    def __init__(
        self,
        paths: Iterable[str | os.PathLike[str]],
        *,
        matching: Matching | None = None,
        faults: str | os.PathLike[str] | None = None,
        on_miss: Callable[[str, Miss], object] | None = None,
    ) -> None:
        self._on_miss = on_miss
        self.paths: dict[str, Path] = {}
        """Where each cassette is, by name."""
        self._matching = matching
        self._faults = faults
        self._cassettes: dict[Path, Cassette] = {}
        self.players: dict[str, Player] = {}
        """The players so far: by name, by `NAME@AGENT`, and under "" one for all named files together. Of the agents,
        the `MOST_AGENTS` that asked last."""
        self.forgotten = 0
        """How many agents' replays were forgotten, because others asked after them."""
        self.missed = 0
        """How many of them had misses that count."""
        self._agents: OrderedDict[str, None] = OrderedDict()
        """Those with a replay, the one that asked last at the end."""
        named: list[Path] = []
        for path in map(Path, paths):
            if path.is_dir():
                self._put_folder(path)
            else:
                self._put(_SUFFIX.sub("", path.name), path)
                named.append(path)
        self.overlays = {name: file for name, path in self.paths.items() if (file := overlay_of(path, faults))}
        """The files of faults, by the name of the cassette."""
        if faults not in (None, NO_FAULTS) and len(self.paths) > 1:
            raise CassetteError(
                f"{str(faults)!r} cannot be used for {len(self.paths)} cassettes at once; put a file NAME.faults.toml "
                "next to each cassette that should have faults"
            )
        for path in named:
            self._cassette(path)  # report an unreadable file before anything is served
        self.named = tuple(named)
        if len(self.paths) == 1:
            self.players[""] = self._one(next(iter(self.paths)))
        elif named:
            trips = [trip for path in named for trip in self._cassette(path)]
            self.players[""] = Player(trips, matching=matching, on_miss=self._reporter(""))
        self.has_root = (
            any(path_key(trip.request.url) == "" and trip.request.method == "GET" for trip in self.players[""].cassette)
            if "" in self.players
            else False
        )
        """True when `/` itself was recorded, so that it is answered as recorded."""

    def exchanges(self) -> list[RoundTrip]:
        """All round trips of the named cassettes, those with tool servers too."""
        paths = self.paths.values() if len(self.paths) == 1 else self.named
        return [trip for path in paths for trip in self._cassette(path)]

    def _put_folder(self, folder: Path) -> None:
        found = sorted(
            path
            for path in folder.rglob("*")
            if path.name.endswith((".jsonl", ".jsonl.zst")) and not is_unfinished(path) and path.is_file()
        )
        if not found:
            raise CassetteError(f"the folder {str(folder)!r} holds no cassettes; record one into it")
        for path in found:
            self._put(_SUFFIX.sub("", path.relative_to(folder).as_posix()), path)

    def _put(self, name: str, path: Path) -> None:
        free, number = name, 1
        while free in self.paths:
            number += 1
            free = f"{name}-{number}"
        self.paths[free] = path

    def _cassette(self, path: Path) -> Cassette:
        if path not in self._cassettes:
            self._cassettes[path] = Cassette.load(path)
        return self._cassettes[path]

    def _one(self, name: str) -> Player:
        if name not in self.players:
            self.players[name] = self._fresh(name, name if len(self.paths) > 1 else "")
        return self.players[name]

    def _fresh(self, name: str, said: str) -> Player:
        """A player of the cassette `name` from its start; `said` names it in messages."""
        cassette = self._cassette(self.paths[name])
        return Player(cassette, matching=self._matching, faults=self.overlays.get(name), on_miss=self._reporter(said))

    def _reporter(self, said: str) -> Callable[[Miss], object] | None:
        return partial(self._on_miss, said) if self._on_miss is not None else None

    def prefix(self, name: str) -> str:
        """The URL prefix of a cassette; `/openai/v1` or similar follows it."""
        return f"/s/{quote(name, safe='/')}"

    def find(self, target: str) -> tuple[str, Player, str]:
        """The player for an origin-form target, and the rest of the target: `(name, player, rest)`.

        Raises CassetteError when the target names a cassette that is not here, or one that cannot be read.
        """
        path, mark, query = target.partition("?")
        if not path.startswith("/s/"):
            if "" not in self.players:
                raise CassetteError(
                    f"{path} names none of the {len(self.paths)} cassettes; put {self.prefix('NAME')} before it, "
                    "with a name from the list at /"
                )
            return "", self.players[""], target
        parts = path[3:].split("/")
        for size in range(len(parts), 0, -1):
            said = unquote("/".join(parts[:size]))
            if (player := self._playing(said)) is not None:
                return said, player, "/" + "/".join(parts[size:]) + mark + query
        if len(self.paths) == 1 and "@" not in parts[0]:
            return "", self.players[""], target  # a run named by its path, as it is when recorded
        near = difflib.get_close_matches(unquote("/".join(parts[:2])), self.paths, 1, 0.4)
        hint = f"did you mean {near[0]!r}? the list" if near else "the list"
        raise CassetteError(f"no cassette here has a name that begins with {path}; {hint} of names is at /")

    def _playing(self, said: str) -> Player | None:
        if said in self.paths:
            return self._one(said)
        name, at, agent = said.rpartition("@")
        if not at or not agent or "/" in agent or name not in self.paths:
            return None
        if said not in self.players:
            self.players[said] = self._fresh(name, said)
        self._agents[said] = None
        self._agents.move_to_end(said)
        while len(self._agents) > MOST_AGENTS:
            self.forgotten += 1
            ended = self.players.pop(self._agents.popitem(last=False)[0])
            self.missed += any(not is_discovery(miss.method, miss.path) for miss in ended.misses)
        return self.players[said]

    def listing(self, base: str) -> list[dict[str, str]]:
        """The offered cassettes, one object for each."""
        return [
            {"name": name, "file": str(path), "base_url": base + self.prefix(name)} for name, path in self.paths.items()
        ]
