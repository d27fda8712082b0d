"""Events as lines with their payloads."""

import pytest

from turntape.cassettes.framing import Event
from turntape.inspector.views.tui.pages.blocks import Block
from turntape.inspector.views.tui.pages.event_blocks import OPENABLE, event_blocks, shown
from turntape.inspector.views.tui.pages.page import Page


def event(data: bytes, name: str = "", at: int = 0, kind: str = "data", problem: str | None = None) -> Event:
    return Event(data, 0, len(data), at, name, kind, problem)


def lines(blocks: list[Block], width: int = 80, **folds: bool) -> list[str]:
    layout = Page("wire", blocks).laid_out(width, folds)
    return ["".join(text for text, _ in layout.line(y)) for y in range(len(layout))]


FIRST = event(b'{"id":"a","model":"m","choices":[{"delta":{"role":"assistant"}}]}')
SECOND = event(b'{"id":"a","model":"m","choices":[{"delta":{"content":"Hi"}}]}')


@pytest.mark.parametrize(
    ("one", "before", "text"),
    [
        (FIRST, None, '{"id":"a","model":"m","choices":[{"delta":{"role":"assistant"}}]}'),
        (SECOND, FIRST, '{"choices":[{"delta":{"content":"Hi"}}]}'),
        (SECOND, SECOND, '{"id":"a","model":"m","choices":[{"delta":{"content":"Hi"}}]}'),
        (event(b'{"type":"ping","n":1}', "ping"), None, '{"n":1}'),
        (event(b'{"type":"ping"}', "ping"), None, '{"type":"ping"}'),
        (event(b'{"type":"ping","n":1}', "ping"), event(b'{"type":"ping","n":1}', "ping"), '{"n":1}'),
        (event(b'{"a":null}'), event(b"{}"), '{"a":null}'),
        (event(b"[DONE]"), SECOND, "[DONE]"),
        (event(b"[1,2]"), SECOND, "[1,2]"),
    ],
)
def test_the_line_shows_what_the_event_before_does_not_say(one: Event, before: Event | None, text: str) -> None:
    assert shown(one, before) == text


def test_a_line_has_time_name_and_payload_and_opens() -> None:
    events = [event(b'{"n":1}', "start", 1_500_000), event(b'{"n":2}', "a_long_name_of_an_event", 1_750_000)]
    blocks = list(event_blocks(events, "sse"))

    assert lines(blocks) == [
        "▾ ━━ events  2 events of SSE: when each came, and how long after the one before",
        '  ▸   1.500 s +1500 ms start                {"n":1}',
        '  ▸   1.750 s  +250 ms a_long_name_of_an_e… {"n":2}',
    ]
    assert lines(blocks, **{"event:1": True})[-3:] == ["      {", '        "n": 2', "      }"]
    assert lines(blocks, 40)[1] == '  ▸   1.500 s +1500 ms start      {"n":1}'


def test_a_payload_is_clipped_and_a_problem_is_said() -> None:
    (title, line) = lines(list(event_blocks([event(b"x" * 500, kind="comment", problem="cut")], "sse")), 60)

    assert "1 event of SSE" in title and line.rstrip().endswith("…  cut")


def test_of_very_many_events_the_rest_are_lines_only() -> None:
    blocks = list(event_blocks([event(b'{"n":%d}' % n) for n in range(OPENABLE + 2)], "ndjson"))

    assert len(blocks) == OPENABLE + 2
    assert lines(blocks)[-1].endswith('{"n":3001}') and len(lines(blocks)) == OPENABLE + 3
