"""Faults for a declared gateway: its answers are edited at the places that the declaration names."""

from turntape.cassettes.apis.interface import Documents, Edited, FaultAnswers, common_error
from turntape.cassettes.framing.encode import sse_event

from ..json_value import as_object
from ..protocols.shared.shorten import half, without_last
from .declaration import Declaration
from .places import get, objects_at, put


def _error_event(before: int) -> bytes:
    return sse_event(common_error(500, None))


def fault_answers(at: Declaration) -> FaultAnswers:
    """The edits for one declaration."""

    def truncate(documents: Documents) -> Edited:
        found = [(place, call) for place, one in enumerate(documents) for call in objects_at(one, at.calls)]
        if not found:
            return set(), set()
        place, call = found[-1]
        whole = get(call, at.call_arguments)
        put(call, at.call_arguments, half(whole) if isinstance(whole, str) else without_last(as_object(whole)))
        return {place}, set()

    def relabel(documents: Documents, finish: str) -> Edited:
        changed: set[int] = set()
        for place, one in enumerate(documents):
            if one is not None and get(one, at.finish) is not None:
                put(one, at.finish, finish)
                changed.add(place)
        return changed, set()

    def empty(documents: Documents) -> Edited:
        changed: set[int] = set()
        for place, one in enumerate(documents):
            for pointer, nothing in ((at.text, ""), (at.calls, list[object]())):
                if one is not None and get(one, pointer):
                    put(one, pointer, nothing)
                    changed.add(place)
        word = next((word for word, label in at.finish_words.items() if label == "complete"), None)
        return (changed | relabel(documents, word)[0] if word else changed), set()

    return FaultAnswers(common_error, _error_event if at.streams == "sse" else None, truncate, relabel, empty)
