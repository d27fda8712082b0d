"""AWS event-stream frames for tests, made by the scripted LLM's own builder."""

from turntape.proxy.scripted.apis.bedrock import frame


def event_stream(payload: bytes) -> bytes:
    """One frame whose JSON payload holds `payload` as text."""
    return frame({"delta": {"text": payload.decode()}}, "contentBlockDelta")
