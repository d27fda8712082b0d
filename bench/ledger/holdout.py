"""The ledger against recorded conversations: counts are hidden from it, and what it says is compared with them.

Two questions for each pair of turns with the same tools and system prompt. *Forecast*: the later counts are hidden; how
many tokens does the next turn add? *Share*: the earlier counts are hidden; which share of the later input is new? The
answer is in the recorded counts. A share by bytes answers the same questions. Half of the cassettes, chosen by their
names, were looked at when the priors were made; the figures are of the other half.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from zlib import crc32

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.analysis.seen import Seen
from turntape.inspector.analysis.turn import Turn
from turntape.inspector.ledger import LedgerBuilder, TurnEntry, ledger_of
from turntape.inspector.run.labelled import LabelledRoundTrip
from turntape.inspector.run.labels import label_all
from turntape.inspector.tools.tool_run import ToolRun
from turntape.inspector.wire.values import Reading

from .corpus_runs import recorded_runs, runs_in, there


@dataclass(frozen=True, slots=True)
class Silent:
    """A labelled round trip whose answer does not count its input."""

    round_trip: RoundTrip
    reading: Reading
    turn: Turn | None
    tool_runs: tuple[ToolRun, ...]
    cost: None = None


@dataclass(slots=True)
class Errors:
    """Differences from the recorded counts, as shares of them: of the ledger, and of a share by bytes."""

    forecast: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    share: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])


def tuned_to(cassette: str) -> bool:
    """Whether a cassette is of the half that was looked at."""
    return crc32(cassette.encode()) % 2 == 0


def silent(one: LabelledRoundTrip) -> Silent:
    """A round trip without the counts of its input."""
    usage = one.reading.usage
    hidden = replace(usage, input=None, cache_read=None, cache_write=None, input_media=None) if usage else None
    reading = replace(one.reading, usage=hidden)
    turn = one.turn
    if turn is not None:
        turn = replace(turn, seen=Seen(one.round_trip, reading, turn.conversation))
    return Silent(one.round_trip, reading, turn, one.tool_runs)


def judged(run: Sequence[LabelledRoundTrip]) -> Iterator[tuple[str, tuple[float, float] | None, tuple[float, float]]]:
    """For each pair of turns: its protocol, the errors of the forecast, and those of the share."""
    for entry in ledger_of(run).turns:
        if entry.added is None or entry.added.certainty != "exact" or entry.added.value <= 0 or entry.attempt > 1:
            continue
        share = _share(run, entry)
        if share is not None:
            yield run[entry.place].reading.protocol or "", _forecast(run, entry), share


def _forecast(run: Sequence[LabelledRoundTrip], entry: TurnEntry) -> tuple[float, float] | None:
    builder = LedgerBuilder()
    for place, one in enumerate(run[: entry.place + 1]):
        builder.add(place, silent(one) if place == entry.place else one)
    found = builder.forecast(entry.place)
    if found is None or entry.added is None:
        return None
    return _errors(found.tokens, found.by_bytes, entry.added.value)


def _share(run: Sequence[LabelledRoundTrip], entry: TurnEntry) -> tuple[float, float] | None:
    builder = LedgerBuilder()
    for place, one in enumerate(run[: entry.place + 1]):
        builder.add(place, silent(one) if place < entry.place else one)
    said = builder.ledger().at(entry.place)
    if said is None or entry.added is None or entry.input is None:
        return None
    new = list(said.uses[entry.new :])
    whole = sum(max(1, use.piece.size) for use in said.uses)
    tokens = sum(use.tokens.value for use in new if use.tokens)
    return _errors(tokens, entry.input * sum(use.piece.size for use in new) / whole, entry.added.value)


def _errors(said: float, by_bytes: float, truth: int) -> tuple[float, float]:
    return abs(said - truth) / truth, abs(by_bytes - truth) / truth


def holdout(runs: Iterable[tuple[str, Sequence[RoundTrip]]]) -> dict[str, Errors]:
    """The errors by protocol."""
    found: dict[str, Errors] = {}
    for _, trips in runs:
        for protocol, forecast, share in judged(label_all(trips)):
            errors = found.setdefault(protocol, Errors())
            errors.share.append(share)
            if forecast is not None:
                errors.forecast.append(forecast)
    return found


def _columns(pairs: Sequence[tuple[float, float]]) -> str:
    if not pairs:
        return f"{'–':>5} {'':28}"
    ours, theirs = median(one for one, _ in pairs), median(one for _, one in pairs)
    nearer = sum(one <= other for one, other in pairs) / len(pairs)
    return f"{len(pairs):5} {100 * ours:7.1f} % {100 * theirs:7.1f} % {100 * nearer:5.0f} %  "


def print_holdout(folder: Path | None = None) -> None:
    """The hold-out by protocol: the half of the corpus that nobody looked at, or the cassettes in a folder."""
    print()
    if folder is None and not there:
        print("Recorded conversations: no corpus here")
        return
    of = f"in {folder}" if folder else "the half that nobody looked at"
    print(f"Recorded conversations, {of}: median error, by the ledger and by bytes; how often")
    print("the ledger is as near or nearer")
    print(f"{'':24} forecast of what the next turn adds     share of what is new")
    unseen = ((name, trips) for name, trips in recorded_runs() if not tuned_to(name))
    found = holdout(runs_in(folder) if folder else unseen)
    for protocol, errors in sorted(found.items()):
        print(f"{protocol:24} {_columns(errors.forecast)} {_columns(errors.share)}")
    forecasts = [pair for one in found.values() for pair in one.forecast]
    every = Errors(forecasts, [pair for one in found.values() for pair in one.share])
    print(f"{'all':24} {_columns(every.forecast)} {_columns(every.share)}")
