"""Finds tool calls that a model wrote into its text, in whatever markup.

There is no list of dialects. A call is the name of an offered tool, followed by arguments that hold what the tool's
schema requires, in a place where nothing else is said: JSON, Python's `name(a=1)`, or tags with the parameters' names.
Prose that mentions a tool, or that shows a call as an example and continues, is not a call.
"""

import ast
import re
from collections.abc import Iterable, Iterator

from turntape.cassettes.frozen import frozen
from turntape.cassettes.regex import regex

from .json_value import Object, as_object, is_array, is_object, parse_json
from .values import Tool

_WORDS = (
    r"name|tools?|toolscall|tool_name|function_name|recipient_name|functions?|call|calls|tool_calls?|toolcall|called|"
    r"calling|invoke|invoking|invocation|using|running|with|action|action[ _]input|input|tool_input|arguments?|"
    r"args|parameters?|params|param|python_tag|type|id|index|json|default_api|string|begin|end|section|sep|open|close|"
    r"DSML|function_calls?|antml|the|print|await|arg|key|value|to|recipient|assistant|commentary|channel|message|constrain"
)
"""The words that markup of calls is made of."""
_MARKUP = rf"(?:[\W_]|(?<![^\W_])(?:{_WORDS})(?![^\W_])|(?<![^\W_])\w*\d\w*)*"
_LEAD = regex(rf"{_MARKUP}\Z", re.IGNORECASE)
"""What may be before the name, in its line."""
_TAIL = regex(rf"{_MARKUP}(?:\Z|(?:tool )?(?:observation|results?|output|response)\b)", re.IGNORECASE)
"""What may follow the last call: the end of its markup, or a result that the model invented."""
_GLUE = regex(rf"(?:[^\w({{]|_|<[^<>\n]{{1,80}}>|(?<![^\W_])(?:{_WORDS})(?![^\W_])|(?<=:)\d+)*", re.IGNORECASE)
"""What may be between the name and its arguments."""
_KEY = regex(r"""[{,]\s*\\?["']?(\w+)\\?["']?\s*[:=]""")
_KEYWORD = regex(r"[(,]\s*(\w+)\s*=")
_FENCE = regex(r"```([\w-]*+)[^\n]*+\n(.*?)(?:```|\Z)", re.DOTALL)
_TOOL_FENCES = frozenset({"tool_code", "tool_call", "tool_calls", "tool", "tool_use"})
_INLINE = regex(r"`[^`\n]+`")
_EXAMPLE = regex(
    r"\b(?:examples?|e\.g\.|for instance|such as|like this|as follows|looks? like|would (?:be|call|look|use)|"
    r"you (?:can|could|may|might|should|would)|to call it|usage|syntax|signature|documentation|how to|template)\b",
    re.IGNORECASE,
)
_ASKS = regex(
    r"\b(?:how|examples?|explain|syntax|format|document\w*|describe|what (?:is|are|does|would)|"
    r"show me|write (?:a|the|me))\b",
    re.IGNORECASE,
)
_ORDER = r"(?:(?:please|first|then|now),?\s+)?(?:use|call|run|invoke)\s+(?:the\s+)?(?:tool\s+)?"
_ABOUT_IT = regex(r"\b(?:how|examples?|explain|syntax|format|document\w*)\b", re.IGNORECASE)
"""What an order to use a tool has beside it where it may be about how the tool is used."""
_CALL_TAG = regex(r"invoke|function|tool|call|param|arg|action", re.IGNORECASE)
_BEFORE = 240
_CLOSING = {"{": "}", "(": ")", "[": "]"}
_LITERALS = frozenset({"true", "false", "null", "None", "True", "False"})


@frozen
class WrittenCall:
    """A call in the text of an answer."""

    name: str
    text: str
    """The call from its name to the end of its arguments."""
    marked: bool
    """False for a bare `name(a=1)`, which could be a line of code."""


def written_calls(text: str, tools: Iterable[Tool]) -> list[WrittenCall]:
    """The calls with which a text ends, in order; empty when it ends in anything else."""
    offered = {tool.name: tool for tool in tools if tool.name}
    if not text.strip() or not offered:
        return []
    names = "|".join(map(re.escape, sorted(offered, key=len, reverse=True)))
    places = list(re.finditer(rf"(?<![\w-])(?:functions\.|default_api\.|tools?\.)?({names})(?![\w-])", text))
    shown = _shown(text)
    found: list[tuple[WrittenCall, int, int]] = []
    for place in places:
        start = place.start(1)
        if any(begin <= start < end for begin, end in shown) or (found and start < found[-1][2]):
            continue
        line = max(text.rfind("\n", 0, place.start()) + 1, found[-1][2] if found else 0)
        read = _read(text, line, place, offered[place[1]])
        if read is not None:
            end, marked = read
            found.append((WrittenCall(place[1], text[start:end], marked), place.start(), end))
    return _last_run(text, found)


def asks_about(text: str, name: str) -> bool:
    """True for a question about a tool itself, whose answer may show a call. An order to use it is not a question."""
    return name in text and _ASKS.search(text) is not None and not _orders(text, name)


def _orders(text: str, name: str) -> bool:
    """True for a sentence that begins with the order to use a tool, and asks for nothing about it."""
    ordered = re.search(rf"(?:\A|[.!?:;\n])[ \t]*{_ORDER}[`'\"]?{re.escape(name)}(?![\w-])", text, re.IGNORECASE)
    return ordered is not None and _ABOUT_IT.search(text) is None


def is_made(written: WrittenCall, name: str, arguments: object) -> bool:
    """True when a real call says the same as the written one."""
    values = [str(value) for value in as_object(arguments).values() if isinstance(value, str | int | float)]
    return name == written.name and all(_holds(written.text, value) for value in values)


def _holds(text: str, value: str) -> bool:
    """True when the value is in the text, and is not a part of a longer one."""
    return re.search(rf"(?<![\w/.-]){re.escape(value)}(?![\w/-])", text, re.IGNORECASE) is not None


def _last_run(text: str, found: list[tuple[WrittenCall, int, int]]) -> list[WrittenCall]:
    """The calls after which only markup follows, if nothing before them says that they are an example."""
    if not found or not _TAIL.match(text, found[-1][2]):
        return []
    run = [found[-1]]
    for earlier in reversed(found[:-1]):
        line = text.rfind("\n", 0, run[0][1]) + 1
        between = text[earlier[2] : max(line, earlier[2])]
        if not _LEAD.match(between):
            break
        run.insert(0, earlier)
    begin = run[0][1]
    return [] if is_example(text, begin) else [call for call, _, _ in run]


def is_example(text: str, begin: int) -> bool:
    """True where what is before a place in a text says that an example follows."""
    return _EXAMPLE.search(text, max(0, begin - _BEFORE), begin) is not None


def _shown(text: str) -> list[tuple[int, int]]:
    """The spans of code, in which a call is shown and not made."""
    fences = [fence for fence in _FENCE.finditer(text) if fence[0].strip() != text.strip()]
    spans = [fence.span() for fence in fences if fence[1].lower() not in _TOOL_FENCES]
    return spans + [code.span() for code in _INLINE.finditer(text) if "\n" not in code[0] and "```" not in code[0]]


def _read(text: str, line: int, name: re.Match[str], tool: Tool) -> tuple[int, bool] | None:
    """The end of the call with this name, and whether markup says that it is one; None for no call.

    `line` is where its line begins, or where the call before it ends.
    """
    tagged = _tagged(text, name.start(1), name.end(), tool)
    if tagged is not None:
        return tagged, True
    lead, after = text[line : name.start()], name.end()
    if not _LEAD.fullmatch(lead):
        return None
    glue = _GLUE.match(text, after)
    begin = glue.end() if glue else after
    if begin >= len(text) or text[begin] not in "({":
        return None
    end = _closed(text, begin)
    if end is None:
        return None
    body = text[begin:end]
    if text[begin] == "{":
        return (end, True) if _fits(tool, _keys(body)) else None
    if text[after:begin].strip():
        return None
    keys = _arguments(body, tool)
    marked = bool(re.search(r"[\w\[<{]", lead)) or text.startswith("</", end)
    return (end, marked) if keys is not None and _fits(tool, keys) else None


def _tagged(text: str, start: int, after: int, tool: Tool) -> int | None:
    """The end of a call whose name and parameters are in tags."""
    name = re.escape(tool.name)
    around = text[max(0, start - 40) : after + 80]
    if not re.search(rf"[<>]\s*[^<>\n]{{0,39}}(?<!\w){name}(?!\w)[^<>\n]{{0,60}}\s*[<>]", around):
        return None
    rest = text[after:]
    closing = re.search(rf"</(?:{name}|[^<>\n]{{0,12}}invoke|function|tool_call)>|\A\s[^<>]*/>", rest)
    segment = rest[: closing.end()] if closing else rest
    says_call = _CALL_TAG.search(around[: start - max(0, start - 40)]) is not None
    if not (closing or says_call):
        return None
    keys = {
        key
        for key in _properties(tool)
        if re.search(rf"[<>][^<>\n]{{0,40}}(?<!\w){re.escape(key)}(?!\w)[^<>\n]{{0,40}}[<>]", f"<{segment}")
    }
    if not _fits(tool, keys) or not (keys or (closing and says_call)):
        return None
    return after + len(segment[: segment.rfind(">") + 1])


def _closed(text: str, begin: int) -> int | None:
    """The place after the bracket that closes the one at `begin`; None when it is not closed."""
    open_ones: list[str] = []
    quote, i = "", begin
    while i < len(text):
        char = text[i]
        if char == "\\":
            i += 1
        elif quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in _CLOSING:
            open_ones.append(_CLOSING[char])
        elif open_ones and char == open_ones[-1]:
            open_ones.pop()
            if not open_ones:
                return i + 1
        i += 1
    return None


def _keys(body: str) -> set[str]:
    """The keys of arguments in braces."""
    value = parse_json(body)
    if not is_object(value):
        return set(_KEY.findall(body))
    inner = next(
        (item for key in ("arguments", "parameters", "args", "input") if is_object(item := value.get(key))), None
    )
    return set(value) | set(inner or ())


def _arguments(body: str, tool: Tool) -> set[str] | None:
    """The parameters that `(...)` sets; None when it holds anything but literal values."""
    inner = body[1:-1].strip()
    if inner.startswith("{"):
        return _keys(inner)
    try:
        call = ast.parse(f"f({inner})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set(_KEYWORD.findall(body)) or None
    if not isinstance(call, ast.Call) or not all(map(_is_literal, [*call.args, *(k.value for k in call.keywords)])):
        return None
    return {k.arg for k in call.keywords if k.arg} | set(list(_properties(tool))[: len(call.args)])


def _is_literal(node: ast.expr) -> bool:
    return all(_is_plain(inner) for inner in ast.walk(node))


def _is_plain(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return node.id in _LITERALS
    kinds = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.UnaryOp, ast.USub, ast.expr_context)
    return isinstance(node, kinds)


def _properties(tool: Tool) -> Object:
    schema = as_object(tool.schema)
    if "properties" in schema or "type" in schema:
        return as_object(schema.get("properties"))
    return {key: value for key, value in schema.items() if is_object(value) and not key.startswith("$")}


def _required(tool: Tool) -> Iterator[str]:
    required = as_object(tool.schema).get("required")
    if is_array(required):
        yield from (str(name) for name in required)
    else:
        yield from (key for key, value in _properties(tool).items() if as_object(value).get("required") is True)


def _fits(tool: Tool, keys: set[str]) -> bool:
    """True for arguments that set all that is required, and only what the tool has if all is optional."""
    properties = _properties(tool)
    if not set(_required(tool)) <= keys:
        return False
    return not keys or not properties or bool(keys & properties.keys())
