from turntape.cassettes.framing import Event


def test_the_json_of_an_event_is_parsed_once_and_does_not_count_when_events_are_compared() -> None:
    event = Event(b'{"a": [1]}', 0, 10)
    assert event.value == {"a": [1]}
    assert event.value is event.value
    assert event == Event(b'{"a": [1]}', 0, 10)
    assert Event(b"[DONE]", 0, 6).value is None
