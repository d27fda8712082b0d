"""Files by their names: one that somebody has named as a recording, and one that is written without being named."""

import os
import stat
from pathlib import Path
from typing import BinaryIO

from ..errors import CassetteError

_MOST_TEXT = 16 << 20


def opened(path: Path) -> BinaryIO:
    """A file to read from. Raises OSError as `open` does, and CassetteError for what is not a file.

    To open a pipe waits for a program at its other end, and a device may have no end.
    """
    if not_a_file(path):
        raise CassetteError(f"{str(path)!r} is a pipe or a device; save it in a file first")
    return path.open("rb")


def text_of(path: Path, errors: str = "strict") -> str:
    """The UTF-8 text of a file that is read although nobody has named it, such as the settings of a folder.

    Raises OSError and UnicodeDecodeError as `Path.read_text` does, and CassetteError for a pipe, a device, and more
    text than people write: somebody else may have made the folder.
    """
    with opened(path) as file:
        data = file.read(_MOST_TEXT + 1)
    if len(data) > _MOST_TEXT:
        raise CassetteError(f"{str(path)!r} is longer than {_MOST_TEXT >> 20} MB; correct or remove the file")
    return data.decode("utf-8", errors).replace("\r\n", "\n").replace("\r", "\n")


def not_a_file(path: Path) -> bool:
    """True for a pipe, a socket or a device, other than the null device, which is as an empty file.

    Raises OSError when the system does not say what it is.
    """
    kind = path.stat().st_mode
    return stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) or _is_device(kind) and str(path) != os.devnull


def _is_device(kind: int) -> bool:
    return stat.S_ISCHR(kind) or stat.S_ISBLK(kind)


def not_a_link(path: Path) -> Path:
    """`path`, for a file that is written although nobody has named it.

    Raises CassetteError for a symbolic link: in a repository of somebody else it may lead to any file of the user's.
    """
    if path.is_symlink():
        raise CassetteError(
            f"{str(path)!r} is a symbolic link, and what it leads to would be overwritten; remove the link"
        )
    return path
