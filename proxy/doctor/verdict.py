"""What the command's own run showed: what came, what was broken off, what went past us."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ..launch.recording import Recording
from ..sidecar.summary import Seen
from .check import Check
from .runtimes import Runtime, advice
from .sockets import AVAILABLE, Watch


@dataclass(frozen=True, slots=True)
class Came:
    """What came to the proxy while the command ran."""

    recorded: Mapping[str, int]
    """Round trips by host."""
    failed: Mapping[str, str]
    """Why hosts were not reached, by host."""
    seen: Seen
    authority: Path
    exit_code: int


def read(path: Path, recording: Recording, exit_code: int) -> Came:
    """What a recording that is over holds."""
    from turntape.cassettes.tape.reader import Cassette

    recorded: Counter[str] = Counter()
    failed: dict[str, str] = {}
    if path.exists():
        for trip in Cassette.load(path):
            host = urlsplit(trip.request.url).hostname or "?"
            recorded[host] += 1
            if trip.response is None and trip.failure is not None and trip.failure.kind != "client_gone":
                failed[host] = f"{trip.failure.kind}: {trip.failure.message}"
    return Came(recorded, failed, recording.seen, recording.authority, exit_code)


def checks(came: Came, watch: Watch, names: Mapping[str, str], runtime: Runtime, trusted: bool) -> list[Check]:
    """`names` are hosts by address; `trusted` says that the runtime's own clients trust our certificate."""
    return [
        *_recorded(came, runtime, watch),
        *_unreached(came),
        *_broken_off(came, runtime, trusted),
        *_tunnelled(came),
        *_past_us(watch, names, runtime),
        *_ended(came),
    ]


def _recorded(came: Came, runtime: Runtime, watch: Watch) -> Iterator[Check]:
    if came.recorded:
        yield Check("recorded", "ok", f"Recorded: {_counts(came.recorded)}.")
    elif came.seen.distrusted or came.seen.tunnelled:
        yield Check("recorded", "problem", "No LLM API was called through the proxy; what came instead stands below.")
    else:
        # Where it went instead comes with the same advice.
        add = None if watch.past_us else runtime.advice
        yield Check("recorded", "problem", "Nothing at all came to the proxy.", add)


def _unreached(came: Came) -> Iterator[Check]:
    for host, why in came.failed.items():
        what = f"{host} was called through the proxy and could not be reached from here ({why})."
        yield Check("unreached", "problem", what, "--upstream NAME=URL, or --upstream-proxy URL behind a proxy")


def _broken_off(came: Came, runtime: Runtime, trusted: bool) -> Iterator[Check]:
    # Some clients open a spare connection and leave during its handshake: no sign of distrust beside an answer.
    hosts = {host: number for host, number in came.seen.distrusted.items() if host not in came.recorded}
    if not hosts:
        return
    if trusted:
        what = (
            f"The command broke off the TLS handshake with {_counts(hosts)}, although clients of its runtime trust "
            "our certificate: it pins certificates, or has a CA list of its own."
        )
        add = f"a base URL, which needs no certificate; or put {came.authority} into the list that it uses"
    else:
        what = f"The command broke off the TLS handshake with {_counts(hosts)}: it does not trust our certificate."
        add = f"a base URL, which needs no certificate; or trust {came.authority}"
    yield Check("pinned", "problem", what, add)


def _tunnelled(came: Came) -> Iterator[Check]:
    if came.seen.tunnelled:
        options = " ".join(f"--intercept {host}" for host in list(came.seen.tunnelled)[:3])
        what = f"Passed on untouched, since it is no LLM API that is known: {_counts(came.seen.tunnelled)}."
        yield Check("tunnelled", "note", what, f"{options}, if one of them is an LLM API")


def _past_us(watch: Watch, names: Mapping[str, str], runtime: Runtime) -> Iterator[Check]:
    if not AVAILABLE:
        what = "Whether traffic went past the proxy cannot be looked at on this system; on Linux /proc shows it."
        yield Check("bypassed", "unknown", what)
        return
    places: Counter[str] = Counter()
    for connection in watch.past_us:
        name = names.get(connection.address)
        places[f"{connection.place}{f' = {name}' if name else ''} (by {connection.program})"] += 1
    if places:
        what = f"The command connected past the proxy to {_counts(places)}."
        # What is started from a script is not what the script is written in.
        lines = dict.fromkeys(advice(connection.program, runtime) for connection in sorted(watch.past_us))
        yield Check("bypassed", "problem", what, "\n".join(lines))
    else:
        yield Check("bypassed", "ok", "No connection past the proxy was seen (looked at 50 times a second).")


def _ended(came: Came) -> Iterator[Check]:
    if came.exit_code:
        yield Check("command", "note", f"The command ended with exit code {came.exit_code}.")


def _counts(counts: Mapping[str, int]) -> str:
    shown = [f"{name} ({number}×)" if number > 1 else name for name, number in counts.items()]
    return ", ".join(shown[:6]) + (f" and {len(shown) - 6} more" if len(shown) > 6 else "")
