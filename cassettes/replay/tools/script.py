"""What a played server says after one message of the client, step by step."""

from dataclasses import replace

from ...frozen import mutable
from .recording import SUBSCRIPTION, Asked, Json, Said, meta_of, params_of


@mutable
class Step:
    """One message to send."""

    data: Json | None
    raw: bytes
    """For a line that is not JSON."""
    is_request: bool = False
    answers: Asked | None = None
    closes: bool = False
    """The recorded server ended here."""
    is_ours: bool = False
    """True for an answer that was not recorded."""
    listener: object = None
    """The id of the client's request to listen, for what is said to a listener."""


@mutable
class Script:
    """What the server says after one message of the client, step by step."""

    steps: list[Step]
    origin: object = None
    """The id of the client's request."""
    not_before: float = 0.0
    """The time of the answer."""
    waits_for: object = None
    """The id of a request to the client that has no answer yet."""
    until: float | None = None
    """When waiting ends in any case."""
    look: float | None = None
    """When to look again whether it is over, if nothing else says so."""


def step_of(said: Said) -> Step:
    """A message that the server sends on its own."""
    data = said.data
    if not data:
        return Step(None, said.raw)
    return Step(data, said.raw, is_request="method" in data and "id" in data)


def with_token(step: Step, token: object) -> Step:
    """A notification of progress under the token of this client."""
    assert step.data is not None
    params, _ = params_of(step.data)
    return Step({**step.data, "params": {**params, "progressToken": token}}, b"")


def with_listener(step: Step, number: object) -> Step:
    """What is said to a listener, under the id of the request of this client."""
    assert step.data is not None
    params, _ = params_of(step.data)
    meta = {**meta_of(step.data), SUBSCRIPTION: number}
    return replace(step, data={**step.data, "params": {**params, "_meta": meta}}, listener=number)
