"""The example in docs/cassette-format.md is a cassette, and says what the page says."""

import re
from pathlib import Path

from turntape.cassettes import Cassette
from turntape.inspector.run.labels import label_all

PAGE = Path(__file__).parents[3] / "docs" / "cassette-format.md"


def test_the_example_is_read_byte_for_byte(tmp_path: Path) -> None:
    match = re.search(r"```jsonl\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert match is not None
    path = tmp_path / "example.cassette.jsonl"
    path.write_text(match[1])

    cassette = Cassette.load(path)
    first, second = cassette

    assert cassette.problems == []
    assert cassette.labels == {0: {"index": 0, "protocol": "openai-chat", "turn": 1}}
    assert first.response is not None
    assert sum(chunk.size for chunk in first.response.chunks) == len(first.response.body)
    assert second.request.body.startswith(first.request.body[:-2])
    assert second.request.body.endswith(b'"content":"Again."}]}')
    labels = [done.label for done in label_all(cassette)]
    assert [label["turn"] for label in labels] == [1, 2]


def test_every_field_that_is_written_is_on_the_page() -> None:
    import orjson
    from factories import round_trip

    from turntape.cassettes import Failure, Frame
    from turntape.cassettes.tape.format import round_trip_line

    trip = round_trip(
        run="r",
        route="forward",
        upstream="openai",
        client="c:1",
        request_at=1,
        first_byte_at=2,
        ended_at=3,
        closed_first="client",
        failure=Failure("cut", "x"),
        faults=("f",),
        frames=(Frame("client", 1, b"x", True),),
    )
    line = orjson.loads(round_trip_line(0, trip, trip.request.body, None))
    page = PAGE.read_text()

    assert [field for field in (*line, *line["request"], *line["response"]) if f"`{field}`" not in page] == []
