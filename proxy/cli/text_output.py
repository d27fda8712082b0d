"""Where a command writes its result: standard output, or the file given with `-o`."""

import os
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import BinaryIO, TextIO


@contextmanager
def writing(output: str | None, sources: Iterable[str] = (), *, stdout: TextIO | None = None) -> Generator[TextIO]:
    """The text stream to write to: the file `output`, or `stdout` (default: `sys.stdout`) for None and `-`.

    A file is made readable for its owner only, like the cassettes that it was made from. Raises TurntapeError when
    `output` is one of the `sources`, or cannot be written.
    """
    if output is None or output == "-":
        yield stdout or sys.stdout
        return
    refuse_source(output, sources)
    with private(output) as file:
        yield file


def refuse_source(output: str | Path, sources: Iterable[str]) -> None:
    """Raises TurntapeError when `output` is one of the cassettes that are read."""
    from turntape.cassettes.errors import TurntapeError

    path = Path(output)
    if path.exists() and any(Path(source).exists() and path.samefile(source) for source in sources):
        raise TurntapeError(f"{str(output)!r} is the cassette itself; choose another name with -o")


@contextmanager
def private(path: str | Path) -> Generator[TextIO]:
    """A new text file (UTF-8) that only its owner can read; no part of it is left when it cannot be written whole.

    Raises TurntapeError when it cannot be opened.
    """
    with private_bytes(path) as file:
        text = TextIOWrapper(file, encoding="utf-8", errors="backslashreplace")
        try:
            yield text
            text.flush()
        finally:
            text.detach()


@contextmanager
def private_bytes(path: str | Path) -> Generator[BinaryIO]:
    """As `private`, for bytes."""
    is_new = not os.path.lexists(path)
    try:
        with os.fdopen(_descriptor(path), "wb") as file:
            yield file
    except BaseException:
        if is_new:
            Path(path).unlink(missing_ok=True)
        raise


def write_text(path: str | Path, text: str, mode: int = 0o666) -> None:
    """Write a text file. Raises TurntapeError when it cannot be written."""
    with os.fdopen(_descriptor(path, mode), "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)


def _descriptor(path: str | Path, mode: int = 0o600) -> int:
    from turntape.cassettes.errors import TurntapeError

    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    except OSError as exc:
        what = f"cannot write {str(path)!r}: {exc.strerror}"
        raise TurntapeError(f"{what}; check the folder and its permissions, or choose another name") from exc
