"""Parts of the report that are made when they are first shown."""

from conversations import chat, said, user

from turntape.inspector.run.run_index import Run
from turntape.inspector.run.strip import strip_of
from turntape.inspector.views.report.growth_strip import OPEN, growth_strip
from turntape.inspector.views.report.later import Later
from turntape.inspector.views.report.markup import Html, tag
from turntape.inspector.views.report.packed import node


def test_an_element_holds_the_place_of_a_part() -> None:
    later = Later()

    places = [str(later.put(tag("p", word), class_="lane", data_thread="t1")) for word in ("one", "two")]
    assert places == [f'<div class="lane" data-thread="t1" data-later="{n}"></div>' for n in range(2)]
    assert later.nodes == [["p", "one"], ["p", "two"]]


def test_of_many_threads_only_the_lanes_that_are_shown_are_markup() -> None:
    trips = [chat([user(f"question {n}")], said("x"), index=n, at=900.0 * n) for n in range(OPEN + 40)]
    strip, later = strip_of(Run.of(trips).rows.all), Later()

    page = str(growth_strip(strip, later))

    assert page.count("<svg") == OPEN and page.count("data-later=") == 41, "40 threads, and the picture in tokens"
    assert page.count('class="strip tokens"') == 1 and page.count('class="strip-lane"') == OPEN + 40
    whole = growth_strip(strip)
    assert str(whole).count("<svg") == 2 * (OPEN + 40) and "data-later" not in str(whole)
    tokens = whole.children[1]
    assert isinstance(tokens, Html) and later.nodes[-1] == node(tokens), "the picture in tokens with all its lanes"


def test_a_run_of_one_thread_leaves_only_the_other_unit() -> None:
    later = Later()
    page = str(growth_strip(strip_of(Run.of([chat([user("x")], said("y"))]).rows.all), later))

    assert len(later.nodes) == 1 and page.count("<svg") == 1
