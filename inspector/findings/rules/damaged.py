"""Strings that something damaged on the way: arguments, texts of answers, messages of the client.

A text that the request holds unharmed proves the damage. Without such a source, only shapes that have no other
explanation are reported.
"""

import re
from collections.abc import Container, Iterator

from turntape.cassettes.excerpts import cut
from turntape.cassettes.regex import regex

from ...wire.json_value import as_array, as_object, is_array, is_object, parse_json
from ...wire.per_message import Joined
from ...wire.values import Message, Part
from ..finding import Layer, Tier
from ..model_words import THOUGHT_BEGINS, THOUGHT_ENDS
from ..repetition import pieces_twice
from ..rule import Note, rule
from ..rule_context import RuleContext
from ..transformations import damage, inverses, markup_end
from .call_shape import LOST
from .emission import call_at, whole_calls
from .template_tokens import token_around
from .unfilled import is_unfilled, unfilled, unfilled_in_short, unfilled_of_any_name
from .unserialized import is_bytes, placeholder, represented

_LONGEST = 20_000
_SHORTEST = 6
"""Characters. Shorter texts may be in the request by chance."""
_CODE = regex(r"```.*?(?:```|$)|`[^`\n]*`", re.DOTALL)
_LITERAL = regex(r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|`[^`]*+`|\[[^\]]*+\]", re.DOTALL)
"""A string of source code, or a set of characters in a pattern."""
_THINKS = regex("|".join((THOUGHT_BEGINS, THOUGHT_ENDS)))
_NOTHING = frozenset({"undefined", "NaN", "[object Object]", "None", "null"})


def strings_in(value: object, at: str = "") -> Iterator[tuple[str, str]]:
    """Each text of a JSON value, with the names that lead to it."""
    if isinstance(value, str):
        yield at, value
    elif is_object(value):
        for key, item in as_object(value).items():
            yield from strings_in(item, f"{at}.{key}" if at else key)
    elif is_array(value):
        for item in value:
            yield from strings_in(item, at)


def _said(context: RuleContext) -> str:
    """All that the request says to the model."""
    parts = [*context.request.system, *(part for message in context.request.messages for part in message.parts)]
    return "\n".join(p.call.arguments_raw if p.call else p.result.text if p.result else p.text for p in parts)


_ROUTED = regex(r"(?:^|\s|>)(?:(?:assistant|analysis|commentary|final|user)\s+)?to=functions\.([\w.-]+)")
"""How gpt-oss and similar models begin a call: a header that belongs around the arguments, and is in them."""


def _of_argument(text: str, said: str, tools: Container[str]) -> tuple[str, Layer | None, Tier | None] | None:
    """What is wrong with a text of a call, whose fault it is, and how sure that is."""
    if text in said:
        return None
    for how, before in inverses(text) if len(text) >= _SHORTEST else ():
        if len(before.strip()) >= _SHORTEST and before.strip() in said:
            return (
                f"is {cut(before.strip(), 60)!r} of the request {how}",
                "api" if "encoding" in how or "tokenizer" in how else None,
                "P",
            )
    header = next((one for one in _ROUTED.finditer(text) if one[1] in tools), None)
    if header is not None and header[0].strip() not in said:
        return f"continues as the header of another call ({header[0].strip()!r})", None, None
    if (end := markup_end(text)) is not None:
        return f"ends with markup of a call ({end!r})", None, None
    if (token := token_around(text)) is not None and token not in said:
        return f"holds a token of the chat template ({token!r})", "api", None
    # Source code may spell characters as codes in its strings and patterns.
    bare = _LITERAL.sub("", text) if "\\u" in text else text
    if (found := damage(text)) is not None and (bare == text or damage(bare) is not None):
        return f"holds {found[0]}", "api" if found[1] == "encoding" else None, None
    if (thought := _THINKS.search(text)) is not None and thought[0] not in said:
        return f"holds reasoning in tags ({thought[0]!r})", None, None
    if is_unfilled(text):
        return "is a placeholder that nobody filled in", None, None
    return None


@rule(
    "call-args-damaged",
    "model",
    "warning",
    "S",
    says="A text in the arguments of a call is not what the tool should get: it is escaped, encoded twice, or holds remains "
    "of the call's markup, NUL or characters of another encoding.",
    fix="Check the server's chat template and its parser of calls; answer the call with an error that says what is wrong.",
    not_when=(
        "The request holds the text in the same form",
        "The text is HTML",
    ),
)
def arguments_damaged(context: RuleContext) -> Iterator[Note]:
    said: str | None = None
    for call in whole_calls(context):
        for name, text in strings_in(call.arguments):
            if not _is_suspect(text):
                continue
            said = _said(context) if said is None else said
            found = _of_argument(text, said, context.tools)
            if found is not None:
                what, layer, tier = found
                yield Note(
                    f"the argument {name!r} of {call.name!r} {what}: {end_of(text)!r}",
                    (call_at(context, call), f"{context.at} response"),
                    layer=layer,
                    tier=tier,
                )
                break


_SUSPECT = regex(
    r"&\w{2,6};|&#|[^\x20-\x7e\n\t\r]|\\[nu\"]|</?(?:seed:)?think(?:ing)?>|<\||\[/?(?:INST|THINK)|_of_turn>|<0x|[>\]]\s*\Z"
    r"|\A\s*(?:`|\"|\$|\{\{|<|YOUR_)|%[0-9A-Fa-f]{2}|\A[A-Za-z0-9+/]{16,}={0,2}\Z|\bto=functions\.",
    re.IGNORECASE,
)


def _is_suspect(text: str) -> bool:
    """True for a text that holds anything which a transformation leaves behind; most texts hold nothing of it."""
    return _SUSPECT.search(text) is not None


def end_of(text: str) -> str:
    """A text, or its beginning and its end, where damage shows."""
    return text if len(text) <= 100 else f"{text[:50]}…{text[-50:]}"


@rule(
    "answer-text-damaged",
    "api",
    "warning",
    "S",
    says="The text of the answer is not what a model writes: characters of another encoding, NUL, HTML escapes or escaped line "
    "breaks in prose, every piece twice or behind an empty thought, an object of a program or the body of another answer in "
    "place of the text, or the user's own message in front of it.",
    fix="Check how the server and each gateway decode, escape and join the text.",
    not_when=("The request holds the same", "It is in code"),
)
def answer_damaged(context: RuleContext) -> Iterator[Note]:
    text = context.emission.text
    if not context.succeeded or not text.strip():
        return
    hollow = sum(map(_is_empty_thought, context.emission.content))
    if hollow >= _HOLLOW:
        yield Note(
            f"the text of the answer is cut into pieces, with {hollow} thoughts between them that are empty and not signed",
            (f"{context.at} response",),
        )
        return
    if context.request.output_format is not None:
        return
    what = placeholder(text) or represented(text) or _is_nothing(context, text.strip())
    shown = f"is {what}" if what else ""
    prose = _CODE.sub("", text)
    if not shown and (found := damage(prose) if not prose.lstrip().startswith(("{", "[")) else None) is not None:
        shown = f"holds {found[0]}"
    if not shown and LOST in prose and context.finish.label not in ("length", "context_full"):
        shown = "holds the replacement character U+FFFD: bytes of it were lost"
    if not shown and HALF.search(prose) and context.finish.label not in ("length", "context_full"):
        shown = f"holds {HALVED}"
    if not shown and (form := _form_of_an_answer(text)) is not None:
        shown = f"is {form}: a gateway put it into its own answer as it came"
    if not shown and _is_spelled_as_json(text):
        shown = "is a JSON string: its quotation marks and escapes belong to the encoding"
    if not shown and (asked := _repeats_prompt(context, text)) is not None:
        yield Note(
            f"the text of the answer begins with the whole message of the user, as of a server that returns the prompt: "
            f"{cut(asked, 80)!r}",
            (f"{context.at} response",),
        )
        return
    if not shown and pieces_twice(text):
        shown = "has every piece twice"
    if not shown and _lacks_blanks(text) and not _ASKS_BLANKS.search(_said(context)):
        shown = "has no blanks between its words"
    if shown and not any(mark in _said(context) for mark in _marks(prose)):
        yield Note(f"the text of the answer {shown}: {cut(text.strip(), 80)!r}", (f"{context.at} response",))


_HOLLOW, _SAID = 3, 12


def _is_nothing(context: RuleContext, text: str) -> str | None:
    """The word of a program for a missing value, where the tokens say that the model wrote more than a word."""
    usage = context.reading.usage
    if text not in _NOTHING or usage is None or usage.output is None:
        return None
    if usage.reasoning is None and not context.spoken[1].shows_thoughts:
        return None
    tokens = usage.output - (usage.reasoning or 0)
    return f"a missing value as a word, and {tokens} output tokens are counted for it" if tokens >= _SAID else None


def _is_empty_thought(part: Part) -> bool:
    """True for a thought that says nothing and that no API can read either."""
    return part.kind == "reasoning" and not part.text.strip() and not part.signature


HALF = regex("[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]")
"""Half of a character in UTF-16, as JSON escapes may spell it. Pieces of a stream may have the two halves."""
HALVED = "half a character: the other half of a surrogate pair was lost"


def was_halved(context: RuleContext) -> bool:
    """True when the answer before holds half a character too: a tool may give it back."""
    before = context.before.reading.emission if context.before is not None else None
    said = [before.text, *(call.arguments_raw for call in before.calls)] if before is not None else []
    return any(HALF.search(one) or _HALF_SPELLED.search(one) for one in said)


_HALF_SPELLED = regex(r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])")
_EVENTS = regex(r'\s*(?:event: \S+\n)?data: ?\{"')


def _form_of_an_answer(text: str) -> str | None:
    """What a text is that is the body of an answer of an API; None for any other text."""
    if _EVENTS.match(text):
        return "a stream of events"
    body = as_object(parse_json(text)) if text.lstrip().startswith("{") else {}
    kind = body.get("object")
    if (
        is_array(body.get("choices"))
        and isinstance(kind, str)
        and kind.startswith(("chat.completion", "text_completion"))
    ):
        return "the whole body of a chat completion"
    if is_array(body.get("candidates")) and "usageMetadata" in body:
        return "the whole body of an answer of Gemini"
    if body.get("type") == "message" and body.get("role") == "assistant" and is_array(body.get("content")):
        return "the whole body of a message"
    if body.get("role") == "assistant" and isinstance(body.get("content"), str) and _MESSAGE.issuperset(body):
        return "a message of a chat, as JSON"
    if kind == "response" and is_array(body.get("output")):
        return "the whole body of a response"
    return None


_MESSAGE = frozenset({"role", "content", "refusal", "annotations", "audio", "name", "tool_calls", "reasoning_content"})
"""What a message of a chat may have."""


def _is_spelled_as_json(text: str) -> bool:
    """True for a text that was written as a JSON string once more, with escapes that no prose has."""
    bare = text.strip()
    spelled = bare[:1] == bare[-1:] == '"' and ("\\n" in bare or '\\"' in bare)
    return spelled and isinstance(parse_json(bare), str)


_ASKED = 40
"""Characters. A model may begin with a shorter question."""


def _repeats_prompt(context: RuleContext, text: str) -> str | None:
    """The last message of the user, if the answer begins with all of it and continues.

    An API that completes a text may return the text too: by default, or with `echo`.
    """
    if context.protocol.operation == "text_completion":
        return None
    users = _texts_of_user(context.request.messages)
    asked, said = users[-1].strip() if users else "", text.lstrip()
    return asked if len(asked) >= _ASKED and said.startswith(asked) and said.strip() != asked else None


def _user_texts(message: Message) -> list[str]:
    return [part.text for part in message.parts if part.kind == "text"] if message.role == "user" else []


_texts_of_user = Joined(_user_texts).of
_WORDS = regex(r"[a-z]{22}")
"""Small letters in a row, more than a word has."""
_ASKS_BLANKS = regex(r"\b(?:spaces?|blanks?|whitespace|concatenat\w*|slug)\b", re.IGNORECASE)
_LINE = 40
"""Characters. A text of one word is shorter."""


def _lacks_blanks(text: str) -> bool:
    """True for words of Latin letters without any space between them: the server's detokenizer dropped them."""
    return len(text) >= _LINE and " " not in text.strip() and _WORDS.search(text) is not None


def _marks(text: str) -> Iterator[str]:
    """Signs of damage in a text that a request may hold too."""
    if (found := damage(text)) is not None and found[1] == "encoding" and "'" in found[0]:
        yield found[0].split("'")[1]
    for mark in ("&lt;", "&gt;", "&amp;", "&quot;", "&#39;", "\\n", "\0", "[object ", LOST):
        if mark in text:
            yield mark


@rule(
    "client-text-damaged",
    "client",
    "warning",
    "S",
    says="A message that the client sends is not what a person wrote: an object or a missing value as a string, characters of "
    "another encoding, NUL, or a template that nobody filled in.",
    fix="Print what your code passes as the message; turn objects into text, and read and write files as UTF-8.",
    not_when=(
        "It is a part of a longer text",
        "It is a place in a long system prompt whose name does not say what belongs there: then it is an info",
        "It is an object behind a label, or a lost character, inside a message: then it is an info",
        "The message talks about templates or code",
        "The message speaks of how characters look, and may quote them: then it is an info",
    ),
)
def text_damaged(context: RuleContext) -> Iterator[Note]:
    for part, users in _own_texts(context):
        what = _of_message(part.text)
        if what is None and not users and (place := unfilled(part.text)) is not None:
            what = f"holds {place!r}, which nobody filled in"
        sure = what is not None
        if not sure and (found := _inserted(part.text) if users else _unfilled_or_object(part.text)) is not None:
            what = f"holds {found}"
        if what is not None:
            yield Note(
                f"{'a message of the user' if users else 'the system prompt'} {what}: {_around(part.text, what)!r}",
                (f"{context.at} request {part.pointer}",),
                severity="info" if not sure or (users and _asks_about(part.text)) else None,
                key=part.text[:200],
            )


def _around(text: str, what: str) -> str:
    """The part of a text that shows what is wrong: what is around the first quoted words, or its beginning."""
    quoted = what.split("'")[1:2]
    at = text.find(quoted[0]) if quoted else -1
    start = max(at - 40, 0) if at > 40 else 0
    return text[start : start + 80].strip()


def _asks_about(text: str) -> bool:
    """True for a message with characters of another encoding that speaks of how a text looks: it may quote them."""
    return (found := damage(text)) is not None and found[1] == "encoding" and _ON_SIGNS.search(text) is not None


_ON_SIGNS = regex(
    r"\b(?:encod\w*|decod\w*|utf|unicode|latin|mojibake|charset|characters?|garbled|symbols?|signs?|"
    r"(?:looks?|shows?|shown|displays?|displayed|appears?|reads?|see|get|prints?|why))\b",
    re.IGNORECASE,
)


def _unfilled_or_object(text: str) -> str | None:
    place = unfilled_of_any_name(text)
    return f"{place!r}, which nobody filled in" if place is not None else _inserted_object(text)


_BEHIND_LABEL = regex(r"^[ \t]*[A-Za-z][\w ]{0,40}[:=][ \t]*\[object \w+\][,;]?[ \t]*$", re.MULTILINE)
_ON_CODE = regex(
    r"\b(?:code|javascript|typescript|js|bug\w*|error\w*|fix\w*|console|log\w*|debug\w*|tostring|stringif\w*|print\w*|shows?|why)\b",
    re.IGNORECASE,
)
_ON_CHARACTERS = regex(
    r"\b(?:encod\w*|decod\w*|utf|unicode|latin|charset|characters?|garbled|symbols?|signs?|mojibake)\b", re.IGNORECASE
)


def _inserted(text: str) -> str | None:
    """What a program put into a message of the user by mistake; None where the user may quote or ask about it."""
    if "`" in text or len(text) > _LONGEST:
        return None
    if _BEHIND_LABEL.search(text) and not _ON_CODE.search(text):
        return f"{_OBJECT!r}, which JavaScript writes for an object"
    if LOST in text and not _ON_CHARACTERS.search(text):
        return "the replacement character U+FFFD: bytes of it were lost"
    return None


_OBJECT = "[object Object]"


def _inserted_object(text: str) -> str | None:
    """An object that JavaScript put into a prompt as a string; None where the prompt may speak of that."""
    if _OBJECT not in text or f"`{_OBJECT}" in text or f"'{_OBJECT}" in text or f'"{_OBJECT}' in text:
        return None
    return f"{_OBJECT!r}, which JavaScript writes for an object"


def _own_texts(context: RuleContext) -> Iterator[tuple[Part, bool]]:
    """What is new of the user's messages and of the system prompt; True for the user's."""
    yield from ((p, True) for m in context.fresh if m.role == "user" for p in m.parts if p.kind == "text")
    before = context.before.reading.request.instructions if context.before is not None else ()
    seen = {part.text for part in before}
    yield from ((p, False) for p in context.request.instructions if p.kind == "text" and p.text not in seen)


def _of_message(text: str) -> str | None:
    bare = text.strip()
    if bare in _NOTHING:
        return "is a missing value or an object as a string"
    if (what := placeholder(text) or represented(text)) is not None:
        return f"is {what}"
    if is_bytes(text):
        return "is bytes that nobody decoded"
    if _is_its_parts(bare):
        return "is the list of its parts, written as a JSON string"
    found = damage(text)
    if found is not None and (found[1] == "encoding" or "NUL" in found[0]):
        return f"holds {found[0]}"
    if HALF.search(text):
        return f"holds {HALVED}"
    place = unfilled_in_short(bare)
    return f"holds {place!r}, which nobody filled in" if place is not None else None


def _is_its_parts(text: str) -> bool:
    """True for what belongs into `content` as a list, and was turned into a text before."""
    parts = [as_object(part) for part in as_array(parse_json(text))] if text.startswith("[{") else []
    return bool(parts) and all(part.get("type") in _PART_TYPES for part in parts) and "text" in parts[0]


_PART_TYPES = frozenset({"text", "input_text", "image_url", "input_image", "image"})

RULES = (arguments_damaged, answer_damaged)
TEXTS = (text_damaged,)
