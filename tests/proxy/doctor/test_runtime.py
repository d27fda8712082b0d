"""What the runtime of a command means for the capture."""

import pytest

from turntape.proxy.doctor.runtime import checks
from turntape.proxy.launch.runtimes import identify


@pytest.mark.parametrize(
    ("command", "word"),
    [
        (["env", "-i", "python", "agent.py"], "drops the environment"),
        (["docker", "run", "agent"], "does not reach the program"),
        (["sudo", "python", "agent.py"], "drops the environment"),
    ],
)
def test_where_the_environment_never_arrives_it_is_a_problem(command: list[str], word: str) -> None:
    [found] = checks(identify(command, {"PATH": ""}), command[0])

    assert found.status == "problem"
    assert word in found.what
    assert found.add
