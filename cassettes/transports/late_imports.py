"""Calls a function when a module is imported, at once if it is imported already."""

import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType


class _Noticed(Loader):
    """The loader of a module, with a call after the module was executed."""

    def __init__(self, loader: Loader, then: Callable[[ModuleType], object]) -> None:
        self._loader = loader
        self._then = then

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._then(module)


class _Finder(MetaPathFinder):
    def __init__(self, name: str, then: Callable[[ModuleType], object]) -> None:
        self._name = name
        self._then = then
        self._is_looking = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._name or self._is_looking:
            return None
        self._is_looking = True
        try:
            spec = find_spec(fullname)
        finally:
            self._is_looking = False
        if spec is not None and spec.loader is not None:
            spec.loader = _Noticed(spec.loader, self._then)
        return spec


@contextmanager
def when_imported(name: str, then: Callable[[ModuleType], object]) -> Generator[None]:
    """Within this context, call `then` with the module `name`, now or as soon as it is imported."""
    module = sys.modules.get(name)
    if module is not None:
        then(module)
        yield
        return
    finder = _Finder(name, then)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
