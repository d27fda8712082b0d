"""Checks that a cassette has the turn and the thread that the command line names."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turntape.cassettes.tape.reader import Cassette


def check_selection(cassette: "Cassette", turn: int | None, thread: str | None) -> None:
    """Raises TurntapeError when there is no such thread, or no such turn in it; the message names those that exist."""
    from turntape.cassettes.errors import TurntapeError
    from turntape.inspector.run.labels import label_stream

    threads: dict[str, set[int]] = {}
    for _, one in label_stream(cassette):
        if isinstance(number := one.label["turn"], int):
            threads.setdefault(str(one.label["thread"]), set()).add(number)
    name = str(cassette.path)
    if thread is not None and thread not in threads:
        existing = f"it has {', '.join(threads)}" if threads else "it has no turns"
        raise TurntapeError(f"{name!r} has no thread {thread!r}; {existing}")
    turns = threads[thread] if thread is not None else set[int]().union(*threads.values())
    if turn is not None and turn not in turns:
        of = f" of thread {thread!r}" if thread is not None else ""
        existing = f"--turn takes {_range(turns)}" if turns else "it has no turns"
        raise TurntapeError(f"{name!r} has no turn {turn}{of}; {existing}")


def turn_of_round_trip(cassette: "Cassette", number: int) -> tuple[int, str]:
    """The turn and the thread of a round trip. Raises TurntapeError for any other number."""
    from turntape.cassettes.errors import TurntapeError
    from turntape.inspector.run.labels import label_stream

    found = next((one.label for _, one in label_stream(cassette) if one.label["index"] == number), None)
    hint = f"give the address without /{number} to see the run"
    if found is None:
        raise TurntapeError(f"the recording has no round trip {number}; {hint}")
    if not isinstance(turn := found["turn"], int):
        raise TurntapeError(f"round trip {number} was not an answer of a model; {hint}")
    return turn, str(found["thread"])


def _range(turns: set[int]) -> str:
    first, last = min(turns), max(turns)
    return f"only {first}" if first == last else f"{first} to {last}"
