"""docs/migrating.md names what there is, and its table says what `turntape import --pytest` writes."""

import re
from pathlib import Path

import pytest

from turntape.cassettes import pytest_plugin
from turntape.cassettes.faults.fault import KINDS
from turntape.cassettes.importers.suite import arguments, unmapped
from turntape.cassettes.pytest_plugin import vcr_names
from turntape.cassettes.pytest_plugin.marker import Marker
from turntape.cassettes.replay.record_modes import MODES
from turntape.cassettes.vcr.cassette import Cassette
from turntape.inspector.pytest_plugin.agent_run import Sent

TEXT = (Path(__file__).parent.parent / "docs" / "migrating.md").read_text()


@pytest.mark.parametrize(
    ("config", "written"),
    [
        ({}, {"profile": "sequence"}),
        ({"match_on": ["method", "uri"]}, {"profile": "sequence"}),
        ({"match_on": ["method", "uri", "body"]}, {}),
        ({"match_on": ["body"], "filter_post_data_parameters": ["seed"]}, {"ignore": ["/seed"]}),
        ({"match_on": ["body"], "ignore_hosts": ["a.example"]}, {"allow": ["a.example"]}),
        ({"match_on": ["body"], "allow_playback_repeats": True}, {"repeats": True}),
        ({"match_on": ["body"], "filter_headers": ["authorization"]}, {}),
    ],
)
def test_the_table_of_settings_holds(config: dict[str, object], written: dict[str, object]) -> None:
    assert arguments(config) == written
    assert unmapped(config) == []


def test_what_has_no_counterpart_is_listed() -> None:
    assert "before_record_request" in unmapped({"before_record_request": "<scrub>"})[0]
    assert "mine" in unmapped({"match_on": ["method", "mine"]})[0]


def test_every_name_on_the_page_exists() -> None:
    source = Path(pytest_plugin.__file__).read_text() + Path(vcr_names.__file__).read_text()

    assert all(
        f'"{name}"' in source for name in set(re.findall(r"`(turntape_folder|pytest_recording_configure)`", TEXT))
    )
    assert set(re.findall(r"turntape\((\w+)=", TEXT)) <= set(Marker.__slots__)
    assert set(re.findall(r"turntape_run\.turns\[0\]\.request\.(\w+)", TEXT)) <= set(vars(Sent))
    assert {"empty", "malformed", "truncated_arguments", "429"} <= set(KINDS)
    assert {"once", "new", "all", "none"} <= set(MODES)
    for name in ("requests", "responses", "play_count", "all_played", "record_mode"):
        assert hasattr(Cassette, name)
