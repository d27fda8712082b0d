"""Gemini as the tape sees it, at its own host and on Vertex."""

import re

from turntape.cassettes.apis.interface import Api, IgnoredFields, Registration, SessionTurns, Spellings
from turntape.cassettes.regex import regex

from ...json_value import Object, as_object, objects_in, parse_json
from .faults import FAULTS
from .parts import get

_PARTS = ("/contents/*/parts/*", "/systemInstruction/parts/*")

SPELLINGS = Spellings(
    defaults={
        "/*": (None,),
        "/contents/*/role": ("user", None),
        "/contents/*/parts/*/*": (None,),
        "/contents/*/parts/*/functionCall/args": ({}, None),
        "/systemInstruction/role": ("user", "system", None),
        "/tools": ([],),
        "/safetySettings": ([],),
        "/generationConfig": ({},),
        "/generationConfig/*": (None,),
        "/generationConfig/candidateCount": (1,),
        "/toolConfig": ({},),
        "/toolConfig/functionCallingConfig": ({},),
        "/toolConfig/functionCallingConfig/mode": ("AUTO",),
    },
    names={"/tools/*/functionDeclarations/*/parameters": "parametersJsonSchema"},
    schemas=("/tools/*/functionDeclarations/*/parametersJsonSchema",),
    two_names=True,
    own=(
        *(f"{part}/{call}" for part in _PARTS for call in ("functionCall/args", "functionResponse/response")),
        *(f"{part}/{call}" for part in _PARTS for call in ("toolCall/args", "toolResponse/response", "partMetadata")),
        "/tools/*/functionDeclarations/*/response",
        "/tools/*/functionDeclarations/*/responseJsonSchema",
        "/tools/*/mcpServers/*/streamableHttpTransport/headers",
        "/tools/*/parallelAiSearch/customConfigs",
        "/tools/*/exaAiSearch/customConfigs",
        "/generationConfig/responseSchema",
        "/generationConfig/responseJsonSchema",
        "/generationConfig/responseFormat",
        "/labels",
        "/instances",
        "/parameters",
    ),
    described=("/tools", "/generationConfig/responseSchema", "/generationConfig/responseJsonSchema"),
)
"""Google's reference of `generateContent`, and of JSON in proto3, which has two names for each field; the types of
google-genai 3.4, read 2026-11. It writes as JSON Schema what was a `Schema`."""

API = Api(
    path=regex(r".*models/[^/]+(?::|%3A)\w+"),
    ignored=IgnoredFields(
        pointers=(
            "/labels",
            "/generationConfig/seed",
            "/generation_config/seed",
            # What a function of the client returns: google-genai 3 sends it, older versions do not.
            "/tools/*/functionDeclarations/*/response",
            "/tools/*/functionDeclarations/*/responseJsonSchema",
        ),
        ids=(
            "/contents/*/parts/*/functionCall/id",
            "/contents/*/parts/*/functionResponse/id",
            "/contents/*/parts/*/function_call/id",
            "/contents/*/parts/*/function_response/id",
            "/contents/*/parts/*/toolCall/id",
            "/contents/*/parts/*/toolResponse/id",
            "/contents/*/parts/*/executableCode/id",
            "/contents/*/parts/*/codeExecutionResult/id",
        ),
        spellings=SPELLINGS,
        # Gemini CLI lists its skills in the order in which their folders are read (0.61.0).
        texts=(regex(r"<skill>\s*<name>[^<]*</name>\s*<description>[^<]*</description>.*?</skill>", re.DOTALL),),
    ),
    faults=FAULTS,
    stream_ends=(b'"finishReason"',),
    turn_paths=(":generateContent", ":streamGenerateContent"),
)
INTERACTIONS_API = Api(
    path=regex(r"(?:.*/)?interactions"),
    ignored=IgnoredFields(
        spellings=Spellings(
            defaults={
                "/*": (None,),
                "/stream": (False,),
                "/background": (False,),
                "/tools": ([],),
                "/generation_config": ({},),
                "/generation_config/*": (None,),
            },
            texts=("/input", "/input/*/content"),
            described=("/tools", "/response_format"),
        )
    ),
    stream_ends=(b"interaction.complete",),
    turn_paths=("/interactions",),
)


def _asks(message: bytes) -> bool:
    """Complete content, results of calls, a text, or the end of speech."""
    if not any(word in message for word in _ASKING):
        return False
    sent = as_object(parse_json(message))
    content, live = as_object(get(sent, "clientContent")), as_object(get(sent, "realtimeInput"))
    asked = get(content, "turnComplete") is True or get(sent, "toolResponse") is not None
    return asked or any(get(live, name) is not None for name in ("text", "activityEnd", "audioStreamEnd"))


def _answers(message: bytes) -> bool:
    """The end of the model's turn, or its calls."""
    if not any(word in message for word in _ANSWERING):
        return False
    said = as_object(parse_json(message))
    complete = get(as_object(get(said, "serverContent")), "turnComplete") is True
    return complete or get(said, "toolCall") is not None


_ASKING = (b"urnComplete", b"urn_complete", b"oolResponse", b"ool_response", b"ealtimeInput", b"ealtime_input")
_ANSWERING = (b"urnComplete", b"urn_complete", b"oolCall", b"ool_call")

LIVE_API = Api(path=regex(r".*BidiGenerateContent\w*"), session_turns=SessionTurns(_asks, _answers))


def _gives_input(message: bytes) -> bool:
    """An input of the client, alone or among other events."""
    return b'"input"' in message and any(event.get("event_type") == "input" for event in _events(message))


def _begins_output(message: bytes) -> bool:
    """The step with which the model says something. An answer that only calls functions has none."""
    if b'"model_output"' not in message:
        return False
    steps = [as_object(event.get("step")) for event in _events(message) if event.get("event_type") == "step.start"]
    return any(step.get("type") == "model_output" for step in steps)


def _events(message: bytes) -> list[Object]:
    sent = as_object(parse_json(message))
    return objects_in(sent.get("events")) or [sent]


INTERACTIONS_LIVE_API = Api(
    path=regex(r"(?:.*/)?interactions/live"), session_turns=SessionTurns(_gives_input, _begins_output)
)

GEMINI_INTERACTIONS_LIVE = Registration(
    f"{__package__}.interactions_live:GEMINI_INTERACTIONS_LIVE",
    INTERACTIONS_LIVE_API,
    "gemini-interactions-live",
    paths=regex(r"/interactions/live/*$"),
)
GEMINI_INTERACTIONS = Registration(
    f"{__package__}.interactions:GEMINI_INTERACTIONS",
    INTERACTIONS_API,
    "gemini-interactions",
    paths=regex(r"/interactions"),
)
GEMINI_GENERATE = Registration(
    f"{__package__}.generate:GEMINI_GENERATE",
    API,
    "gemini-generate",
    paths=regex(r"(?::|%3A)\w+$", re.IGNORECASE),
    answers=regex(rb'"candidates"'),
)
GEMINI_LIVE = Registration(
    f"{__package__}.live:GEMINI_LIVE", LIVE_API, "gemini-live", paths=regex(r"BidiGenerateContent")
)
