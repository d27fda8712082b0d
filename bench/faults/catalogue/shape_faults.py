"""Layer 3: requests that an API must reject, whether or not it does; and what results bring."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..loop import Loop, Step
from ..pieces import Failed, Json, Message, Raw, Result, Text, Tool
from ..story import QUERY, READ, SEARCH, TICKET
from .edits import FAILING, LAST, PARALLEL, QUERIES, READS, TICKETS, answered, ends, on_answer, rejected, say
from .errors import TOO_LONG
from .fault import ALL, ANTHROPIC, STREAMED, Inject, Table
from .rejections import REJECTIONS, rejects

SHAPES = Table()
NO = "request-rejected"


def both(identity: str, dialects: tuple[str, ...], variant: str, *, also: str = "", tool: str = "") -> Any:
    """Two rows for one injector: the API takes the request, and the API rejects it."""

    def add(inject: Inject) -> Inject:
        SHAPES(identity, "client", dialects, variant, also=also)(inject)

        def refused(loop: Loop) -> int:
            where = inject(loop)
            return rejects(loop, where if isinstance(where, int) else where[-1], identity, tool=tool)

        worded = tuple(name for name in dialects if name in REJECTIONS.get(identity, {}))
        if worded:
            SHAPES(identity, "client", worded, f"{variant}, rejected", also=f"{also} {NO}", modes=STREAMED)(refused)
        return inject

    return add


# Roles


@both("client-role-order", ("mistral-chat",), "a user behind results")
def user_behind_results(loop: Loop) -> int:
    loop.steps[READS].says = "Be quick, please."
    return READS + 1


@both("client-role-order", ("gemini-generate", "bedrock-converse", "anthropic-messages"), "begins with the assistant",
      also="client-history-truncated client-user-text-lost client-cache-prefix-busted "
      "client-orphan-tool-result")  # fmt: skip
def begins_with_the_assistant(loop: Loop) -> int:
    loop.steps[TICKETS].rewrite = lambda history: history[1:]
    return TICKETS


@both("client-role-order", ("bedrock-converse",), "two users")
def two_users(loop: Loop) -> int:
    loop.opening = [*loop.opening, Message("user", (Text("It is urgent."),))]
    return 0


@both("client-role-order", ("gemini-generate", "mistral-chat"), "ends with the assistant",
      also="client-continued-after-end")  # fmt: skip
def ends_with_the_assistant(loop: Loop) -> int:
    loop.steps.append(Step(say(loop, "more", "The report is final.")))
    return LAST + 1


@both("client-role-order", ("anthropic-messages",), "a prefill that ends in white space")
def prefill(loop: Loop) -> int:
    def prefilled(body: Json) -> None:
        body["messages"].append({"role": "assistant", "content": [{"type": "text", "text": "The cause is: "}]})

    loop.steps[LAST].edit_request = (prefilled,)
    return LAST


# Empty pieces

EMPTY = (*ANTHROPIC, "bedrock-converse")


@both("client-empty-content", EMPTY, "in an answer", also="client-assistant-mutated client-cache-prefix-busted")
def empty_block_in_an_answer(loop: Loop) -> int:
    return on_answer(loop, READS, lambda blocks: (*blocks[:-1], Text(""), blocks[-1]))


@both("client-empty-content", EMPTY, "from the user")
def empty_words_of_the_user(loop: Loop) -> int:
    step = loop.steps[READS]
    step.results = (*step.results, Text(" "))
    return READS + 1


@SHAPES("request-rejected", "api", EMPTY, "the API's own block", also=NO, modes=STREAMED)
def own_empty_block(loop: Loop) -> int:
    step = loop.steps[READS]
    step.passes = lambda blocks: (*blocks[:-1], Text(""), blocks[-1])
    return rejects(loop, READS + 1, "client-empty-content")


# Tools


@both(
    "client-tools-missing-for-history", EMPTY, "the last word", also="client-tools-changed client-cache-prefix-busted"
)
def no_tools(loop: Loop) -> int:
    loop.steps[LAST].ask["tools"] = ()
    return LAST


def _ticket(change: Callable[[Json], None]) -> Tool:
    schema: Json = json.loads(json.dumps(TICKET.schema))
    change(schema)
    return replace(TICKET, schema=schema)


BAD_SCHEMAS: dict[str, tuple[Tool, ...]] = {
    "array without items": (SEARCH, READ, QUERY, _ticket(lambda s: s["properties"]["labels"].pop("items"))),
    "two of one name": (SEARCH, READ, QUERY, TICKET, replace(SEARCH, description="Search the archived logs.")),
}
BAD_NAMES = ("openai-chat", "openai-responses", "openai-responses-held", *ANTHROPIC, "gemini-generate",
             "bedrock-converse")  # fmt: skip


def _bad(variant: str) -> None:
    @both("client-bad-tool-schema", ALL, variant, tool="create_ticket")
    def bad(loop: Loop) -> int:
        loop.tools = BAD_SCHEMAS[variant]
        return 0


for each in BAD_SCHEMAS:
    _bad(each)


@SHAPES("client-bad-tool-schema", "client", BAD_NAMES, "a name with a space")
def bad_name(loop: Loop) -> int:
    loop.tools = (*loop.tools, Tool("find person", "Find who is on call.", {"type": "object", "properties": {}}))
    return 0


# Parameters

UNSUPPORTED: dict[str, tuple[Json, Failed]] = {
    "openai-chat": ({"max_tokens": 400}, Failed(400, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "unsupported_parameter", "max_tokens")),
    "openai-responses": ({"temperature": 0.3}, Failed(400, "Unsupported parameter: 'temperature' is not supported with this model.", "unsupported_parameter", "temperature")),
    "anthropic-messages": ({"temperature": 0.3}, Failed(400, "`temperature` is deprecated for this model.")),
    "mistral-chat": ({"seed": 3}, Failed(422, "Validation failed", body={"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted", "input": 3}]})),
    "gemini-generate": ({"frequencyPenalty": 3}, Failed(400, "Invalid JSON payload received. Unknown name \"frequencyPenalty\": Cannot find field.")),
}  # fmt: skip


@SHAPES("client-unsupported-param", "client", tuple(UNSUPPORTED), also=NO)
def unsupported(loop: Loop) -> int:
    parameters, failed = UNSUPPORTED[loop.dialect.name]
    loop.parameters = loop.parameters | parameters
    loop.steps[0].failed = failed
    return ends(loop, 0)


# State that the API does not hold


@SHAPES("client-stale-server-state", "client", ("openai-responses-held",), "never seen", also=NO)
def never_seen(loop: Loop) -> int:
    previous = loop.dialect.answer_id("elsewhere")
    loop.steps[READS].ask["previous"] = previous
    return rejected(loop, READS, f"Previous response with id '{previous}' not found.",
                    code="previous_response_not_found", param="previous_response_id")  # fmt: skip


def stateful(loop: Loop) -> None:
    """Answers are asked to be stored."""
    loop.parameters = {"store": True}


@SHAPES("client-stale-server-state", "client", ("openai-responses-held",), "not stored", base=stateful, also=NO)
def not_stored(loop: Loop) -> int:
    from ..loop import identity

    loop.parameters = {"store": False}
    return rejected(loop, READS, f"Previous response with id '{identity(loop, READS - 1)}' not found.",
                    code="previous_response_not_found", param="previous_response_id")  # fmt: skip


@SHAPES("client-stale-server-state", "client", ("openai-responses",), "an item", also=NO)
def item_not_stored(loop: Loop) -> int:
    thought = loop.dialect.thinking_id("elsewhere")
    message = (
        f"Item with id '{thought}' not found. Items are not persisted when `store` is set to false. Try again with "
        "`store` set to true, or remove this item from your input."
    )
    loop.steps[READS].results = (*loop.steps[READS].results, Raw({"type": "item_reference", "id": thought}))
    return rejected(loop, READS + 1, message, param="input")


# Types

TYPES: dict[str, str] = {
    "openai-chat": "Invalid type for 'messages[6].tool_calls[0].function.arguments': expected a string, but got an object instead.",
    "anthropic-messages": "messages.5.content.1.tool_use.input: Input should be a valid dictionary",
    "bedrock-converse": "The format of the value at messages.5.content.1.toolUse.input is invalid. Provide a json object for the field and try again.",
    "gemini-generate": "Invalid value at 'contents[5].parts[1].function_call.args' (type.googleapis.com/google.protobuf.Struct)",
    "openai-responses": "Invalid type for 'input[9].arguments': expected a string, but got an object instead.",
    "ollama-chat": "json: cannot unmarshal string into Go struct field ToolCallFunction.messages.tool_calls.function.arguments of type api.ToolCallFunctionArguments",
}  # fmt: skip


def _retyped(value: Any) -> Any:
    """Arguments in the other of the two types: a string for an object, an object for a string."""
    return json.loads(value) if isinstance(value, str) else json.dumps(value)


def _retype(body: Any, path: str) -> bool:
    """Change the type of the arguments of the call of that path, wherever this API has them."""
    if isinstance(body, dict):
        fields: Json = body
        for key, inner in fields.items():
            if key in ("arguments", "input", "args") and path in json.dumps(inner) and not isinstance(inner, list):
                fields[key] = _retyped(inner)
                return True
        return any(_retype(inner, path) for inner in fields.values())
    return isinstance(body, list) and any(_retype(inner, path) for inner in body)


def _wrong_type(loop: Loop) -> int:
    def edit(body: Json) -> None:
        _retype(body, "production.yaml")

    for step in loop.steps[READS + 1 :]:
        step.edit_request = (edit,)
    return READS + 1


@SHAPES("client-args-wrong-type", "client", tuple(TYPES), "taken", also="client-assistant-mutated "
        "client-cache-prefix-busted")  # fmt: skip
def wrong_type(loop: Loop) -> int:
    return _wrong_type(loop)


@SHAPES("client-args-wrong-type", "client", tuple(TYPES), "rejected", also=f"{NO} client-assistant-mutated "
        "client-cache-prefix-busted", modes=STREAMED)  # fmt: skip
def wrong_type_rejected(loop: Loop) -> int:
    return rejected(loop, _wrong_type(loop), TYPES[loop.dialect.name])


IMAGES: dict[str, tuple[Json, str]] = {
    "openai-chat": ({"type": "image_url", "image_url": {"url": "https://shop.example/graph.png"}}, "Invalid content type. image_url is only supported by certain models."),
    "deepseek-chat": ({"type": "image_url", "image_url": {"url": "https://shop.example/graph.png"}}, "This model does not support image input."),
    "anthropic-messages": ({"type": "image", "source": {"type": "base64", "media_type": "image/tiff", "data": "SUkqAA=="}}, "messages.0.content.1.image.source.base64.media_type: Unsupported image format"),
    "bedrock-converse": ({"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}}, "The model doesn't support image input: This model does not support images."),
}  # fmt: skip


@SHAPES("client-media-unsupported", "client", tuple(IMAGES), tier="S", also=NO)
def image(loop: Loop) -> int:
    block, message = IMAGES[loop.dialect.name]
    loop.opening = [Message("user", (*loop.opening[0].blocks, Raw(block)))]
    return rejected(loop, 0, message)


@SHAPES("request-rejected", "client", variant="in words that nobody knows")
def unknown_words(loop: Loop) -> int:
    loop.parameters = loop.parameters | {"frobnicate": True}
    return rejected(loop, 0, "The request could not be served as it is (E-7731).")


# Results


@SHAPES("client-tool-error-as-success", "client", (*ANTHROPIC, "bedrock-converse"), tier="S")
def error_without_flag(loop: Loop) -> tuple[int, ...]:
    answered(loop.steps[FAILING], "Error: ENOENT: no such file, open 'services/checkout/config/prod.yaml'")
    return FAILING, FAILING + 1


@SHAPES("client-tool-error-as-success", "client", (*ANTHROPIC, "bedrock-converse"), "traceback", tier="S")
def traceback_without_flag(loop: Loop) -> tuple[int, ...]:
    answered(loop.steps[FAILING], "Traceback (most recent call last):\n  File \"tools.py\", line 8, in read_file\n"
             "FileNotFoundError: services/checkout/config/prod.yaml")  # fmt: skip
    return FAILING, FAILING + 1


def _huge(loop: Loop) -> None:
    lines = (f"2026-05-28T21:{i // 60 % 60:02}:{i % 60:02}Z payments INFO charge {i} settled" for i in range(2600))
    step = loop.steps[PARALLEL]
    results = [r for r in step.results if isinstance(r, Result)]
    step.results = (results[0], replace(results[1], text="\n".join(lines)))


@SHAPES("client-huge-tool-result", "client", modes=(False,))
def huge(loop: Loop) -> tuple[int, ...]:
    _huge(loop)
    return PARALLEL, PARALLEL + 1


@SHAPES("client-huge-tool-result", "client", tuple(TOO_LONG), "and the window is full", modes=(False,),
        also="api-context-full request-rejected")  # fmt: skip
def huge_and_full(loop: Loop) -> tuple[int, ...]:
    _huge(loop)
    loop.steps[PARALLEL + 1].failed = TOO_LONG[loop.dialect.name]
    ends(loop, PARALLEL + 1)
    return PARALLEL, PARALLEL + 1


@SHAPES("client-empty-tool-result", "client")
def empty_results(loop: Loop) -> tuple[int, ...]:
    for place in (READS, QUERIES, TICKETS):
        answered(loop.steps[place], "")
    return READS, QUERIES, TICKETS, LAST


def many_files(loop: Loop) -> None:
    """Twenty turns, each with a short result."""
    for number in range(14):
        call = ("read_file", f'{{"path": "services/checkout/handlers/part{number}.py"}}')
        step = Step(say(loop, f"part{number}", f"Next is part {number} of the handlers.", call))
        loop.steps.insert(QUERIES + number, answered(step, f"{number + 1}  def handle_{number}(order): ..."))


@SHAPES("client-context-growth", "client", base=many_files, modes=(False,), also="client-huge-tool-result")
def growing(loop: Loop) -> tuple[int, ...]:
    for number in range(14):
        lines = (f"{i:4}  # part {number}: {'a line of code that nobody reads ' * 2}" for i in range(160))
        answered(loop.steps[QUERIES + number], "\n".join(lines))
    return tuple(range(QUERIES, len(loop.steps)))


PICTURES: dict[str, Callable[[str], Json]] = {
    "openai-chat": lambda data: {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}},
    "anthropic-messages": lambda data: {"type": "image", "source": {"type": "base64", "media_type": "image/png",
                                                                    "data": data}},
    "gemini-generate": lambda data: {"inlineData": {"mimeType": "image/png", "data": data}},
    "bedrock-converse": lambda data: {"image": {"format": "png", "source": {"bytes": data}}},
}  # fmt: skip


@SHAPES("client-image-or-blob-resent", "client", tuple(PICTURES), modes=(False,))
def picture(loop: Loop) -> tuple[int, ...]:
    data = "iVBORw0KGgo" + "QUJD" * 40_000
    loop.opening = [Message("user", (*loop.opening[0].blocks, Raw(PICTURES[loop.dialect.name](data))))]
    return tuple(range(len(loop.steps)))
