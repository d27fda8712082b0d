"""Places in a prompt template that nobody filled in.

Many prompts have braces and signs for a good reason: they explain templates, show code, and say how an answer should
look. A place is reported where its name says what the client should have put there (`{current_date}`,
`{{user_name}}`), or where the prompt is too short for an explanation.
"""

import re

from turntape.cassettes.regex import regex

_ANY = regex(r"\{\{\s*[\w.$ ]{1,60}\s*\}\}|\$\{[\w.]{1,60}\}|<(?:UNKNOWN|unknown)>")
"""A place in a template, whatever its name is."""
_REPLACEABLE = regex(
    r"<(?:insert|your|enter|add|put|replace|fill)[ _-][^<>\n]{1,60}>|\[(?:insert|your|enter)[ _-][^\[\]\n]{1,60}\]"
    r"|YOUR_[A-Z0-9_]{2,40}"
)
"""Words in place of a value, as examples have them: `<your city>`, `[insert the date]`, `YOUR_API_KEY`."""
_TALKS = regex(r"\b(?:template|placeholder|variable|f-?string|format|jinja|mustache|python|code)\b", re.IGNORECASE)
_WHOLE = regex(
    r"(?<!\{)\{(?:question|user_question|query|user_query|input|user_input|context|prompt|message|user_message|text|topic)\}(?!\})"
)
"""A place in a template of Python for what the message itself should be."""
_SHORT = 300
"""Characters. A longer text may explain a template."""
_LONGEST = 20_000

_NAMES = (
    r"(?:(?:current|today|now)(?:_\w{1,30})?|todays?_date|date|time|datetime|timestamp|timezone|"
    r"(?:user|customer|company|organi[sz]ation|org|tool|tools|agent|assistant|bot|chat|conversation|session|retrieved)_\w{1,30}|"
    r"user|username|(?:first|last|full)_name|company|tools|available_(?:tools|functions)|functions|persona|role|goal|backstory|"
    r"topic|instructions|system_(?:prompt|message)|context|documents|docs|(?:chat_|message_)?history|memory|memories|"
    r"input|query|question|cwd|working_(?:dir|directory)|platform|os|model_name|location)"
)
_NAMED = regex(
    rf"\{{\{{\s*\.?{_NAMES}\s*\}}\}}|\$\{{{_NAMES}\}}|%\({_NAMES}\)[sd]|(?<![\w\\/$_^{{}}(=#:\[\]])\{{{_NAMES}\??\}}(?![\w}}/])"
    r"|(?<![\w%\"'(])%s(?![\w\"'])",
    re.IGNORECASE,
)
"""A place whose name says what the client should have put there; printf's `%s` has no other meaning in prose."""
_SHOWN = regex(r"```.*?(?:```|\Z)|`[^`\n]*`|\"[^\"\n]*\"|(?<!\w)'[^'\n]*'(?!\w)|https?://\S+", re.DOTALL)
"""Code, quotations and addresses."""
_EXPLAINS = regex(
    r"\b(?:templates?|placeholders?|variables?|f-?strings?|jinja\w*|mustache|handlebars|interpolat\w*|substitut\w*|"
    r"fill(?:ed)? in|curly|braces|brackets|printf|strftime|regex\w*)\b",
    re.IGNORECASE,
)
"""Words of a prompt that explains templates."""
_ASKS_FOR = regex(
    r"\b(?:formats?|formatted|examples?|e\.g\.|outputs?|respond|repl(?:y|ies)|answers?|write|return|produce|generate|"
    r"as follows|like this|looks? like|structure|schema|pattern|filenames?|files? named|commit|branch|titles?|headings?|"
    r"replace|insert)\b",
    re.IGNORECASE,
)
"""Words of a prompt that says how something of the model's should look."""
_SENTENCE_END = regex(r"[.!?]\s")


def unfilled(text: str) -> str | None:
    """The first place of a template in a text whose name says what belongs there; None where the text explains or asks
    for such places."""
    if "{" not in text and "%" not in text:
        return None
    if len(text) > _LONGEST or _EXPLAINS.search(text):
        return None
    prose = _SHOWN.sub(_blank, text)
    for found in _NAMED.finditer(prose):
        if not _ASKS_FOR.search(_NAMED.sub(" ", _sentence_around(prose, found.start(), found.end()))):
            return text[found.start() : found.end()]
    return None


def _sentence_around(text: str, start: int, end: int) -> str:
    """The sentence of a place within its line, with the line before where that introduces it with a colon."""
    before, after = text[:start].split("\n"), text[end:].split("\n", 1)[0]
    introduced = next((line for line in reversed(before[:-1]) if line.strip()), "")
    sentence = _SENTENCE_END.split(before[-1])[-1] + text[start:end] + _SENTENCE_END.split(after)[0]
    return f"{introduced}\n{sentence}" if introduced.rstrip().endswith(":") else sentence


def _blank(found: re.Match[str]) -> str:
    """As many characters as were found, so that places stay where they are."""
    return re.sub(r"[^\n]", " ", found[0])


def unfilled_of_any_name(text: str) -> str | None:
    """The first place of a template in a text, whatever its name; None where the text speaks of templates or code."""
    if "`" in text or _TALKS.search(text) or len(text) > _LONGEST:
        return None
    found = _ANY.search(text)
    return found[0] if found is not None else None


def unfilled_in_short(text: str) -> str | None:
    """The same for a whole message of a person or a short prompt, which may also be the text itself."""
    if len(text) > _SHORT:
        return None
    place = unfilled(text) or unfilled_of_any_name(text)
    if place is None and "`" not in text and not _TALKS.search(text) and (found := _WHOLE.search(text)) is not None:
        place = found[0]
    return place


def is_unfilled(text: str) -> bool:
    """True for a text that is only a place in a template, or that says what should be in its place."""
    return _ANY.fullmatch(text.strip()) is not None or _REPLACEABLE.fullmatch(text.strip()) is not None
