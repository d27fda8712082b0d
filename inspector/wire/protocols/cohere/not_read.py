"""What Cohere's SDK knows and nothing here reads, with what happens to it."""

_CITATION = "ignored: it points at sources of the text, which is read"
_BEGINS = "ignored: the text comes in the events after it"
_ENDS = "ignored: `message-end` ends the answer"
_DEBUG = "ignored: it is for Cohere's own staff"

NOT_READ: dict[str, dict[str, str]] = {
    "stream event": {
        "citation-end": _CITATION,
        "citation-start": _CITATION,
        "content-end": _ENDS,
        "debug": _DEBUG,
    },
}
"""By kind of member, for version 2. A test compares the SDK's unions with this table and with what is read."""

V1_NOT_READ: dict[str, dict[str, str]] = {
    "stream event": {
        "citation-generation": _CITATION,
        "debug": _DEBUG,
        "search-queries-generation": "kept raw: queries of Cohere's own search",
        "search-results": "kept raw: documents of Cohere's own search",
        "tool-calls-chunk": "ignored: the whole calls come in `tool-calls-generation`",
    },
}
"""The same for version 1."""
