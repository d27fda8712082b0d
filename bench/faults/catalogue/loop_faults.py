"""Layer 3: the loop stops, continues or dispatches where it must not."""

from dataclasses import replace
from typing import cast

from ..loop import Loop, Step
from ..pieces import Event, Text
from .api_length_faults import capped, capped_low
from .edits import (
    LAST,
    PARALLEL,
    QUERIES,
    READS,
    TICKETS,
    answered,
    cut_call,
    cut_text,
    ends,
    first_call,
    on_answer,
    put,
    say,
    spending,
    without_calls,
)  # fmt: skip
from .errors import INSIDE
from .fault import ALL, ANTHROPIC, FULL, STREAMED, STRINGS, Table
from .rejections import REJECTIONS

LOOP = Table()


# Calls that nobody runs


@LOOP("client-tool-calls-not-dispatched", "client", tier="S", variant="the thread ends")
def ends_with_calls(loop: Loop) -> int:
    return ends(loop, READS)


@LOOP("client-tool-calls-not-dispatched", "client", FULL, tier="S", variant="as if they had not been made",
      instead="client-assistant-mutated client-missing-tool-result")  # fmt: skip
def passed_over(loop: Loop) -> tuple[int, ...]:
    step = loop.steps[READS]
    step.results, step.says = (), "And what is the cause?"
    on_answer(loop, READS, without_calls)
    return READS, READS + 1


@LOOP("client-tool-calls-not-dispatched", "client", ("openai-chat", "deepseek-chat", "mistral-chat", *ANTHROPIC),
      tier="S", variant="because of a wrong label", given="api-finish-label-disagrees",
      base=lambda loop: put(loop.steps[READS], finish="stop"))  # fmt: skip
def believed_the_label(loop: Loop) -> int:
    return ends(loop, READS)


# Answers that must not be run

SHORTER = '{"title": "Checkout: charges time out", "body": "See 7c1f09e.", "severity": "sev1"}'
CUT_SAID = "error: the call was cut off by the output limit and was not run"


def cut_and_answered(loop: Loop) -> None:
    """A call hits the cap; the client says so, and the model makes a shorter one."""
    capped_low(loop)
    whole = loop.steps[TICKETS]
    loop.steps.insert(TICKETS, replace(whole))
    strings = loop.dialect.name in STRINGS
    put(loop.steps[TICKETS], passes=cut_call(loop, unterminated=strings), finish="length", cut_call=True,
        spent=spending(loop.max_output or 0))  # fmt: skip
    answered(loop.steps[TICKETS], CUT_SAID, error=True)
    loop.steps[TICKETS + 1].blocks = say(loop, "shorter", "Once more, shorter.", ("create_ticket", SHORTER))
    answered(loop.steps[TICKETS + 1], "created INC-2291")


@LOOP("client-dispatched-partial-call", "client",
      ("openai-chat", "deepseek-chat", "mistral-chat", "cohere-v2", "ollama-chat", "openai-responses",
       "openai-responses-held", *ANTHROPIC, "gemini-generate", "bedrock-converse"),
      base=cut_and_answered, given="api-length-truncated-tool-call", modes=(False,))  # fmt: skip
def partial_call_run(loop: Loop) -> tuple[int, ...]:
    answered(loop.steps[TICKETS], "created INC-2290")
    return TICKETS, TICKETS + 1


def _filtered(finish: str) -> object:
    def base(loop: Loop) -> None:
        step = loop.steps[READS]
        step.finish = finish
        answered(step, "error: the answer was filtered; the call was not run", error=True)
        calm = loop.steps[READS]
        loop.steps.insert(READS + 1, replace(calm, blocks=say(
            loop, "again", "Once more.", ("read_file", first_call(calm).arguments)), finish=None))  # fmt: skip
        answered(loop.steps[READS + 1], "charge_timeout: 1500")

    return base


FILTERS = (
    ("beside a filter", ("openai-chat", "gemini-generate", "bedrock-converse"), "content_filter"),
    ("beside a refusal", ANTHROPIC, "refusal"),
    ("beside a malformed answer", ("gemini-generate", "bedrock-converse"), "malformed"),
)


def _executed(variant: str, dialects: tuple[str, ...], finish: str) -> None:
    @LOOP("client-executed-filtered-call", "client", dialects, variant, base=_filtered(finish),  # type: ignore[arg-type]
          given="api-content-filter model-refusal malformed-output api-finish-label-disagrees")  # fmt: skip
    def run(loop: Loop) -> tuple[int, ...]:
        answered(loop.steps[READS], "charge_timeout: 1500")
        return READS, READS + 1


for row in FILTERS:
    _executed(*row)


# Answers that were not whole


def cut_and_continued(loop: Loop) -> None:
    capped(loop)
    put(loop.steps[LAST], passes=cut_text(0.7), finish="length", spent=spending(200), says="Please continue.")
    rest = "so some customers have paid for orders that were not placed. INC-2291 is open."
    loop.steps.append(Step(say(loop, "rest", rest)))


@LOOP("client-treated-truncated-as-final", "client", base=cut_and_continued, tier="S", variant="the end",
      given="api-length-truncated")  # fmt: skip
def taken_as_final(loop: Loop) -> int:
    return ends(loop, LAST)


@LOOP("client-treated-truncated-as-final", "client", base=cut_and_continued, tier="S", variant="on to the next task",
      given="api-length-truncated")  # fmt: skip
def on_to_the_next(loop: Loop) -> tuple[int, ...]:
    loop.steps[LAST].says = "Thanks. Now find out who reviewed revision 7c1f09e."
    return LAST, LAST + 1


def partly(text: str) -> object:
    """A stream that ends behind the last word of the text, without what ends an answer."""
    word = text.split()[-1]

    def keep(events: list[Event]) -> list[Event]:
        last = max(i for i, (_, value) in enumerate(events[:-1]) if word in str(value))
        return events[: last + 1]

    return keep


def cut_then_whole(loop: Loop) -> None:
    """The last answer is cut in the middle and requested again."""
    calm = loop.steps[LAST]
    text = next(b.text for b in calm.blocks if isinstance(b, Text))
    half = text[: len(text) // 2].rsplit(" ", 1)[0]
    broken = replace(calm, blocks=tuple(replace(b, text=half) if isinstance(b, Text) else b for b in calm.blocks))
    loop.steps.insert(LAST, put(broken, edit_events=(partly(half),), keeps=False))
    loop.steps[LAST + 1].gap = 2.0


NOT_STORING = tuple(name for name in FULL if name not in ("mistral-chat",))


@LOOP("client-stored-failed-turn", "client", NOT_STORING, "cut", base=cut_then_whole, modes=STREAMED,
      given="api-stream-cut",
      also="client-cache-prefix-busted client-role-order client-continued-after-end")  # fmt: skip
def kept_the_half(loop: Loop) -> int:
    put(loop.steps[LAST], keeps=True, says="Please finish the report.")
    return LAST + 1


def error_then_whole(loop: Loop) -> None:
    """The last answer breaks off with an error inside the stream and is requested again."""
    cut_then_whole(loop)
    step = loop.steps[LAST]
    half = partly(next(b.text for b in step.blocks if isinstance(b, Text)))
    failed = INSIDE[loop.dialect.name]

    def broken(events: list[Event]) -> list[Event]:
        kept = cast(list[Event], half(events))  # type: ignore[operator]
        return [*kept, cast(Event, loop.dialect.error_event(failed))]

    put(step, edit_events=(broken,))


@LOOP("client-stored-failed-turn", "client", tuple(n for n in NOT_STORING if n in INSIDE and n != "bedrock-converse"),
      "after an error", base=error_then_whole, modes=STREAMED, given="api-error-in-200-stream api-overloaded",
      also="client-cache-prefix-busted client-role-order")  # fmt: skip
def kept_what_failed(loop: Loop) -> int:
    return kept_the_half(loop)


# Pauses


def paused(loop: Loop) -> None:
    """The API pauses a turn, and the client sends the answer back."""
    step = Step(say(loop, "paused", "I am still looking through the run books."), finish="pause")
    loop.steps.insert(READS, step)


@LOOP("client-pause-not-resumed", "client", ANTHROPIC, "forgotten", base=paused, given="api-pause")
def pause_forgotten(loop: Loop) -> int:
    return ends(loop, READS)


@LOOP("client-pause-not-resumed", "client", ANTHROPIC, "something behind it", base=paused, given="api-pause")
def words_behind_a_pause(loop: Loop) -> tuple[int, ...]:
    loop.steps[READS].says = "Are you done?"
    return READS, READS + 1


@LOOP("client-pause-not-resumed", "client", ANTHROPIC, "sent back otherwise", base=paused, given="api-pause",
      also="client-assistant-mutated client-reasoning-dropped")  # fmt: skip
def pause_rewritten(loop: Loop) -> tuple[int, ...]:
    on_answer(loop, READS, lambda blocks: tuple(
        replace(b, text="I am looking.") if isinstance(b, Text) else b for b in blocks))  # fmt: skip
    return READS, READS + 1


@LOOP("api-pause", "api", ANTHROPIC, edits="model")
def pauses(loop: Loop) -> int:
    paused(loop)
    return READS


# The end


@LOOP("client-continued-after-end", "client", tier="S", variant="a nudge")
def nudged(loop: Loop) -> tuple[int, ...]:
    loop.steps[LAST].says = "Please continue."
    loop.steps.append(Step(say(loop, "more", "There is nothing to add: INC-2291 is open and the cause is known.")))
    return LAST, LAST + 1


@LOOP("client-continued-after-end", "client",
      ("openai-chat", "deepseek-chat", "openai-responses", "anthropic-messages", "gemini-generate"),
      tier="S", variant="with nothing new", also="client-role-order")  # fmt: skip
def asked_on(loop: Loop) -> tuple[int, ...]:
    loop.steps.append(Step(say(loop, "more", "The report is final as it is.")))
    return LAST, LAST + 1


def long_way(loop: Loop) -> None:
    """Twelve turns instead of six: more files are read, one after the other."""
    for number in range(6):
        call = ("read_file", f'{{"path": "services/checkout/handlers/part{number}.py"}}')
        step = Step(say(loop, f"part{number}", f"Next is part {number} of the handlers.", call))
        loop.steps.insert(QUERIES + number, answered(step, f"{number + 1}  def handle_{number}(order): ..."))


@LOOP("client-max-iterations", "client", base=long_way, tier="S", variant="ten turns",
      instead="client-tool-calls-not-dispatched")  # fmt: skip
def stopped_at_ten(loop: Loop) -> int:
    return ends(loop, 9)


@LOOP("client-max-iterations", "client", FULL, base=long_way, tier="S", variant="a forced last word",
      also="client-tools-changed client-tools-missing-for-history client-cache-prefix-busted "
      "client-role-order")  # fmt: skip
def forced_last_word(loop: Loop) -> int:
    seen = Text("You have reached the maximum number of steps. Give your final answer now.")
    loop.steps[8].results = (*loop.steps[8].results, seen)
    final = loop.steps[-1]
    loop.steps[9:] = [replace(final, ask={"tools": ()})]
    return 9


# What the person or the machine around it did


@LOOP("client-interrupted", "client", ALL, "in the text", modes=STREAMED)
def hung_up(loop: Loop) -> int:
    loop.steps[LAST].hangs_up = 0.6
    return LAST


@LOOP("client-interrupted", "client", ALL, "in a call", modes=STREAMED)
def hung_up_in_a_call(loop: Loop) -> int:
    loop.steps[TICKETS].hangs_up = 0.8
    return ends(loop, TICKETS)


@LOOP("client-parallel-run-serially", "client", ANTHROPIC, tier="S")
def one_after_the_other(loop: Loop) -> int:
    step = loop.steps[PARALLEL + 1]
    put(step, gap=4.2, request_headers=(("x-claude-code-prev-tool-durations", "search_logs=2100;search_logs=1980"),))
    return PARALLEL + 1


# A history that every request is rejected for


@LOOP("client-poisoned-history", "client", tuple(REJECTIONS["client-missing-tool-result"]),
      given="client-missing-tool-result request-rejected client-results-not-adjacent",
      also="client-role-order")  # fmt: skip
def poisoned(loop: Loop) -> tuple[int, ...]:
    from .rejections import rejects

    step = loop.steps[READS]
    step.results, step.says = (), "Leave the file; look at the deployments instead."
    rejects(loop, QUERIES, "client-missing-tool-result", call=first_call(step).id)
    last = loop.steps[QUERIES]
    put(last, says="Please try again.")
    for number in range(2):
        loop.steps.append(Step((), failed=last.failed, says=f"Again, please ({number})."))
    loop.steps[-1].says = None
    return QUERIES, QUERIES + 1, QUERIES + 2
