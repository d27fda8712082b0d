"""Frames of an AWS event stream for tests."""

from turntape.cassettes.framing.encode import aws_event


def event_stream(payload: bytes) -> bytes:
    """One frame whose JSON payload holds `payload` as text."""
    return aws_event({"delta": {"text": payload.decode()}}, "contentBlockDelta")
