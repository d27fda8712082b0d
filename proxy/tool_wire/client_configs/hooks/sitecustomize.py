"""Put our wrapper in front of the tool servers that Python's MCP SDK starts.

`turntape run` puts this folder on PYTHONPATH. Python then imports this module at its start. The module changes
`mcp.client.stdio.stdio_client` when, and only when, the program imports it. Whatever goes wrong here, the program gets
the SDK as it is. It runs in the program's Python, so it uses only the standard library, and little of it at the start.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

VARIABLE = "TURNTAPE_TOOL_WIRE"
MODULE = "mcp.client.stdio"
HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib costs time at each start


def wrapped(command: str, args: Sequence[str], env: Mapping[str, str] | None = None) -> list[str] | None:
    """The words that start the server with our wrapper in front; None to leave it as it is."""
    import json
    import shutil

    given = json.loads(os.environ[VARIABLE])
    front: list[str] = given["wrapper"]
    if [command, *args][:6] == front[:6]:
        return None  # it is wrapped already
    path = (env or {}).get("PATH") or os.environ.get("PATH")
    if not given.get("missing") and shutil.which(command, path=path) is None:
        return None  # the program gets the error of its own SDK
    return [*front, command, *args]


def patch(module: Any) -> None:
    """Replace `stdio_client`; whoever imports it from the module later gets the new one."""
    import functools

    original: Callable[..., Any] = module.stdio_client

    @functools.wraps(original)
    def stdio_client(server: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            words = wrapped(server.command, server.args, server.env)
            if words is not None:
                server = server.model_copy(update={"command": words[0], "args": words[1:]})
        except Exception:  # noqa: BLE001 - the program must not notice us
            pass
        return original(server, *args, **kwargs)

    module.stdio_client = stdio_client


class Loader:
    """The module's own loader, and our change after it."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """What the module's own loader does."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """What the module's own loader does, then `patch`."""
        self._loader.exec_module(module)
        with contextlib.suppress(Exception):
            patch(module)


class Finder:
    """Finds the one module as Python would, and changes its loader."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """None for every other module."""
        if name != MODULE:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            loader: Any = Loader(spec.loader)
            spec.loader = loader
        return spec


def load_the_next() -> None:
    """Import the `sitecustomize` that Python would have found without us."""
    sys.path[:] = [place for place in sys.path if os.path.abspath(place) != HERE]  # noqa: PTH100
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if __name__ == "sitecustomize":
    if os.environ.get(VARIABLE):
        finders: list[Any] = sys.meta_path
        finders.insert(0, Finder)
    load_the_next()
