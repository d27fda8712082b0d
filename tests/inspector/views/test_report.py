"""The report in a headless Chromium: keys, filter, folds, widths, and its own policy."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tool_tapes
from conversations import chat, loop, result, said, user

from turntape.inspector.run.run_index import Run
from turntape.inspector.views.report import report

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")

DRIVER = """
const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const current = () => document.querySelector("[aria-current]")?.dataset.place;
const type = (words) => { filter.value = words; return sift(); };
const visible_ = (one) => one.offsetParent !== null && one.getBoundingClientRect().height > 0;
const left = () => [...document.querySelectorAll("#turns .row")].filter(visible_).map((row) => row.dataset.place);
const said = [];
const later = () => new Promise((done) => setTimeout(done, 100));
addEventListener("securitypolicyviolation", () => said.push("violation"));
"""


def trips() -> list[Any]:
    """A thread with a fault in its second turn, and another thread."""
    asked = [user("go")]
    calls = [("c1", "look_up", '{"word":"tape"}'), ("c2", "look_up", '{"word":"reel"}')]
    second = [*asked, said(None, calls[0]), result("c1", "a strip")]
    third = [*second, said("And now?", *calls[1:], ("c3", "look_up", "{}")), result("c2", "a spool")]
    return [
        chat(asked, said(None, calls[0]), finish="tool_calls", index=0),
        chat(second, said("And now?", *calls[1:], ("c3", "look_up", "{}")), finish="tool_calls", index=1),
        chat(third, said("done"), index=2),
        chat([user("<b>other</b>")], said("</template>yes"), index=3, at=1_780_000_900.0),
    ]


type Drive = Callable[..., Any]


@pytest.fixture
def drive(tmp_path: Path) -> Drive:
    def run(script: str, *, width: int = 1440, hash: str = "", of: list[Any] | None = None) -> Any:
        """What `script` put into `said`, run in the page."""
        page = "".join(report(Run.of(of or trips()), "run"))
        page = re.sub(r"script-src [^\"]*", "script-src &#x27;unsafe-inline&#x27;", page, count=1)
        note = "document.body.dataset.said = JSON.stringify(said);"
        page = page.replace("</body>", f"<script>{DRIVER}ready.then(async () => {{ {script};{note} }})</script></body>")
        (tmp_path / "page.html").write_text(page, encoding="utf-8")
        dom = dump(tmp_path / "page.html", width, hash)
        found = re.search(r'data-said="([^"]*)"', dom)
        assert found is not None, dom[-2000:]
        return json.loads(found[1].replace("&quot;", '"').replace("&amp;", "&"))

    return run


def dump(page: Path, width: int = 1440, hash: str = "") -> str:
    assert CHROMIUM is not None
    done = subprocess.run(
        [
            CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={page.parent / 'profile'}",
            f"--window-size={width},900", "--virtual-time-budget=3000", "--dump-dom", f"file://{page}{hash}",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )  # fmt: skip
    return done.stdout


def test_the_page_as_written_opens_the_first_turn_that_went_wrong(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("".join(report(Run.of(trips()), "run")), encoding="utf-8")

    dom = dump(path)

    pane = dom[dom.index('id="turn"') : dom.index('id="help"')]
    assert "Turn 2 " in pane and "client-missing-tool-result" in pane
    assert 'aria-current="true"' in dom


def test_a_page_without_faults_opens_its_first_turn(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("".join(report(Run.of(loop()), "run")), encoding="utf-8")

    assert "<h2>Turn 1 " in dump(path).partition('id="turn"')[2]


def test_keys_move_through_the_lines(drive: Drive) -> None:
    assert drive(
        """
        const go = (...keys) => { keys.forEach(press); said.push(current()); };
        go("Home"); go("j"); go("ArrowDown"); go("j"); go("j"); go("k"); go("ArrowUp"); go("End"); go("Home", "n");
        """
    ) == ["0", "1", "2", "3", "3", "2", "1", "3", "1"]


def test_enter_reads_the_turn_and_escape_goes_back(drive: Drive) -> None:
    assert drive(
        """
        press("Enter"); said.push(document.activeElement.id, document.body.className);
        press("Escape"); said.push(document.activeElement.className, document.body.className);
        """
    ) == ["turn", "reading", "row", ""]


def test_the_filter_finds_what_is_inside_the_turns(drive: Drive) -> None:
    assert drive(
        """
        press("/"); said.push(document.activeElement.id);
        await type("SPOOL"); said.push(left());
        await type("a strip reel"); said.push(left());
        await type("nowhere"); said.push(left(), visible_(document.getElementById("nothing")));
        press("Escape"); await sift(); said.push(left().length);
        """
    ) == ["filter", ["1", "2"], ["1"], [], True, 4]


def test_the_filter_reads_a_query_as_the_viewer_does(drive: Drive) -> None:
    assert drive(
        """
        const phrases = ['"reel strip"', '"a strip" reel'];
        for (const query of [...phrases, "strip -spool", "-strip", "is:error", "-is:error", '"" -', "is:"]) {
          await type(query); said.push(left().join(" "));
        }
        press("f"); await type("is:error"); const found = [...document.querySelectorAll("#findings li")];
        said.push(found.every((one) => visible_(one) === (one.dataset.severity === "error")));
        """
    ) == ["", "1", "0", "2 3", "1", "0 2 3", "0 1 2 3", "", True]


def test_a_filter_with_a_field_that_a_page_does_not_know_says_so_beside_it(drive: Drive) -> None:
    assert drive(
        """
        const nothing = document.getElementById("nothing");
        for (const query of ["nowhere", "tool:look_up"]) {
          await type(query);
          const [said_, typed] = [nothing, filter].map((one) => one.getBoundingClientRect());
          said.push(nothing.textContent, said_.bottom < typed.bottom + 120);
        }
        """,
        width=1440,
    ) == [
        "No turn and no finding fits the filter.",
        True,
        "No turn and no finding fits the filter. “tool:” is a field that only `turntape view` knows.",
        True,
    ]


def test_the_keys_of_the_viewer_go_to_errors_and_back(drive: Drive) -> None:
    assert drive(
        """
        press("Home"); press("e"); said.push(current()); press("End"); press("E"); said.push(current());
        press("End"); press("N"); said.push(current());
        """
    ) == ["1", "1", "1"]


def test_a_filter_typed_on_a_page_that_it_does_not_change_shows_the_turns(drive: Drive) -> None:
    assert drive(
        """
        const open = () => tabs.find((one) => one.getAttribute("aria-selected") === "true").textContent.split(" ")[0];
        for (const panel of ["costs", "timeline", "findings"]) {
          tab(panel); await type(""); said.push(open());
          await type("reel"); said.push(open());
        }
        """
    ) == ["Costs", "Turns", "Timeline", "Turns", "Findings", "Findings"]


def test_help_findings_folds_and_theme(drive: Drive) -> None:
    assert drive(
        """
        press("?"); said.push(help.open); help.close();
        const seen = (id) => visible_(document.getElementById(id));
        press("f"); said.push(seen("findings"), seen("turns"));
        press("o"); said.push([...document.querySelectorAll("#turn details")].every((one) => one.open));
        press("o"); said.push([...document.querySelectorAll("#turn details")].some((one) => one.open));
        press("t"); said.push(document.documentElement.dataset.theme);
        press("t"); said.push(document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor);
        """
    ) == [True, True, False, True, False, "light", "dark", "rgb(22, 24, 29)"]


def test_the_names_of_the_columns_are_above_the_turns_alone(drive: Drive) -> None:
    said = drive(
        """
        for (const name of ["turns", "findings", "costs", "timeline", "turns"]) {
          tab(name); await later(); said.push(visible_(document.querySelector(".row.heads")));
        }
        """
    )

    assert said == [True, False, False, False, True]


def test_links_and_bars_lead_to_their_turns(drive: Drive) -> None:
    assert drive(
        """
        document.querySelector('#findings a.where').click(); said.push(current());
        const bar = document.querySelector('#growth g[data-place="2"]');
        bar.dispatchEvent(new MouseEvent("click", { bubbles: true }));
        said.push(current(), location.hash, document.getElementById("caption").textContent.split(":")[0]);
        """
    ) == ["1", "2", "#row-2", "turn 3 of t1"]


def test_an_address_leads_to_a_turn(drive: Drive) -> None:
    assert drive("said.push(current())", hash="#row-2") == ["2"]


@pytest.mark.parametrize("width", [500, 1440])
def test_a_long_name_of_a_model_is_broken(drive: Drive, width: int) -> None:
    script = """
    const shown = [...document.querySelectorAll("p")].filter(visible_);
    said.push(shown.length > 1, shown.every((one) => one.id === "caption" || one.scrollWidth <= one.clientWidth));
    """

    assert drive(script, width=width, of=[chat([user("x")], said("y"), model="m" * 200)]) == [True, True]


@pytest.mark.parametrize("width", [500, 900, 1440])
def test_nothing_is_wider_than_the_window(drive: Drive, width: int) -> None:
    assert drive(
        """
        const wide = () => document.documentElement.scrollWidth <= innerWidth;
        said.push(wide()); press("o"); press("Enter"); said.push(wide());
        press("Escape"); press("f"); said.push(wide());
        """,
        width=width,
    ) == [True, True, True]


@pytest.mark.parametrize("width", [500, 1440])
def test_the_name_of_a_late_turn_is_whole(drive: Drive, width: int) -> None:
    many = [chat([user("q")] + [said("a"), user("q")] * n, said("a"), index=n) for n in range(1001)]
    cut = """
        const name = lineOf(1000).firstChild, text = document.createRange(); text.selectNodeContents(name);
        said.push(name.textContent, text.getBoundingClientRect().width < name.getBoundingClientRect().width);
        """

    assert drive(f"tab('turns'); await choose(1000); {cut}", of=many, width=width) == ["1001", True]


@pytest.mark.parametrize("width", [500, 900, 1100, 1440])
def test_no_line_hides_its_last_cell(drive: Drive, width: int) -> None:
    assert (
        drive(
            """
        for (const row of document.querySelectorAll("#turns .row")) {
          said.push(row.lastElementChild.getBoundingClientRect().right <= row.getBoundingClientRect().right);
        }
        """,
            width=width,
        )
        == [True] * 4
    )


def test_a_narrow_window_shows_the_list_or_the_turn(drive: Drive) -> None:
    assert drive(
        """
        const seen = (id) => getComputedStyle(document.getElementById(id)).display !== "none";
        said.push(seen("list"), seen("turn"));
        document.querySelector('.row[data-place="0"]').click(); await later(); said.push(seen("list"), seen("turn"));
        document.getElementById("back").click(); said.push(seen("list"), seen("turn"));
        """,
        width=500,
    ) == [True, False, False, True, True, False]


def test_on_a_phone_the_page_begins_at_its_top_and_the_way_back_leads_to_the_list(drive: Drive) -> None:
    many = [*trips()[:2], *(chat([user(f"q{n}")], said("a"), index=n) for n in range(2, 80))]
    many.append(chat([user("q")], said(None, ("c1", "look_up", "{")), finish="tool_calls", index=80))
    seen = "const seen = (id) => getComputedStyle(document.getElementById(id)).display !== 'none';"

    script = """
        const length = history.length; said.push(scrollY);
        document.querySelector('.row[data-place="0"]').click(); await later(); said.push(seen("list"));
        history.back(); await later(); said.push(seen("list"), seen("turn"));
        document.querySelector('.row[data-place="1"]').click(); await later();
        document.getElementById("back").click(); await later(); said.push(seen("list"), history.length - length);
        """
    assert drive(seen + script, of=many, width=500) == [0, False, True, False, True, 1]
    linked = "said.push(seen('list')); history.back(); await later(); said.push(seen('list'))"
    assert drive(seen + linked, width=500, hash="#row-1") == [False, True]


def test_arrows_move_between_the_tabs_as_screen_readers_announce(drive: Drive) -> None:
    assert drive(
        """
        const tab_ = () => document.activeElement.id + " " + document.querySelector('[aria-selected="true"]').id;
        document.getElementById("tab-turns").focus(); press("ArrowRight"); said.push(tab_());
        press("ArrowLeft"); press("ArrowLeft"); said.push(tab_());
        """
    ) == ["tab-findings tab-findings", "tab-timeline tab-timeline"]


def test_a_wide_window_scrolls_its_panes_and_not_itself(drive: Drive) -> None:
    assert drive("said.push(document.documentElement.scrollHeight <= innerHeight)") == [True]


def test_messages_of_tool_servers_are_shown_when_they_are_searched_or_linked_to(drive: Drive) -> None:
    story = tool_tapes.story().trips
    seen = "said.push(left().join(' '));"

    assert drive(f"said.push(current()); {seen} await type('initialize'); {seen}", of=story) == ["7", "2 5 7 8", "0 9"]
    assert drive(f"said.push(current()); {seen} press('j'); said.push(current());", of=story, hash="#row-1") == [
        "1",
        "1 2 5 7 8",
        "2",
    ]


def test_a_filtered_line_and_a_filtered_finding_are_not_on_the_screen(drive: Drive) -> None:
    assert drive(
        """
        await type("spool"); said.push(left(), getComputedStyle(document.getElementById("findings")).display);
        press("f");
        const found = () => [...document.querySelectorAll("#findings li")].filter(visible_).length;
        await type("client-missing"); said.push(found()); await type("no such word"); said.push(found());
        """
    ) == [["1", "2"], "none", 1, 0]


def test_rows_are_made_when_they_are_needed(drive: Drive) -> None:
    many = [chat([user("q")] + [said("a"), user("q")] * n, said("a"), index=n) for n in range(400)]
    made = "document.querySelectorAll('#turns .row').length"

    few, last, rows = drive(f"said.push({made}); press('End'); said.push(current(), {made})", of=many)
    assert few < 200 and last == "399" and rows < 400


def test_a_raw_body_is_put_together_from_what_it_resends(drive: Drive) -> None:
    trips = [chat([user("é" * 600), *[said("a"), user("ü" * 300)] * n], said("b"), index=n) for n in range(3)]
    script = """
        const fold = document.querySelector("#turn .raw"); fold.open = true; await later(); await later();
        said.push(fold.querySelectorAll("pre")[1].textContent);
        """

    assert drive(script, of=trips, hash="#row-2") == [trips[2].request.body.decode()]


def test_what_the_wire_said_never_becomes_an_element(drive: Drive) -> None:
    evil = "</script><img src=x onerror=\"document.title='bad'\"><b>x</b>"
    trips = [chat([user(evil)], said(evil, ("c1", evil, json.dumps({evil: evil}))), index=0)]

    assert drive(
        """
        said.push(document.title, document.querySelectorAll("#turn b, #turn img, #turns b").length);
        said.push(document.getElementById("turn").textContent.includes("\\x3c/script><img src=x"));
        await later(); said.push(document.title);
        """,
        of=trips,
    ) == ["run – turntape", 0, True, "run – turntape"]


def test_a_page_without_its_script_shows_the_findings(tmp_path: Path) -> None:
    page = "".join(report(Run.of(trips()), "run"))
    path = tmp_path / "page.html"
    # A policy that allows no script: the browser reads the page like one in which scripts are switched off.
    path.write_text(re.sub(r"script-src [^\"]*", "script-src &#x27;none&#x27;", page, count=1), encoding="utf-8")

    dom = dump(path)
    assert "client-missing-tool-result" in dom.partition('id="findings"')[2].partition("</ol>")[0]
    assert "data-ready" not in dom and 'id="findings" hidden' not in dom


def test_print_shows_findings_and_the_turns_that_failed(drive: Drive) -> None:
    assert drive(
        """
        for (const sheet of document.styleSheets) for (const rule of sheet.cssRules)
          if (rule.media && rule.media.mediaText === "print") rule.media.mediaText = "all";
        const seen = (id) => visible_(document.getElementById(id));
        said.push(seen("findings"), seen("print"), seen("turn"), seen("turns"));
        const heads = [...document.querySelectorAll("#print article h2")].filter(visible_);
        said.push(heads.map((one) => one.textContent.split(" ")[0]), heads.at(-1).textContent);
        """
    ) == [True, True, False, False, ["Costs", "By", "Cache", "Pieces", "Turn"], "Turn 2 of t1"]


def test_print_is_dark_on_white_and_keeps_the_colours_that_mean_something(drive: Drive) -> None:
    assert drive(
        """
        press("t"); press("t"); said.push(getComputedStyle(document.body).backgroundColor);
        for (const sheet of document.styleSheets) for (const rule of sheet.cssRules)
          if (rule.media && rule.media.mediaText === "print") rule.media.mediaText = "all";
        said.push(getComputedStyle(document.body).backgroundColor);
        said.push(getComputedStyle(document.querySelector(".legend .key")).printColorAdjust);
        """
    ) == ["rgb(22, 24, 29)", "rgb(255, 255, 255)", "exact"]


def test_costs_and_timeline_are_made_when_they_are_opened_and_lead_to_turns(drive: Drive) -> None:
    assert drive(
        """
        const costs = document.getElementById("costs"), timeline = document.getElementById("timeline");
        said.push(costs.childElementCount, visible_(costs));
        press("f"); press("f"); said.push(visible_(costs), visible_(timeline));
        costs.querySelector('a[href="#row-0"]').click(); said.push(current());
        press("Escape"); press("f"); said.push(visible_(costs), visible_(timeline));
        timeline.querySelector('a[href="#row-3"]').click(); said.push(current());
        """
    ) == [0, False, True, False, "0", False, True, "3"]


def test_the_growth_is_in_dollars_or_in_tokens(drive: Drive) -> None:
    assert drive(
        """
        const strips_ = () => [...document.querySelectorAll("#growth .strip")];
        const seen = () => strips_().filter(visible_).map((one) => one.dataset.unit);
        said.push(seen()); press("$"); said.push(seen()); document.getElementById("unit").click(); said.push(seen());
        """
    ) == [["dollars"], ["tokens"], ["dollars"]]


def test_the_bars_of_the_costs_are_on_one_scale(drive: Drive) -> None:
    trips, messages = list[Any](), [user("go")]
    for turn, into in enumerate((9_000_000, 90_000, 900, 1)):
        call = said(None, (f"c{turn}", "look_up", '{"word":"tape"}'))
        trips.append(chat(messages, call, index=turn, usage=(into, 1)))
        messages = [*messages, call, result(f"c{turn}", "a strip")]
    trips.append(chat(messages, index=4, status=503, error={"error": {"message": "overloaded"}}))
    script = """
        const tracks = [...document.querySelectorAll("#turns .row .bar")].filter(visible_);
        const different = (side) => new Set(tracks.map((one) => Math.round(one.getBoundingClientRect()[side]))).size;
        said.push(tracks.length, different("width"), different("left"));
        const texts = [...document.querySelectorAll("#turns .row .cost > :last-child")];
        said.push(texts.every((one) => one.scrollWidth <= one.clientWidth));
    """

    assert drive(script, width=1920, of=trips) == [5, 1, 1, True]


@pytest.mark.parametrize("width", [390, 1440])
def test_no_name_of_a_tool_is_cut_by_the_edge_of_a_turn(drive: Drive, width: int) -> None:
    name = "mcp__knowledge_and_documents__" + "search_by_similarity_" * 6
    asked = [user("go"), said(None, ("c1", name, "{}"))]
    trips = [chat(asked[:1], asked[1]), chat([*asked, result("c1", "a strip")], said("done"), index=1)]
    script = """
        const lines = [...document.querySelectorAll("#turn .call div")];
        said.push(lines.length > 0, lines.every((line) => line.scrollWidth <= line.clientWidth));
    """

    assert drive(script, width=width, of=trips, hash="#0") == [True, True]


@pytest.mark.parametrize("width", [390, 1440])
def test_the_name_of_an_addition_hides_no_mark(drive: Drive, width: int) -> None:
    trips, messages = list[Any](), [user("go")]
    for turn in range(8):
        call = said(None, (f"c{turn}", "look_up", '{"word":"tape"}'))
        trips.append(chat(messages, call, index=len(trips), usage=(1000 if turn < 4 else 60_000 + turn, 10)))
        messages = [*messages, call, result(f"c{turn}", "a strip " * (20_000 if turn == 3 else 1))]
        if turn > 4:
            trips.append(chat(messages, index=len(trips), status=503, error={"error": {"message": "overloaded"}}))
    trips.append(chat([user("something else")], said("yes"), index=len(trips)))
    script = """
        const boxes = (name) =>
            [...document.querySelectorAll(`.strip:not([hidden]) .${name}`)].map((one) => one.getBoundingClientRect());
        const over = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
        const [names, signs] = [boxes("addition"), boxes("sign")];
        said.push(names.length > 0, signs.length > 3, names.some((name) => signs.some((sign) => over(name, sign))));
    """

    assert drive(script, width=width, of=trips) == [True, True, False]


def test_the_lane_of_the_chosen_thread_is_seen_though_cheaper_ones_are_folded(drive: Drive) -> None:
    trips = [chat([user(f"question {n}")], said("x"), index=n, at=900.0 * n, usage=(900 - n, 1)) for n in range(8)]
    script = """
    const lanes = () => [...document.querySelectorAll("#growth .strip:not([hidden]) .strip-lane")]
      .filter((lane) => lane.checkVisibility())
      .map((lane) => lane.querySelector(".name").textContent).join(" ");
    said.push(lanes());
    await choose(6); said.push(lanes());
    await choose(7); said.push(lanes());
    unit(); said.push(lanes());
    await choose(0); said.push(lanes());
    document.querySelector("#growth .strip:not([hidden]) details").open = true;
    await choose(7); said.push(lanes());
    """

    first = "t1 t2 t3"
    assert drive(script, of=trips) == [
        first, f"{first} t7", f"{first} t8", f"{first} t8", first, f"{first} t4 t5 t6 t7 t8",
    ]  # fmt: skip
