"""The libraries of `turntape[fleet]`, imported when they are first used. pyarrow has no types: `Any`."""

from collections.abc import Callable
from typing import Any

from .errors import NotInstalled


def _import(name: str, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except ImportError as exc:
        raise NotInstalled(f"this needs {name}, which is not installed; run: pip install 'turntape[fleet]'") from exc


def pyarrow() -> Any:
    """`pyarrow` with `compute` and `parquet`. Raises NotInstalled, as all of these do."""

    def load() -> Any:
        import pyarrow  # pyright: ignore[reportMissingTypeStubs]
        import pyarrow.compute  # pyright: ignore[reportMissingTypeStubs, reportUnusedImport]
        import pyarrow.parquet  # pyright: ignore[reportMissingTypeStubs, reportUnusedImport]

        return pyarrow

    return _import("pyarrow", load)


def obstore() -> Any:
    """`obstore`."""

    def load() -> Any:
        import obstore

        return obstore

    return _import("obstore", load)


def duckdb() -> Any:
    """`duckdb`."""

    def load() -> Any:
        import duckdb

        return duckdb

    return _import("duckdb", load)
