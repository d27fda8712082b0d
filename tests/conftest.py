"""Settings for all tests: no generated test depends on the speed of the machine, and asynchronous tests use asyncio.

The tests start with no signal ignored or blocked, whatever the shell has set: background jobs, `nohup` and terminal
multiplexers ignore some, and every child would inherit that.

The run has its own `TURNTAPE_HOME`, set before anything of turntape is imported: commands that the tests call keep
their certificates and prices there, and leave the home folder of the user alone. Workers of pytest-xdist inherit it.
"""

import atexit
import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Generator, Iterator

import pytest
from hypothesis import HealthCheck, settings

if "PYTEST_XDIST_WORKER" not in os.environ:
    os.environ["TURNTAPE_HOME"] = tempfile.mkdtemp(prefix="turntape-home-")
    atexit.register(shutil.rmtree, os.environ["TURNTAPE_HOME"], ignore_errors=True)

settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any-machine")

for number in signal.valid_signals():
    if signal.getsignal(number) == signal.SIG_IGN and number not in (signal.SIGPIPE, getattr(signal, "SIGXFSZ", None)):
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
if hasattr(signal, "pthread_sigmask"):
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """The tests and what they import stay until the end, half a gigabyte: no garbage collection looks at them.

    A pytest inside a test asks for five full collections when it ends.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One worker more than cores for `-n auto`: tests often wait for a process that they started."""
    return int(os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS") or (os.cpu_count() or 1) + 1)


LONG = {"test_testing_page.py", "test_wheel.py"}
"""The last files by name, with tests of many seconds: one that starts last leaves the other cores idle."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name not in LONG)


@pytest.fixture(autouse=True)
def _no_signal_stays_blocked() -> Iterator[None]:
    """A test that calls a command in this process may block signals; the commands that later tests start inherit it."""
    yield
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_SETMASK, ())


@pytest.fixture
def anyio_backend() -> str:
    """Older versions of anyio also ask for trio, whether or not it is installed."""
    return "asyncio"
