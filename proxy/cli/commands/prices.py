"""`turntape prices [F …]`: which models have no price, how old the price list is, and a newer one on request."""

import argparse
from typing import TYPE_CHECKING

from ...exit_codes import OK, USAGE
from ..command import Command
from ..option_groups import CASSETTES, add_format, add_output

if TYPE_CHECKING:
    from collections.abc import Iterator

    from turntape.inspector.run.unpriced import PriceReport, Unpriced

_TIMEOUT = 30.0


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", metavar="F", nargs="*", help=CASSETTES)
    parser.add_argument("--update", action="store_true", help="download the newest price list first")
    parser.add_argument("--from", dest="source", metavar="URL", help="where --update downloads it (default: GitHub)")
    add_format(parser, ("text", "json"), json="one JSON object per model; the same as --format json")
    add_output(parser, "FILE", "write to FILE (default: stdout)")


def main(options: argparse.Namespace) -> int:
    import json
    import sys
    from datetime import UTC, datetime

    from turntape.cassettes.errors import CassetteError, TurntapeError
    from turntape.cassettes.tape.reader import Cassette
    from turntape.inspector.analysis.price_list import age
    from turntape.inspector.run.unpriced import PriceReport

    from ..cassette_files import named
    from ..text_output import writing
    from ..waiting import Waiting

    if options.source and not options.update:
        raise CassetteError("--from names the URL of --update; add --update")
    if options.update:
        _update(options.source)
    report = PriceReport()
    unread: list[str] = []
    for one in named(options.files):
        try:
            if one.problem is not None:
                raise CassetteError(one.problem)
            with Waiting(f"reading {one.name}"):
                report.add(one.name, Cassette.load(one.name))
        except TurntapeError as exc:
            unread.append(str(exc))
    sentence = age(datetime.now(UTC).date())
    with writing(options.output) as out:
        if options.format == "json":
            out.writelines(json.dumps(_fields(one), ensure_ascii=False) + "\n" for one in report.models.values())
            sys.stderr.write(f"turntape: {sentence}\n")
        else:
            out.writelines(f"{line}\n" for line in _text(report, sentence, asked=bool(report.turns)))
        out.flush()
    for problem in unread:
        sys.stderr.write(f"turntape: {problem}\n")
    return USAGE if unread else OK


def _update(source: str | None) -> None:
    """Download and store the list. Raises CassetteError in one sentence when that fails."""
    import time
    from http.client import HTTPException
    from urllib.request import urlopen

    from turntape.cassettes.errors import CassetteError
    from turntape.inspector.analysis.price_list import published_at, store

    url = source or published_at()
    if not url.startswith(("http://", "https://")):
        raise CassetteError(f"--from is {url!r}; write a URL with http:// or https://")
    try:
        with urlopen(url, timeout=_TIMEOUT) as answer:
            body = answer.read()
    except (OSError, HTTPException, ValueError) as exc:
        raise CassetteError(f"cannot download prices from {url!r}: {exc}; the old ones are kept") from exc
    store(body, url, time.time())


def _fields(one: "Unpriced") -> dict[str, object]:
    return {
        "model": one.model,
        "provider": one.provider,
        "turns": one.turns,
        "input": one.input,
        "output": one.output,
        "files": one.files,
        "line": one.line,
        "fees": one.fees,
    }


def _text(report: "PriceReport", sentence: str, *, asked: bool) -> "Iterator[str]":
    found = sorted(report.models.values(), key=lambda one: -one.turns)
    unpriced, partly = [one for one in found if not one.fees], [one for one in found if one.fees]
    if partly:
        yield f"{_several(len(partly), 'model')} with fees that have no known price; costs are lower bounds (≥):"
        for one in partly:
            at = f" at {one.provider}" if one.provider else ""
            yield f"  {one.model}  {_several(one.turns, 'request')}{at}: {', '.join(one.fees)}"
        yield ""
    if unpriced:
        width = max(len(one.model) for one in unpriced)
        yield f"{_several(len(unpriced), 'model')} without a price:"
        for one in unpriced:
            at = f" at {one.provider}" if one.provider else ""
            turns = _several(one.turns, "request")
            yield f"  {one.model:{width}}  {turns}{at}, {one.input:,} tokens in, {one.output:,} out"
        yield ""
        yield "Give them one in turntape.toml, in US dollars per million tokens:"
        yield ""
        yield "[prices]"
        yield from dict.fromkeys(line for one in unpriced if (line := one.line))
        yield ""
    elif asked and not partly:
        yield f"every model has a price ({_several(report.turns, 'request')})"
    yield sentence


def _several(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


COMMAND = Command(
    usage="turntape prices [F ...] [--update]",
    description="List the models of recordings that have no price, with the line of the settings that gives them one, "
    "and say how old the price list is. It is only updated with --update. A cost that an answer states itself needs no "
    "price.",
    examples=("turntape prices 'runs/*.jsonl'", "turntape prices --update"),
    add=add,
    main=main,
)
