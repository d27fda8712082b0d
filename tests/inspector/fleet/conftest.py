"""Every store of these tests has the same key, and no test takes labels from the CI that it runs in."""

import pytest

from turntape.inspector.fleet.rows.ci_labels import CI_ENVIRONMENTS


@pytest.fixture(autouse=True)
def a_key_and_no_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNTAPE_FLEET_KEY", "test")
    for ci in CI_ENVIRONMENTS:
        monkeypatch.delenv(ci.shown_by, raising=False)
