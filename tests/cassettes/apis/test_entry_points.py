"""Which protocols are installed, in which order, and what a broken one costs."""

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from types import SimpleNamespace
from typing import Any

import pytest

from turntape.cassettes.apis import entry_points, lookup
from turntape.cassettes.apis.interface import Api, Registration
from turntape.cassettes.errors import CassetteError

FIRST, SECOND, THIRD = (Registration(f"acme.protocol:{name}", Api()) for name in ("FIRST", "SECOND", "THIRD"))


@dataclass
class Point:
    """An entry point without an installed package."""

    name: str
    package: str
    loaded: object

    def load(self) -> object:
        if isinstance(self.loaded, Exception):
            raise self.loaded
        return self.loaded

    @property
    def dist(self) -> Any:
        return SimpleNamespace(name=self.package)


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    lookup.forget()
    yield
    lookup.forget()


def registered(monkeypatch: pytest.MonkeyPatch, *points: Point) -> tuple[object, ...]:
    def of_group(*, group: str) -> list[Point]:
        assert group == "turntape.protocols"
        return list(points)

    monkeypatch.setattr(entry_points, "entry_points", of_group)
    return entry_points.registered()


def test_the_settings_come_first_then_packages_by_name_and_our_own_table_last(monkeypatch: pytest.MonkeyPatch) -> None:
    last, declared, a, b, other = (Registration(f"x:{name}") for name in ("LAST", "DECLARED", "A", "B", "OTHER"))

    found = registered(
        monkeypatch,
        Point("built-in", "turntape", last),
        Point("b", "acme", b),
        Point("settings", "zeta", other),
        Point("a", "acme", a),
        Point("settings", "turntape", declared),
    )

    assert found == (declared, a, b, other, last)


@pytest.mark.parametrize(
    "loaded", [(FIRST, SECOND), [FIRST, SECOND], lambda: (FIRST, SECOND)], ids=["tuple", "list", "function"]
)
def test_an_entry_point_names_several_protocols_or_a_function(monkeypatch: pytest.MonkeyPatch, loaded: object) -> None:
    assert registered(monkeypatch, Point("acme", "acme", loaded)) == (FIRST, SECOND)


def test_one_protocol_needs_no_tuple(monkeypatch: pytest.MonkeyPatch) -> None:
    assert registered(monkeypatch, Point("acme", "acme", THIRD)) == (THIRD,)


@pytest.mark.parametrize(
    ("loaded", "problem"),
    [
        (ImportError("no module"), "ImportError: no module"),
        (CassetteError("the settings are wrong"), "is not used: the settings are wrong"),
        (lambda: 1 / 0, "ZeroDivisionError"),
        (7, "7 has no `api`"),
        ((FIRST, SimpleNamespace(api=8)), "has no `api`"),
    ],
)
def test_a_broken_one_is_left_out_with_one_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, loaded: object, problem: str
) -> None:
    with caplog.at_level(logging.WARNING):
        found = registered(monkeypatch, Point("acme", "acme-tools", loaded), Point("built-in", "turntape", THIRD))
        entry_points.registered()

    assert found == (THIRD,)
    (record,) = caplog.records
    assert record.getMessage().startswith("turntape: the protocol 'acme' of 'acme-tools' is not used: ")
    assert problem in record.getMessage()


def test_an_entry_point_without_a_package_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("ours", "turntape.inspector.wire.protocols.table:BUILT_IN", "turntape.protocols")
    monkeypatch.setattr(entry_points, "entry_points", lambda group: [point])

    assert len(entry_points.registered()) > 10


def test_the_first_api_whose_path_fits_the_whole_endpoint_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = (Api(path=re.compile(text)) for text in ("talk", "(?:.*/)?talk"))
    nowhere = Api()
    rows = [Registration("acme:A", api) for api in (nowhere, one, two)]
    registered(monkeypatch, Point("acme", "acme", rows))

    assert lookup.api_at("talk?trace=1") is one
    assert lookup.api_at("small/talk") is two
    assert lookup.api_at("talks") is lookup.UNKNOWN
    assert lookup.api_at("") is lookup.UNKNOWN


def test_the_ends_of_all_streams_are_known_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    apis = (Api(stream_ends=(b"end", b"done")), Api(), Api(stream_ends=(b"done", b"last")))
    registered(monkeypatch, Point("acme", "acme", [Registration("acme:A", api) for api in apis]))

    assert lookup.stream_ends() == (b"end", b"done", b"last")


def test_the_paths_of_all_apis_are_known_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    apis = (
        Api(turn_paths=("/talk", "/ask"), other_paths=("/embed",)),
        Api(),
        Api(turn_paths=("/ask", ":say"), other_paths=("/rank",)),
    )
    registered(monkeypatch, Point("acme", "acme", [Registration("acme:A", api) for api in apis]))

    assert lookup.turn_paths() == ("/talk", "/ask", ":say")
    assert lookup.recorded_paths() == ("/talk", "/ask", ":say", "/embed", "/rank")


def test_the_paths_are_read_again_after_a_package_was_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    registered(monkeypatch, Point("acme", "acme", Registration("acme:A", Api(turn_paths=("/talk",)))))
    assert lookup.recorded_paths() == lookup.turn_paths() == ("/talk",)

    lookup.forget()
    registered(monkeypatch, Point("acme", "acme", Registration("acme:A", Api(turn_paths=("/ask",)))))

    assert lookup.recorded_paths() == lookup.turn_paths() == ("/ask",)
