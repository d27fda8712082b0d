"""The score of recorded loops as text."""

from collections import defaultdict
from collections.abc import Mapping

from ..page import table
from .known import EXPLAINED
from .score import Count, Outcome, Score


def text(score: Score, *, verbose: bool = False, explained: Mapping[str, tuple[int, str]] = EXPLAINED) -> str:
    loops = ", ".join(f"{protocol} {count}" for protocol, count in sorted(score.loops.items()))
    lines = [f"{score.loops.total()} recorded loops of {len(score.loops)} protocols: {loops}", ""]
    lines.append(f"{'fault':<60} {'cases':>5} {'found':>6} {'right':>6} {'info':>5} {'skipped':>7}")
    for name, count in score.classes.items():
        lines.append(
            f"{name:<60} {count.cases:>5} {_share(count.found, count.cases):>6} "
            f"{_share(count.right, count.blamed):>6} {count.info:>5} {score.skipped[name]:>7}"
        )
    for title, counts in (("layer", score.layers), ("protocol", score.protocols)):
        lines += ["", f"{title:<60} {'cases':>5} {'found':>6} {'right':>6} {'info':>5}"]
        for name, count in sorted(counts.items()):
            lines.append(
                f"{name:<60} {count.cases:>5} {_share(count.found, count.cases):>6} "
                f"{_share(count.right, count.blamed):>6} {count.info:>5}"
            )
    lines += _wrong(score, verbose=verbose)
    if score.strays and verbose:
        lines += ["", "findings above info beside the fault that nothing explains"]
        lines += [
            f"{count:>5}  {identity:<36} beside: {name}" for (name, identity), count in score.strays.most_common()
        ]
    lines += ["", "findings above info in untouched loops"]
    for identity, names in sorted(score.alarms.items()):
        _, why = explained.get(identity, (0, "not explained"))
        lines.append(f"{len(names):>5}  {identity}: {why}")
        if verbose:
            lines.append(f"       {', '.join(names)}")
    t = score.total
    lines += [
        "",
        f"faults found                    {t.found} of {t.cases}, {_share(t.found, t.cases)}",
        f"of these as an info only        {t.info}",
        f"layer blamed right              {t.right} of {t.blamed}, {_share(t.right, t.blamed)}",
        f"skipped: nothing to break       {score.skipped.total()}",
        f"untouched loops without alarm   {score.loops.total() - len({n for v in score.alarms.values() for n in v})} "
        f"of {score.loops.total()}",
        f"loops without a round trip      {score.torn - len({n for v in score.untrue.values() for n in v})} of "
        f"{score.torn} without a new alarm",
    ]
    lines += [f"missed: {sentence}" for sentence in score.missed(explained)]
    return "\n".join(lines)


def page(score: Score) -> list[str]:
    """The score as it is published."""
    t = score.total
    loops = ", ".join(f"{protocol} {count}" for protocol, count in sorted(score.loops.items()))
    heads = ["fault", "cases", "found", "layer right", "info", "skipped"]
    classes = [[*_row(name, count), score.skipped[name]] for name, count in sorted(score.classes.items())]
    alarms: list[list[object]] = [
        [f"`{identity}`", len(names), EXPLAINED.get(identity, (0, "not explained"))[1]]
        for identity, names in sorted(score.alarms.items())
    ]
    silent = score.loops.total() - len({name for names in score.alarms.values() for name in names})
    return [
        f"{score.loops.total()} loops: {loops}.",
        "",
        f"{t.found:,} of {t.cases:,} faults were found ({_share(t.found, t.cases)}). "
        f"The layer was right in {t.right:,} of {t.blamed:,} cases ({_share(t.right, t.blamed)}).",
        "",
        *table(heads, classes),
        "",
        *table(["layer", *heads[1:-1]], [_row(name, count) for name, count in sorted(score.layers.items())]),
        "",
        *table(["protocol", *heads[1:-1]], [_row(name, count) for name, count in sorted(score.protocols.items())]),
        "",
        f"{silent} of {score.loops.total()} untouched loops have no finding above info. The others, each looked at:",
        "",
        *table(["class", "loops", "why"], alarms),
    ]  # fmt: skip


def _row(name: str, count: Count) -> list[object]:
    return [name, count.cases, _share(count.found, count.cases), _share(count.right, count.blamed), count.info]


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


def _wrong(score: Score, *, verbose: bool) -> list[str]:
    """Every class and protocol with a miss or a wrong blame, and the command that shows it."""
    grouped: defaultdict[tuple[str, str, str], list[Outcome]] = defaultdict(list)
    for outcome in score.wrong:
        grouped[(outcome.fault.name, outcome.protocol, verdict(outcome))].append(outcome)
    lines = ["", "missed or blamed wrong"] if grouped else []
    for (name, protocol, what), same in sorted(grouped.items()):
        lines.append(f"{len(same):>5}  {name} · {protocol} · {what}")
        if verbose:
            lines.append(f"       e.g. {same[0].loop}")
            lines += [f"       {found}" for found in same[0].found]
            lines.append(f"       {command(same[0])}")
    return lines


def verdict(outcome: Outcome) -> str:
    """What went wrong with one fault."""
    wanted = " or ".join(outcome.fault.layers)
    blamed = "nothing blamed" if outcome.blamed is None else f"{outcome.blamed} blamed, expected {wanted}"
    if outcome.hits:
        return f"found, {blamed}"
    others = ", ".join(sorted({f.id for f in outcome.found if f.rank})) or "nothing above info"
    return f"missed ({others}), {blamed}"


def command(outcome: Outcome) -> str:
    """The command that writes the loop with this fault into a folder."""
    return f'python -m bench.faults --recorded --loop "{outcome.loop}" --only "{outcome.fault.name}" --write DIR'
