"""What a supervisor and a load balancer see."""

import pytest

from turntape.proxy.gateway.status_pages import StatusPages


def test_a_recorder_is_live_from_the_start_and_ready_when_it_says_so() -> None:
    pages = StatusPages()

    before = [pages.answer(path)[0] for path in ("/-/live", "/-/ready")]
    pages.ready = True
    after = [pages.answer(path)[0] for path in ("/-/live?probe=1", "/-/ready?probe=1")]

    assert (before, after) == ([200, 503], [200, 200])


def test_the_metrics_are_made_for_each_request() -> None:
    made: list[int] = []
    pages = StatusPages(lambda: made.append(1) or b"turntape_ready 1\n")

    assert made == []
    assert pages.answer("/-/metrics") == (200, "text/plain; version=0.0.4; charset=utf-8", b"turntape_ready 1\n")
    assert made == [1]


@pytest.mark.parametrize("path", ["/-/", "/-/livez", "/-/metrics/x"])
def test_another_path_names_those_that_there_are(path: str) -> None:
    status, _, body = StatusPages().answer(path)

    assert (status, body.decode().partition(";")[2]) == (404, " there are /-/live, /-/ready and /-/metrics\n")
