"""`make ledger`: how true the ledger's figures are, beside the bars.

"Large" is a result of 100 tokens or more that is alone in its turn, "sure" one whose tokens are exact or bounded;
"of bill" says how often the error is at most 1 % of the price of the input, "most" how often anybody could be
within 5 %.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from turntape.cassettes.errors import TurntapeError

from .cache_bars import print_bars
from .holdout import print_holdout
from .inside import NEAR, SEEN, TWIN, UNSEEN, Group, Score, middle, real, scores
from .real_tokenizers import real_tokenizers
from .speed import TURNS, speed


def share(counts: dict[bool, int]) -> str:
    whole = sum(counts.values())
    return f"{100 * counts.get(True, 0) / whole:5.1f} %" if whole else "    –  "


def within(values: list[float], limit: float) -> str:
    return f"{100 * sum(value <= limit for value in values) / len(values):5.1f} %" if values else "    –  "


def likely(values: list[float]) -> str:
    return f"{100 * sum(values) / len(values):5.1f} %" if values else "    –  "


def line(name: str, score: Score) -> str:
    known = score.certain.total()
    kinds = "/".join(f"{100 * score.certain[kind] / known:.0f}" for kind in ("exact", "bounded", "estimated"))
    return (
        f"{name:45} {share(score.added)} {share(score.within)} {100 * middle(score.errors):6.1f} % "
        f"{100 * middle(score.by_bytes):6.1f} % {kinds:>9} {share(score.sums)} "
        f"{within(score.newest, NEAR)} {within(score.newest_alone, NEAR)} {within(score.newest_sure, NEAR)} "
        f"{within(score.newest_of_bill, 0.01)} {likely(score.newest_at_most)} "
        f"{100 * middle(score.newest):5.1f} % "
        f"{100 * middle(score.newest_by_bytes):6.1f} % {within(score.anchors, 0.05)}"
    )


def main() -> int:
    """Print the bars; returns the exit code."""
    parser = argparse.ArgumentParser(prog="make ledger", description=__doc__)
    parser.add_argument("name", nargs="*", help="only backends with this word in their name")
    parser.add_argument(
        "--real", action="store_true", help="with the tokenizers of five real models, from packages of the index"
    )
    parser.add_argument("-v", action="store_true", help="print each backend")
    parser.add_argument(
        "--recordings",
        type=Path,
        metavar="FOLDER",
        help="only what is measured on recorded conversations of FOLDER",
    )
    given = parser.parse_args()
    if given.recordings is not None:
        try:
            print_holdout(given.recordings)
        except TurntapeError as error:
            print(f"make ledger: {error}", file=sys.stderr)
            return 2
        return 0
    chosen: list[str] = given.name
    if given.real:
        with real_tokenizers() as tokenizers:
            print_inside([real(tokenizers)], chosen, given.v)
        return 0
    print_inside([SEEN, UNSEEN], chosen, given.v)
    for name in () if chosen else ("openai-chat", "anthropic-messages"):
        labels, ledger = speed(name)
        print(
            f"{name}, {TURNS} turns: the ledger takes {ledger / labels:.2f} x the time of the labels ({ledger:.2f} s)"
        )
    if not chosen:
        print_bars()
        print_holdout()
    return 0


def print_inside(groups: Sequence[Group], chosen: Sequence[str], each: bool) -> None:
    """Print what the ledger says of the pieces of a turn, by tokenizer and by group; with `each`, of each backend."""
    by_group = {group.name: Score() for group in groups}
    by_tokenizer: dict[str, Score] = {}
    found = ((group, *one) for group in groups for one in scores(group, chosen))
    for number, (group, dialect, tokenizer, score) in enumerate(found, 1):
        if each:
            print(line(f"{dialect}, {tokenizer}", score), flush=True)
        elif sys.stderr.isatty():
            print(f"\r{number} backends", end="", file=sys.stderr, flush=True)
        by_tokenizer.setdefault(tokenizer, Score())
        by_tokenizer[tokenizer] += score
        by_group[group.name] += score
    if sys.stderr.isatty() and not each:
        print("\r", end="", file=sys.stderr)
    print(f"{'':102} newest result")
    heads = "added   bounds  error    bytes    e/b/e %   sums    "
    heads += "≤5 %    large   sure    bill    most    median, by bytes  marks"
    print(f"{'':45} {heads}")
    for name, score in (by_tokenizer | by_group).items():
        print(line(name, score))
    twins = sum((score.twins for score in by_group.values()), Counter[bool]())
    print(
        f"{twins[True]} of {twins.total()} runs have a twin: the same round trips, byte by byte, from a backend whose "
        f"results have {TWIN} tokens more.\nNo number is within 5 % of both where a result has fewer than 38 tokens."
    )
    name, judging = [*by_group.items()][-1]
    if judging.newest and judging.newest_at_most:
        reached, limit = within(judging.newest, NEAR).strip(), likely(judging.newest_at_most).strip()
        part = 100 * sum(error <= NEAR for error in judging.newest) / sum(judging.newest_at_most)
        print(
            f"newest result within 5 % of its price, {name}: {reached}. Nobody could have more than\n"
            f"{limit}, by the twins and by results that share a count: {part:.1f} % of what can be known is reached."
        )


if __name__ == "__main__":
    sys.exit(main())
