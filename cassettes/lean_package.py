"""Imports single modules of another package without all that the package itself imports."""

import importlib.util
import sys


def prepare(name: str) -> None:
    """Let the modules of a package be imported one by one, without its own content.

    Its content is loaded when somebody asks the package for a name that no module of it has. Nothing happens when the
    package was imported before, or is not installed.
    """
    if name in sys.modules:
        return
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None or not spec.submodule_search_locations:
        return
    package, loader = importlib.util.module_from_spec(spec), spec.loader

    def content(wanted: str) -> object:
        if wanted == "__path__" or importlib.util.find_spec(f"{name}.{wanted}") is not None:
            raise AttributeError(f"module {name!r} has no attribute {wanted!r}")
        package.__dict__.pop("__getattr__", None)
        loader.exec_module(package)
        return getattr(package, wanted)

    package.__dict__["__getattr__"] = content
    sys.modules[name] = package
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, package)
