"""Settings for all tests: no generated test depends on the speed of the machine, and asynchronous tests use asyncio."""

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any-machine")


@pytest.fixture
def anyio_backend() -> str:
    """Older versions of anyio also ask for trio, whether or not it is installed."""
    return "asyncio"
