"""What the runtime of a command means for the capture."""

from ..launch.runtimes import UNKNOWN, Identified
from .check_result import CheckResult


def checks(found: Identified, program: str) -> list[CheckResult]:
    """What the runtime means for the capture."""
    runtime = found.runtime
    if found.cleared:
        what = (
            f"{program}: the command drops the environment that turntape sets, so its traffic does not reach the proxy."
        )
        return [CheckResult("runtime", "problem", what, "leave out `env -i`")]
    if not runtime.reachable:
        what = f"{program}: {runtime.programs[0]} {runtime.honours}, so what turntape sets does not reach the program."
        return [CheckResult("runtime", "problem", what, runtime.advice)]
    if runtime is UNKNOWN:
        return [
            CheckResult("runtime", "unknown", f"{program}: the runtime is not known ({found.how}).", runtime.advice)
        ]
    return [CheckResult("runtime", "ok", f"{program}: {runtime.name} ({found.how}); it {runtime.honours}.")]
