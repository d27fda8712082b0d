"""Whether an answer belongs to its request: not to another question, to nobody, or to both sides of the dialogue."""

import re
from collections.abc import Iterator

from turntape.cassettes.excerpts import cut
from turntape.cassettes.regex import regex

from ...analysis.conversation import call_meaning, text_meaning, without_space
from ...wire.values import Message
from ..repetition import repeated_end, repeated_word
from ..rule import Note, rule
from ..rule_context import RuleContext

_PARROTED = 24
"""Characters. A shorter answer may repeat the question by chance: a greeting, a name."""
_LONG = 80
"""Characters. A shorter answer may fit several questions."""
_VERY_LONG = 300
"""Characters. From here on, two equal answers are enough."""
_CONTINUE = regex(r"(?:please )?(?:continue|go on|proceed|keep going|next)\W*", re.IGNORECASE)
_REPEAT = regex(
    r"\b(?:repeat|echo|copy|verbatim|word for word|transcri\w+|translat\w+|correct\w*|proofread|rewrite|rephrase|paraphrase|"
    r"polish|spell\w*|grammar|format|parrot|typos?)\b",
    re.IGNORECASE,
)
"""What asks for an answer that may equal the next message."""
_ASKED_FOR = regex(r"\A\W*(?:please )?(?:repeat|say|echo|reply|respond|answer|output|print)\b", re.IGNORECASE)
_TURNS = regex(
    r"^[ \t]*(?:#+ ?|\*\*|<\|?)?(?P<who>human|user|customer|assistant|ai|bot|agent|system|response|instruction)"
    r"(?:\*\*)?(?:\|?>)?[ \t]*:(?:\*\*)?(?:[ \t]|$)",
    re.IGNORECASE | re.MULTILINE,
)
_PERSON = frozenset({"human", "user", "customer"})
_DIALOGUE = regex(
    r"\b(?:dialog(?:ue)?s?|transcripts?|screenplay|script|role[- ]?play\w*|interview|story|scene|sketch|simulat\w+|few-shot|"
    r"(?:example|sample|conversation|chat) (?:conversation|chat|between|log|history))\b",
    re.IGNORECASE,
)
_CODE = regex(r"```.*?(?:```|$)|`[^`\n]*`", re.DOTALL)
_RESULT_TAG = regex(r"<(?:tool|function)_(?:response|results?|output)>\s*(?=\S)")
"""How chat templates begin what a tool returned, with something behind it."""
_ACTS = regex(
    r"(?:^|[_.\-/])(?:send|e?mail|sms|post|pay|refund|transfer|book|order|purchase|buy|charge|cancel|delete|submit|publish|"
    r"notify|withdraw|invite|call|deploy|merge)(?:$|[_.\-/A-Z])|^(?:send|refund|book|pay|cancel|delete|submit|publish)[A-Z]",
)
"""Tools that do something which should not be done twice."""
_READS = regex(r"get|list|read|search|find|fetch|look|query|check|status|show|view", re.IGNORECASE)


def question(context: RuleContext) -> str:
    """The last thing that the client says in the request: a message of the user, or nothing after a result."""
    last = context.request.messages[-1:] if context.request.messages else ()
    return "\n".join(
        part.text for one in last if one.role == "user" for part in one.parts if part.kind == "text"
    ).strip()


def _is_in_request(context: RuleContext, words: str) -> bool:
    said = "\n".join(part.text for message in context.request.messages for part in message.parts)
    return words.strip() in said or words.strip() in _instructions(context)


def _last_question(context: RuleContext) -> Message | None:
    """The last message in which the user says something; calls and their results may follow it."""
    for message in reversed(context.request.messages):
        if message.role == "user" and any(part.kind == "text" and part.text.strip() for part in message.parts):
            return message
        if message.role == "assistant" and not any(part.call is not None for part in message.parts):
            return None
    return None


def _instructions(context: RuleContext) -> str:
    return "\n".join(part.text for part in context.request.instructions)


@rule(
    "model-parroted",
    "model",
    "warning",
    "S",
    says="The answer is the user's message or the system prompt, word for word (model, or a server without a chat template).",
    fix="Check the server's chat template: without one, a model continues the text instead of answering.",
    not_when=(
        "The message is short",
        "The request asks to repeat, to correct or to translate",
        "The answer makes calls",
    ),
)
def parroted(context: RuleContext) -> Iterator[Note]:
    said = context.emission.text.strip()
    if len(said) < _PARROTED:
        return
    message = _last_question(context)
    asked = "\n".join(part.text for part in message.parts if part.kind == "text").strip() if message is not None else ""
    for part in context.request.instructions:
        prompt = part.text.strip()
        if said[:1] == prompt[:1] and without_space(said) == without_space(prompt) and not _ASKED_FOR.search(asked):
            yield Note(
                f"the answer is the system prompt, word for word: {cut(said, 80)!r}",
                (f"{context.at} request {part.pointer}", f"{context.at} response"),
            )
            return
    if (
        said[:1] in ("{", "[")
        or context.emission.emitted != "text"
        or message is None
        or without_space(said) != without_space(asked)
    ):
        return
    earlier = [
        p.text for one in context.request.messages if one.role == "user" and one is not message for p in one.parts
    ]
    if any(_REPEAT.search(text) for text in (*earlier, _instructions(context))) or _ASKED_FOR.search(asked):
        return
    yield Note(
        f"the answer is the user's message, word for word: {cut(said, 80)!r}",
        (f"{context.at} request {message.pointer}", f"{context.at} response"),
    )


@rule(
    "model-same-answer",
    "model",
    "warning",
    "S",
    says="Different questions got the very same long answer (the model, a cache before it, or a client that does not send the "
    "question).",
    fix="Compare the requests: is the new question in them? If so, check caches and the server's template.",
    not_when=(
        "The answer is short, or is given only twice and has less than 300 characters",
        "The questions are the same, or only ask to continue",
        "The answer has the id of the earlier one: then `api-answer-replayed` says so",
    ),
)
def same_answer(context: RuleContext) -> Iterator[Note]:
    said, asked = context.emission.text.strip(), question(context)
    if len(said) < _LONG or context.emission.emitted != "text" or not asked or context.is_attempt:
        return
    meaning, topic = text_meaning("assistant", said), text_meaning("user", asked)
    earlier = context.thread.answered.setdefault(meaning, {})
    if context.has("api-answer-replayed") or topic in earlier or _CONTINUE.fullmatch(asked):
        return
    earlier[topic] = context.index
    if len(earlier) < (2 if len(said) >= _VERY_LONG else 3):
        return
    yield Note(
        f"{len(earlier)} different questions got the same answer of {len(said):,} characters: {cut(said, 60)!r}",
        tuple(f"#{index} response" for index in list(earlier.values())[-4:]),
        key=meaning,
    )


@rule(
    "model-plays-user",
    "model",
    "warning",
    "S",
    says="The answer continues past its end: it writes the user's next message, or what a tool returned, and answers that itself "
    "(the model, or a server that knows no stop word).",
    fix="Check the chat template and the stop words of the server; until then, cut the text at the first invented turn.",
    not_when=(
        "The request itself holds such turns, or asks for a dialogue",
        "The turns are in code",
        "The answer begins with such a turn: it is a transcript",
        "The tag of a result is in the request too",
    ),
)
def plays_user(context: RuleContext) -> Iterator[Note]:
    if context.emission.emitted != "text":
        return
    if (tag := _RESULT_TAG.search(_CODE.sub("", context.emission.text))) is not None:
        if not _is_in_request(context, tag[0]):
            yield Note(
                f"the answer holds an invented result of a tool: {cut(tag.string[tag.start() :].strip(), 60)!r}",
                (f"{context.at} response",),
            )
        return
    turns = list(_TURNS.finditer(_CODE.sub("", context.emission.text)))
    people = [turn for turn in turns if turn["who"].lower() in _PERSON]
    if not people or len(people) == len(turns) or not people[0].string[: people[0].start()].strip():
        return
    given = [part.text for message in context.request.messages for part in message.parts if message.role != "assistant"]
    asked = f"{_instructions(context)}\n{question(context)}"
    if any(_TURNS.search(text) for text in (*given, asked)) or _DIALOGUE.search(asked):
        return
    yield Note(
        f"the answer continues with {len(people)} invented {'turn' if len(people) == 1 else 'turns'} of the user: "
        f"{cut(people[0].string[people[0].start() :].strip(), 60)!r}",
        (f"{context.at} response",),
    )


@rule(
    "model-acted-twice",
    "model",
    "warning",
    "S",
    says="The model called a tool that acts again with the same arguments, right after it had succeeded, and nobody had asked for "
    "it.",
    fix="Let the tool refuse the same action twice, or say in its result that it is done.",
    not_when=(
        "The tool only reads, or nothing in its name says that it acts",
        "The first call failed, or its result asks for it",
        "Something was said in between",
        "The request no longer shows the first call: then the client forgot it",
    ),
)
def acted_twice(context: RuleContext) -> Iterator[Note]:
    steps = list(context.thread.steps)
    held = context.request.previous_id is not None
    if not steps or not steps[-1].results or steps[-1].errors or context.is_attempt:
        return
    if context.turn.history == "changed":
        return
    for call in context.emission.calls:
        if not _ACTS.search(call.name) or _READS.search(call.name) or call_meaning(call) not in steps[-1].calls:
            continue
        if not held and all(unit.meaning != call_meaning(call) for unit in context.turn.conversation.units):
            continue
        if any(_UNDONE.search(text) for text in steps[-1].result_texts) or question(context):
            continue
        yield Note(
            f"the model called {call.name!r} again with the same arguments right after it had succeeded in #{steps[-1].index}",
            (f"#{steps[-1].index} call {call.name}", f"{context.at} call {call.id or call.name}"),
            key=(call_meaning(call), "twice"),
        )


_UNDONE = regex(
    r"error|fail|unable|could ?n.t|cannot|timed? ?out|denied|invalid|not (?:found|sent|done|allowed)|retry|try again|pending|"
    r"confirm|exception|reject|null|^\s*$",
    re.IGNORECASE,
)


@rule(
    "model-repeats-itself",
    "model",
    "warning",
    "S",
    says="The answer says the same again and again, up to its end, or one word many times in a row: the model was caught in a loop, or the server's numbers are "
    "broken.",
    fix="Set a repetition or frequency penalty, check the quantization and the template of the server, and lower the cap.",
    not_when=(
        "The repeated piece is short and repeats a few times",
        "The request asks for it",
    ),
)
def repeats_itself(context: RuleContext) -> Iterator[Note]:
    emission = context.emission
    if not context.succeeded:
        return
    for text in (emission.text, *(call.arguments_raw.rstrip('"}]') for call in emission.calls), emission.reasoning):
        if (blanks := len(text) - len(text.rstrip())) >= _BLANKS and not _ASKS_BLANKS.search(question(context)):
            yield Note(f"the answer ends with {blanks:,} characters of white space", (f"{context.at} response",))
            return
        end = repeated_end(text)
        found = end or repeated_word(text)
        if found is not None and not _was_requested(context, found[0].strip()):
            where = "at its end" if end is not None else "in a row"
            yield Note(
                f"the answer repeats {cut(found[0].strip(), 60)!r} {found[1]} times {where}",
                (f"{context.at} response",),
            )
            return


_BLANKS = 200
"""Characters of white space with which no text ends: a grammar that allows any of it keeps a model there."""
_ASKS_BLANKS = regex(r"\b(?:blanks?|spaces?|white ?space|newlines?|empty lines?|pad(?:ded|ding)?)\b", re.IGNORECASE)


def _was_requested(context: RuleContext, piece: str) -> bool:
    """True when the last question asks for many of something, or any message of the user names what is repeated so."""
    if _ASKS_REPETITION.search(question(context)):
        return True
    words = without_space(piece.rstrip(".,;!"))
    texts = (p.text for m in context.request.messages if m.role == "user" for p in m.parts if p.kind == "text")
    return any(_ASKS_REPETITION.search(text) and words in without_space(text) for text in texts)


_ASKS_REPETITION = regex(r"\b(?:times|repeat|long|lorem|words|tokens|characters|numbers?|count)\b", re.IGNORECASE)

FIRST = (repeats_itself,)
"""Run before the rules about how an answer ended: a model in a loop runs into the cap."""
RULES = (parroted, same_answer, plays_user, acted_twice)
