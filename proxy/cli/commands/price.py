"""`turntape price F`: what a run would have cost with another model, tier, cache or prompt."""

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...exit_codes import OK
from .. import argument_types as types
from ..command import Command
from ..option_groups import ONE_CASSETTE, add_format, add_output, add_width

if TYPE_CHECKING:
    from collections.abc import Iterable

    from turntape.inspector.ledger.what_if import Change, Comparison, Scenario
    from turntape.inspector.run.labels import Key, LabelledRoundTrip


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="F", help=ONE_CASSETTE)
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="NAME",
        help="the same tokens at another model's prices; repeatable",
    )
    parser.add_argument(
        "--tier",
        action="append",
        default=[],
        choices=("batch", "flex", "priority"),
        help="another processing tier; repeatable",
    )
    parser.add_argument("--cache", choices=("5m", "1h", "none"), help="another lifetime of cache entries, or no cache")
    parser.add_argument(
        "--marks",
        metavar="PLACES",
        help="cache marks behind these places: tools, system, last; with commas between them",
    )
    parser.add_argument("--sort-tools", action="store_true", help="the tools always in the same order")
    parser.add_argument(
        "--without-tool", action="append", default=[], metavar="NAME", help="without this tool's definition; repeatable"
    )
    parser.add_argument("--cap-results", type=types.token_count, metavar="N", help="tool results cut to N tokens")
    parser.add_argument(
        "--without-clock", action="store_true", help="no date, time or id in the system prompt and the tools"
    )
    add_format(parser, ("text", "json"), json="one JSON object; the same as --format json")
    add_output(parser, "FILE", "write to FILE (default: stdout)")
    add_width(parser)


def main(options: argparse.Namespace) -> int:
    import sys
    from pathlib import Path

    from turntape.cassettes.tape.reader import Cassette
    from turntape.inspector.ledger.what_if import compare_bills, recorded_run
    from turntape.inspector.run.labels import label_stream
    from turntape.inspector.views.json.show_json import dumps
    from turntape.inspector.views.text.price_text import price_text
    from turntape.inspector.wire.printable import safe

    from ...launch.terminal import columns
    from ..cassette_files import one_cassette
    from ..text_output import writing

    changes = list(_changes(options))
    name = one_cassette(options.file)
    cassette = Cassette.load(name)
    run = recorded_run(_once(_with_progress(label_stream(cassette), len(cassette))))
    _check_tools(options.without_tool, run.tools())
    found = compare_bills(run, changes)
    with writing(options.output, [name]) as out:
        if options.format == "json":
            out.buffer.write(dumps(as_json(found)) + b"\n")
        else:
            width = max(40, columns(options.width))
            out.writelines(f"{line}\n" for line in price_text(found, safe(Path(name).name), width))
    for problem in cassette.problems:
        sys.stderr.write(f"turntape: {problem}\n")
    return OK


def _with_progress(
    labelled: "Iterable[tuple[Key, LabelledRoundTrip]]", count: int
) -> "Iterator[tuple[Key, LabelledRoundTrip]]":
    """The labels, with a progress line on stderr when they take longer than a second."""
    import sys
    import time

    shown, following = False, time.monotonic() + 1.0
    try:
        for key, one in labelled:
            if sys.stderr.isatty() and (now := time.monotonic()) >= following:
                following, shown = now + 0.2, True
                sys.stderr.write(f"\r\x1b[Kread round trip {key[0] + 1:,} of {count:,}")
                sys.stderr.flush()
            yield key, one
    finally:
        if shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _once(labelled: "Iterable[tuple[Key, LabelledRoundTrip]]") -> "Iterator[LabelledRoundTrip]":
    """Each round trip when it comes first; later labels add nothing to its price."""
    seen: set[Key] = set()
    for key, one in labelled:
        if key not in seen:
            seen.add(key)
            yield one


def _changes(options: argparse.Namespace) -> Iterator["Change"]:
    """One change for each option."""
    from turntape.inspector.ledger.what_if import Change

    yield from (Change(model=name) for name in options.model)
    yield from (Change(tier=tier) for tier in options.tier)
    marks = _marks(options.marks)
    if options.cache or marks:
        yield Change(cache=options.cache, marks=marks)
    if options.sort_tools:
        yield Change(sort_tools=True)
    if options.without_tool:
        yield Change(without=tuple(dict.fromkeys(options.without_tool)))
    if options.cap_results is not None:
        yield Change(cap=options.cap_results)
    if options.without_clock:
        yield Change(no_clock=True)


def _marks(given: str | None) -> tuple[Any, ...]:
    from turntape.cassettes.errors import CassetteError
    from turntape.inspector.ledger.what_if.change import PLACES

    names = [name.strip() for name in (given or "").split(",") if name.strip()]
    wrong = [name for name in names if name not in PLACES]
    if wrong:
        raise CassetteError(f"--marks has {wrong[0]!r}; write {', '.join(PLACES)}, or several with commas")
    return tuple(one for one in PLACES if one in names)


def _check_tools(names: list[str], offered: list[str]) -> None:
    """Raises CassetteError for a tool that the run does not offer."""
    from difflib import get_close_matches

    from turntape.cassettes.errors import CassetteError

    for name in names:
        if name not in offered:
            near = get_close_matches(name, offered, 1)
            hint = f"did you mean {near[0]!r}?" if near else "the tools are listed by `turntape show --json`"
            raise CassetteError(f"--without-tool {name!r}: the run offers no such tool; {hint}")


def as_json(found: "Comparison") -> dict[str, object]:
    """The comparison as one JSON object; amounts are strings, unknown is null."""
    from turntape.inspector.run.turn_label import money

    return {
        "turns": found.turns,
        "uncounted": found.uncounted,
        "actual_usd": money(found.actual.amount),
        "unpriced": found.actual.unpriced,
        "input": found.actual.input,
        "cache_read": found.actual.read,
        "cache_write": found.actual.written,
        "scenarios": [_scenario(one) for one in found.scenarios],
    }


def _scenario(one: "Scenario") -> dict[str, object]:
    from turntape.inspector.run.turn_label import money

    return {
        "what": one.what,
        "bill_usd": money(one.bill.amount),
        "difference_usd": money(one.difference),
        "difference_alone_usd": money(one.alone),
        "unpriced": one.bill.unpriced,
        "input": one.bill.input,
        "cache_read": one.bill.read,
        "cache_write": one.bill.written,
        "assumptions": list(one.assumptions),
    }


COMMAND = Command(
    usage="turntape price F [--model NAME] [--cache 5m|1h|none]",
    description="What a run would have cost: the same turns with another model, tier or cache, with sorted tools, "
    "without a tool, with shorter results, or without a clock in the prompt. Each option is a row of the table beside "
    "the actual bill, and all of them together are one more. Without options, it shows what could have made a "
    "difference in this run, the cheapest first.",
    examples=(
        "turntape price run.cassette.jsonl",
        "turntape price run.cassette.jsonl --model gpt-5-mini --cap-results 2000",
    ),
    add=add,
    main=main,
)
