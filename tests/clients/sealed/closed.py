"""How the network is closed for a replay: a new network namespace, which has only a loopback interface.

Nothing outside can be reached from there, not even a server on this machine's loopback interface. Where the system
does not allow it, only the proxies of the environment point to a closed port.
"""

import functools
import shutil
import subprocess
from collections.abc import Mapping

_UP = 'ip link set lo up && exec "$@"'
NAMESPACE = "a network namespace that has only its own loopback interface"
PROXIES = "proxy variables that point to a closed port, because this system allows no network namespace"


@functools.cache
def words() -> tuple[str, ...]:
    """What is put in front of a command to close its network; nothing where that is not possible."""
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        return ()
    front = ("unshare", "--map-root-user", "--net", "sh", "-c", _UP, "sh")
    return front if subprocess.run([*front, "true"], capture_output=True, check=False).returncode == 0 else ()


def how() -> str:
    """The way in which the network is closed here."""
    return NAMESPACE if words() else PROXIES


def variables(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a command whose network is closed."""
    if words():
        return dict(environ)
    closed = "http://127.0.0.1:9"
    return {**environ, "HTTP_PROXY": closed, "HTTPS_PROXY": closed, "http_proxy": closed, "https_proxy": closed}
