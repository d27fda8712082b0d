"""Which words in a history are the model's: those of some answer, in whatever shape the client sends them back."""

import re
from collections.abc import Iterator
from itertools import groupby

from turntape.cassettes.regex import regex

from ..analysis.conversation import Unit, call_meaning, joined, text_meaning, units_emitted
from ..analysis.history_diff import HistoryChange, HistoryDiff
from ..analysis.turn import Turn
from ..wire.json_value import as_object, is_array, is_object
from ..wire.values import Emission
from .rule_context import RuleContext

_STEP_OF_PROSE = regex(r"^\W*(?:action|action input|observation|thought)\s*:", re.IGNORECASE | re.MULTILINE)
"""How an agent that writes its calls into its text (ReAct) begins the lines that its client reads."""
THOUGHT_BEGINS = r"<(?:seed:)?think(?:ing)?>|\u25c1think\u25b7|(?-i:\[THINK\])"
THOUGHT_ENDS = r"</(?:seed:)?think(?:ing)?>|\u25c1/think\u25b7|(?-i:\[/THINK\])"
"""The tags around a model's thoughts in its text: those of most models, and of Seed-OSS, Kimi and Magistral."""
_THOUGHT = regex(rf"(?:{THOUGHT_BEGINS}).*?(?:{THOUGHT_ENDS})", re.DOTALL)
_CITATION = regex(r"\u3010[^\u3010\u3011\n]*\u3011|\ue200[^\ue200\ue201]*\ue201")
"""Marks with which OpenAI's models cite a source in a text; clients show the source in their place."""
_PLAIN = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-"})
_DISTINCTIVE = 64
"""An answer of at least this many characters is unlikely to occur twice."""
_NEWEST = 64
"""So many pieces at the end of a history are searched for a question and its answer."""
_SAID = 24
"""After the same first message, this many characters are enough."""
_AROUND = 6
"""How many lines a client puts before an answer, and after it, to make it a message of the user."""
_SAME = 3
"""Pieces at the front of both histories: a question, its answer and what followed it."""
_DISTINCTIVE_CALLS = 24
"""And so are calls with at least this many characters of arguments."""
_WHOLE = frozenset({"complete", "tool_calls", "stop_sequence"})
"""Finishes of answers to which a client has nothing to add."""
_READABLE = frozenset({"text", "call", "reasoning", "refusal"})
"""Kinds of content that a client sends back as they are. It may describe other content in words."""
_SHORT_ID = 6
"""Shorter ids may occur in a text by chance."""
_WORD = regex(r"\w+")


def surely_continues(context: RuleContext, echo: HistoryDiff) -> bool:
    """False if only similarity links two requests, and the answer between them is changed or too short to decide."""
    before = context.before
    emission = before.reading.emission if before else None
    if context.turn.edge.tier == "P" or before is None or emission is None or before.call_ids & context.calls.keys():
        return True
    if echo.reasoning == "kept":
        return True  # Signed or long: no other answer has the same reasoning.
    now = context.turn.conversation
    if context.turn.edge.kind == "continuation" and context.turn.shared >= now.ends[now.leading] + _SAME:
        return not any(change.emitted for change in echo.changes)
    same_question = context.turn.edge.kind == "continuation" and context.turn.shared > now.ends[now.leading]
    if same_question and len(emission.text) >= _SAID:
        # Both begin with the same message of the user.
        return not any(change.emitted for change in echo.changes)
    if _was_asked_there(before, context.turn):
        return True
    called = sum(len(call.arguments_raw) for call in emission.calls)
    distinctive = called >= _DISTINCTIVE_CALLS or len(emission.text) + called >= _DISTINCTIVE
    return distinctive and not any(change.emitted for change in echo.changes)


def _was_asked_there(before: Turn, now: Turn) -> bool:
    """True when the last text of the user is followed by all of the answer's calls there too, and by a result."""
    emission = before.reading.emission
    if emission is None or not emission.calls:
        return False
    asked = _newest(before)[-1:]
    if not asked or not is_user_text(asked[0]) or len(asked[0].text.strip()) < _SAID:
        return False
    units = _newest(now)
    wanted = [asked[0].meaning, *(one.meaning for one in units_emitted(emission))]
    found, size = [one.meaning for one in units], len(wanted)
    places = (place for place, unit in enumerate(units) if unit.kind == "result" and place >= size)
    return any(found[place - size : place] == wanted for place in places)


def _newest(turn: Turn) -> list[Unit]:
    """The last pieces of a history, without pictures and files."""
    return [one for one in turn.conversation.history[-_NEWEST:] if one.kind != "media"]


def is_user_text(unit: Unit) -> bool:
    """True for something that the user said."""
    return unit.kind == "text" and unit.role == "user"


def asks_nothing(turn: Turn) -> bool:
    """True when the request holds no text of the user: what chat templates look for."""
    return not any(is_user_text(unit) and unit.text.strip() for unit in turn.conversation.history)


def without_thoughts(text: str) -> str:
    """A text without the reasoning that it holds in tags."""
    return _THOUGHT.sub("", text)


def plain(text: str) -> str:
    """A text without its thoughts, marks of sources, white space and typography, which clients are known to fold."""
    return "".join(_CITATION.sub("", without_thoughts(text)).translate(_PLAIN).replace("--", "-").split())


def is_prose_step(before: Turn, change: HistoryChange) -> bool:
    """True for the text of an agent without tools that writes its calls into its text, and its client the results."""
    return (
        change.kind == "text_changed"
        and not before.reading.request.tools
        and _STEP_OF_PROSE.search(change.was) is not None
    )


def is_whole(context: RuleContext, before: Turn) -> bool:
    """True for an answer that ended as it should and that a client can send back as it is."""
    emission = before.reading.emission
    if emission is None or emission.server_calls or not has_ended(context, before):
        return False
    return all(part.kind in _READABLE for part in emission.content)


def has_ended(context: RuleContext, before: Turn) -> bool:
    """True for one answer, of the same API, to which its client has nothing to add."""
    finish, emission = before.reading.finish, before.reading.emission
    if finish is None or emission is None or finish.effective not in _WHOLE or emission.choices:
        return False
    asked = before.reading.request.parameters.get("n")
    return context.reading.protocol == before.reading.protocol and not (isinstance(asked, int) and asked > 1)


def is_known(context: RuleContext, unit: Unit, before: Turn) -> bool:
    """True for a piece that some answer or an earlier request of the thread contains, in this or another shape."""
    if unit.kind == "call" and _is_one_more(context, unit, before):
        return False
    if unit.meaning in context.run.said or unit.meaning in context.thread.sent:
        return True
    returned = context.run.call_ids
    if unit.kind == "call":
        return unit.call_id in returned
    text = without_thoughts(unit.text)
    if not _WORD.search(text) or text_meaning("assistant", text) in context.run.said:
        return True
    if _describes_a_call(context, text):
        return True
    return letters(text) in _content(before) or text.strip() in before.reading.request.stop


def is_unknown(text: str, turn: Turn) -> bool:
    """True for words that no field of an answer has."""
    words = letters(text)
    return bool(words) and words not in _content(turn)


def _is_one_more(context: RuleContext, unit: Unit, before: Turn) -> bool:
    """True for a call under an id that no answer gave, if the history has that call more often than the model made it.

    A copy in the same step as the call is another finding's.
    """
    if not unit.call_id or unit.call_id in context.run.call_ids:
        return False
    emission = before.reading.emission
    made = sum(one.meaning == unit.meaning for one in before.conversation.history)
    made += sum(call_meaning(call) == unit.meaning for call in emission.calls) if emission is not None else 0
    steps = groupby(context.turn.conversation.history, key=lambda one: one.role == "assistant")
    calls = [[one.pointer for one in step if one.meaning == unit.meaning] for mine, step in steps if mine]
    alone = any(step == [unit.pointer] for step in calls)
    return alone and made > 0 and sum(map(len, calls)) > made


def _describes_a_call(context: RuleContext, text: str) -> bool:
    """True for a text that names a call of the model by its id."""
    return any(len(call_id) >= _SHORT_ID and call_id in text for call_id in context.run.call_ids)


def letters(text: str) -> str:
    """The letters and digits of a text, to find it again in another shape."""
    return "".join(_WORD.findall(text)).casefold()


def _content(turn: Turn) -> str:
    """All words of an answer, whatever field has them."""
    emission = turn.reading.emission or Emission()
    whole = [
        emission.text,
        emission.reasoning,
        emission.refusal or "",
        *(call.arguments_raw for call in emission.calls),
    ]
    return "\n".join(map(letters, [*whole, *(text for part in emission.content for text in _texts(part.raw))]))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif is_object(value):
        for item in as_object(value).values():
            yield from _texts(item)
    elif is_array(value):
        for item in value:
            yield from _texts(item)


def is_extended(context: RuleContext, change: HistoryChange) -> bool:
    """True for an answer that came back whole, with more text before or after it."""
    before = context.before
    if before is None or change.kind != "text_changed" or not (change.emitted or _is_said(context, change.was)):
        return False
    if change.emitted and (not is_whole(context, before) or is_prose_step(before, change)):
        return False
    units = joined(context.turn.conversation.history)
    if units and units[-1].pointer == change.now:
        return False  # It begins the next answer.
    if belated(context, change) is not None:
        return False
    extra = extra_text(change)
    known = letters(extra) in _content(before) or extra.strip() in before.reading.request.stop
    known = known or _describes_a_call(context, extra)
    return _WORD.search(without_thoughts(extra)) is not None and not known


def belated(context: RuleContext, change: HistoryChange) -> int | None:
    """The round trip of an answer that the previous request lacked, if it came back joined to the last answer."""
    before = context.before
    if before is None or change.kind != "text_changed" or not change.emitted:
        return None
    extra = extra_text(change)
    meaning = text_meaning("assistant", extra)
    if not extra or any(unit.meaning == meaning for unit in joined(before.conversation.history)):
        return None
    answered = context.run.said.get(meaning)
    return answered if answered != before.round_trip.index else None


def _is_said(context: RuleContext, text: str) -> bool:
    return text_meaning("assistant", text) in context.run.said


def holds_an_answer(context: RuleContext, text: str) -> bool:
    """True for an answer of the run with a few lines around it, as clients put a summary into a message of the user."""
    lines = text.replace(": ", ":\n").splitlines()
    ends = range(len(lines), max(len(lines) - _AROUND, 0), -1)
    pieces = ("\n".join(lines[start:end]) for start in range(min(len(lines), _AROUND)) for end in ends if start < end)
    return any(len(piece) >= _SAID and _is_said(context, piece) for piece in pieces)


def extra_text(change: HistoryChange) -> str:
    """What a text has beside the whole earlier text; empty when it does not contain that."""
    was, became = " ".join(change.was.split()), " ".join(change.became.split())
    before, found, after = became.partition(was)
    return f"{before} {after}".strip() if was and found else ""
