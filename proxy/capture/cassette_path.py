"""The name of a new cassette."""

import os
import time
from pathlib import Path

from turntape.cassettes.errors import TurntapeError


def free_path(kind: str, folder: Path, now: float, suffix: str = ".jsonl") -> Path:
    """Create a new file with a free name: `run-20261120-181500.cassette.jsonl`.

    Raises TurntapeError when the folder cannot be written.
    """
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(now))
    number = 1
    while True:
        more = "" if number == 1 else f"-{number}"
        path = folder / f"{kind}-{stamp}{more}.cassette{suffix}"
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            number += 1
            continue
        except OSError as exc:
            where = f"cannot write a cassette into {str(folder.absolute())!r}: {exc.strerror}"
            raise TurntapeError(f"{where}; choose another place with -o") from exc
        return path
