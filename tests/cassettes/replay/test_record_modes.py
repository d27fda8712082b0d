import pytest

from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.replay.record_modes import MODES, Mode, mode_in_force, plan


@pytest.mark.parametrize(
    ("asked", "environ", "told", "mode"),
    [
        (None, {}, None, "none"),
        ("once", {}, None, "once"),
        ("once", {"CI": "true"}, None, "none"),
        ("all", {"CI": "1"}, "all", "all"),
        ("all", {"CI": "true", "TURNTAPE_MODE": "new"}, None, "new"),
        ("once", {"CI": "false"}, None, "once"),
        ("once", {"TURNTAPE_MODE": "new"}, "verify", "verify"),
    ],
)
def test_ci_replays_unless_it_is_told_otherwise(
    asked: str | None, environ: dict[str, str], told: str | None, mode: Mode
) -> None:
    assert mode_in_force(asked, environ, told) == mode


def test_a_word_that_is_no_mode_is_named_with_those_that_are() -> None:
    with pytest.raises(TurntapeError, match="'sometimes' is unknown; give one of none, once"):
        mode_in_force("sometimes", {})


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("exists", [False, True])
def test_no_mode_calls_without_recording_or_comparing(mode: Mode, exists: bool) -> None:
    made = plan(mode, exists)

    assert (made.calls != "never") == (made.writes != "nothing" or made.compares)
    assert made.plays or made.writes == "anew"
    assert mode not in ("none", "verify") or made.writes == "nothing"
