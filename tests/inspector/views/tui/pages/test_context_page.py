"""The page of a context."""

from conversations import loop

from turntape.inspector.run.request_cost import context
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.pages.context_page import context_page


def titles() -> list[str]:
    """The lines of the pieces of a request with tools and three messages."""
    run = Run.of(loop())
    page = context_page(context(run.detail(1), run.rows, 1), 1)
    return ["".join(text for text, _ in block.title) for block in page.blocks if block.title]


def test_what_a_piece_is_starts_in_one_column_after_its_kind() -> None:
    kinds = ("tools", "user", "assistant", "tool")
    names = ("1 tool", "what is a tape?", "call of look_up", "result of look_up")

    # A line without parts has two blanks in place of the sign that opens it.
    lines = [title if title.startswith("  ") else f"  {title}" for title in titles()]

    assert [line[line.index(kind) :] for line, kind in zip(lines, kinds, strict=True)] == [
        f"{kind:<9} {name}" for kind, name in zip(kinds, names, strict=True)
    ]
