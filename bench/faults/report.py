"""The score as text and as JSON."""

from typing import Any

from .score import LAYERS, Outcome, Score


def text(score: Score, *, verbose: bool = False) -> str:
    lines = [f"{'class':<38} {'cases':>5} {'found':>5} {'recall':>7} {'precision':>9}"]
    for identity, count in sorted(score.classes.items()):
        lines.append(
            f"{identity:<38} {count.cases:>5} {count.hits:>5} {count.recall:>7.0%} {score.precision(identity):>9.0%}"
        )
    lines += ["", f"{'layer':<38} {'cases':>5} {'found':>5} {'recall':>7}"]
    for layer in LAYERS:
        count = score.layers[layer]
        lines.append(f"{layer:<38} {count.cases:>5} {count.hits:>5} {count.recall:>7.0%}")
    lines += ["", f"{'layer of the fault, and the one blamed':<38} " + " ".join(f"{n:>7}" for n in (*LAYERS, "none"))]
    for layer in LAYERS:
        counts = " ".join(f"{score.confusion[(layer, blamed)]:>7}" for blamed in (*LAYERS, "none"))
        lines.append(f"{layer:<38} {counts}")
    if verbose:
        grouped: dict[tuple[str, str], list[Outcome]] = {}
        for outcome in score.outcomes:
            if verdict := _verdict(outcome):
                grouped.setdefault((outcome.case.fault.name, verdict), []).append(outcome)
        lines += [line for (name, verdict), same in grouped.items() for line in _lines_of(name, verdict, same)]
    elif score.strays:
        lines += ["", "findings above info that nothing explains"]
        lines += [f"{identity:<38} {count:>5}" for identity, count in score.strays.most_common()]
    for name, found in sorted(score.alarms.items()):
        lines += ["", f"clean, and yet: {name}", *(f"    {one}" for one in found)]
    right, blamed = score.blamed
    recall = score.recall
    lines += [
        "",
        f"classes                         {len(score.classes)}",
        f"recall on tiers P and S         {recall.hits} of {recall.cases}, {recall.recall:.1%}",
        f"layer blamed right              {right} of {blamed}" + (f", {right / blamed:.1%}" if blamed else ""),
        f"precision                       {score.precision():.1%}",
        f"clean loops without a finding   {score.clean - len(score.alarms)} of {score.clean}",
    ]
    lines += [f"missed: {sentence}" for sentence in score.missed]
    return "\n".join(lines)


def _verdict(outcome: Outcome) -> str:
    """What went wrong with a case; empty when nothing did."""
    if outcome.hit and outcome.right and not outcome.strays:
        return ""
    blamed = "nothing" if outcome.blamed is None else f"the {outcome.blamed}"
    wanted = " or ".join(f"the {layer}" for layer in outcome.case.fault.layers)
    strays = ", ".join(sorted({one.id for one in outcome.strays}))
    verdict = f"{'found' if outcome.hit else 'missed'}, {blamed} blamed, expected {wanted}"
    return verdict + (f", stray {strays}" if strays else "")


def _lines_of(name: str, verdict: str, same: list[Outcome]) -> list[str]:
    """One wrong verdict, with the cases that share it and what was found in the first of them."""
    where = ", ".join(f"{o.case.dialect}{' streamed' if o.case.streamed else ''}" for o in same)
    found = [f"    {'stray ' if one in same[0].strays else ''}{one}" for one in same[0].found]
    return ["", f"{name}: {verdict}", f"    in {where}", *found]


def as_json(score: Score) -> dict[str, Any]:
    right, blamed = score.blamed
    return {
        "classes": {
            identity: {"cases": c.cases, "found": c.hits, "recall": c.recall, "precision": score.precision(identity)}
            for identity, c in sorted(score.classes.items())
        },
        "layers": {layer: {"cases": c.cases, "found": c.hits, "recall": c.recall} for layer, c in score.layers.items()},
        "tiers": {tier: {"cases": c.cases, "found": c.hits, "recall": c.recall} for tier, c in score.tiers.items()},
        "confusion": {f"{a} blamed as {b}": count for (a, b), count in sorted(score.confusion.items())},
        "layer_right": right,
        "layer_blamed": blamed,
        "recall": score.recall.recall,
        "precision": score.precision(),
        "strays": dict(score.strays.most_common()),
        "clean": {"loops": score.clean, "alarms": {n: [str(f) for f in found] for n, found in score.alarms.items()}},
        "cases": [
            {
                "case": o.case.name,
                "found": o.hit,
                "blamed": o.blamed,
                "expected": list(o.case.fault.layers),
                "findings": [str(f) for f in o.found],
            }
            for o in score.outcomes
        ],
        "missed": score.missed,
    }
