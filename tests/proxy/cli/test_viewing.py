"""What the commands that draw on the terminal do at their end."""

import threading
import time

from turntape.proxy.cli.viewing import wait_for_threads


def test_our_threads_have_ended_before_python_does() -> None:
    asked = threading.Event()

    def work() -> None:
        asked.wait()
        time.sleep(0.05)  # what it was doing when it was asked to stop

    ours = threading.Thread(target=work, name="turntape-test", daemon=True)
    ours.start()
    asked.set()

    wait_for_threads()

    assert not ours.is_alive()


def test_a_thread_that_does_not_end_and_threads_of_others_are_left() -> None:
    over = threading.Event()
    busy = threading.Thread(target=over.wait, name="turntape-test", daemon=True)
    other = threading.Thread(target=over.wait, name="other", daemon=True)
    busy.start()
    other.start()

    wait_for_threads(0.01)

    assert busy.is_alive() and other.is_alive()
    over.set()
