"""A report without prose and code: sentences are planted in every kind of place, and none is left."""

import json
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import tool_tapes
from conversations import chat, result, said, user
from judged import anthropic, asked, calls, gemini, given, responses, spoke, turn, use, words
from report_pages import Opened

from turntape.cassettes.errors import CassetteError
from turntape.cassettes.tape.model import Failure, RoundTrip
from turntape.inspector.run.detail import Detail
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.report import report

WORDS = ("quokka", "Zanzibar", "wombat")
_NUMBER = count()


def plant() -> str:
    """A sentence that occurs nowhere else."""
    return f"quokka Zanzibar{next(_NUMBER)}.py wombat"


def page_of(trips: list[RoundTrip], *, redacted: bool = True) -> Opened:
    return Opened("".join(report(Run.of(trips), "run", redacted=redacted)))


def left(opened: Opened) -> list[str]:
    """Where a planted word is still in the page."""
    whole = opened.everything
    return [whole[max(0, at - 60) : at + 40] for word in WORDS if (at := whole.casefold().find(word.casefold())) >= 0]


def tool(name: str) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "title": plant(),
        "properties": {
            "word": {"type": "string", "description": plant(), "enum": [plant()], "default": plant()},
            plant(): {"type": "string", "examples": [plant()]},
        },
        "required": ["word", plant()],
    }
    return {"type": "function", "function": {"name": name, "description": plant(), "parameters": parameters}}


def chat_run() -> list[RoundTrip]:
    """Every place of a chat completion, its errors and its findings."""
    arguments = json.dumps({"word": plant(), plant(): {"path": plant(), "n": [plant()]}})
    made = [("c1", "look_up", arguments), ("c2", "look_up", "{broken " + plant()), ("c3", plant(), "{}")]
    first = [{"role": "system", "content": plant()}, user(plant())]
    picture = {"type": "image_url", "image_url": {"url": "https://files.example/" + plant()}}
    parts = {"role": "user", "content": [{"type": "text", "text": plant()}, picture, {"type": "odd", "value": plant()}]}
    answer = said(plant(), *made) | {"reasoning_content": plant(), "refusal": plant()}
    second = [*first, answer, result("c1", plant()), result("c2", json.dumps({"error": plant(), "n": 4})), parts]
    settings = {"metadata": {"user_name": plant(), plant(): 1}, "stop": [plant()], "user": plant()}
    schema = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"description": plant()}}}
    refused = {"error": {"message": plant(), "type": "server_error", "code": plant(), "param": plant()}}
    many = [{"index": at, "message": said(plant()), "finish_reason": plant()} for at in range(2)]
    trips = [
        chat(first, answer, index=0, tools=[tool("look_up")], run=plant(), **settings),
        chat(second, error=refused, status=503, index=1, tools=[tool("look_up")], response_format=schema),
        chat(second, None, index=2, tools=[tool("look_up")], failure=Failure("refused", plant())),
        chat([*second, said(plant()), user(plant())], error={"model": "gpt-5", "choices": many}, index=3),
    ]
    other = chat([user(plant())], said(plant()), index=4)
    url = f"https://files.example/v1/files/{plant()}?q={plant()}"
    trips.append(replace(other, request=replace(other.request, url=url, method="GET")))
    return [
        replace(trip, request=replace(trip.request, headers=(("x-note", plant()), ("user-agent", plant()))))
        for trip in trips
    ]


def anthropic_run() -> list[RoundTrip]:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "quokka" * 20}}
    first = [asked(words(plant()), picture)]
    thought = {"type": "thinking", "thinking": plant(), "signature": plant()}
    answer = [thought, words(plant()), use(word=plant())]
    later = [*first, spoke(*answer), asked(given(text=plant(), is_error=True))]
    odd = asked({"type": "document", "title": plant(), "source": {"type": "text", "data": plant()}})
    return [
        anthropic(first, answer, system=plant()),
        anthropic(later, [words(plant())], index=1, usage={"note": 1}, stop=plant()),
        anthropic([*later, odd], index=2, error=plant()),
    ]


def tools_run() -> list[RoundTrip]:
    """A story of tool servers with planted words in what they return."""
    trips: list[RoundTrip] = []
    for trip in tool_tapes.story().trips:
        body = trip.request.body.replace(b": three", b": wombat").replace(b"one", b"quokka")
        response = trip.response
        if response is not None:
            changed = response.body.replace(b": three", b": wombat").replace(b"one", b"quokka")
            response = replace(response, content=changed, chunks=())
        trips.append(replace(trip, request=replace(trip.request, content=body), response=response))
    return trips


RUNS = {
    "chat": chat_run,
    "anthropic": anthropic_run,
    "gemini": lambda: [gemini([turn("user", {"text": plant()})], [{"text": plant()}, calls(plant())], finish=plant())],
    "responses": lambda: [
        responses(
            [{"role": "user", "content": plant()}],
            [
                {"type": "mcp_call", "id": "m1", "name": "ask", "server_label": "wiki", "output": plant()}
                | {"arguments": json.dumps({"q": plant()})}
            ],
        )
    ],
    "tool wire": tools_run,
}


@pytest.mark.parametrize("name", RUNS)
def test_no_planted_word_is_left(name: str) -> None:
    trips = RUNS[name]()

    assert left(page_of(trips, redacted=False)), "the plants would be in the page"
    assert left(page_of(trips)) == []


def test_no_path_of_the_example_is_left() -> None:
    """Its strip names what was added, which a run with few tokens does not."""
    run = Run.load(Path(__file__).parents[5] / "docs" / "example.cassette.jsonl")
    paths = ("dates.py", "nordbank", "src/statements")
    pages = ["".join(report(run, "run", redacted=redacted)) for redacted in (False, True)]

    assert [[path for path in paths if path in Opened(page).everything] for page in pages] == [[*paths], []]
    assert 'title="+1.4k read_file"' in pages[1]


def test_what_is_not_prose_stays() -> None:
    plain, neutral = (page_of(chat_run(), redacted=redacted) for redacted in (False, True))

    for kept in ("look_up", "word", "gpt-5-2025-08-07", "openai-chat", "tool_calls", "503", "100 in"):
        assert kept in plain.everything and kept in neutral.everything, kept
    assert [len(view) > 100 for view in neutral.views] == [True] * 5
    assert "neutral text of equal length" in neutral.static and "neutral text of equal length" not in plain.static


def test_findings_stay_with_what_their_class_means() -> None:
    plain, neutral = (Run.of(chat_run()), page_of(chat_run()))
    found = [mark.id for row in plain.rows.all for mark in row.findings]

    assert found
    for identity in found:
        assert identity in neutral.static


def test_a_text_keeps_its_length_and_its_lines() -> None:
    text = "First line,\n  second (line): 12 of 3.\n"
    (view,) = page_of([chat([user(text)], said("short"))]).blocks[0]["views"]

    (shown,) = [
        node[1]
        for node in _nodes(view["view"])
        if node[0] == "pre" and isinstance(node[1], str) and node[1].count("\n") == text.count("\n")
    ]
    assert [[len(word) for word in line.split(" ")] for line in shown.split("\n")] == [
        [len(word) for word in line.split(" ")] for line in text.split("\n")
    ]
    assert not set(shown.split()) & {word for word in text.split() if len(word) > 3}  # `of` may stay by chance


def _nodes(node: Any) -> list[Any]:
    if not isinstance(node, list):
        return []
    return [node, *(inner for child in node[1:] for inner in _nodes(child))]


def test_the_page_has_no_raw_body() -> None:
    assert all("raw" not in view for block in page_of(chat_run()).blocks for view in block["views"])


def test_a_round_trip_that_cannot_be_read_does_not_say_where_the_file_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(_run: Run, _place: int) -> Detail:
        raise CassetteError("'/home/quokka/Zanzibar.cassette.jsonl' no longer holds #0; open it again")

    monkeypatch.setattr(Run, "detail", lost)
    pages = [page_of(chat_run(), redacted=redacted) for redacted in (False, True)]

    assert "Zanzibar.cassette" in pages[0].everything
    assert left(pages[1]) == []
    assert all("cannot be read" in view for page in pages for view in page.views)
