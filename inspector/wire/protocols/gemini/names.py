"""The two names of the fields of a request: `systemInstruction` and `system_instruction` are one field."""

import re

_PART = """
    functionCall functionCall/willContinue functionResponse functionResponse/willContinue inlineData inlineData/mimeType
    inlineData/displayName fileData fileData/mimeType fileData/fileUri fileData/displayName thoughtSignature
    executableCode codeExecutionResult mediaResolution videoMetadata videoMetadata/startOffset videoMetadata/endOffset
    toolCall toolCall/toolType toolResponse toolResponse/toolType partMetadata
"""
_RESULT_PART = "inlineData inlineData/mimeType inlineData/displayName fileData fileData/mimeType fileData/fileUri"
_CONFIGURATION = """
    maxOutputTokens responseMimeType responseSchema responseJsonSchema responseModalities responseLogprobs stopSequences
    topP topK candidateCount presencePenalty frequencyPenalty audioTimestamp mediaResolution thinkingConfig
    thinkingConfig/includeThoughts thinkingConfig/thinkingBudget thinkingConfig/thinkingLevel imageConfig
    imageConfig/aspectRatio imageConfig/imageSize enableEnhancedCivicAnswers speechConfig speechConfig/languageCode
    speechConfig/voiceConfig speechConfig/voiceConfig/prebuiltVoiceConfig
    speechConfig/voiceConfig/prebuiltVoiceConfig/voiceName
"""
_TOOL = """
    functionDeclarations functionDeclarations/*/parametersJsonSchema functionDeclarations/*/responseJsonSchema
    googleSearch googleSearch/timeRangeFilter googleSearch/timeRangeFilter/startTime
    googleSearch/timeRangeFilter/endTime googleSearch/excludeDomains googleSearchRetrieval
    googleSearchRetrieval/dynamicRetrievalConfig googleMaps urlContext codeExecution computerUse
    computerUse/excludedPredefinedFunctions fileSearch fileSearch/fileSearchStoreNames fileSearch/metadataFilter
    fileSearch/topK mcpServers
"""
_TOOL_SETTINGS = """
    functionCallingConfig functionCallingConfig/allowedFunctionNames retrievalConfig retrievalConfig/latLng
    retrievalConfig/languageCode includeServerSideToolInvocations
"""
_BODY = "systemInstruction generationConfig safetySettings toolConfig cachedContent serviceTier"

_HELD = {
    "": _BODY,
    "/contents/*/parts/*": _PART,
    "/contents/*/parts/*/functionResponse/parts/*": _RESULT_PART,
    "/systemInstruction/parts/*": _PART,
    "/generationConfig": _CONFIGURATION,
    "/tools/*": _TOOL,
    "/toolConfig": _TOOL_SETTINGS,
}


def _second(name: str) -> str:
    return re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", name)


def _names() -> dict[str, str]:
    places = (f"{holder}/{place}" for holder, held in _HELD.items() for place in held.split())
    return {f"{parent}/{_second(name)}": name for parent, _, name in (place.rpartition("/") for place in places)}


NAMES = _names()
"""For each pointer to a field under its second name, the first: the types of google-genai 2, read 2026-11. What a
schema, a call's arguments or a result hold is the user's and has one name."""
