"""What turns cost that were priced before, so that the price list is loaded only for what is new.

The list takes longer to load than a small run takes to read. What the list says of a turn follows from the list and
from the turn alone, so the answer is kept under a digest of the question, in a file beside the updated list. The file
also has a digest of the code and of the data that the answers came from. With others nothing of it is used, and so it
cannot be out of date. It holds no name and no text. A command asks for it with `keeping_prices`; without that, as in a
library, nothing is read or written.
"""

import json
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import cast

_MOST = 4000
"""How many answers a file keeps, the newest; twice as many are known at once."""

type Answer = Sequence[str] | None
"""The figures that the list gave; None: it has no price."""


class KnownPrices:
    """The answers in the file at `path` that came from `basis`. A file that cannot be read counts as empty."""

    def __init__(self, path: Path, basis: str) -> None:
        self._path = path
        self._basis = basis
        self._kept: dict[str, Answer] = {}
        self._is_new = False
        with suppress(OSError, ValueError, KeyError, TypeError):
            stored = json.loads(path.read_bytes())
            if stored["basis"] == basis:
                self._kept = {question: _checked(answer) for question, answer in stored["known"].items()}

    def __contains__(self, question: str) -> bool:
        return question in self._kept

    def __getitem__(self, question: str) -> Answer:
        return self._kept[question]

    def __setitem__(self, question: str, answer: Answer) -> None:
        self._kept[question] = answer
        self._is_new = True
        if len(self._kept) > 2 * _MOST:
            self._kept = self._newest()

    def save(self) -> None:
        """Keep what is new, in one step. Where the folder cannot be written, nothing is kept."""
        if not self._is_new:
            return
        fresh = self._path.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                fresh.touch(mode=0o600)
                fresh.write_text(json.dumps({"basis": self._basis, "known": self._newest()}), encoding="utf-8")
                fresh.replace(self._path)
            finally:
                fresh.unlink(missing_ok=True)

    def _newest(self) -> dict[str, Answer]:
        return dict(list(self._kept.items())[-_MOST:])


def _checked(answer: object) -> Answer:
    if answer is None:
        return None
    if isinstance(answer, list):
        figures = cast("list[object]", answer)
        if all(isinstance(figure, str) for figure in figures):
            return cast("list[str]", answer)
    raise ValueError("an answer is a list of texts")


class _Command:
    """Whether the command that runs keeps prices, and the prices after the first question."""

    keeps = False
    known: KnownPrices | None = None


@contextmanager
def keeping_prices() -> Generator[None]:
    """Know what commands before this one have worked out, and keep at the end what is new."""
    _Command.keeps = True
    try:
        yield
    finally:
        known, _Command.known, _Command.keeps = _Command.known, None, False
        if known is not None:
            known.save()


def known_prices() -> KnownPrices | None:
    """The answers that are known to the command that runs; None when it keeps none."""
    if _Command.keeps and _Command.known is None:
        from .price_list import stored_at

        basis = _basis(stored_at())
        if basis is None:
            _Command.keeps = False
        else:
            _Command.known = KnownPrices(stored_at().with_name("known-prices.json"), basis)
    return _Command.known


def digest(*question: object) -> str:
    """A short name of a question."""
    from hashlib import blake2b

    return blake2b(repr(question).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _basis(updated: Path) -> str | None:
    """A digest of all that answers follow from; None where it is not in files."""
    from hashlib import blake2b
    from importlib.util import find_spec

    spec = find_spec("genai_prices")
    folders = [Path(folder) for folder in (spec.submodule_search_locations or ())] if spec else []
    sources = sorted(path for folder in folders for path in folder.glob("*.py"))
    if not sources:
        return None
    made = blake2b(digest_size=16)
    with suppress(OSError):  # then the list of the package holds
        made.update(updated.read_bytes())
    for path in (*sources, Path(__file__).with_name("pricing.py")):
        try:
            content = path.read_bytes()
        except OSError:
            return None
        made.update(b"%d " % len(content))
        made.update(content)
    return made.hexdigest()
