"""What the run of the command showed: recorded traffic, failed handshakes, connections around the proxy."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from turntape.cassettes.excerpts import listed
from turntape.cassettes.frozen import frozen
from turntape.cassettes.tape.model import split_url

from ..capture.unrecorded import OWN_PORT, UnrecordedTraffic
from ..launch.connections import AVAILABLE, Watch
from ..launch.nothing_recorded import PLAIN
from ..launch.recording import Recording
from ..launch.runtimes import Runtime, advice
from .check_result import CheckResult


@frozen
class Traffic:
    """What the proxy received while the command ran."""

    recorded: Mapping[str, int]
    """Round trips by host."""
    failed: Mapping[str, str]
    """Why hosts were not reached, by host."""
    seen: UnrecordedTraffic
    authority: Path
    exit_code: int


def read(path: Path, recording: Recording, exit_code: int) -> Traffic:
    """The traffic of a finished recording."""
    from turntape.cassettes.tape.reader import Cassette

    recorded: Counter[str] = Counter()
    failed: dict[str, str] = {}
    if path.exists():
        for trip in Cassette.load(path).without_tool_wire():
            host = split_url(trip.request.url).hostname or "?"
            recorded[host] += 1
            if trip.response is None and trip.failure is not None and trip.failure.kind != "client_gone":
                failed[host] = f"{trip.failure.kind}: {trip.failure.message}"
    return Traffic(recorded, failed, recording.seen, recording.authority, exit_code)


def checks(
    traffic: Traffic, watch: Watch, names: Mapping[str, str], runtime: Runtime, trusted: bool
) -> list[CheckResult]:
    """`names` are hosts by address; `trusted` says that the runtime's own clients trust our certificate."""
    return [
        *_recorded(traffic, runtime, watch),
        *_unreached(traffic),
        *_failed_handshakes(traffic, runtime, trusted),
        *_tunnelled(traffic),
        *_bypassed(watch, names, runtime),
        *_ended(traffic),
    ]


def _recorded(traffic: Traffic, runtime: Runtime, watch: Watch) -> Iterator[CheckResult]:
    if traffic.recorded:
        yield CheckResult("recorded", "ok", f"Recorded: {_counts(traffic.recorded)}.")
    elif traffic.seen.distrusted or traffic.seen.tunnelled:
        yield CheckResult(
            "recorded", "problem", "No LLM API was called through the proxy; other traffic is listed below."
        )
    else:
        # The connections that bypassed the proxy come with the same advice.
        add = None if watch.past_us else runtime.advice
        yield CheckResult("recorded", "problem", "The proxy received nothing at all.", add)


def _unreached(traffic: Traffic) -> Iterator[CheckResult]:
    for host, why in traffic.failed.items():
        what = f"{host} was called through the proxy and could not be reached from here ({why})."
        yield CheckResult("unreached", "problem", what, "--upstream NAME=URL, or --upstream-proxy URL behind a proxy")


def _failed_handshakes(traffic: Traffic, runtime: Runtime, trusted: bool) -> Iterator[CheckResult]:
    # Some clients open a spare connection and close it during the handshake; with an answer this is not distrust.
    hosts = {host: number for host, number in traffic.seen.distrusted.items() if host not in traffic.recorded}
    if hosts.pop(OWN_PORT, 0):
        yield CheckResult("pinned", "problem", f"The command speaks TLS to {OWN_PORT}.", PLAIN)
    if not hosts:
        return
    if trusted:
        what = (
            f"The command ended the TLS handshake with {_counts(hosts)}, although clients of its runtime trust "
            "our certificate: it pins certificates, or has its own CA list."
        )
        add = f"a base URL, which needs no certificate; or put {traffic.authority} into the list that it uses"
    else:
        what = f"The command ended the TLS handshake with {_counts(hosts)}: it does not trust our certificate."
        add = f"a base URL, which needs no certificate; or trust {traffic.authority}"
    yield CheckResult("pinned", "problem", what, add)


def _tunnelled(traffic: Traffic) -> Iterator[CheckResult]:
    if traffic.seen.tunnelled:
        options = " ".join(f"--intercept {host}" for host in list(traffic.seen.tunnelled)[:3])
        what = f"Passed on untouched, since no known LLM API is there: {_counts(traffic.seen.tunnelled)}."
        yield CheckResult("tunnelled", "note", what, f"{options}, if one of them is an LLM API")


def _bypassed(watch: Watch, names: Mapping[str, str], runtime: Runtime) -> Iterator[CheckResult]:
    if not AVAILABLE:
        what = "Traffic that bypasses the proxy can only be seen on Linux, in /proc."
        yield CheckResult("bypassed", "unknown", what)
        return
    places: Counter[str] = Counter()
    for connection in watch.past_us:
        name = names.get(connection.address)
        places[f"{connection.place}{f' = {name}' if name else ''} (by {connection.program})"] += 1
    if places:
        what = f"The command bypassed the proxy: it connected to {_counts(places)}."
        # A script may start programs in other languages.
        lines = dict.fromkeys(advice(connection.program, runtime) for connection in sorted(watch.past_us))
        yield CheckResult("bypassed", "problem", what, "\n".join(lines))
    else:
        yield CheckResult("bypassed", "ok", "No connection bypassed the proxy (checked 50 times a second).")


def _ended(traffic: Traffic) -> Iterator[CheckResult]:
    if traffic.exit_code:
        yield CheckResult("command", "note", f"The command ended with exit code {traffic.exit_code}.")


def _counts(counts: Mapping[str, int]) -> str:
    shown = [f"{name} ({number}×)" if number > 1 else name for name, number in counts.items()]
    return listed(shown, 6)
