"""What matching, faults and recording need to know of an API.

Rule 1: nothing here names an API. Implementations come through the entry-point group `turntape.protocols`, our own
as well (`entry_points.py`).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from ..frozen import frozen

type Json = dict[str, object]
type HeaderFields = tuple[tuple[str, str], ...]
type Documents = Sequence[Json | None]
"""The JSON objects of an answer in order: one for an answer that is not a stream. None for an event that holds no
object, such as `[DONE]`."""
type Edited = tuple[set[int], set[int]]
"""The places in `Documents` that were changed, and those to drop."""
type Edit = Callable[[Documents], Edited]
"""Changes documents in place."""

_ERRORS = MappingProxyType(
    {
        429: ("Rate limit reached for requests", "requests", "rate_limit_exceeded"),
        500: ("The server had an error while processing your request. Sorry about that!", "server_error", None),
        503: ("The engine is currently overloaded, please try again later", "server_error", None),
        529: ("The engine is currently overloaded, please try again later", "server_error", None),
    }
)


def common_error(status: int, retry_after: float | None) -> Json:
    """An error in the shape that most gateways use. `status` is one of the kinds of faults: 429, 500, 503, 529."""
    message, kind, code = _ERRORS[status]
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


@frozen(eq=False)
class Spellings:
    """What an API takes as equal although it is written in another way.

    A client library that is updated may write a request in another way, and the model reads the same. Pointers are
    patterns, `*` for any key or place.
    """

    defaults: Mapping[str, tuple[object, ...]] = MappingProxyType({})
    """For each pointer, the values that mean the same as no value. Parts within a value are read before it."""
    texts: tuple[str, ...] = ()
    """Pointers to a text that may also be written as a list with one block that holds only this text."""
    messages: tuple[str, ...] = ()
    """Pointers to a list of messages that may also be written as the text of its only user message."""
    json: tuple[str, ...] = ()
    """Pointers to a string that holds JSON, or to this JSON itself: it is compared as JSON."""
    names: Mapping[str, str] = MappingProxyType({})
    """For each pointer to a field, its other name. Other pointers here use that name."""
    two_names: bool = False
    """True when each field may also be written in snake case: `topK` as `top_k`. Pointers here use the camel case."""
    own: tuple[str, ...] = ()
    """Pointers to values whose fields the user has named. Such a name is written in one way."""
    schemas: tuple[str, ...] = ()
    """Pointers to a schema that may be written as JSON Schema or as OpenAPI's: types in capitals, and `nullable`."""
    described: tuple[str, ...] = ()
    """Pointers to values with schemas, at any depth. Their texts under `description` may be docstrings: how far all
    lines are indented depends on the version of Python. A `title` of a field that repeats its name may be left out."""


@frozen
class IgnoredFields:
    """What differs between two runs of one agent although nothing was changed.

    A user adds pointers and expressions with `Matching(ignore=…, ignore_text=…)`.
    """

    pointers: tuple[str, ...] = ()
    """JSON pointers into the request body, `*` for any one key or place, that a match leaves out."""
    ids: tuple[str, ...] = ()
    """JSON pointers to ids that are compared by who refers to whom. An id that the recording holds counts itself."""
    texts: tuple[re.Pattern[str], ...] = ()
    """Expressions whose matches are blanked in every string; a group named `lead` stays."""
    spellings: Spellings = Spellings()


@frozen
class FaultAnswers:
    """How the API fails, and how its answers are edited. None: a fault of that kind is refused for this API."""

    error: Callable[[int, float | None], Json] = common_error
    """The body of an error: `(status, retry_after)`, the second in seconds."""
    error_event: Callable[[int], bytes] | None = None
    """The bytes of the event that ends a stream with an error, given the number of events before it."""
    truncate: Edit | None = None
    """Cuts the arguments of the last tool call in the middle."""
    relabel: Callable[[Documents, str], Edited] | None = None
    """Replaces the finish word by another."""
    empty: Edit | None = None
    """Removes everything that the model said, and finishes normally."""


@frozen
class SessionTurns:
    """Recognises the turns of a WebSocket session by single messages.

    Both functions are called for each message of a running session, so they search the bytes before they parse them.
    """

    asked_by: Callable[[bytes], bool]
    """True for a message with which the client asks for an answer."""
    answered_by: Callable[[bytes], bool]
    """True for exactly one message of each answer of the server, whoever began it."""


@frozen
class Shape:
    """Recognises an API on any host by what is on the wire, where no path identifies it."""

    request: Callable[[str, HeaderFields, bytes], bool]
    """True for a request of the API, by its method, its header fields and its body."""
    answer: Callable[[bytes], bool]
    """True for an event that ends the stream with which a request is answered; the event is given whole."""
    endless: Callable[[str, HeaderFields, bytes], bool]
    """True for a request whose answer is a stream that only the client ends; it is given as to `request`."""
    opening: Callable[[bytes], str | None]
    """The URL that the first event of a stream names for the client's messages. Empty when it names none, None while
    the stream is too short to decide."""


@frozen
class Api:
    """One API, as the tape sees it."""

    path: re.Pattern[str] | None = None
    """Fits whole endpoints, without base, version and query (`request_key.path_key`). None: fits no endpoint."""
    ignored: IgnoredFields = IgnoredFields()
    faults: FaultAnswers = FaultAnswers()
    stream_ends: tuple[bytes, ...] = ()
    """Bytes that are found at the end of a complete stream and nowhere before it."""
    turn_paths: tuple[str, ...] = ()
    """How the paths of its generation endpoints end, for a POST; they identify the API on any host. `*` means one
    segment of the path, and `**` for one or several."""
    idle_query: tuple[str, ...] = ()
    """Parameters of a query that say nothing which the API does not know from the rest of the request."""
    other_paths: tuple[str, ...] = ()
    """How the paths of other endpoints end that are recorded on any host, written like `turn_paths`."""
    shape: Shape | None = None
    """How its exchanges are recognised on any host and path. None: only by the paths above."""
    session_turns: SessionTurns | None = None
    """How the turns of a WebSocket session are counted while it runs. None: it has no such sessions."""


@frozen
class Registration:
    """A protocol that is named before it is imported: never for replay, and when a round trip may be its own."""

    protocol: str
    """Where the whole protocol is: `package.module:NAME`."""
    api: Api = Api()
    name: str = ""
    """The name of the protocol. Empty: it is imported to learn it."""
    paths: re.Pattern[str] | None = None
    """Found in the path, without query, of each round trip that is the protocol's, except for those of `answers`.
    None: the protocol is imported and asked about every round trip."""
    answers: re.Pattern[bytes] | None = None
    """Found in each answer that is the protocol's whatever the path."""
