"""The fixtures of pytest-recording and pytest-vcr, for tests and fixtures of a moved suite that ask for them.

Registered when none of these plugins is active. Imported in every run of pytest, so it imports only pytest.
"""

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .vcr_object import Vcr
    from .vcr_uses import VcrUses


@pytest.fixture(scope="module")
def vcr(request: pytest.FixtureRequest) -> "Vcr":
    """`use_cassette` with the settings of `vcr_config`, in the folder `vcr_cassette_dir`; and, in a marked test, its
    cassette, with the names of vcrpy's: `requests`, `responses`, `play_count`, `all_played`."""
    from .vcr_object import Vcr

    return Vcr.of(request)


@pytest.fixture
def vcr_cassette(vcr: "Vcr") -> "Vcr":
    """As `vcr`, by the name of pytest-vcr."""
    return vcr


@pytest.fixture(scope="module")
def vcr_cassette_dir(request: pytest.FixtureRequest) -> str:
    """Where the recordings of `vcr.use_cassette` are: the folder `cassettes` beside the tests."""
    return str(request.path.parent / "cassettes")


@pytest.fixture(scope="session")
def record_mode(pytestconfig: pytest.Config) -> str:
    """The mode on the command line, by the name of vcrpy."""
    from .vcr_uses import USES

    uses: VcrUses = pytestconfig.stash[USES]
    given = uses.mode or "none"
    return {"new": "new_episodes"}.get(given, given)


@pytest.fixture(scope="session")
def disable_recording() -> bool:
    return False


@pytest.fixture(scope="session")
def vcr_config() -> dict[str, Any]:
    """The settings of `vcr.use_cassette`; without effect for marked tests."""
    return {}


@pytest.fixture(scope="session")
def block_network() -> None:
    """The network of marked tests is blocked in any case."""
