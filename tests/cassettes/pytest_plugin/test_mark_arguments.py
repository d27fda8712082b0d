"""Arguments of the mark: a wrong one is an error in one sentence with the nearest valid name."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from turntape.cassettes import Fault
from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.pytest_plugin.marker import Marker


class _Config:
    def getini(self, name: str) -> object:
        lists = ("rules", "upstreams", "ignore", "ignore_text")
        return [] if name.removeprefix("turntape_") in lists else ""


def marker(*marks: dict[str, Any]) -> Marker:
    """What a test's marks say, the nearest first."""
    every = [pytest.mark.turntape(**one).mark for one in marks]
    item = SimpleNamespace(config=_Config(), name="test_a", iter_markers=lambda _name: every)
    found = Marker.of(cast("pytest.Item", item))
    found.matching(_Config().getini)
    found.paced()
    return found


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"profil": "strict"}, "has no setting 'profil'; did you mean 'profile'?"),
        ({"cassette": "x"}, "has no setting 'cassette'; write one of path, mode, "),
        ({"mode": "nnone"}, "was given mode='nnone'; did you mean 'none'?"),
        ({"mode": "new_episodes"}, "did you mean 'new'?"),
        ({"mode": 3}, "was given mode=3; write one of none, once, new, all, verify, restamp"),
        ({"profile": "strickt"}, "was given profile='strickt'; did you mean 'strict'?"),
        ({"rules": ["system"]}, 'was given rules=[\'system\']; write a rule for each field: rules={"system": "warn"}'),
        ({"rules": {3: "warn"}}, "3 in it is not a text"),
        ({"rules": {"sytem": "warn"}}, "there is no field 'sytem' to have a rule; did you mean 'system'?"),
        ({"ignore": 3}, "was given ignore=3; write a text, or a list of texts"),
        ({"ignore": [3]}, "was given ignore=[3]; 3 in it is not a text"),
        ({"ignore": {"/a": 1}}, "write a text, or a list of texts"),
        ({"ignore_text": [3]}, "3 in it is not a text"),
        ({"ignore_text": "timestamps"}, "'timestamps' in ignore_text is not a name; did you mean 'timestamp'?"),
        ({"map_values": "no"}, "was given map_values='no'; write True or False"),
        ({"faults": 3}, "was given faults=3; write Fault(1, "),
        ({"faults": "429"}, "was given faults='429'; write Fault(1, "),
        ({"faults": [3]}, "write Fault(1, "),
        ({"pace": "fast"}, "the pace 'fast' is not instant"),
        ({"redact_keep": 3}, "was given redact_keep=3"),
        ({"allow": "https://me@x.com:81/y"}, "it takes hosts, not URLs: write 'x.com:81'"),
        ({"allow": [None]}, "None in it is not a text"),
        ({"live_tools": True}, 'for every tool server write live_tools="*"'),
        ({"upstreams": "http://x"}, "write the URL of each API"),
        ({"upstreams": {"openai": "nonsense"}}, "'nonsense' is not a URL"),
        ({"fork": 3, "fork_at": 1}, "was given fork=3; write the name of a file"),
        ({"fork": "x"}, "write both"),
        ({"fork": "x", "fork_at": 0}, "was given fork_at=0; write the number of a turn, from 1"),
        ({"edit": "tool=x"}, "write both"),
        ({"partial": "yes"}, "was given partial='yes'; write True or False"),
        ({"any_order": 1}, "was given any_order=1"),
        ({"repeats": "no"}, "was given repeats='no'"),
        ({"path": ""}, "was given path=''; write the name of a file"),
        ({"tests": {"test_a": {"profil": "strict"}}}, "did you mean 'profile'?"),
    ],
)
def test_a_wrong_argument_is_named_with_what_to_write(given: dict[str, Any], said: str) -> None:
    with pytest.raises(TurntapeError) as caught:
        marker(given)

    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "given",
    [
        {"ignore_text": {"uuid"}},
        {"ignore_text": iter(["uuid", r"build-\d+"])},
        {"ignore_text": ["report", "(timestamps)"]},
        {"faults": Fault(1, "429")},
        {"faults": (Fault(1, "429"),)},
        {"faults": "some.faults.toml"},
        {"allow": ["localhost:8080", "*"]},
        {"upstreams": {"my-gateway": "http://127.0.0.1:9/v1"}},
        {"rules": {"temperature": "ignore", "/x": "warn", "tool_choice": "warn", "message": "warn"}},
        {"repeats": False},
        {"fork": "x", "fork_at": 2, "edit": "tool=x"},
    ],
)
def test_a_valid_argument_is_accepted(given: dict[str, Any]) -> None:
    marker(given)


def test_none_is_as_if_it_were_left_out_and_overrides_the_mark_of_a_class() -> None:
    found = marker(dict.fromkeys(Marker.__slots__), {"profile": "sequence", "ignore": "/a"})

    assert found == Marker()
