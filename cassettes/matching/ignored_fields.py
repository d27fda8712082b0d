"""What differs between two runs of one agent although nothing was changed.

Each API defines its ignored fields and ids in a trait (`apis/interface.py`). The texts here are blanked for every API:
dates, times and ids, if the prompt says what they are. A user adds pointers and expressions with
`Matching(ignore=…, ignore_text=…)`.
"""

import re
from dataclasses import replace
from functools import lru_cache

from ..apis.interface import IgnoredFields
from ..apis.lookup import api_at
from ..regex import regex

MARK = "⟨volatile⟩"
"""Replaces an ignored text."""

UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
"""For `Matching(ignore_text=(ignored_fields.UUID,))`: a prompt that holds fresh UUIDs."""
TIMESTAMP = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?"
"""For `Matching(ignore_text=(ignored_fields.TIMESTAMP,))`: a date with a time, anywhere."""

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_DAY = r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,?\s+)?"
_DATE = (
    rf"{_DAY}(?:\d{{4}}[-/]\d\d?[-/]\d\d?|\d\d?[./]\d\d?[./]\d{{4}}|{_MONTH}\s+\d\d?(?:st|nd|rd|th)?,?\s+\d{{4}}"
    rf"|\d\d?\s+{_MONTH}\s+\d{{4}})"
)
_CLOCK = r"\d\d?:\d\d(?::\d\d)?(?:\.\d+)?(?:\s?[AaPp]\.?[Mm]\b\.?)?(?:\s?(?:Z|UTC|GMT)\b|\s?[+-]\d\d:?\d\d)?"

CLOCK_TEXT = regex(
    rf"(?P<lead>\b(?:today|now|current|present)(?:'s|’s)?(?:[\s_-](?:local|system))?"
    rf"(?:[\s_-]?(?:date|day|time|datetime|timestamp|date\s(?:and|&)\stime))?(?:\s(?:in|at)\s[A-Z]{{2,5}})?"
    rf"[\"'*_]*\s?(?:is|:|=)?[\"'*_>]*\s{{0,2}})(?:{_DATE}(?:(?:,?\s(?:at\s)?|T){_CLOCK})?|{_CLOCK})",
    re.IGNORECASE,
)
"""Today's date and the time of day, if the prompt calls them that; any other date is compared."""
SESSION_TEXT = regex(
    r"(?P<lead>\b(?:session|request|trace|run|conversation|thread|invocation)[ _-]?id"
    r"[\"'`]?\s?(?:is|:|=)?\s?[\"'`]?\s?)" + UUID,
    re.IGNORECASE,
)
TEXTS = (CLOCK_TEXT, SESSION_TEXT)
"""Blanked in the requests of every API."""


def ignored_at(path: str) -> IgnoredFields:
    """What is ignored in requests to an endpoint, given as by `request_key.path_key`. The same object for one API."""
    return _with_texts(api_at(path).ignored)


@lru_cache(256)
def _with_texts(ignored: IgnoredFields) -> IgnoredFields:
    return replace(ignored, texts=(*TEXTS, *ignored.texts))


def blanked(text: str, patterns: tuple[re.Pattern[str], ...]) -> str:
    """`text` with every match of the patterns replaced by a mark; a group named `lead` stays."""
    for pattern in patterns:
        lead = r"\g<lead>" if "lead" in pattern.groupindex else ""
        text = pattern.sub(lead + MARK, text)
    return text
