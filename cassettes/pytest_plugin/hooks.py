"""What other plugins can add to ours."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ..model import RoundTrip


@pytest.hookspec(firstresult=True)
def pytest_turntape_names(round_trips: "Sequence[RoundTrip]") -> list[str] | None:
    """A name for each of these round trips of one cassette, such as `turn 2, → search(…)`; None where not known."""
