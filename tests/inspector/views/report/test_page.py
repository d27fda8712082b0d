"""The report: one file, nothing from outside, what the wire said shown as text, and the figures of the inspector."""

import re
from collections.abc import Sequence
from html import escape
from html.parser import HTMLParser
from typing import override

import pytest
from conversations import CALL, chat, loop, result, said, user
from report_pages import Opened
from sockets import completed, create, session
from tool_stories import Story
from tool_wire import notifies

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run.growth import KINDS, steps, summed
from turntape.inspector.run.run_index import Run
from turntape.inspector.run.totals import totals
from turntape.inspector.views.report import page, report

EVIL = "</script></template><script>document.title='bad'</script><img src=x onerror=alert(1)> \u202e\x1b[31m"
VOID = {"meta", "input", "rect", "polyline"}


class Reader(HTMLParser):
    """Checks that elements are closed in order, and keeps what a test asks for."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    @override
    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID
        self.tags.append((tag, dict(attrs)))

    @override
    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    @override
    def handle_data(self, data: str) -> None:
        self.text.append(data)


def page_of(round_trips: Sequence[RoundTrip], title: str = "run") -> str:
    return "".join(report(Run.of(round_trips), title))


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def evil() -> list[RoundTrip]:
    asked = [user(EVIL)]
    call = ("c1", "look_up", '{"word":"<b>&\\"x\\""}')
    first = chat(asked, said(EVIL, call), finish="tool_calls", index=0)
    again = [*asked, said(EVIL, call), result("c1", EVIL)]
    return [first, chat(again, said(EVIL), index=1, model="<i>m</i>")]


def test_the_page_asks_for_nothing_from_outside() -> None:
    page = page_of(loop())
    reader = read(page)

    links = [value for _, fields in reader.tags for name, value in fields.items() if name in ("href", "src", "action")]
    assert all(value is not None and value.startswith("#row-") for value in links)
    assert {"link", "img", "iframe", "object", "embed"}.isdisjoint(tag for tag, _ in reader.tags)
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert style is not None and "url(" not in style[1] and "@import" not in style[1]
    (policy,) = [f["content"] for t, f in reader.tags if t == "meta" and "http-equiv" in f]
    assert policy is not None and policy.startswith(
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-"
    )


def test_what_the_wire_said_is_text_and_never_markup() -> None:
    page = page_of(evil(), title=EVIL)
    reader = read(page)
    opened = Opened(page)

    scripts = [fields.get("type") for tag, fields in reader.tags if tag == "script"]
    assert scripts == ["text/turntape-block", "text/turntape-index", None]
    whole = "".join([*opened.views, *opened.rows, *reader.text])
    assert escape("</script></template><script>document.title='bad'</script>") in whole
    assert "\\x202e\\x1b[31m" in whole and "\u202e" not in whole and "\x1b" not in whole
    assert not [name for _, fields in reader.tags for name in fields if name.startswith("on")]
    assert {"b", "i", "img"}.isdisjoint(tag for tag, _ in reader.tags)
    whole = "".join(reader.text)
    assert "</script></template><script>document.title='bad'</script>" in whole
    assert "\\x202e\\x1b[31m" in whole and "\u202e" not in whole and "\x1b" not in whole


def test_the_figures_are_those_of_the_run() -> None:
    run = Run.of(loop())
    page = "".join(report(run, "run"))
    reader, opened = read(page), Opened(page)
    words = " ".join("".join(reader.text).split())

    sums = totals(run.rows.all)
    assert f"{sums.turns} turns" in words
    grown = list(steps(enumerate(run.rows.all)))
    captions = [fields["data-caption"] or "" for tag, fields in reader.tags if tag == "g"]
    (tokens,) = (read(opened.html(node)) for node in opened.index["later"])
    assert len(grown) == 2
    assert captions == [fields["data-caption"] or "" for tag, fields in tokens.tags if tag == "g"], "in both units"
    for (name, label), step in ((kind, step) for step in grown for kind in KINDS):
        amount = getattr(step.tokens, name)
        assert (f"{amount:,} {label}" in captions[grown.index(step)]) == bool(amount)
    assert summed(grown).input == sums.input


def test_each_round_trip_has_a_line_and_a_view() -> None:
    trips = [*loop(), chat([user("another thread")], said("yes"), index=2, at=1_780_000_900.0)]
    opened = Opened(page_of(trips))

    assert [f'href="#row-{place}"' in row for place, row in enumerate(opened.rows)] == [True, True, True]
    assert len(opened.views) == 3
    assert [group["places"] for group in opened.index["groups"]] == [[0, 1], [2]]


def test_new_messages_come_first_and_calls_are_with_their_results() -> None:
    first, second = Opened(page_of(loop())).views

    order = [first.index(word) for word in ("New in this request", "<h3>Answer", 'name">look_up', "in turn 2")]
    assert order == sorted(order)
    assert "; 1 was sent before, see " in second and "System prompt and tools as in " in second


def test_a_text_is_stored_once() -> None:
    long = "a sentence that every request sends again. " * 200
    trips = [chat([user(long)] + [said("yes"), user("more")] * turn, said("yes"), index=turn) for turn in range(20)]
    page = page_of(trips)

    assert "".join(Opened(page).texts).count(long) == 2  # in the message, and in the raw body of the first request
    assert [Opened(page).raw(place) for place in (0, 7, 19)] == [
        trips[place].request.body.decode() for place in (0, 7, 19)
    ]
    assert Opened(page).raw(3, 1) == (trips[3].response.body.decode() if trips[3].response else None)


def test_views_are_in_blocks_of_neighbours() -> None:
    trips = [chat([user(f"{turn} " * 200_000)], said("yes"), index=turn) for turn in range(3)]
    opened = Opened(page_of(trips))

    assert opened.index["views"] == [0, 1, 2] and len(opened.blocks) == 3
    assert opened.index["texts"][0] == 0 and opened.index["texts"] == sorted(opened.index["texts"])
    assert ["1 1 1" in view for view in opened.views] == [False, True, False]


def test_long_texts_are_folded_and_a_very_large_body_is_cut() -> None:
    long = "word " * 300_000
    opened = Opened(page_of([chat([user(long)], said("short"))]))

    assert "more characters in the cassette" in opened.views[0]
    assert re.search(r"… [0-9.]+ MB more in the cassette", opened.html(opened.blocks[0]["views"][0]["raw"][0]["note"]))
    assert opened.raw(0).startswith('{"model"') and len(opened.raw(0)) == 50_000


def test_findings_can_be_read_without_the_script() -> None:
    calls = [("c1", "look_up", "{}"), ("c2", "look_up", "{}")]
    asked = [user("go")]
    trips = [
        chat(asked, said(None, *calls), finish="tool_calls", index=0),
        chat([*asked, said(None, *calls), result("c1", "one")], said("done"), index=1),
    ]
    found = re.search(r'<div id="findings"[^>]*>', Opened(page_of(trips)).static)

    assert found is not None and "hidden" not in found[0]


def test_findings_name_layer_evidence_and_fix() -> None:
    asked = [user("go")]
    calls = [("c1", "look_up", "{}"), ("c2", "look_up", "{}")]
    trips = [
        chat(asked, said(None, *calls), finish="tool_calls", index=0),
        chat([*asked, said(None, *calls), result("c1", "one")], said("done"), index=1),
    ]
    page = page_of(trips)

    found = re.search(r'<div id="findings".*?</ol>', page, re.DOTALL)
    assert found is not None
    for words in ("client-missing-tool-result", "▶ client", "fix ", 'href="#row-0"', ">turn 1<"):
        assert words in found[0]
    assert "first went wrong in" in page


@pytest.mark.parametrize(
    ("most", "places", "note"),
    [(3, [0, 2, 3], ""), (2, [0, 2], "The first 2 of 3 turns with errors are printed.")],
)
def test_a_print_shows_turns_with_errors_and_says_how_many_it_leaves_out(
    most: int, places: list[int], note: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "PRINTED", most)
    wrong = [user("go"), said(None, CALL), user("well?")]
    trips = [chat([user(f"run {at}")], said("ok"), index=at) for at in range(5)]
    trips = [chat([user(f"{at}"), *wrong], said("ok"), index=at) if at in (0, 2, 3) else trips[at] for at in range(5)]

    printed = Opened(page_of(trips)).index["printed"]
    assert {name: printed[name] for name in ("places", "note")} == {"places": places, "note": note}


def test_a_finding_that_repeats_another_leads_to_that_one_instead_of_saying_it_again() -> None:
    refused = {"error": {"type": "server_error", "message": "overloaded", "code": None}}
    trips = [chat([user("go")], error=refused, status=503, index=at, at=100.0 + at) for at in range(3)]
    listed = re.search(r'<div id="findings".*?</ol>', page_of(trips), re.DOTALL)

    assert listed is not None and listed[0].count("<p>the API failed or was overloaded") == 1
    assert listed[0].count('<p>the same as in <a href="#row-0">turn 1</a></p>') == 2
    assert [label for label in ("turn 1", "turn 1·2", "turn 1·3") if f">{label}</a>" in listed[0]] == [
        "turn 1",
        "turn 1·2",
        "turn 1·3",
    ]


def test_the_raw_messages_of_a_session_are_shown_as_they_were_on_the_wire() -> None:
    """A turn of a WebSocket session was never a POST."""
    asked = create(1_500_000, "again")
    opened = Opened(page_of([session(create(1_000), completed(900_000), asked, completed(2_000_000, "r2"))]))

    lines = opened.raw(1, 1).split("\n")
    assert opened.raw(0).startswith("HTTP/1.1 101") and "POST" not in opened.everything
    assert lines[0] == f"  1.500000 s  client  {asked.data.decode()}"
    assert len(lines) == 2 and lines[1].startswith("  2.000000 s  server  {")


@pytest.mark.parametrize("trips", [[], [chat([user("x")], said("y"), usage=None)]], ids=["empty", "no tokens"])
def test_a_run_with_nothing_to_draw_has_a_page(trips: list[RoundTrip]) -> None:
    read(page_of(trips))


def test_every_choice_is_in_the_report() -> None:
    choices = [{"index": at, "message": said(f"answer {at}"), "finish_reason": "length"} for at in range(3)]
    (page,) = Opened(page_of([chat([user("hi")], error={"model": "gpt-5", "choices": choices})])).views

    assert [f"answer {at}" in page for at in range(4)] == [True, True, True, False]
    assert "choice 2" in page and "of 3: length" in page


def test_a_cost_that_the_api_stated_is_marked() -> None:
    answer = {"model": "gpt-5", "choices": [{"index": 0, "message": said("so"), "finish_reason": "stop"}]}
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7, "cost": 0.25}
    stated = Opened(page_of([chat([user("hi")], error=answer | {"usage": usage})])).views[0]

    assert "(stated by the API)" in stated
    assert "(stated by the API)" not in Opened(page_of(loop())).everything


def test_a_retried_turn_is_one_turn() -> None:
    overloaded = {"error": {"message": "Overloaded", "type": "overloaded_error"}}
    run = Run.of([chat([user("hi")], status=529, error=overloaded), chat([user("hi")], said("so"), index=1)])

    assert "1 turn · 1 more attempt" in "".join(report(run, "a"))


def test_the_head_counts_the_findings_of_each_severity_that_there_are() -> None:
    def counted(trips: list[RoundTrip]) -> list[str]:
        text = " ".join(read(page_of(trips)).text)
        return re.findall(r"(\d+ (?:errors?|warnings?|info))\b", text.partition("first went wrong")[0])

    changed = Story().start().exchange(notifies("notifications/tools/list_changed"), sender="server")
    for trips in (changed.turn().trips, [chat([user("Hi.")], said("Hello."))], loop()):
        sums = totals(Run.of(trips).rows.all)
        amounts = ((sums.errors, "error"), (sums.warnings, "warning"), (sums.infos, "info"))
        assert counted(trips)[:3] == [
            f"{count} {word}{'s' if count > 1 and word != 'info' else ''}" for count, word in amounts if count
        ]
