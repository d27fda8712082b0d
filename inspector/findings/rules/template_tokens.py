"""Tokens of the model's chat template that the server left in the text of an answer."""

import re
from collections.abc import Iterator

from turntape.cassettes.excerpts import cut
from turntape.cassettes.regex import regex

from ..rule import Note, rule
from ..rule_context import RuleContext

_TOKENS = regex(
    r"<\|(?:endoftext|endofprompt|channel|message|constrain|start|end|return|call|user|assistant|system|observation"
    r"|[A-Za-z]{2,20}(?:_[A-Za-z]{1,20}){1,4}|[A-Z]{3,20})\|>"
    r"|<\|\"\|>|<(?:start|end)_of_turn>|\[/?INST\]|\[TOOL_CALLS\]|<｜[^｜\n]{2,30}｜>"
    r"|<\|(?:channel|turn|think|tool(?:_call|_response)?)>|<(?:channel|turn|tool(?:_call|_response)?)\|>"
)
_EDGE = regex(r"\A\s*(?:<bos>|<s>(?!.*</s>))|(?:</s>|<eos>|<0x0A>)\s*\Z|(?:<pad>|<unk>|<unused\d{1,4}>){2}", re.DOTALL)
"""Tokens that a text may speak of: they are left over only at its ends, or several in a row."""
_SPOKEN_OF = regex(r"(?<=[a-z,:] )<\|[a-z_]{3,20}\|>(?= [a-z])")
"""A token as a word of a sentence: a server leaves one at an end of a text, or before what the token begins."""
_CODE = regex(r"```.*?(?:```|$)|`[^`\n]*`", re.DOTALL)


@rule(
    "template-tokens-in-text",
    "api",
    "warning",
    "S",
    says="The text of the answer, or the name of a call, contains tokens of the model's chat template, which the server should "
    "have removed.",
    fix="Update the server or its chat template, and check its list of stop tokens; cut the text at the first token.",
    not_when=(
        "The token is in code, or a word in the middle of a sentence",
        "A tool that the request offers has this name",
        "A message of the request contains the token",
        "The text contains a tool call: then `call-as-text` says so",
    ),
)
def template_tokens(context: RuleContext) -> Iterator[Note]:
    for call in context.emission.calls:
        token = template_token(call.name)
        if token is not None and call.name not in context.tools:
            yield Note(
                f"the name of a call holds the template token {token!r}: {call.name!r}",
                (f"{context.at} call {call.id or call.name}", f"{context.at} response"),
            )
            return
    if context.emission.emitted not in ("text", "calls") or context.has("call-as-text"):
        return
    token = template_token(context.emission.text)
    if token is None:
        return
    request = context.request
    if any(token in text for text in _texts(context)) or any(token in part.text for part in request.system):
        return
    rest = context.emission.text.partition(token)[2]
    yield Note(
        f"the text contains the template token {token!r}, followed by {cut(rest.strip(), 60)!r}"
        if rest.strip()
        else f"the text ends with the template token {token!r}",
        (f"{context.at} response",),
    )


def template_token(text: str) -> str | None:
    """The first token of a chat template in a text, outside of code."""
    bare = _SPOKEN_OF.sub("", _CODE.sub("", text))
    found = _TOKENS.search(bare) or _EDGE.search(bare)
    if found is None or (found[0].strip() == "</s>" and "<s>" in bare):
        return None  # A text that is struck out ends with the same sign.
    return found[0].strip()


_QUOTE = '<|"|>'
"""How Gemma's template writes a quotation mark: no program has it."""


def token_around(text: str) -> str | None:
    """The token of a chat template that a server left around an argument; code that an agent writes may hold others."""
    if _QUOTE in text:
        return _QUOTE
    bare = text.strip()
    first = _TOKENS.match(bare)
    around = first is not None and any(one.end() == len(bare) for one in _TOKENS.finditer(bare, first.end()))
    return first[0] if first is not None and around else None


def without_tokens(text: str) -> str:
    """A text without tokens of a chat template."""
    return _TOKENS.sub("", text)


def _texts(context: RuleContext) -> Iterator[str]:
    for message in context.request.messages:
        for part in message.parts:
            yield part.text
            if part.result is not None:
                yield part.result.text


RULES = (template_tokens,)
