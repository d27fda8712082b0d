"""The part of the bench with tool servers, on the command line."""

import argparse
import sys

from tests.corpus import corpus

from ..page import put
from ..recorded.known import EXPLAINED
from ..recorded.loops import MOST, chosen
from ..recorded.report import text
from ..recorded.score import Score, score
from .catalogue import FAULTS
from .wire import with_tools

BARS = {"found": 0.95, "layer": 0.99}


def main(given: argparse.Namespace) -> int:
    """Print the score; 1 when a bar is missed, 2 when the names select nothing."""
    if given.tool_clients:
        return clients(given)
    if corpus.folder() is None:
        print(f"tool servers: left out, {corpus.ABSENT}")
        return 0
    faults = [fault for fault in FAULTS if fault.name.startswith(tuple(given.only or ("",)))]
    known = [one for one in chosen(given.most or MOST) if not given.protocol or one.protocol in given.protocol]
    loops = with_tools([one for one in known if not given.loop or one.name in given.loop])
    if not faults or not loops:
        print("no recorded loop or no fault has these names; --list prints them all", file=sys.stderr)
        return 2
    if given.list:
        print("\n".join([*(fault.name for fault in faults), *(loop.name for loop in loops)]))
        return 0
    result = score(loops, faults)  # type: ignore[arg-type]
    print(text(result, verbose=given.verbose))
    missed = bars_missed(result)
    print(*(f"missed: {sentence}" for sentence in missed), sep="\n")
    if given.page:
        put("tools", page(result))
    return int(bool(missed))


def clients(given: argparse.Namespace) -> int:
    """The faults in runs of real clients."""
    from .clients import ClientRecording, recordings

    faults = [fault for fault in FAULTS if fault.name.startswith(tuple(given.only or ("",)))]
    made: list[ClientRecording] = []
    for one in recordings(given.loop or (), again=given.again):
        if isinstance(one, str):
            print(one)
        else:
            made.append(one)
    result = score(made, faults)  # type: ignore[arg-type]
    print(text(result, verbose=given.verbose))
    missed = bars_missed(result)
    print(*(f"missed: {sentence}" for sentence in missed), sep="\n")
    if given.page:
        put("tool clients", page(result))
    return int(bool(missed))


def bars_missed(result: Score) -> list[str]:
    """The bars that are missed, one sentence each. Untouched loops may have the findings that recorded loops have."""
    count = result.total
    sentences: list[str] = []
    if count.found < count.cases * BARS["found"]:
        sentences.append(f"{count.found} of {count.cases} faults were found; the bar is {BARS['found']:.0%}")
    if count.right < count.blamed * BARS["layer"]:
        sentences.append(f"the layer was right in {count.right} of {count.blamed}; the bar is {BARS['layer']:.0%}")
    new = sorted(set(result.alarms) - set(EXPLAINED))
    return sentences + [f"{name} is found in untouched loops" for name in new]


def page(result: Score) -> list[str]:
    """The score as it is published."""
    count = result.total
    lines = [
        f"{count.found:,} of {count.cases:,} faults were found, the layer was right in {count.right:,} of "
        f"{count.blamed:,}. {result.loops.total()} loops of {len(result.loops)} protocols.",
        "",
        "| fault | cases | found | layer right |",
        "| --- | --- | --- | --- |",
    ]
    lines += [f"| {name} | {one.cases} | {one.found} | {one.right} |" for name, one in sorted(result.classes.items())]
    return lines
