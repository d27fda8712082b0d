"""Signs of life of the labeller process."""

import pytest

from turntape.proxy.sidecar.heartbeat import INTERVAL, STUCK, Heartbeat


class Clock:
    """Processor time that the test sets, and a sleep that takes no time and ends after some rounds."""

    def __init__(self, *cpu: float) -> None:
        self.now = 0.0
        self.slept: list[float] = []
        self.beats: list[float] = []
        self._cpu = list(cpu)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if not self._cpu:
            raise OSError("the proxy is gone")
        self.now = self._cpu.pop(0)

    def heartbeat(self) -> Heartbeat:
        return Heartbeat(lambda: self.beats.append(self.now), cpu=lambda: self.now, sleep=self.sleep)


def test_it_beats_at_each_interval_until_the_proxy_is_gone() -> None:
    clock = Clock(0.1, 0.2, 0.3)

    clock.heartbeat().run()

    assert clock.beats == [0.1, 0.2, 0.3]
    assert set(clock.slept) == {INTERVAL}


def test_it_is_silent_while_the_work_makes_no_progress() -> None:
    clock = Clock(STUCK - 1, STUCK, STUCK + 1)

    clock.heartbeat().run()

    assert clock.beats == [STUCK - 1]


def test_progress_starts_the_time_again() -> None:
    clock = Clock(STUCK + 1)
    heartbeat = clock.heartbeat()
    clock.now = 5
    heartbeat.progress()

    heartbeat.run()

    assert clock.beats == [STUCK + 1]


@pytest.mark.parametrize("error", [BrokenPipeError, ValueError])
def test_it_ends_when_nobody_reads_the_beats(error: type[Exception]) -> None:
    def beat() -> None:
        raise error

    Heartbeat(beat, sleep=lambda seconds: None).run()
