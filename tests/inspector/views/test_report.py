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
const type = (words) => { filter.value = words; filter.dispatchEvent(new Event("input")); };
const said = [];
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
        page = page.replace("</body>", f"<script>{DRIVER}{script};{note}</script></body>")
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
        const left = () => [...document.querySelectorAll("#turns .row:not([hidden])")].map((r) => r.dataset.place);
        press("/"); said.push(document.activeElement.id);
        type("SPOOL"); said.push(left());
        type("a strip reel"); said.push(left());
        type("nowhere"); said.push(left(), document.getElementById("nothing").hidden);
        press("Escape"); said.push(left().length);
        """
    ) == ["filter", ["1", "2"], ["1"], [], False, 4]


def test_help_findings_folds_and_theme(drive: Drive) -> None:
    assert drive(
        """
        press("?"); said.push(help.open); help.close();
        press("f"); said.push(document.getElementById("findings").hidden, document.getElementById("turns").hidden);
        press("o"); said.push([...document.querySelectorAll("#turn details")].every((one) => one.open));
        press("o"); said.push([...document.querySelectorAll("#turn details")].some((one) => one.open));
        press("t"); said.push(document.documentElement.dataset.theme);
        press("t"); said.push(document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor);
        """
    ) == [True, False, True, True, False, "light", "dark", "rgb(22, 24, 29)"]


def test_links_and_bars_lead_to_their_turns(drive: Drive) -> None:
    assert drive(
        """
        document.querySelector('#findings a.where').click(); said.push(current());
        document.querySelectorAll("#growth g")[2].dispatchEvent(new MouseEvent("click", { bubbles: true }));
        said.push(current(), location.hash, document.getElementById("caption").textContent.split(":")[0]);
        """
    ) == ["1", "2", "#row-2", "turn 3 of t1"]


def test_an_address_leads_to_a_turn(drive: Drive) -> None:
    assert drive("said.push(current())", hash="#row-2") == ["2"]


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
        document.querySelector('.row[data-place="0"]').click(); said.push(seen("list"), seen("turn"));
        document.getElementById("back").click(); said.push(seen("list"), seen("turn"));
        """,
        width=500,
    ) == [True, False, False, True, True, False]


def test_a_wide_window_scrolls_its_panes_and_not_itself(drive: Drive) -> None:
    assert drive("said.push(document.documentElement.scrollHeight <= innerHeight)") == [True]


SEEN = "said.push(lines.filter((line) => line.offsetParent).map((line) => line.dataset.place).join(' '));"


def test_messages_of_tool_servers_are_shown_when_they_are_searched_or_linked_to(drive: Drive) -> None:
    story = tool_tapes.story().trips

    assert drive(f"said.push(current()); {SEEN} type('initialize'); {SEEN}", of=story) == ["2", "2 5 7 8", "0"]
    assert drive(f"said.push(current()); {SEEN} press('j'); said.push(current());", of=story, hash="#row-1") == [
        "1",
        "1 2 5 7 8",
        "2",
    ]
