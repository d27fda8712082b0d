"""docs/faults.md: the figures of the last run of each part, between marks; the rest of the page is written by hand."""

from pathlib import Path

PAGE = Path(__file__).parent.parent.parent / "docs" / "faults.md"


def put(part: str, lines: list[str]) -> None:
    """Replace what is between the marks of a part."""
    text = PAGE.read_text(encoding="utf-8")
    begin, end = f"<!-- {part}: generated -->\n", f"<!-- {part}: end -->"
    head, _, rest = text.partition(begin)
    _, _, tail = rest.partition(end)
    if not rest:
        raise LookupError(f"{PAGE.name} has no part {part}")
    PAGE.write_text(head + begin + "\n" + "\n".join(lines) + "\n\n" + end + tail, encoding="utf-8")


def table(heads: list[str], rows: list[list[object]]) -> list[str]:
    """A Markdown table; the first column is text, the others are numbers."""
    return [
        f"| {' | '.join(heads)} |",
        f"| {' | '.join(['---', *['---:'] * (len(heads) - 1)])} |",
        *(f"| {' | '.join(str(cell) for cell in row)} |" for row in rows),
    ]
