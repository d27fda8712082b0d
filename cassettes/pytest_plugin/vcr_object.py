"""What the fixture `vcr` gives a moved suite: `use_cassette`, as with pytest-vcr, and in a marked test the names of its
cassette, as with pytest-recording."""

from contextlib import suppress
from typing import Any

import pytest

from ..vcr.cassette import Cassette
from ..vcr.config import VCR
from ..vcr.record_mode import VCRPY
from .vcr_uses import USES, VcrUses


class Vcr:
    """A `VCR` with the settings of the suite, and the cassette of the marked test that runs now; false without one."""

    def __init__(self, vcr: VCR, uses: VcrUses) -> None:
        self._vcr, self._uses = vcr, uses

    @classmethod
    def of(cls, request: pytest.FixtureRequest) -> "Vcr":
        """By the fixtures `vcr_config` and `vcr_cassette_dir` of the suite."""
        options: dict[str, Any] = {"path_transformer": VCR.ensure_suffix(".yaml")}
        # A fixture of a shorter life belongs to pytest-recording, where `vcr` has no `use_cassette`.
        with suppress(pytest.fail.Exception):
            options["cassette_library_dir"] = request.getfixturevalue("vcr_cassette_dir")
            options |= request.getfixturevalue("vcr_config")
        uses = request.config.stash[USES]
        if uses.mode is not None:  # some suites ask `vcr.record_mode`
            options["record_mode"] = VCRPY[uses.mode]
        return cls(VCR(**options), uses)

    @property
    def _shown(self) -> VCR | Cassette:
        session = self._uses.session
        return self._vcr if session is None else Cassette(session)

    def use_cassette(self, path: Any = None, **options: Any) -> Any:
        """As `VCR.use_cassette`."""
        return self._vcr.use_cassette(path, **options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        shown = self._shown
        return getattr(shown if hasattr(shown, name) else self._vcr, name)

    def __bool__(self) -> bool:
        return self._uses.session is not None

    def __len__(self) -> int:
        shown = self._shown
        return len(shown) if isinstance(shown, Cassette) else 0
