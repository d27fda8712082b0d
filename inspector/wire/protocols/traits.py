"""What APIs differ in, beside the shape of their bodies: what rules, prices and exports ask a protocol.

Each default is the answer of an API about which nothing is known, so a rule stays silent about it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Literal

from turntape.cassettes.frozen import frozen

from ..answer_format import AnswerFormat
from ..cache_rules import CacheTable
from ..exchange import Exchange
from ..json_value import Object
from ..stream_order import StreamOrder
from ..values import Message

type RoleCheck = Callable[[Sequence[Message]], Iterator[tuple[Message, str]]]
"""Finds messages whose role the API does not accept there, each with a sentence; called with at least one message."""


@frozen
class Pairing:
    """How the calls and the results of one request must fit together."""

    anywhere: bool = False
    """True when a result is found by its id wherever it is in the history."""
    one_message: bool = False
    """True when all results of one answer must be in one message."""
    results_first: bool = False
    """True when nothing may come before the results in their message."""
    joins_answers: bool = True
    """True when neighbouring messages of the assistant are read as one answer."""
    named_results: bool = False
    """True when a result carries the name of its tool."""
    needs_ids: bool = False
    """True when a result needs the id of its call although it carries the name."""
    in_request: bool = True
    """False when the API keeps the history, so that a request holds only a part of the pairs."""


@frozen
class ArgumentsField:
    """Where a call in a request's history holds its arguments."""

    holder: tuple[str, ...]
    """The keys that lead from the call to the object which holds them."""
    key: str
    type: Literal["string", "object"]
    required: bool = False
    """True when a call without them breaks the API's rules, even where the tool takes none."""


@frozen
class Demand:
    """Something that a request may demand of the answer, and that the answer's own fields show to be met or not.

    Beside these, every reading has the cap, the stop strings, the output format, the tools and their schemas.
    """

    kind: Literal["answers", "questions", "logprobs", "no_reasoning", "echo"]
    """`answers`: so many of them. `questions`: so many to each item of a list. `logprobs`: probabilities.
    `no_reasoning`: an answer without thoughts. `echo`: the answer repeats the field."""
    field: tuple[str, ...]
    """The keys that lead to the field in the request body."""
    when: tuple[object, ...] = ()
    """The values that demand it; empty when any value does that is neither false, zero nor empty."""
    shown: tuple[str, ...] = ()
    """The keys of an answer that show that it was met: one of them is enough."""


@frozen
class RequestRules:
    """What the API demands of a request."""

    check_roles: RoleCheck | None = None
    roles: frozenset[str] = frozenset()
    """The roles that a message may have; empty where they are not known."""
    tool_name: re.Pattern[str] | None = None
    """What a whole tool name must match."""
    max_tools: int | None = None
    demands: tuple[Demand, ...] = ()
    """What a request may demand and the API's answer shows."""
    arguments: tuple[ArgumentsField, ...] = ()
    """Each place where a call of the API may hold its arguments."""
    rejects_empty_text: bool = False
    """True when a message or text block without text is an error."""
    rejects_nothing_said: bool = False
    """True when a message with an empty list of calls or parts, or with null as its content and no call, is wrong."""
    keeps_tools: bool = False
    """True when the API keeps the tools of a conversation, and a request that continues it need not repeat them."""
    needs_tools_for_history: bool = False
    """True when a history with calls is an error in a request without tools."""
    marks_errors: bool = False
    """True when a result has a field that says that the tool failed."""
    usage_on_request: bool = False
    """True when a stream counts tokens only if the request asks for it (`stream_options.include_usage`)."""
    schema_at: tuple[str, ...] = ()
    """The keys that lead to the schema in the definition of a tool; empty where no server knows just one place."""
    strict_tools: bool = False
    """True when a tool definition takes `strict`."""
    keeps_instructions: bool = True
    """False when an API that holds the conversation forgets the field for instructions after each answer."""


@frozen
class AnswerRules:
    """How the API's answers are to be understood."""

    words: frozenset[str] = frozenset()
    """The finish words of the API and of servers that document their own; empty where they are not written down."""
    mark: bytes = b""
    """The data of the line with which every complete stream ends; empty where there is none."""
    renames: Callable[[Exchange], Iterable[str]] | None = None
    """The pieces of a stream that change their id on the way, one sentence each; None where pieces have no id."""
    shows_thoughts: bool = False
    """True when every output token that is not counted as reasoning is of something which the answer shows."""
    gives_results: bool = False
    """True when a finished answer holds a result, under its id, for each call of the API's own tools."""
    gives_results_of: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """Or the names of those of its own tools whose result follows each call, and what the request offers them as."""
    phases: "Callable[[Exchange], Iterable[tuple[str, str]]] | None" = None
    """The texts of an answer that have a phase, which must come back with them; None for an API without phases."""
    has_word_for_calls: bool = True
    """False when an ordinary finish word beside tool calls is correct."""
    calls_by_index: bool = False
    """True when the pieces of a streamed call are joined by an index."""
    holder: str = ""
    """The field of an answer that holds what the model said; without it, the answer is not from a model."""
    roles: tuple[tuple[str, ...], ...] = ()
    """The keys that lead to the role of what the model said, in a body and in an event; `*` is any item of a list."""
    own_stops: bool = False
    """True when the API stops answers at strings that the request does not name."""
    streams_holder: bool = True
    """False when the events of a stream have no such field."""
    counts_empty_answers: bool = False
    """True when a real answer always counts output tokens: an empty one that counts none was made up on the way."""
    drops_prompt_silently: bool = False
    """True when a server drops the beginning of a prompt that is too long, without an error."""
    always_says_finish: bool = False
    """True when every complete answer has a finish word."""
    marks_end: bool = False
    """True when a field of its own says that an answer is complete, so that older servers have no finish word."""
    vague_words: frozenset[str] = frozenset()
    """Finish words of answers that are not complete, with which the API gives a reason."""
    idle_words: frozenset[str] = frozenset()
    """Finish words of answers for which the model was not run."""
    final_without_items: Callable[[Exchange], bool] | None = None
    """Whether the event that completes a stream has an answer without items, where the API sends them in it; None for
    an API whose last event has no answer."""
    contradictions: Callable[[Exchange], Iterable[str]] | None = None
    """The ways in which the events of a stream contradict each other, one sentence each; None where none are known."""
    breaks: Callable[[Exchange], Iterable[str]] | None = None
    """The ways in which an answer breaks the API's format so that SDKs fail on it; None where none are known."""
    format: AnswerFormat | None = None
    """What the API's answers look like, field by field; None where that is not written down."""
    order: StreamOrder | None = None
    """The order of the events of a stream; None where that is not written down."""
    steady: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """What is the same in every event of a stream, and the keys that lead to it."""
    inner: "Callable[[Exchange], tuple[Exchange, AnswerRules]] | None" = None
    """For an API that carries the answers of others: such an answer as its own API gives it, and that API's rules."""
    names_events: bool = False
    """True when clients know the events of a stream by their SSE names, and skip those that have none."""
    lacks_id: Callable[[Object], bool] | None = None
    """Whether a call of an answer (its JSON) has no id although the API pairs calls and results by id; None for an API
    that does not need ids."""


@frozen
class Reasoning:
    """What the API wants back of the reasoning that it gave."""

    returned: Literal["required", "expected", "by_model", "unused"] = "unused"
    """`required`: the next request fails without it. `expected`: answers get worse without it. `by_model`: some
    models behind this API expect it. `unused`: the API ignores it."""
    only_with_calls: bool = False
    """True when only the signatures of calls are required."""


@frozen
class Caching:
    """How the API caches prompts."""

    on_request: bool = False
    """True when only what the request marks is cached; False when the API decides."""
    has_marks: bool = False
    """True when the request body has a place for such marks in every dialect of the protocol."""
    most_marks: int = 0
    """As many marks a request may have; 0 where no limit is documented."""
    rules: CacheTable = ()
    """The rules of the API's cache by model, for a server that is not in the provider table."""


@frozen
class Rewrite:
    """How a stream becomes one document that a person can edit, and a stream again."""

    framings: tuple[str, ...]
    """The framings for which this works."""
    whole: Callable[[Exchange], Object]
    """What a stream adds up to, as the API's own answer in one body."""
    frames: Callable[[Object, Exchange], Iterable[bytes]]
    """Such a body as a stream; the exchange is the one that it was made from."""


type Target = Literal["text", "tool", "arguments", "finish"]

TARGETS: tuple[Target, ...] = ("text", "tool", "arguments", "finish")


@frozen
class EditTargets:
    """Where an answer holds what a named edit changes.

    Each is a JSON pointer into the answer as the API gives it unstreamed, `*` for any place of a list.
    """

    text: str
    tool: str
    arguments: str
    finish: str
    arguments_as_text: bool = False
    """True when arguments are a string, which can hold anything."""
    not_text: str = ""
    """A field beside a text that marks it as a thought."""
    finish_fields: dict[str, dict[str, object]] = field(default_factory=dict[str, dict[str, object]])
    """Finish words that are several fields: the value at each pointer. Empty: the word is the field's value."""

    def pointer(self, target: Target) -> str:
        """The pointer of a target."""
        return {"text": self.text, "tool": self.tool, "arguments": self.arguments, "finish": self.finish}[target]
