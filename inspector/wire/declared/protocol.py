"""A declaration as a protocol with all its traits."""

import re
from collections.abc import Iterator

import orjson

from turntape.cassettes.apis.interface import Api, IgnoredFields
from turntape.cassettes.framing.encode import sse_event

from ..exchange import Exchange
from ..json_value import Object
from ..protocols.protocol import Protocol
from ..protocols.shared.answers import has_done
from ..protocols.traits import EditTargets, Rewrite
from .declaration import Declaration
from .faults import fault_answers
from .reading import Reader


def declared(at: Declaration) -> Protocol:
    """The protocol of one declaration."""
    reader = Reader(at)
    return Protocol(
        name=at.name,
        title=at.title or at.name,
        spec=at.spec or "the settings of this project",
        detect=reader.detect,
        read_request=reader.read_request,
        read_response=reader.read_response,
        finish=at.finish_words,
        streams=(at.streams,),
        api=_api(at),
        rewrite=Rewrite((at.streams,), reader.whole, _frames),
        edit_targets=EditTargets(
            text=at.text,
            tool=f"{at.calls}/*{at.call_name}",
            arguments=f"{at.calls}/*{at.call_arguments}",
            finish=at.finish,
        ),
        price_provider=at.price_provider or None,
    )


def _api(at: Declaration) -> Api:
    ids = [f"{at.messages}/*{at.message_calls}/*{at.call_id}"] if at.message_calls and at.call_id else []
    ids += [f"{at.messages}/*{at.result_id}"] if at.result_id else []
    # An endpoint's key has no base and no version; the declared path may have both.
    path = at.path.strip("/")
    short = re.sub(r"^v\d+[a-z]*\d*/", "", path)
    return Api(
        path=re.compile(rf"(?:.*/)?(?:{re.escape(path)}|{re.escape(short)})"),
        ignored=IgnoredFields(pointers=at.ignore, ids=tuple(ids)),
        faults=fault_answers(at),
        stream_ends=(at.stream_end.encode(),) if at.stream_end else _finish_bytes(at),
        turn_paths=(f"/{path}",),
    )


def _finish_bytes(at: Declaration) -> tuple[bytes, ...]:
    """The last key of the finish word, followed by a string, with and without a space after the colon."""
    key = at.finish.rpartition("/")[2]
    return (f'"{key}":"'.encode(), f'"{key}": "'.encode()) if key else ()


def _frames(body: Object, exchange: Exchange) -> Iterator[bytes]:
    """The whole answer as one event. Every event has its fields at the same places."""
    if exchange.framing == "ndjson":
        yield orjson.dumps(body) + b"\n"
        return
    yield sse_event(body)
    if has_done(exchange):
        yield sse_event("[DONE]")
