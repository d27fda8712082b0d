"""The layer `model` of a label: what the model emitted. A label that may be made again can do without a long one."""

from turntape.cassettes.tape.model import RoundTrip

from ..wire.values import Choice, Emission, ToolCall, ToolResult

type Label = dict[str, object]

_LONG = 64 << 10
"""Bytes of an answer. What is emitted in a longer one is not kept for a label that may never be made again."""
_LEFT_OUT = object()
"""In the place of the layer."""


def without_emission(label: Label, trip: RoundTrip) -> Label:
    """`label` without its layer `model` when the answer is long; itself when it is short, or read on demand."""
    content = trip.response.content if trip.response is not None else b""
    if not isinstance(content, bytes) or len(content) < _LONG or label["model"] is None:
        return label
    return {**label, "model": _LEFT_OUT}


def is_left_out(label: Label) -> bool:
    """True for a label that must get its layer `model` again."""
    return label["model"] is _LEFT_OUT


def with_emission(label: Label, emission: Emission | None) -> Label:
    """`label` with all layers."""
    return {**label, "model": None if emission is None else emission_label(emission)}


def emission_label(emission: Emission) -> dict[str, object]:
    """What the model emitted."""
    return {
        "emitted": emission.emitted,
        "text": emission.text,
        "reasoning": emission.reasoning,
        "refusal": emission.refusal,
        "tool_calls": [_call(call) for call in emission.calls],
        "server_calls": [_call(call) for call in emission.server_calls],
        "server_results": [_server_result(result) for result in emission.server_results],
        "choices": [_choice(choice) for choice in emission.choices] or None,
    }


def _call(call: ToolCall) -> dict[str, object]:
    return {"id": call.id, "name": call.name, "arguments": call.arguments, "arguments_raw": call.arguments_raw}


def _server_result(result: ToolResult) -> dict[str, object]:
    return {"call_id": result.call_id, "name": result.name, "is_error": result.is_error, "text": result.text}


def _choice(choice: Choice) -> dict[str, object]:
    return {
        "index": choice.index,
        "finish_raw": choice.finish_raw,
        "finish": choice.finish,
        "text": choice.text,
        "reasoning": choice.reasoning,
        "refusal": choice.refusal,
        "tool_calls": [_call(call) for call in choice.calls],
    }
