from turntape.cassettes.framing import Event


def test_the_json_of_an_event_is_parsed_once_and_does_not_count_when_events_are_compared() -> None:
    event = Event(b'{"a": [1]}', 0, 10)
    assert event.value == {"a": [1]}
    assert event.value is event.value
    assert event == Event(b'{"a": [1]}', 0, 10)
    assert Event(b"[DONE]", 0, 6).value is None


def test_a_value_that_is_not_kept_is_parsed_each_time() -> None:
    event, comment = Event(b'{"a": [1]}', 0, 10), Event(b"1", 0, 1, kind="comment")
    event.keep_no_value()
    comment.keep_no_value()

    assert event.value == {"a": [1]} and event.value is not event.value
    assert comment.value is None
    assert event == Event(b'{"a": [1]}', 0, 10)
