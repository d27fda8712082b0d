"""How calls arrived: indexes and ids by which a client cannot distinguish them."""

import re
from collections.abc import Iterator

from turntape.cassettes.excerpts import cut
from turntape.cassettes.frozen import frozen

from ...wire.json_value import as_array, as_count, as_object, as_text, is_object, parse_json
from ..rule import Note, rule
from ..rule_context import RuleContext


@frozen
class _Piece:
    """A piece of a call in a chat stream."""

    choice: int
    index: int | None
    """None when it has no index, or none that is a number."""
    id: str | None
    name: str | None
    arguments: str


def _pieces(context: RuleContext) -> Iterator[_Piece]:
    for event in context.exchange.events:
        for choice in as_array(as_object(event.value).get("choices")):
            fields = as_object(choice)
            for item in as_array(as_object(fields.get("delta")).get("tool_calls")):
                call = as_object(item)
                function = as_object(call.get("function"))
                call_id, index = as_text(call.get("id")), call.get("index")
                yield _Piece(
                    as_count(fields.get("index")) or 0,
                    index if isinstance(index, int) else None,
                    call_id if call_id != "null" else None,
                    as_text(function.get("name")),
                    as_text(function.get("arguments")) or "",
                )


def _collision(context: RuleContext) -> str | None:
    """How the indexes of a chat stream join two calls, or split one."""
    owners: dict[tuple[int, int | None], str] = {}
    last = ""
    for piece in _pieces(context):
        place = (piece.choice, piece.index)
        if piece.id:
            first = owners.setdefault(place, piece.id)
            if first != piece.id:
                how = f"share index {piece.index}" if piece.index is not None else "have no index"
                named = f" ({piece.name})" if piece.name else ""
                return f"the calls {first} and {piece.id}{named} {how}: clients will join their arguments"
            last = piece.id
        elif piece.name:
            last = owners.setdefault(place, piece.name)
        elif piece.arguments.strip() and not last and place not in owners:
            where = f"index {piece.index}" if piece.index is not None else "no index"
            return (
                f"the arguments of a call begin before its id and its name, at {where}: "
                "clients lose them or split the call"
            )
        elif piece.arguments and last and place not in owners:
            where = f"index {piece.index}" if piece.index is not None else "no index"
            return (
                f"a piece of arguments has {where}, but no call began there (the last call is {last}): "
                "clients will split the call or lose the piece"
            )
    return None


def _begun_twice(context: RuleContext) -> str | None:
    """The call whose name is a tool's written several times, or whose arguments begin again before their whole."""
    tools = context.tools
    for call in context.emission.calls:
        once = _repeated_name(call.name)
        if once and once in tools and call.name not in tools:
            times = len(call.name) // len(once)
            return f"the name {call.name!r} is {once!r} {times} times in a row: pieces of the call were joined twice"
        if call.arguments is None and (start := _start_twice(call.arguments_raw.strip())):
            return (
                f"the arguments of {call.name!r} begin twice, with {cut(start, 40)!r} before the whole of them: "
                "clients cannot parse them"
            )
    return None


def _repeated_name(name: str) -> str:
    """What a name is several times in a row; the name itself when it is nothing of that."""
    return name[: (name + name).find(name, 1)]


def _start_twice(text: str) -> str:
    """The beginning that comes before a whole JSON object once more; empty for any other text.

    An object may be a value inside of another one, whose end is then missing.
    """
    at = text.find("{", 1)
    while 0 < at <= len(text) // 2:
        start = text[:at]
        if (
            not start.rstrip().endswith((":", "[", ","))
            and text.startswith(start, at)
            and is_object(parse_json(text[at:]))
        ):
            return start
        at = text.find("{", at + 1)
    return ""


def _joined(context: RuleContext) -> str | None:
    """The call whose arguments are those of several, where the wire says nothing else about them."""
    joined = next(
        (c for c in context.emission.calls if c.arguments is None and re.search(r"\}\s*\{", c.arguments_raw)), None
    )
    if joined is None or context.finish.effective in ("cut", "cancelled"):
        return None
    pieces = re.split(r"(?<=\})\s*(?=\{)", joined.arguments_raw)
    if any(parse_json(piece) is None for piece in pieces):
        return None
    return f"the arguments of {joined.name!r} are {len(pieces)} JSON documents in a row: clients cannot parse them"


@rule(
    "api-tool-call-index-collision",
    "api",
    "error",
    "P",
    says="The pieces of tool calls have a wrong index, or none, or were joined twice, so clients join two calls or split one.",
    fix="Upgrade the server or gateway; let the client distinguish calls by id.",
    not_when=("The client understood the calls and ran them all: then it is an info",),
)
def index_collision(context: RuleContext) -> Iterator[Note]:
    what = (_collision(context) if context.protocol.answers.calls_by_index else None) or _joined(context)
    twice = _begun_twice(context) if what is None else None
    if what or twice:
        calls = tuple(f"{context.at} call {call.id or call.name}".rstrip() for call in context.emission.calls[:4])
        yield Note(what or twice or "", calls, tier="S" if twice else None)


@rule(
    "api-duplicate-tool-call-id",
    "api",
    "error",
    "P",
    says="The API gave the same id to two calls, in one answer or in several.",
    fix="Make ids unique before the history is sent back; some APIs reject it otherwise.",
    not_when=(
        "The API gave the same answer again",
        "Several answers were sampled, and each has the id once",
        "The other call is of an earlier turn: then it is an info",
    ),
)
def duplicate_call_id(context: RuleContext) -> Iterator[Note]:
    seen: set[tuple[int, str]] = set()
    for call in (*context.emission.calls, *context.emission.server_calls):
        if not call.id:
            continue
        if (call.choice, call.id) in seen:
            yield Note(f"two calls of one answer have the id {call.id}", (f"{context.at} call {call.id}",))
            return
        seen.add((call.choice, call.id))
        earlier = context.thread.emitted_calls.get(call.id)
        held = call.id in context.calls or context.request.previous_id is not None
        if earlier is not None and not context.is_attempt and held:
            yield Note(
                f"the id {call.id} already belongs to a call of {earlier[1]!r} in #{earlier[0]}",
                (f"#{earlier[0]} call {call.id}", f"{context.at} call {call.id}"),
                severity="info",
            )
            return


RULES = (index_collision, duplicate_call_id)
