"""The lines in the ini file of pytest for marks that no file of the suite has, such as those of an installed class."""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..frozen import frozen
from .suite_marks import arguments_of

_OURS = re.compile(r"^turntape_vcr_(?:marks|settings)[ \t]*=.*\r?\n", re.MULTILINE)
_HEADS = {"pyproject.toml": r"tool\.pytest(?:\.ini_options)?", "setup.cfg": r"tool:pytest"}
_NEW_HEADS = {"pyproject.toml": "tool.pytest.ini_options", "setup.cfg": "tool:pytest"}


@frozen
class IniChange:
    """What the ini file says of tests whose mark stays: that it is ours too, and the arguments of ours."""

    file: Path
    """It may be absent."""
    settings: Mapping[str, Any]

    @classmethod
    def of(cls, root: Path, file: Path | None, settings: Mapping[str, Any]) -> "IniChange":
        """For the ini file of this suite, or a new `pytest.ini` in its root."""
        return cls(file or root / "pytest.ini", settings)

    @property
    def lines(self) -> list[str]:
        said = arguments_of(self.settings)
        if not said:
            return ["turntape_vcr_marks = true"]
        return ["turntape_vcr_marks = true", f"turntape_vcr_settings = {json.dumps(said) if self._is_toml else said}"]

    @property
    def _is_toml(self) -> bool:
        return self.file.suffix == ".toml"

    @property
    def text(self) -> str | None:
        """The file with these lines; None where it says its settings in a way that cannot be added to."""
        before = self.file.read_bytes().decode() if self.file.is_file() else ""
        end = "\r\n" if "\r\n" in before else "\n"
        before = _OURS.sub("", before)
        lines = "".join(f"{line}{end}" for line in self.lines)
        head = re.search(
            rf"^\[{_HEADS.get(self.file.name, 'pytest')}\][ \t]*(?:#.*)?(?:\r?\n|\Z)", before, re.MULTILINE
        )
        if head is None:
            name = _NEW_HEADS.get(self.file.name, "pytest")
            after = f"{before}{end if before else ''}[{name}]{end}{lines}"
        else:
            line = head[0] if head[0].endswith("\n") else head[0] + end
            after = before[: head.start()] + line + lines + before[head.end() :]
        if self._is_toml:
            try:
                tomllib.loads(after)
            except (ValueError, RecursionError):  # of numbers too, beside TOMLDecodeError
                return None
        return after

    def write(self) -> None:
        """Change the file, where that can be done."""
        after = self.text
        if after is not None:
            self.file.write_bytes(after.encode())
