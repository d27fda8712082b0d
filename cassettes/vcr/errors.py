"""The error of a request without an answer, by the name of vcrpy."""

from collections.abc import Sequence
from pathlib import Path

from ..errors import ReplayMiss
from ..replay.miss import Miss


class CannotOverwriteExistingCassetteException(ReplayMiss):
    """Requests within `use_cassette` were not recorded. Raised when the context is left."""

    def __init__(self, cassette: Path, misses: Sequence[Miss]) -> None:
        self.cassette = cassette
        self.misses = list(misses)
        said = dict.fromkeys(str(miss) for miss in misses)
        again = f"record {str(cassette)!r} again with TURNTAPE_MODE=all, in pytest with --turntape-mode=all"
        super().__init__("\n".join([*said, *([again] if cassette.exists() else ())]))


UnhandledHTTPRequestError = CannotOverwriteExistingCassetteException
CannotOverwriteExistingRequestException = CannotOverwriteExistingCassetteException
"""The name that this error had here before."""
