"""Folders that belong to one running process and are removed with it."""

import os
import shutil
import tempfile
from pathlib import Path

from turntape.cassettes.processes import is_running

_PREFIX = "run-"


def private_folder(parent: Path) -> Path:
    """A new folder in `parent` for this process, which no other user can read; the caller removes it.

    Folders of processes that were killed are removed here: they may hold secrets. Where `parent` cannot be written,
    the folder is a temporary one.
    """
    try:
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in parent.glob(f"{_PREFIX}*"):
            number = folder.name.removeprefix(_PREFIX).partition("-")[0]
            if number.isdecimal() and not is_running(int(number)):
                shutil.rmtree(folder, ignore_errors=True)
        return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent))
    except OSError:
        return Path(tempfile.mkdtemp(prefix="turntape-"))
