"""The page of a context."""

from conversations import loop
from realtime_sessions import tool_session

from turntape.inspector.run.request_cost import context
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.pages.context_page import WIDE, context_page
from turntape.inspector.views.tui.pages.page import Page


def of_two_turns() -> Page:
    run = Run.of(loop())
    return context_page(context(run.ledger.at(1)), 1)


def titles(width: int = 100) -> list[str]:
    """The lines of the pieces of a request with tools and three messages."""
    return ["".join(text for text, _ in block.title_at(width)) for block in of_two_turns().blocks if block.title]


def test_what_a_piece_is_starts_in_one_column_after_its_kind() -> None:
    kinds = ("tools", "user", "call", "result")
    names = ("1 tool", "what is a tape?", "call of look_up tape", "result of look_up tape")

    # A line without parts has two blanks in place of the sign that opens it.
    lines = [title if title.startswith("  ") else f"  {title}" for title in titles()]

    assert [line[line.index(kind) :] for line, kind in zip(lines, kinds, strict=True)] == [
        f"{kind:<9} {name}" for kind, name in zip(kinds, names, strict=True)
    ]


def test_on_a_narrow_page_the_name_of_a_piece_is_still_there() -> None:
    """40 columns have no room for the bar and the cost."""
    assert [title.split()[-1] for title in titles(40)] == ["tool", "tape?", "tape", "tape"]
    assert all(title.split()[0].startswith("≈") for title in titles(40)), "an estimate says so here too"
    assert all("█" not in title and "$" not in title for title in titles(WIDE - 1))
    assert any("█" in title for title in titles(WIDE))
    bodies = [block.body(40) for block in of_two_turns().blocks if block.body and block.title]
    assert bodies and all(line[-2][0] == "look_up" for body in bodies for line in body)


def test_the_columns_are_named_as_wide_as_they_are() -> None:
    head = [["".join(text for text, _ in line) for line in of_two_turns().body(0, width)] for width in (WIDE - 1, WIDE)]

    assert head[0][-1].split() == ["tokens", "part", "what"]
    assert head[1][-1].split() == ["tokens", "part", "sent", "cost", "what"]
    lines = ["".join(text for text, _ in spans).rstrip() for spans in of_two_turns().body(0, 30)]
    assert all(len(line) <= 30 for line in lines), lines


def test_the_end_of_a_line_parts_no_sign_of_the_legend_from_its_word() -> None:
    page = of_two_turns()
    for width in range(16, 90):
        lines = ["".join(text for text, _ in spans).strip() for spans in page.body(0, width)]
        legend = [line for line in lines if "%" in line and "window" not in line]
        assert legend and all(line[0] in "▓█▒░▚·" and line[-1] == "%" for line in legend), (width, legend)


def test_the_legend_explains_the_numbers_that_the_width_has_room_for() -> None:
    page = context_page(context(Run.of([tool_session()]).ledger.at(0)), 0)

    def shown(width: int) -> tuple[str, str]:
        legend = " ".join("".join(text for text, _ in line) for line in page.body(0, width))
        return legend, "".join(text for block in page.blocks for text, _ in block.title_at(width))

    for width, sign, words in (
        (WIDE, "–", "two numbers are its bounds"),
        (WIDE - 1, "±", "± gives the bounds"),
    ):
        legend, pieces = shown(width)
        assert sign in pieces and words in legend, (width, legend, pieces)
