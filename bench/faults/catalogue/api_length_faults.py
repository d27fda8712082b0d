"""Layer 2: the output cap, the context window, and the filters, parsers and limits of the server."""

from dataclasses import replace

from ..loop import Loop, Step
from ..pieces import Event, Failed, Json, Message, Text, Thinking
from .edits import (
    LAST,
    QUERIES,
    READS,
    TICKETS,
    answered,
    cut_call,
    cut_text,
    ends,
    first_call,
    put,
    say,
    spending,
    without_calls,
)
from .errors import TOO_LONG
from .fault import ANTHROPIC, CHAT, ENDINGS, STREAMED, STRINGS, Table

LENGTHS = Table()

# Length


def capped(loop: Loop) -> None:
    loop.max_output = 200


def _continues(loop: Loop, text: str) -> None:
    loop.steps[LAST].says = "Please continue."
    loop.steps.append(Step(say(loop, "rest", text)))


@LENGTHS("api-length-truncated", "api", variant="text", base=capped)
def length(loop: Loop) -> int:
    put(loop.steps[LAST], passes=cut_text(0.7), finish="length", spent=spending(200))
    _continues(loop, "so some customers have paid for orders that were not placed. INC-2291 is open.")
    return LAST


@LENGTHS(
    "api-length-truncated",
    "api",
    ("deepseek-chat", "openai-responses", "gemini-generate", "anthropic-thinking"),
    "all spent on reasoning",
    base=capped,
    also="model-empty-response",
)
def length_in_reasoning(loop: Loop) -> int:
    final = loop.steps[LAST]
    loop.steps.append(replace(final, ask={"max_output": 4000}))
    thinking = tuple(b for b in final.blocks if isinstance(b, Thinking))
    put(final, passes=lambda _: thinking, finish="length", keeps=False,
        spent=lambda t: replace(t, output=200, reasoning=200))  # fmt: skip
    return LAST


def _cut_ticket(loop: Loop, finish: str | None) -> int:
    strings = loop.dialect.name in STRINGS or loop.streamed
    put(loop.steps[TICKETS], passes=cut_call(loop, unterminated=strings), finish=finish, cut_call=finish == "length",
        spent=spending(120))  # fmt: skip
    return TICKETS


def capped_low(loop: Loop) -> None:
    """A cap that only the ticket could reach."""
    loop.max_output = 170 if loop.dialect.thinks else 140


CUT_CALLS = (*STRINGS, *ANTHROPIC, "bedrock-converse")


def _at_cap(loop: Loop) -> None:
    loop.steps[TICKETS].spent = spending(loop.max_output or 0)


@LENGTHS("api-length-truncated-tool-call", "api", CUT_CALLS, "ended", base=capped_low, also=ENDINGS)
def length_in_call(loop: Loop) -> int:
    _cut_ticket(loop, "length")
    _at_cap(loop)
    return ends(loop, TICKETS)


@LENGTHS("api-length-truncated-tool-call", "api", CHAT, "answered with an error", base=capped_low)
def length_in_call_answered(loop: Loop) -> int:
    whole = loop.steps[TICKETS]
    loop.steps.insert(TICKETS, replace(whole, blocks=whole.blocks))
    _cut_ticket(loop, "length")
    _at_cap(loop)
    answered(loop.steps[TICKETS], "error: the call was cut off by the output limit and not run; send a shorter body",
             error=True)  # fmt: skip
    call = ("create_ticket", '{"title": "Checkout: charges time out", "body": "See 7c1f09e.", "severity": "sev1"}')
    loop.steps[TICKETS + 1].blocks = say(loop, "shorter", "The call was cut off; here is a shorter one.", call)
    answered(loop.steps[TICKETS + 1], "created INC-2291")
    return TICKETS


@LENGTHS(
    "api-truncated-call-mislabelled", "api", CUT_CALLS, "as tool calls", base=capped_low, also=ENDINGS, modes=STREAMED
)
def cut_call_as_calls(loop: Loop) -> int:
    _cut_ticket(loop, "calls")
    _at_cap(loop)
    return ends(loop, TICKETS)


@LENGTHS(
    "api-truncated-call-mislabelled",
    "api",
    ("openai-chat", "mistral-chat", "deepseek-chat"),
    "as stop",
    base=capped_low,
    also=f"{ENDINGS} api-finish-label-disagrees",
)
def cut_call_as_stop(loop: Loop) -> int:
    _cut_ticket(loop, "stop")
    _at_cap(loop)
    return ends(loop, TICKETS)


# Context


@LENGTHS("api-context-full", "api client", (*ANTHROPIC, "bedrock-converse", "mistral-chat"), "label", also=ENDINGS)
def window_full(loop: Loop) -> int:
    put(loop.steps[LAST], passes=cut_text(0.5), finish="context_full")
    return LAST


def long_history(loop: Loop) -> None:
    """A conversation of many days, too long for a small window."""
    earlier: list[Message] = []
    for day in range(24):
        asked = "\n".join(f"{day:02}-{i:03} incident note: see the run book, nothing to do." for i in range(190))
        answer = "\n".join(f"{day:02}-{i:03} read; nothing in it needs an action today." for i in range(190))
        earlier.append(Message("user", (Text(asked),)))
        earlier.append(Message("assistant", (Text(answer, loop.dialect.text_id(f"{loop.dialect.name}/day{day}")),)))
    loop.opening = [*earlier, *loop.opening]


@LENGTHS(
    "api-context-full",
    "api client",
    tuple(TOO_LONG),
    "400",
    base=long_history,
    edits="api",
    also="request-rejected",
    modes=STREAMED,
)
def prompt_too_long(loop: Loop) -> int:
    put(loop.steps[QUERIES], failed=TOO_LONG[loop.dialect.name])
    return ends(loop, QUERIES)


# Filters, parsers, limits of the server


@LENGTHS(
    "api-content-filter",
    "api",
    ("openai-chat", "openai-responses", "gemini-generate", "bedrock-converse"),
    "answer",
    also=ENDINGS,
)
def filtered(loop: Loop) -> int:
    put(loop.steps[LAST], passes=cut_text(0.4), finish="content_filter")
    return LAST


@LENGTHS("api-content-filter", "api", ("gemini-generate",), "prompt", also=ENDINGS)
def filtered_prompt(loop: Loop) -> int:
    feedback: Json = {"blockReason": "PROHIBITED_CONTENT"}

    def whole(body: Json) -> None:
        del body["candidates"]
        body["usageMetadata"] = {"promptTokenCount": body["usageMetadata"]["promptTokenCount"],
                                 "totalTokenCount": body["usageMetadata"]["promptTokenCount"]}  # fmt: skip
        body["promptFeedback"] = feedback

    def stream(events: list[Event]) -> list[Event]:
        name, value = events[-1]
        whole(value)
        return [(name, value)]

    put(loop.steps[READS], passes=lambda _: (), edit_answer=(whole,), edit_events=(stream,))
    return ends(loop, READS)


def azure(loop: Loop) -> None:
    loop.base_url = "https://shop-eastus.openai.azure.com/openai/v1"
    loop.upstream = "azure"


@LENGTHS("api-content-filter", "api", ("openai-chat",), "400 of Azure", base=azure, also="request-rejected")
def filtered_prompt_azure(loop: Loop) -> int:
    said = {"filtered": False, "severity": "safe"}
    result = {"hate": said, "jailbreak": {"filtered": True, "detected": True}, "self_harm": said, "sexual": said,
              "violence": said}  # fmt: skip
    message = (
        "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please "
        "modify your prompt and retry. To learn more about our content filtering policies please read our "
        "documentation: https://go.microsoft.com/fwlink/?linkid=2198766"
    )
    inner = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": result}
    body = {"error": {"message": message, "type": None, "param": "prompt", "code": "content_filter", "status": 400,
                      "innererror": inner}}  # fmt: skip
    put(loop.steps[QUERIES], failed=Failed(400, message, body=body))
    return ends(loop, QUERIES)


@LENGTHS("malformed-output", "api model", ("gemini-generate",), "malformed call", edits="api")
def malformed_call(loop: Loop) -> int:
    asked = first_call(loop.steps[READS])
    bad = Step(
        loop.steps[READS].blocks, keeps=False, finish="malformed", passes=lambda _: (),
        detail={"finishMessage": f"Malformed function call: print(default_api.{asked.name}(path='services/'"},
    )  # fmt: skip
    loop.steps.insert(READS, bad)
    return READS


@LENGTHS("malformed-output", "api model", ("gemini-generate",), "unexpected call", edits="api", also=ENDINGS)
def unexpected_call(loop: Loop) -> int:
    put(loop.steps[READS], passes=lambda _: (), finish="=UNEXPECTED_TOOL_CALL",
        detail={"finishMessage": "Unexpected tool call: open_file"})  # fmt: skip
    return ends(loop, READS)


@LENGTHS("malformed-output", "api model", ("bedrock-converse",), "malformed tool use", edits="api", also=ENDINGS)
def malformed_tool_use(loop: Loop) -> int:
    put(loop.steps[READS], passes=without_calls, finish="malformed")
    return ends(loop, READS)


@LENGTHS("api-server-limit", "api", ("gemini-generate", "openai-responses"), also=ENDINGS)
def server_limit(loop: Loop) -> int:
    put(loop.steps[LAST], passes=cut_text(0.3), finish="limit")
    return LAST
