"""Why an exchange broke is kept with the error, for the layers that record and answer it."""

from collections.abc import Iterator

import pytest
from mitmproxy.proxy.commands import Log
from mitmproxy.proxy.layer import CommandGenerator
from mitmproxy.proxy.layers.http._base import ReceiveHttp
from mitmproxy.proxy.layers.http._events import ErrorCode, RequestEndOfMessage, RequestProtocolError
from mitmproxy.proxy.layers.http._events import ResponseProtocolError as Failed

from turntape.proxy.layers.wire_events import Cause, RawResponse, blame, blamed, cause_of, without_advice

CAUSES = (Cause(), Cause(broke=True), Cause(reset=8), Cause(reset=0), Cause(text="reset by the peer"))


def failed(message: str = "broken") -> Failed:
    return Failed(1, message, ErrorCode.GENERIC_SERVER_ERROR)


@pytest.mark.parametrize("cause", CAUSES, ids=str)
def test_an_error_keeps_its_cause(cause: Cause) -> None:
    error = failed()
    blame(error, cause)

    assert cause_of(error) == cause
    assert error.message == "broken"


def test_an_error_without_a_cause_says_nothing_of_the_peer() -> None:
    unknown = cause_of(failed())

    assert (unknown.broke, unknown.reset, unknown.text) == (False, None, None)


@pytest.mark.parametrize("length", [499, 500, 501, 1_000_000])
def test_only_what_is_longer_than_a_sentence_is_cut_and_marked(length: int) -> None:
    error = failed("x" * length)
    blame(error, Cause())

    assert error.message == ("x" * length if length <= 500 else "x" * 500 + " …")


def test_all_errors_of_some_commands_get_a_cause_but_those_that_have_one() -> None:
    known = RequestProtocolError(1, "first", ErrorCode.GENERIC_CLIENT_ERROR)
    blame(known, Cause(reset=8))
    sent = (Log("before"), ReceiveHttp(known), ReceiveHttp(failed()), ReceiveHttp(RequestEndOfMessage(1)))
    answers: list[object] = []

    def sending() -> CommandGenerator[str]:
        for command in sent:
            answers.append((yield command))
        return "done"

    def run() -> Iterator[object]:
        passing = blamed(sending(), Cause(broke=True, text="not HTTP"))
        result = None
        while True:
            try:
                result = f"answer to {type(passing.send(result)).__name__}"
            except StopIteration as end:
                yield end.value
                return
            yield result

    assert list(run()) == [*(f"answer to {type(command).__name__}" for command in sent), "done"]
    assert answers == [f"answer to {type(command).__name__}" for command in sent]
    causes = [cause_of(one.event) for one in sent[1:3] if isinstance(one, ReceiveHttp)]  # type: ignore[arg-type]
    assert causes == [Cause(reset=8), Cause(broke=True, text="not HTTP")]


def test_bytes_that_are_not_http_are_whole_unless_it_is_said() -> None:
    raw = RawResponse(1, b"220 ready")

    assert (raw.cut, raw.long) == (False, False)


def test_the_advice_to_use_an_option_that_turntape_does_not_have_is_left_out() -> None:
    said = "Received both a Transfer-Encoding and a Content-Length header"

    assert without_advice(f"{said}. Disable the validate_inbound_headers option to skip this check.") == f"{said}."
    assert without_advice(said) == said
