"""Gemini Live over WebSocket: one turn for each answer; its request has the content that came since the last."""

from dataclasses import replace

from ...exchange import Exchange
from ...json_value import Object, as_array, as_object, as_text, objects_in
from ...values import FinishLabel, Kind, RequestReading, ResponseReading
from ..protocol import Protocol
from ..shared.answers import objects, stream_error
from ..shared.parts import unread
from ..traits import AnswerRules, Pairing, RequestRules
from .answer import merge_chunk, read_gemini_body
from .api import LIVE_API
from .generate import read_gemini_request
from .not_read import LIVE_NOT_READ
from .parts import PROGRAMS, get

FINISH: dict[str, FinishLabel] = {
    "interrupted": "cancelled",
    "TURN_COMPLETE_REASON_UNSPECIFIED": "complete",
    "NEED_MORE_INPUT": "complete",
    "RESPONSE_REJECTED": "refusal",
    "MALFORMED_FUNCTION_CALL": "malformed",
    "MAX_REGENERATION_REACHED": "limit",
    **dict.fromkeys(
        (
            "PROHIBITED_INPUT_CONTENT",
            "IMAGE_PROHIBITED_INPUT_CONTENT",
            "INPUT_TEXT_CONTAIN_PROMINENT_PERSON_PROHIBITED",
            "INPUT_IMAGE_CELEBRITY",
            "INPUT_IMAGE_PHOTO_REALISTIC_CHILD_PROHIBITED",
            "INPUT_TEXT_NCII_PROHIBITED",
            "INPUT_OTHER",
            "INPUT_IP_PROHIBITED",
            "BLOCKLIST",
            "UNSAFE_PROMPT_FOR_IMAGE_GENERATION",
            "GENERATED_IMAGE_SAFETY",
            "GENERATED_CONTENT_SAFETY",
            "GENERATED_AUDIO_SAFETY",
            "GENERATED_VIDEO_SAFETY",
            "GENERATED_CONTENT_PROHIBITED",
            "GENERATED_CONTENT_BLOCKLIST",
            "GENERATED_IMAGE_PROHIBITED",
            "GENERATED_IMAGE_CELEBRITY",
            "GENERATED_IMAGE_PROMINENT_PEOPLE_DETECTED_BY_REWRITER",
            "GENERATED_IMAGE_IDENTIFIABLE_PEOPLE",
            "GENERATED_IMAGE_MINORS",
            "OUTPUT_IMAGE_IP_PROHIBITED",
            "GENERATED_OTHER",
        ),
        "content_filter",
    ),
}
"""`interrupted` is a separate field; the others are values of `turnCompleteReason`."""


_MADE = ("turn", "previousTurn", "stream")
"""Fields of a turn's request that are not on the wire."""


def detect(exchange: Exchange) -> Kind | None:
    """A turn of a session, as the reader of sessions makes it, or a session that was refused; a session is not one."""
    if "BidiGenerateContent" not in exchange.path:
        return None
    is_turn = exchange.method == "POST" and "contents" in exchange.fields
    return "generation" if is_turn or exchange.failed_handshake else None


def read_request(exchange: Exchange) -> RequestReading:
    fields = exchange.fields
    request = read_gemini_request(exchange)
    parameters = {key: value for key, value in request.parameters.items() if key not in _MADE}
    return replace(request, parameters=parameters, streamed=True, previous_id=as_text(fields.get("previousTurn")))


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    if exchange.framing != "sse":
        return unread(exchange, "a turn of Gemini Live")
    draft = _Draft()
    problems: list[str] = []
    for _, message in objects(exchange.events, problems):
        draft.add(message)
    reading = read_gemini_body(draft.body(), ended=draft.ended, streamed=True, problems=tuple(problems))
    error = stream_error(exchange.events)
    if error is not None:
        reading = replace(reading, error=error)
    word = draft.word
    label: FinishLabel = "tool_calls" if reading.calls else "complete"
    return replace(
        reading,
        finish_raw=word,
        finish=FINISH.get(word, "unknown") if word else label if draft.ended else None,
        usage_raw=draft.usage or None,
        id=as_text(exchange.fields.get("turn")),
        continuation=draft.handle,
    )


class _Draft:
    """What the server's messages of one turn add up to."""

    def __init__(self) -> None:
        self.whole: Object = {"candidates": [{"content": {"role": "model", "parts": []}}]}
        self.usage: Object = {}
        self.ended = False
        self.word: str | None = None
        """Why the turn ended, where the server says it."""
        self.handle: str | None = None
        """The newest handle with which a later session can continue this one."""
        self._spoken: list[str] = []
        self._cancelled: set[str] = set()

    def add(self, message: Object) -> None:
        """Take in one message."""
        content = as_object(get(message, "serverContent"))
        calls = objects_in(get(as_object(get(message, "toolCall")), "functionCalls"))
        parts: list[object] = [*as_array(as_object(get(content, "modelTurn")).get("parts"))]
        parts += [{"functionCall": call} for call in calls]
        spoken = as_text(as_object(get(content, "outputTranscription")).get("text"))
        if spoken:
            self._spoken.append(spoken)
        if parts or spoken:
            self.ended = bool(calls)
        merge_chunk(self.whole, {"candidates": [{"index": 0, "content": {"parts": self._new(parts)}}]})
        self.ended = self.ended or get(content, "turnComplete") is True
        self.word = as_text(get(content, "turnCompleteReason")) or self.word
        if get(content, "interrupted") is True:
            self.word, self.ended = "interrupted", True
        self.usage = {**self.usage, **as_object(get(message, "usageMetadata"))}
        resumption = as_object(get(message, "sessionResumptionUpdate"))
        self.handle = as_text(get(resumption, "newHandle")) or self.handle
        cancelled = as_array(get(as_object(get(message, "toolCallCancellation")), "ids"))
        self._cancelled |= {name for name in cancelled if isinstance(name, str)}

    def _new(self, parts: list[object]) -> list[object]:
        """These parts, with one part for all pieces of one sound: the sound itself is not read."""
        kept: list[object] = []
        last = _sound(as_object(self._parts()[-1])) if self._parts() else None
        for part in parts:
            sound = _sound(as_object(part))
            if sound is None or sound != last:
                kept.append({"inlineData": {"mimeType": sound}} if sound else part)
            last = sound
        return kept

    def _parts(self) -> list[object]:
        candidates = objects_in(self.whole.get("candidates"))
        return as_array(as_object(candidates[-1].get("content")).get("parts"))

    def body(self) -> Object:
        """The turn as an answer of `generateContent`."""
        parts = [self._checked(as_object(part)) for part in self._parts()]
        if self._spoken:
            parts.append({"audioTranscription": {"text": "".join(self._spoken)}})
        body: Object = {"candidates": [{"content": {"role": "model", "parts": parts}}]}
        return {**body, "usageMetadata": self.usage} if self.usage else body

    def _checked(self, part: Object) -> Object:
        """A part; a call that the server has cancelled is no longer one that the client must answer."""
        call = as_object(get(part, "functionCall"))
        return {"cancelledCall": call} if call and call.get("id") in self._cancelled else part


def _sound(part: Object) -> str | None:
    """The media type of a piece of sound or video."""
    return as_text(get(as_object(get(part, "inlineData")), "mimeType"))


GEMINI_LIVE = Protocol(
    name="gemini-live",
    title="Gemini Live",
    spec="https://ai.google.dev/api/live, and google-genai 3.4.0, read 2026-11-22",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    finish=dict(FINISH),
    not_read=LIVE_NOT_READ,
    streams=("sse",),
    api=LIVE_API,
    pairing=Pairing(anywhere=True, named_results=True, needs_ids=True),
    requests=RequestRules(),
    answers=AnswerRules(has_word_for_calls=False, gives_results_of=PROGRAMS),
    price_provider="google",
    operation="generate_content",
)
