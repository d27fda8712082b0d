"""Ships one recording: the cassette first, then its rows, so that no row names bytes that are not there.

The landing object decides. Without one, the recording is new. With one of the same content there is nothing to do. One
that is a beginning of this recording is replaced, and one that continues it stays. Names follow from content, and
every write has a condition. So any number of shippers may work on the same recording, may stop at any moment, and
may do all of it again. A store that ignores conditions is written with the same bytes again.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from turntape.cassettes.errors import CassetteError
from turntape.cassettes.frozen import frozen
from turntape.cassettes.redaction.redactor import Redactor
from turntape.cassettes.tape.lock import being_written

from ..errors import StoreUnreachable
from ..rows.arrow import landing_bytes, text_bytes
from ..rows.keyed_hash import KeyedHash
from ..rows.run_rows import RowSource, RunRows, rows_of
from ..store.forgotten import Forgotten, is_forgotten
from ..store.names import cassette_name, content_name, rows_name
from ..store.store import Store
from .footer import Footer, Landed, landed
from .outcome import ShippedFile, State
from .recording import Recording

_ATTEMPTS = 8
"""How often another shipper may have been faster."""


@frozen(kw_only=True)
class Target:
    """Where to ship, and what all recordings of one call share."""

    store: Store
    hashes: KeyedHash
    redactor: Redactor
    forgotten: Forgotten
    texts: bool = False
    rows_only: bool = False
    dry_run: bool = False


def ship_one(path: Path, labels: Mapping[str, str], target: Target) -> ShippedFile:
    """Ship a file. Raises StoreError when the store refuses for a reason that all files share."""
    if being_written(path) and path.exists() and path.stat().st_size:
        return ShippedFile(path, "recording", problem=f"{str(path)!r} is being recorded; ship it when it is closed")
    try:
        recording = Recording.read(path)
        return _Shipment(recording, labels, target).run()
    except StoreUnreachable as exc:
        return ShippedFile(path, "failed", problem=str(exc))
    except CassetteError as exc:
        return ShippedFile(path, "unreadable", problem=str(exc))


class _Shipment:
    """One recording on its way."""

    def __init__(self, recording: Recording, labels: Mapping[str, str], target: Target) -> None:
        self._recording = recording
        self._labels = labels
        self._target = target
        self._store = target.store
        self._name = rows_name(recording.day, recording.recording)
        self._rows: RunRows | None = None
        self._uploaded = 0
        self._wrote: State | None = None
        """The state after a write whose answer was lost: what is found then is our own."""

    def run(self) -> ShippedFile:
        recording, target = self._recording, self._target
        if target.forgotten.has(recording.recording, recording.day):
            return self._forgotten()
        for _ in range(_ATTEMPTS):
            found = landed(self._store, self._name)
            state = self._state(found)
            if state not in ("new", "grown"):
                return self._done(self._wrote or state if state == "unchanged" else state)
            if not self._made().rows:
                return self._done("empty")
            if self._write(found, state):
                if not target.dry_run and is_forgotten(self._store, recording.recording):
                    return self._forgotten()
                if target.dry_run or self._is_there():
                    return self._done(state)
            self._wrote = state
        return replace(
            self._done("failed"), problem=f"{str(recording.path)!r}: other shippers keep replacing it; ship again"
        )

    def _is_there(self) -> bool:
        """Look once more: on a store that ignores conditions, the write of another shipper may have won or mixed in."""
        return self._state(landed(self._store, self._name)) not in ("new", "grown")

    def _state(self, found: Landed | None) -> State:
        """What is to be done about what the store has."""
        if found is None:
            return "new"
        footer = found.footer
        if footer is None:
            return "grown"
        if footer.content == self._recording.content:
            return "grown" if self._wants_more(footer) else "unchanged"
        if footer.continues(self._recording):
            return "older"
        return "grown" if footer.begins(self._recording) else "edited"

    def _wants_more(self, footer: Footer) -> bool:
        """True when only the rows were shipped, or no texts, and now they are wanted."""
        target = self._target
        return (not target.rows_only and not footer.has_cassette) or (target.texts and not footer.has_texts)

    def _write(self, found: Landed | None, state: State) -> bool:
        """Upload; False when another shipper was faster."""
        target, recording, before = self._target, self._recording, found.footer if found else None
        same = before is not None and before.content == recording.content
        has_cassette = not target.rows_only or (before is not None and before.has_cassette)
        has_texts = target.texts or (before is not None and before.has_texts)
        earlier = () if before is None else before.earlier if same else before.contents
        footer = Footer.of(recording, has_cassette=has_cassette, has_texts=has_texts, earlier=earlier)
        rows = landing_bytes(self._made().rows, footer.metadata)
        self._uploaded = len(rows)
        if has_cassette:
            self._put_new(cassette_name(recording.content), recording.compressed)
        if has_texts:
            self._put(content_name(recording.day, recording.recording), self._texts())
        if target.dry_run:
            return True
        if found is None:
            return self._store.put(self._name, rows, only_new=True) == "written"
        return self._store.put(self._name, rows, instead_of=found.etag) == "written"

    def _put_new(self, name: str, make: Callable[[], bytes]) -> None:
        data = make()
        self._uploaded += len(data)
        if not self._target.dry_run:
            self._store.put(name, data, only_new=True)

    def _put(self, name: str, data: bytes) -> None:
        self._uploaded += len(data)
        if not self._target.dry_run:
            self._store.put(name, data)

    def _made(self) -> RunRows:
        """The rows, which are made once, and only when they are needed."""
        if self._rows is None:
            recording, target = self._recording, self._target
            source = RowSource(
                recording=recording.recording,
                cassette=recording.content,
                hashes=target.hashes,
                labels=self._labels,
                redactor=target.redactor,
                texts=True,
            )
            self._rows = rows_of(recording.cassette().with_carried(), source)
        return self._rows

    def _texts(self) -> bytes:
        return text_bytes(self._made().texts, {"turntape.content": self._recording.content})

    def _forgotten(self) -> ShippedFile:
        """Remove what this or an earlier attempt may have written."""
        recording = self._recording
        if not self._target.dry_run:
            contents = [recording.content]
            found = landed(self._store, self._name)
            if found is not None and found.footer is not None:
                contents += found.footer.contents
            names = [cassette_name(content) for content in dict.fromkeys(contents)]
            texts = content_name(recording.day, recording.recording)
            self._store.delete([*names, texts, self._name])
        path, place, forgotten = str(recording.path), self._store.address, self._target.forgotten
        if recording.day < forgotten.before:
            problem = f"{path!r} began on {recording.day}; {place!r} keeps nothing from before {forgotten.before}"
        else:
            problem = f"{path!r} was deleted from {place!r} and is not shipped again"
        return replace(self._done("forgotten"), problem=problem, bytes=0)

    def _done(self, state: State) -> ShippedFile:
        recording, sent = self._recording, state in ("new", "grown")
        problem = None
        if state == "edited":
            problem = (
                f"{str(recording.path)!r} is an edited copy of a recording in {self._store.address!r}; to replace that "
                f"one, run: turntape forget --recording {recording.recording}"
            )
        return ShippedFile(
            recording.path,
            state,
            recording.recording,
            recording.content,
            len(self._made().rows) if sent else 0,
            self._uploaded if sent else 0,
            problem,
        )
