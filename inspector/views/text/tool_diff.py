"""A tool's result as it was returned, against the text that the model saw."""

import json
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Literal

from turntape.cassettes.frozen import frozen

from ...tools.run_words import WHOLE
from ...tools.tool_run import KEPT, ToolRun
from ...wire.json_value import Object, as_object, as_text, objects_in, parse_json
from .number_format import several, size

type Change = Literal["equal", "removed", "added"]

MOST_LINES = 400
"""Lines of each side that are compared; longer texts take too long."""
AROUND = 2
"""Equal lines before and after a difference."""


@frozen
class DiffLine:
    """One line of both texts, or of one of them. `left_out` counts the equal lines that it replaces."""

    change: Change
    text: str
    left_out: int = 0


@frozen
class DiffPair:
    """A line of each text side by side; None where one has none."""

    returned: str | None
    seen: str | None
    equal: bool
    left_out: int = 0


def as_returned(run: ToolRun) -> str:
    """The result in full: texts, other contents by their name, and the structured content; empty without an answer."""
    if run.error is not None:
        return as_text(run.error.get("message")) or _json(run.error)
    if run.result is None:
        return run.returned_text or ""
    parts = [_content(block) for block in objects_in(run.result.get("content"))]
    structured = run.result.get("structuredContent")
    if structured is not None:
        parts.append(f"structuredContent: {_json(structured)}")
    return "\n".join(parts)


def as_seen(run: ToolRun) -> str:
    """What the model saw; empty where nothing was seen. Structured content is written as in `as_returned`."""
    seen = run.seen_text or ""
    if run.seen_as == "structured" and (parsed := parse_json(seen)) is not None:
        return f"structuredContent: {_json(parsed)}"
    return seen


def cut_note(run: ToolRun) -> str:
    """What of the two texts is not shown or compared, as a sentence; empty when that is nothing."""
    texts = [text for text in (run.returned_text, run.seen_text) if text is not None]
    if any(len(text) >= KEPT for text in texts):
        return f"only the first {KEPT:,} characters are shown"
    if run.seen_as not in WHOLE and any(len(text.splitlines()) > MOST_LINES for text in texts):
        return f"only the first {MOST_LINES:,} lines are compared"
    return ""


def _content(block: Object) -> str:
    kind = as_text(block.get("type")) or "content"
    if kind == "text":
        return as_text(block.get("text")) or ""
    data = block.get("data")
    facts = [kind, as_text(block.get("mimeType")) or "", size(len(data)) if isinstance(data, str) else ""]
    inner = as_object(block.get("resource"))
    facts.append(as_text(block.get("uri")) or as_text(inner.get("uri")) or "")
    text = as_text(inner.get("text"))
    return f"[{' '.join(fact for fact in facts if fact)}]" + (f"\n{text}" if text else "")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def diff_lines(returned: str, seen: str) -> Iterator[DiffLine]:
    """Both texts as one list of lines; long stretches of equal lines are left out."""
    added: list[DiffLine] = []
    for pair in diff_pairs(returned, seen):
        if pair.equal:
            yield from added
            added = []
            text = left_out_text(pair) if pair.left_out else pair.returned or ""
            yield DiffLine("equal", text, pair.left_out)
            continue
        if pair.returned is not None:
            yield DiffLine("removed", pair.returned)
        if pair.seen is not None:
            added.append(DiffLine("added", pair.seen))
    yield from added


def left_out_text(pair: DiffPair) -> str:
    """The text for equal lines that are not shown."""
    return f"… {several(pair.left_out, 'equal line')}"


def diff_pairs(returned: str, seen: str) -> Iterator[DiffPair]:
    """Both texts side by side; long stretches of equal lines are left out."""
    old, new = returned.splitlines()[:MOST_LINES], seen.splitlines()[:MOST_LINES]
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for number, (tag, low, high, low_b, high_b) in enumerate(codes):
        if tag == "equal":
            yield from _equal(old[low:high], first=number == 0, last=number == len(codes) - 1)
            continue
        for at in range(max(high - low, high_b - low_b)):
            yield DiffPair(
                old[low + at] if low + at < high else None,
                new[low_b + at] if low_b + at < high_b else None,
                equal=False,
            )


def _equal(lines: list[str], *, first: bool, last: bool) -> Iterator[DiffPair]:
    """Equal lines; of many, those next to a difference."""
    head, tail = 0 if first else AROUND, 0 if last else AROUND
    if first and last:
        head = 2 * AROUND
    hidden = len(lines) - head - tail
    if hidden <= 1:
        head, hidden, tail = len(lines), 0, 0
    yield from (DiffPair(line, line, equal=True) for line in lines[:head])
    if hidden:
        yield DiffPair(None, None, equal=True, left_out=hidden)
    yield from (DiffPair(line, line, equal=True) for line in lines[len(lines) - tail :] if tail)
