"""What Google's SDK knows and nothing here reads, with what happens to it."""

_ABOUT_MEDIA = "kept raw: it describes the media beside it, which are read"

_SUMS_ARE_READ = "kept raw: the sums beside it are read"

NOT_READ: dict[str, dict[str, str]] = {
    "part": {
        "audioMetadata": _ABOUT_MEDIA,
        "documentMetadata": _ABOUT_MEDIA,
        "mediaProcessing": _ABOUT_MEDIA,
        "mediaResolution": _ABOUT_MEDIA,
        "partMetadata": "kept raw: data of the client, which no model sees",
        "speechMetadata": "kept raw: it describes how the text beside it is spoken",
        "spreadsheetMetadata": _ABOUT_MEDIA,
        "thought": "read with the text beside it, which it marks as reasoning",
        "videoMetadata": _ABOUT_MEDIA,
    },
}
"""By kind of member, for generateContent. A test compares the SDK's types with this table and with what is read."""

INTERACTIONS_NOT_READ: dict[str, dict[str, str]] = {}
"""The same for Interactions."""

LIVE_NOT_READ: dict[str, dict[str, str]] = {
    "message": {
        "goAway": "kept raw: the server is about to close the connection",
        "realtimeInput.activityStart": "ignored: the end of the activity asks for the answer",
        "serverContent.generationComplete": "ignored: the turn ends when it is complete",
        "serverContent.groundingMetadata": "kept raw",
        "serverContent.interactionStatus": "kept raw",
        "serverContent.interimInputTranscription": "ignored: the whole text comes in `inputTranscription`",
        "serverContent.urlContextMetadata": "kept raw",
        "serverContent.waitingForInput": "kept raw",
        "usageMetadata.responseTokensDetails": _SUMS_ARE_READ,
        "usageMetadata.serviceTier": "kept raw",
        "usageMetadata.toolUsePromptTokensDetails": _SUMS_ARE_READ,
        "usageMetadata.totalTokenCount": "read where another count is missing",
        "usageMetadata.trafficType": "kept raw",
        "voiceActivity": "kept raw",
        "voiceActivityDetectionSignal": "kept raw",
    },
}
"""The same for sessions of Gemini Live."""

_WORLD = "kept raw: for models that simulate a world, whose answers are video"

INTERACTIONS_LIVE_NOT_READ: dict[str, dict[str, str]] = {
    "client event": {
        "interaction.cancel": "ignored: the server's `interaction.cancelled` says it",
        "interaction.complete": "ignored: nothing more is asked",
        "interaction.disconnect": "ignored: the end of the connection says it",
        "user_action": _WORLD,
        "world_setup": _WORLD,
    },
}
"""The same for live sessions of Interactions."""
