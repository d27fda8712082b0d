import pytest

from turntape.cassettes.pytest_plugin.nearest import hint


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("moed", "did you mean 'mode'?"),
        ("PATH_OF_IT", "did you mean 'path'?"),
        ("zzz", "write one of mode, path, pace"),
        (3, "write one of mode, path, pace"),
    ],
)
def test_the_nearest_name_is_named_or_all(name: object, said: str) -> None:
    assert hint(name, iter(("mode", "path", "pace"))) == said
