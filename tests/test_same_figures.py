"""The same figures of a recording in every view: cost, turns, tokens, findings."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from html import unescape
from itertools import groupby
from pathlib import Path

import pytest
import tool_tapes
from conversations import HELLO, chat, loop, said, user
from corpus import corpus
from judged import trip
from recordings import record
from report_pages import Opened
from viewing import EXAMPLE

from turntape.cassettes.tape.model import Failure, RoundTrip
from turntape.cassettes.tape.reader import Cassette
from turntape.inspector.check.budgets import Budgets
from turntape.inspector.check.check import Asked, check
from turntape.inspector.check.check import Report as CheckReport
from turntape.inspector.exporters.markdown import markdown
from turntape.inspector.ledger.what_if import compare_bills, recorded_run
from turntape.inspector.pytest_plugin.agent_run import AgentRun
from turntape.inspector.run.labels import label_all
from turntape.inspector.run.run_index import Run
from turntape.inspector.run.strip import strip_of
from turntape.inspector.views.json.show_json import show_json
from turntape.inspector.views.report.costs import costs as costs_panel
from turntape.inspector.views.report.page import report
from turntape.inspector.views.text.check_text import check_text
from turntape.inspector.views.text.cost_text import cost_text
from turntape.inspector.views.text.costs_text import costs_text
from turntape.inspector.views.text.findings_text import findings_text
from turntape.inspector.views.text.number_format import spent
from turntape.inspector.views.text.price_text import price_text
from turntape.inspector.views.text.run_text import story
from turntape.inspector.views.tui.headings import Title, summarize, title
from turntape.inspector.views.tui.pages.costs_page import costs_page
from turntape.proxy.mcp_server.run_tools import list_runs
from turntape.proxy.mcp_server.tape_folder import TapeFolder

WIDE = 400
MONEY = r"(≥?<?\$[\d.,]+|unpriced|no cost)"
OVERLOADED = {"error": {"message": "overloaded", "type": "server_error"}}
EMBEDDINGS = "https://api.openai.com/v1/embeddings"
VECTORS = {
    "object": "list",
    "data": [{"object": "embedding", "index": 0, "embedding": [0.1]}],
    "usage": {"prompt_tokens": 2000, "total_tokens": 2000},
}
PLACES = trip(
    "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-flash-preview:generateContent",
    {"contents": [{"role": "user", "parts": [{"text": "a café?"}]}], "tools": [{"googleMaps": {}}]},
    {
        "candidates": [
            {
                "content": {"role": "model", "parts": [{"text": "Two."}]},
                "finishReason": "STOP",
                "groundingMetadata": {"groundingChunks": [{"maps": {"title": "Café", "placeId": "places/1"}}]},
            }
        ],
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110},
        "modelVersion": "gemini-3-flash-preview",
    },
)
"""An answer with a fee that no price list has, beside tokens that have a price."""
ONLY_EMBEDDINGS = trip(EMBEDDINGS, {"model": "text-embedding-3-small", "input": "a strip"}, VECTORS)
RUNS: dict[str, list[RoundTrip]] = {
    "example": [*Cassette.load(EXAMPLE)],
    "loop": loop(),
    "unknown model": [chat([HELLO], said("x"), model="ours")],
    "one of two has a price": [
        chat([HELLO], said("x")),
        chat([user("another")], said("y"), index=1, at=900.0, model="ours"),
    ],
    "no counts": [chat([HELLO], said("x"), usage=None), chat([HELLO, said("x"), user("y")], said("z"), index=1)],
    "refused": [chat([HELLO], status=529, error=OVERLOADED)],
    "refused, then answered": [chat([HELLO], status=529, error=OVERLOADED), chat([HELLO], said("x"), index=1)],
    "no answer": [chat([HELLO], failure=Failure("cut", "the connection was closed"))],
    "cut": [
        *loop(),
        replace(
            chat([user("cut")], said("x"), usage=None, index=2, at=900.0),
            failure=Failure("cut", "the connection was closed"),
            closed_first="server",
        ),
    ],
    "tools": list(tool_tapes.story().trips),
    "embeddings alone": [ONLY_EMBEDDINGS],
    "embeddings without a price": [trip(EMBEDDINGS, {"model": "ours", "input": "a strip"}, VECTORS)],
    "embeddings before and after turns": [
        ONLY_EMBEDDINGS,
        *(replace(one, index=one.index + 1) for one in loop()),
        replace(ONLY_EMBEDDINGS, index=9, started_at=2000.0),
    ],
    "turns, and embeddings without a price": [
        *loop(),
        replace(trip(EMBEDDINGS, {"model": "ours", "input": "a strip"}, VECTORS), index=9, started_at=2000.0),
    ],
    "a fee without a price": [PLACES],
    "turns, and a fee without a price": [*loop(), replace(PLACES, index=9, started_at=2000.0)],
    "a moderation, which counts nothing": [
        trip(
            "https://api.openai.com/v1/moderations",
            {"model": "omni-moderation-latest", "input": "a strip"},
            {"id": "modr-1", "model": "omni-moderation-latest", "results": [{"flagged": False}]},
        )
    ],
    "nothing": [],
}


def words_of(spans: Iterable[tuple[str, str]]) -> str:
    return "".join(words for words, _ in spans)


def text_of(lines: Iterable[Sequence[tuple[str, str]]]) -> str:
    return "\n".join(map(words_of, lines))


def found(pattern: str, text: str) -> str | None:
    match = re.search(pattern, text)
    return match[1] if match else None


def number(noun: str, text: str) -> int:
    return int((found(rf"([\d,]+) {noun}", text) or "0").replace(",", ""))


def figures(path: Path) -> dict[str, dict[str, object]]:
    """Figure → view → its words for it."""
    cassette, run = Cassette.load(path), Run.load(path)
    ledger, rows = run.ledger, run.rows
    labels = [json.loads(line) for line in show_json(cassette)]
    turns = [label for label in labels if label["turn"] is not None]
    head = text_of(story(cassette, width=WIDE)).partition("\n")[2].partition("\n\n")[0]
    bars = text_of(cost_text(rows, "run", width=WIDE)).splitlines()[1]
    pieces = text_of(costs_text(ledger, "run", width=WIDE)).splitlines()[1]
    listed = (text_of(findings_text(cassette, "run", width=WIDE)).splitlines() + [""])[1]
    heading = words_of(title(Title("run", reading=False), summarize(rows), WIDE))
    strip = strip_of(rows.all, ledger)
    page = "".join(report(run, "run"))
    banner = unescape(re.sub(r"<[^>]+>", " ", page[page.index("<header>") : page.index("</header>")]))
    tab = int(found(r"Findings \((\d+)\)", page) or 0)
    bill = next(price_text(compare_bills(recorded_run(label_all(cassette))), "run", WIDE))
    checked = check(path.name, cassette, Asked())
    verdict = next(iter(text_of(check_text(CheckReport(Asked(), (checked,)), WIDE)).splitlines()))
    listing = json.loads(list_runs(TapeFolder(path.parent), path.name, 0, 5))["files"][0]

    all_costs = text_of(costs_text(ledger, "run", width=WIDE))
    panel = unescape(re.sub(r"<[^>]+>", "", str(costs_panel(ledger, run.rows)).replace("</h2>", "\n")))
    pages = [text_of([block.title_at(WIDE)]) for block in costs_page(ledger, rows).blocks]
    marks = [mark.kind for lane in strip.lanes for turn in lane.turns for mark in turn.marks]
    in_turns = Counter(one["severity"] for label in labels if label["turn"] is not None for one in label["findings"])
    in_list = Counter(mark.severity for row in rows.all if row.is_turn for mark in row.findings)

    severities = Counter(one["severity"] for label in labels for one in label["findings"])
    costs = [Decimal(label["cost_usd"]) for label in labels if label["cost_usd"] is not None]
    billed = turns or costs or checked.unpriced
    inputs = [label["usage"]["input"] for label in turns if label["usage"]["input"] is not None]
    known = {
        "cost": spent(sum(costs, Decimal(0)) if costs else None, checked.unpriced) if billed else None,
        "turns": len({(label["thread"], label["turn"]) for label in turns}),
        "attempts": len(turns),
        "input": sum(inputs),
        "errors": severities["error"],
        "warnings": severities["warning"],
    }
    shown: dict[str, dict[str, object]] = {
        "cost": {
            "show": found(MONEY, head),
            "show --cost": found(MONEY, bars),
            "show --costs": found(MONEY, pieces) if billed else None,
            "title": found(MONEY, heading),
            "strip": spent(strip.total, strip.unpriced) if billed else None,
            "ledger": spent(ledger.total, ledger.unpriced) if billed else None,
            "report": found(MONEY, banner) if billed else None,
            "price": found(MONEY, bill) if billed else None,
            "check": found(MONEY, verdict),
            "in a test": spent(AgentRun.of(cassette).cost, checked.unpriced) if billed else None,
        },
        "turns": {
            "show": number("turns?(?! without)", head),
            "show --cost": number("turns?(?! without)", bars),
            "title": number("turn", heading),
            "report": number("turns?(?! without)", banner),
            "check": checked.turns,
            "mcp": listing.get("turns", 0) if "runs" not in listing else checked.turns,
        },
        "attempts": {
            "show --costs": number("request", pieces),
            "strip": strip.turns,
            "price": number("request", bill),
            "check": checked.attempts,
        },
        "input": {
            "show": number("tokens in", head),
            "show --cost": number("tokens in", bars),
            "check": checked.input,
            "mcp": listing.get("input_tokens", 0) if "runs" not in listing else checked.input,
        },
        "errors": {
            "show --findings": number("error", listed),
            "title": number("error", heading),
            "report": number("error", banner.partition("first went")[0]),
            "check": sum(one.finding.severity == "error" for one in checked.findings),
        },
        "warnings": {
            "show --findings": number("warning", listed),
            "title": number("warning", heading),
            "report": number("warning", banner.partition("first went")[0]),
            "check": sum(one.finding.severity == "warning" for one in checked.findings),
        },
        "output": {
            "show --cost": number("out", bars),
            "show --json": sum(label["usage"]["output"] or 0 for label in turns),
        },
        "first that went wrong": {
            "title": found(r"first in (.+?)(?: {2}|$)", heading),
            "report": found(r"first went wrong in\s+(?:round trip )?(.+?)\s*:", banner),
        },
        "cache misses": {
            "show --costs": found(r"cache misses {2}(.+)", all_costs),
            "costs page": next((one for page in pages if (one := found(r"cache misses {2}([1-9].*)", page))), None),
            "report": found(r"Cache misses ([1-9].*)", panel),
        },
        "errors of turns": {"strip": marks.count("error"), "list": in_list["error"], "show --json": in_turns["error"]},
        "warnings of turns": {
            "strip": marks.count("warning"),
            "list": in_list["warning"],
            "show --json": in_turns["warning"],
        },
        "findings": {"tab of the report": tab, "tab of the viewer": summarize(rows).findings},
    }
    for name, value in (known | {"findings": sum(severities.values())}).items():
        shown[name]["show --json"] = value
    if ledger.total is not None:
        whole = sum((one.cost for one in ledger.groups("kind") if one.cost is not None), Decimal(0))
        shown["cost"]["groups of pieces"] = spent(whole, ledger.unpriced)
        body = costs_page(ledger, rows).blocks[0].body
        shown["cost"]["costs page"] = found(MONEY, text_of(body(WIDE) if body else ()))
    return shown


def differing(path: Path) -> dict[str, dict[str, object]]:
    return {name: views for name, views in figures(path).items() if len(set(views.values())) > 1}


@pytest.mark.parametrize("name", RUNS)
def test_every_view_has_the_same_figures(name: str, tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    record(path, RUNS[name])

    assert differing(path) == {}


@pytest.mark.skipif(not corpus.files(), reason=corpus.ABSENT)
@pytest.mark.parametrize("share", range(4))
def test_so_have_recorded_runs(share: int, tmp_path: Path) -> None:
    """The first cassette of some APIs; a quarter of them each."""
    for at, file in enumerate(corpus.files()[share::8]):
        path = tmp_path / f"{at}.cassette.jsonl"
        _, lines = next(groupby(corpus.read_file(file), key=lambda line: line.cassette))
        record(path, [line.round_trip for line in lines])

        assert differing(path) == {}, file.name


def test_a_fee_without_a_price_is_named_with_its_turn_and_makes_its_cost_a_lower_bound(tmp_path: Path) -> None:
    path = tmp_path / "places.cassette.jsonl"
    record(path, [PLACES])
    run, cassette = Run.load(path), Cassette.load(path)

    shown = text_of(story(cassette, width=WIDE))
    page = unescape(re.sub(r"<[^>]+>", "", Opened("".join(report(run, "run"))).views[0]))
    bars = text_of(cost_text(run.rows, "run", width=80)).splitlines()
    label = json.loads(next(iter(show_json(cassette))))
    verdict = check(path.name, cassette, Asked(budgets=Budgets(cost=Decimal(1)))).verdicts[0]

    named = "≥$0.000080 (no known price for Google Maps)"
    assert named in shown and named in page
    assert any("out ≥$0.000080 ≥$0.000080" in " ".join(line.split()) for line in bars)
    assert (label["cost_usd"], label["unpriced_fees"]) == ("0.00008", ["Google Maps"])
    assert verdict.state == "unknown" and "≥$0.000080" in "\n".join(markdown(cassette))
