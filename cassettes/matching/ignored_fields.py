"""What differs between two runs of one agent although nothing was changed: one literal table, a row a wire shape.

A row is found by the endpoint's path, since this floor knows no protocol. `pointers` are left out of a match,
`ids` are compared by who refers to whom and not by their value (unless the tape holds the value, then it counts),
and `texts` are blanked wherever a string says them. A user adds pointers and regular expressions of their own with
`Matching(ignore=…, ignore_text=…)`.
"""

import re
from dataclasses import dataclass

MARK = "⟨volatile⟩"
"""What stands for a text that does not count."""

UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
"""For `Matching(ignore_text=(volatile.UUID,))`: a prompt that holds fresh UUIDs."""
TIMESTAMP = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?"
"""For `Matching(ignore_text=(volatile.TIMESTAMP,))`: a date with a time, anywhere."""

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_DAY = r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,?\s+)?"
_DATE = (
    rf"{_DAY}(?:\d{{4}}[-/]\d\d?[-/]\d\d?|\d\d?[./]\d\d?[./]\d{{4}}|{_MONTH}\s+\d\d?(?:st|nd|rd|th)?,?\s+\d{{4}}"
    rf"|\d\d?\s+{_MONTH}\s+\d{{4}})"
)
_CLOCK = r"\d\d?:\d\d(?::\d\d)?(?:\.\d+)?(?:\s?[AaPp]\.?[Mm]\b\.?)?(?:\s?(?:Z|UTC|GMT)\b|\s?[+-]\d\d:?\d\d)?"

CLOCK_TEXT = re.compile(
    rf"(?P<lead>\b(?:today|now|current|present)(?:'s|’s)?(?:\s(?:local|system))?"
    rf"(?:\s(?:date|day|time|datetime|timestamp|date\s(?:and|&)\stime))?(?:\s(?:in|at)\s[A-Z]{{2,5}})?"
    rf"[\"'*_]*\s?(?:is|:|=)?[\"'*_>]*\s{{0,2}})(?:{_DATE}(?:(?:,?\s(?:at\s)?|T){_CLOCK})?|{_CLOCK})",
    re.IGNORECASE,
)
"""Today's date and the clock, where a prompt tells them as such; any other date is part of what is said."""
SESSION_TEXT = re.compile(
    r"(?P<lead>\b(?:session|request|trace|run|conversation|thread|invocation)[ _-]?id[\"'`]?\s?(?:is|:|=)?[\"'`]?\s?)"
    + UUID,
    re.IGNORECASE,
)
BILLING_TEXT = re.compile(r"(?P<lead>^x-anthropic-billing-header:).*", re.DOTALL)
"""A system block in which Claude Code counts and signs its requests."""
WALL_TIME_TEXT = re.compile(r"(?P<lead>^Wall time: )[\d.]+(?= seconds$)", re.MULTILINE)
"""How long a tool took, which Codex puts before its output."""

TEXTS = (CLOCK_TEXT, SESSION_TEXT)


@dataclass(frozen=True, slots=True)
class Volatile:
    """One row: the requests of one wire shape."""

    path: re.Pattern[str]
    """Fits the whole endpoint, without base, version and query."""
    pointers: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    texts: tuple[re.Pattern[str], ...] = TEXTS


def _row(
    path: str,
    pointers: tuple[str, ...],
    ids: tuple[str, ...] = (),
    texts: tuple[re.Pattern[str], ...] = (),
) -> Volatile:
    return Volatile(re.compile(path), pointers, ids, (*TEXTS, *texts))


TABLE = (
    # Anthropic Messages, at its own host, on Vertex and on Bedrock.
    _row(
        r"(?:.*/)?messages(?:/count_tokens)?|.*:(?:rawPredict|streamRawPredict)|model/.+/invoke(?:-with-.*)?",
        (
            "/metadata",
            "/diagnostics",
            "/cache_control",
            "/system/*/cache_control",
            "/tools/*/cache_control",
            "/messages/*/content/*/cache_control",
            "/messages/*/content/*/content/*/cache_control",
        ),
        ("/messages/*/content/*/id", "/messages/*/content/*/tool_use_id"),
        (BILLING_TEXT,),
    ),
    # OpenAI Responses, and the Codex backend.
    _row(
        r"(?:.*/)?responses(?:/compact|/input_tokens)?",
        (
            "/user",
            "/metadata",
            "/safety_identifier",
            "/prompt_cache_key",
            "/prompt_cache_retention",
            "/client_metadata",
            "/input/*/create_time",
            "/input/*/internal_chat_message_metadata_passthrough",
        ),
        ("/input/*/id", "/input/*/call_id"),
        (WALL_TIME_TEXT,),
    ),
    # Chat completions of OpenAI and kin, Mistral, Cohere 2, and Ollama's chat.
    _row(
        r"(?:.*/)?(?:chat|agents|fim)/completions|(?:api/)?chat|(?:.*/)?completions|api/generate|.*/invocations",
        (
            "/user",
            "/metadata",
            "/session_id",
            "/trace",
            "/safety_identifier",
            "/prompt_cache_key",
            "/prompt_cache_retention",
            "/seed",
            "/random_seed",
            "/options/seed",
            "/tools/*/cache_control",
            "/messages/*/cache_control",
            "/messages/*/content/*/cache_control",
        ),
        ("/messages/*/tool_calls/*/id", "/messages/*/tool_call_id"),
    ),
    # Gemini, at its own host and on Vertex.
    _row(
        r".*models/[^/]+(?::|%3A)\w+",
        ("/labels", "/generationConfig/seed", "/generation_config/seed"),
        (
            "/contents/*/parts/*/functionCall/id",
            "/contents/*/parts/*/functionResponse/id",
            "/contents/*/parts/*/function_call/id",
            "/contents/*/parts/*/function_response/id",
        ),
    ),
    # Bedrock Converse.
    _row(
        r"model/.+/converse(?:-stream)?",
        (
            "/requestMetadata",
            "/system/*/cachePoint",
            "/messages/*/content/*/cachePoint",
            "/toolConfig/tools/*/cachePoint",
        ),
        ("/messages/*/content/*/toolUse/toolUseId", "/messages/*/content/*/toolResult/toolUseId"),
    ),
)
"""Most specific first; the first row that fits holds."""

OTHER = Volatile(re.compile(""), ())
"""What is not in the table: nothing in it is known to be volatile but what a text says of itself."""


def row_of(path: str) -> Volatile:
    """The row of an endpoint, as `request_key.path_key` spells it."""
    bare = path.partition("?")[0]
    return next((row for row in TABLE if row.path.fullmatch(bare)), OTHER)


def blanked(text: str, patterns: tuple[re.Pattern[str], ...]) -> str:
    """`text` with what the patterns find replaced by a mark; a group named `lead` stays."""
    for pattern in patterns:
        lead = r"\g<lead>" if "lead" in pattern.groupindex else ""
        text = pattern.sub(lead + MARK, text)
    return text
