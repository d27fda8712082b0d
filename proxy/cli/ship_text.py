"""What `turntape ship` prints: a line for each file, and a sentence for all of them."""

import json
from collections.abc import Iterable, Iterator, Sequence

from turntape.cassettes.counted import several
from turntape.inspector.fleet.shipping.outcome import ShippedFile
from turntape.inspector.wire.printable import safe


def json_line(file: ShippedFile) -> str:
    return json.dumps(
        {
            "file": str(file.path),
            "state": file.state,
            "recording": file.recording,
            "cassette": file.content,
            "rows": file.rows,
            "bytes": file.bytes,
            "problem": file.problem,
        },
        ensure_ascii=False,
    )


def text_line(file: ShippedFile) -> str:
    sizes = f"{several(file.rows, 'row')}, {size_text(file.bytes)}" if file.bytes else "nothing to do"
    name = safe(str(file.path)).replace("\n", "\\n")
    return f"{file.state:<10} {sizes:<24} {name}"


def summary(files: Sequence[ShippedFile], to: str, *, dry_run: bool) -> str:
    """What happened, in one sentence."""
    sent = [file for file in files if file.state in ("new", "grown")]
    rows, size = sum(file.rows for file in sent), sum(file.bytes for file in sent)
    verb = "would ship" if dry_run else "shipped"
    says = f"{verb} {recordings(len(sent))} ({several(rows, 'row')}, {size_text(size)}) to {to}"
    there = sum(file.state in ("unchanged", "older") for file in files)
    counts = {state: sum(file.state == state for file in files) for state in ("empty", "recording", "forgotten")}
    counts |= {"edited": sum(file.state == "edited" for file in files)}
    failed = sum(file.state in ("failed", "unreadable") for file in files)
    words = {
        "there already": there,
        "without a round trip": counts["empty"],
        "still being recorded": counts["recording"],
        "deleted or expired there": counts["forgotten"],
        "refused as an edited copy": counts["edited"],
        "not shipped": failed,
    }
    return "; ".join([says, *(f"{count} {word}" for word, count in words.items() if count)])


def size_text(size: int) -> str:
    """Bytes for a person."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} B"


def lines_of(files: Iterable[ShippedFile]) -> Iterator[str]:
    """A line for each file that was shipped or has a problem, for `--watch`."""
    for file in files:
        if file.problem is not None:
            yield f"turntape: {file.problem}"
        elif file.bytes:
            yield text_line(file)


def recordings(count: int) -> str:
    """`1 recording`, `2 recordings`."""
    return several(count, "recording")
