"""Which mode is used, and what each mode does."""

import pytest

from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.replay.record_modes import MODES, Mode, Plan, effective_mode, plan


@pytest.mark.parametrize(
    ("asked", "environ", "override", "mode"),
    [
        (None, {}, None, "none"),
        ("once", {}, None, "once"),
        ("once", {"CI": "true"}, None, "none"),
        ("all", {"CI": "1"}, "all", "all"),
        ("all", {"CI": "true", "TURNTAPE_MODE": "new"}, None, "new"),
        *[("once", {"CI": word}, None, "once") for word in ("", "0", "false", "No", " FALSE ")],
        *[("once", {"CI": word}, None, "none") for word in ("1", "yes", "off")],
        ("once", {"TURNTAPE_MODE": "new"}, None, "new"),
        ("once", {"TURNTAPE_MODE": "new"}, "verify", "verify"),
    ],
)
def test_ci_replays_unless_the_command_line_or_the_environment_says_otherwise(
    asked: str | None, environ: dict[str, str], override: str | None, mode: Mode
) -> None:
    assert effective_mode(asked, environ, override) == mode


def test_an_unknown_mode_is_named_with_the_known_ones() -> None:
    with pytest.raises(TurntapeError, match="'sometimes' is unknown; give one of none, once"):
        effective_mode("sometimes", {})
    with pytest.raises(TurntapeError, match="'often' is unknown"):
        effective_mode("once", {}, "often")
    with pytest.raises(TurntapeError, match="'often' is unknown"):
        effective_mode("often", {}, "once")


@pytest.mark.parametrize(
    ("mode", "exists", "expected"),
    [
        ("none", False, Plan(plays=True, calls="never", writes="nothing")),
        ("none", True, Plan(plays=True, calls="never", writes="nothing")),
        ("once", False, Plan(plays=False, calls="always", writes="replaced")),
        ("once", True, Plan(plays=True, calls="never", writes="nothing")),
        ("new", False, Plan(plays=False, calls="always", writes="replaced")),
        ("new", True, Plan(plays=True, calls="missing", writes="appended")),
        ("all", False, Plan(plays=False, calls="always", writes="replaced")),
        ("all", True, Plan(plays=False, calls="always", writes="replaced")),
        ("verify", False, Plan(plays=True, calls="never", writes="nothing")),
        ("verify", True, Plan(plays=True, calls="always", writes="nothing")),
    ],
)
def test_what_each_mode_does(mode: Mode, exists: bool, expected: Plan) -> None:
    assert plan(mode, exists) == expected
    assert expected.compares == ((mode, exists) == ("verify", True))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("exists", [False, True])
def test_no_mode_calls_without_recording_or_comparing(mode: Mode, exists: bool) -> None:
    made = plan(mode, exists)

    assert (made.calls != "never") == (made.writes != "nothing" or made.compares)
    assert made.plays or made.writes == "replaced"
    assert mode not in ("none", "verify") or made.writes == "nothing"
