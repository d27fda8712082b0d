"""Faults that only words or thresholds show: the rules for them are hints, which run with `--hints`."""

from ..loop import Loop, Step
from ..pieces import Text
from .edits import FAILING, LAST, QUERIES, READS, answered, ends, first_call, say
from .fault import ANTHROPIC, CHAT, Table

HINTS = Table()


def _speaks(loop: Loop, text: str) -> int:
    loop.steps[LAST].blocks = tuple(b for b in loop.steps[LAST].blocks if not isinstance(b, Text))
    loop.steps[LAST].blocks += (Text(text, loop.dialect.text_id(f"{loop.dialect.name}/spoke")),)
    return LAST


@HINTS("model-refused-in-text", "model", tier="H")
def refused_in_text(loop: Loop) -> int:
    return _speaks(loop, "I'm sorry, but I can't help with that request.")


@HINTS("model-promised-no-action", "model", tier="H")
def promised(loop: Loop) -> int:
    return _speaks(loop, "The cause is known. Now I will close the ticket.")


@HINTS("reasoning-in-text", "api model", CHAT, tier="H", edits="model")
def thinking_in_the_text(loop: Loop) -> int:
    return _speaks(loop, "<think>It was the timeout.</think>The timeout was lowered at 20:58:31Z.")


@HINTS("model-ignored-tool-error", "model", (*ANTHROPIC, "bedrock-converse", "gemini-generate"), tier="H",
       edits="model")  # fmt: skip
def error_passed_over(loop: Loop) -> int:
    del loop.steps[FAILING + 1 : LAST]
    loop.steps[FAILING + 1].blocks = say(loop, "calm", "The timeout was lowered to 1500 ms; put it back to 8000 ms.")
    return FAILING + 1


@HINTS("client-opaque-tool-error", "client", (*ANTHROPIC, "bedrock-converse"), tier="H", edits="model")
def opaque(loop: Loop) -> tuple[int, ...]:
    call = first_call(loop.steps[READS])
    loop.steps.insert(READS, Step(say(loop, "opaque", "I will read it.", (call.name, call.arguments))))
    answered(loop.steps[READS], "invalid", error=True)
    return READS, READS + 1


@HINTS("client-stopped-silently", "client", tier="H", instead="client-tool-calls-not-dispatched")
def stopped(loop: Loop) -> int:
    return ends(loop, QUERIES)
