"""What Google's SDK knows and nothing here reads, with what happens to it."""

_ABOUT_MEDIA = "kept raw: it describes the media beside it, which are read"

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
