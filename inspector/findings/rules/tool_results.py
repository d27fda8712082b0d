"""What the client made of a tool's result: the result on the tool's own wire, compared with the next request."""

import re
from collections.abc import Iterator

from turntape.cassettes.regex import regex

from ...analysis.conversation import without_space
from ...tools.arguments import rounded
from ...tools.masked import is_masked
from ...tools.model_calls import ModelCall
from ...tools.returned import returned_of
from ...tools.seen import writes_data
from ...tools.shown_text import ShownText
from ...tools.tool_run import Lost, ToolRun
from ..finding import Severity
from ..rule import Note, tool_rule
from ..tool_context import ToolContext
from .results import reads_like_error
from .tool_waits import waited

_NOTICE = regex(
    r"truncat|omitted|stripped|not (?:be )?(?:sent|shown|supported|available)|unsupported|too (?:large|long|big)|exceed"
    r"|removed|dropped|shorten|cannot|saved|limit|\.\.\.|…|\bshowing\b.{0,40}\b(?:of|first|last|only)\b|\bto continue\b|\bclipped\b|\belided\b|\bskipped\b|\bsnip"
    r"|\b(?:more|remaining|other|additional) (?:char|line|byte|token|item|result|row|page|word|entr|match)"
    r"|\[\+?\d[\d,]* (?:char|line|byte|token|word)|\bcut (?:off|short|to|at)\b",
    re.IGNORECASE,
)
"""How clients say that something is missing."""
_FAILURE = regex(r"\b(?:error|exception)\b|\bfail", re.IGNORECASE)
_SHORT = 80


def places(call: ModelCall, run: ToolRun) -> tuple[str, ...]:
    """The evidence: the result on the tool's wire, and the place at which the model sees it."""
    seen = call.shown
    shown = () if seen is None else (f"#{seen.index} request {seen.pointer}".strip(),)
    return (f"#{run.index} response /result", *shown)


def of(run: ToolRun) -> str:
    """The tool as the end of a sentence: `'add' of server 'files'`."""
    return f"{run.name!r} of server {run.server!r}"


def _shown(context: ToolContext, *how: str) -> Iterator[tuple[ModelCall, ToolRun]]:
    """The answered runs that the next request shows in one of these ways."""
    for call, run in context.final:
        if run.outcome == "answered" and run.seen_as in how:
            yield call, run


def _says_so(run: ToolRun) -> bool:
    """Whether the model reads that something is missing."""
    returned = run.returned_text or ""
    return any(found.group() not in returned for found in _NOTICE.finditer(run.seen_text or ""))


def _quoted(text: str | None) -> str:
    return repr(" ".join((text or "").split())[:_SHORT])


@tool_rule(
    "client-tool-result-cut",
    "client",
    "warning",
    "P",
    says="The client cut a tool's result, and the model sees only a part.",
    fix="Raise the client's limit for results, or let the tool return pages.",
    not_when=("The model reads that the result was cut: then it is an info",),
)
def result_cut(context: ToolContext) -> Iterator[Note]:
    for call, run in _shown(context, "cut"):
        head, tail = run.seen_kept or (0, 0)
        whole = len("\n".join(returned_of(run.result).texts)) or len(run.returned_text or "")
        part = "the beginning and the end" if head and tail else "the end" if tail else "the beginning"
        kept = f"{head + tail:,} of {whole:,} characters ({part})" if head + tail else "a part"
        severity: Severity | None = "info" if _says_so(run) else None
        yield Note(f"the model sees only {kept} of the result of {of(run)}", places(call, run), severity)


@tool_rule(
    "client-tool-result-as-file",
    "client",
    "info",
    "P",
    says="The client wrote a tool's result to a file and shows the model the file's name.",
    fix="Raise the client's limit for results if the model needs the whole result at once.",
)
def result_as_file(context: ToolContext) -> Iterator[Note]:
    for call, run in _shown(context, "file"):
        yield Note(
            f"the result of {of(run)} ({run.returned_bytes or 0:,} bytes) was written to a file: "
            f"{_quoted(run.seen_text)}",
            places(call, run),
        )


@tool_rule(
    "client-tool-structured-lost",
    "client",
    "warning",
    "P",
    says="The client leaves out the structured content of a tool's result.",
    fix="Let the tool return the same as text, or let the client pass on `structuredContent`.",
    not_when=("The model sees the text of the same result: then it is an info",),
)
def structured_lost(context: ToolContext) -> Iterator[Note]:
    for call, run in _shown(context, "text", "dropped", "changed"):
        if "structured" not in run.lost or (run.seen_as != "text" and "text" in run.lost):
            continue
        rest = "only the text" if run.seen_as == "text" else "nothing"
        severity: Severity | None = "info" if run.seen_as == "text" else None
        yield Note(
            f"the structured content of {of(run)} was left out; the model sees {rest}", places(call, run), severity
        )


@tool_rule(
    "client-tool-text-lost",
    "client",
    "info",
    "P",
    says="The client shows the structured content of a result and leaves out its text.",
    fix="Put everything that the model needs into the structured content as well.",
)
def text_lost(context: ToolContext) -> Iterator[Note]:
    for call, run in _shown(context, "structured"):
        texts = returned_of(run.result).texts
        yield Note(
            f"the text of {of(run)} was left out; the model sees only the structured content: {_quoted(texts[0])}",
            places(call, run),
        )


@tool_rule(
    "client-tool-result-lost",
    "client",
    "error",
    "P",
    says="The client shows the model nothing of the text that a tool returned.",
    fix="Put the text of the result into the message with the result.",
    not_when=(
        "It is the text of an error: then it is a warning",
        "It is the text of an error, and the result is marked as one: then it is an info",
        "The model reads other words in place of the text of an error: then it is an info",
    ),
)
def result_lost(context: ToolContext) -> Iterator[Note]:
    for call, run in _shown(context, "dropped"):
        if "text" in run.lost:
            yield Note(
                f"the model sees nothing of the result of {of(run)}: {_quoted(run.returned_text)}", places(call, run)
            )
    for call, run in context.final:
        if run.outcome == "failed" and run.seen_as == "dropped" and (run.returned_text or "").strip():
            yield Note(
                f"the model sees nothing of the error of {of(run)}: {_quoted(run.returned_text)}",
                (f"#{run.exchanges[-1]} response /error", *places(call, run)[1:]),
                severity="info" if run.seen_error else "warning",
            )
        elif _other_words(run):
            yield Note(
                f"the model sees other words than those of the error of {of(run)}: {_quoted(run.returned_text)}",
                (f"#{run.exchanges[-1]} response /error", *places(call, run)[1:]),
                severity="info",
            )


def _other_words(run: ToolRun) -> bool:
    """Whether the model reads of a failure, and nothing of what the server says about it."""
    said, seen = run.error or {}, without_space(run.seen_text or "")
    if run.outcome != "failed" or run.seen_as != "replaced" or (run.status or 0) >= _FAILED or not said.get("message"):
        return False
    reads = run.seen_error or reads_like_error(run.seen_text or "") or _FAILURE.search(run.seen_text or "") is not None
    return reads and seen not in without_space(run.returned_text or "")


_FAILED = 400
"""From this status on, clients have only the status to show."""


_MEDIA: dict[Lost, tuple[str, str]] = {
    "image": ("image", "an image"),
    "audio": ("audio", "the audio"),
    "resource": ("resource", "a resource"),
    "link": ("resource", "a link to a resource"),
}


def _media_lost(context: ToolContext, kind: str) -> Iterator[Note]:
    for call, run in context.final:
        if run.outcome != "answered" or run.seen_as == "other":
            continue
        for lost in run.lost:
            known = _MEDIA.get(lost)
            if lost == "link" and _follows_links(context, run):
                continue
            # Then `client-tool-result-changed` reports it.
            reworded = lost == "resource" and "text" not in run.lost and _other_text(run)
            if known is not None and known[0] == kind and not reworded:
                severity: Severity | None = "info" if _says_so(run) else None
                written = lost == "image" and _holds_data(run)
                what = f"{known[1]} in the result of {of(run)} was {'written as text' if written else 'left out'}"
                severity = None if written else severity
                yield Note(f"{what}; the model sees {_quoted(run.seen_text)}", places(call, run), severity)


def _follows_links(context: ToolContext, run: ToolRun) -> bool:
    """Whether the client read what each link of a result names, and the model sees that in its place."""
    shown = ShownText(run.seen_text or "")
    links = [block for block in returned_of(run.result).blocks if block.kind == "link"]
    read = context.join.read if context.join is not None else dict[tuple[str, str], str]()
    found = [read.get((run.server, block.uri), "") for block in links if not shown.holds(block.uri)]
    return all(text and (shown.holds(text) or shown.is_part_of(text)) for text in found)


def _holds_data(run: ToolRun) -> bool:
    """Whether the model sees the base64 of an image."""
    return any(writes_data(block, run.seen_text or "") for block in returned_of(run.result).blocks)


@tool_rule(
    "client-tool-image-lost",
    "client",
    "warning",
    "P",
    says="The client leaves out an image that a tool returned, or writes its data as text, which no model can see.",
    fix="Use a client and an API that take images in results, or let the tool describe the image.",
    not_when=(
        "The model reads that something is missing: then it is an info",
        "The client made another image of it",
    ),
)
def image_lost(context: ToolContext) -> Iterator[Note]:
    yield from _media_lost(context, "image")


@tool_rule(
    "client-tool-audio-lost",
    "client",
    "warning",
    "P",
    says="The client leaves out the audio that a tool returned.",
    fix="Let the tool return a transcript as well.",
    not_when=("The model reads that something is missing: then it is an info",),
)
def audio_lost(context: ToolContext) -> Iterator[Note]:
    yield from _media_lost(context, "audio")


@tool_rule(
    "client-tool-resource-lost",
    "client",
    "warning",
    "P",
    says="The client leaves out a resource, or the link to one, that a tool returned.",
    fix="Let the tool return the content of the resource as text.",
    not_when=(
        "The model reads that something is missing: then it is an info",
        "The model sees its text, its address or a file",
        "The client read what the link names, and the model sees that",
    ),
)
def resource_lost(context: ToolContext) -> Iterator[Note]:
    yield from _media_lost(context, "resource")


def _other_text(run: ToolRun) -> bool:
    """Whether other words are shown in the place of the text, which may be that of a resource."""
    returned = returned_of(run.result)
    of_resource = "resource" in run.lost and not returned.texts and any(block.text for block in returned.blocks)
    return "text" in run.lost or (run.seen_as == "changed" and of_resource)


@tool_rule(
    "client-tool-result-changed",
    "client",
    "warning",
    "P",
    says="The model sees another text than the tool returned.",
    fix="Look for what rewrites results: a hook, a filter, a summary.",
    not_when=(
        "White space, JSON or words around it differ, words do not run together and indented lines stay so",
        "It is the result of another run",
        "Short parts are hidden behind marks, as secrets are: then it is an info",
    ),
)
def result_changed(context: ToolContext) -> Iterator[Note]:
    for call, run in _shown(context, "changed"):
        if not _other_text(run) or (run.seen_error and not run.is_error):
            continue
        yield Note(
            f"{of(run)} returned {_quoted(run.returned_text)}, but the model sees {_quoted(run.seen_text)}",
            places(call, run),
            severity="info" if _says_so(run) or is_masked(run.returned_text or "", run.seen_text or "") else None,
        )
    for call, run in _shown(context, "equal", "structured"):
        if (found := rounded(run.returned_text or "", run.seen_text or "")) is not None:
            yield Note(f"{of(run)} returned the number {found[0]}, but the model sees {found[1]}", places(call, run))
    for call, run in _shown(context, "equal", "text"):
        shown = ShownText(run.seen_text or "")
        if (words := next(filter(None, map(shown.glued, returned_of(run.result).texts)), None)) is not None:
            yield Note(
                f"white space between words of {of(run)} is gone; the model sees {_quoted(words)}", places(call, run)
            )
        elif (line := next(filter(None, map(shown.flattened, returned_of(run.result).texts)), None)) is not None:
            yield Note(f"the indentation of {of(run)} is gone, as before {_quoted(line)}", places(call, run))


@tool_rule(
    "client-tool-results-swapped",
    "client",
    "error",
    "P",
    says="Results of calls that ran together are under each other's call, or joined under one.",
    fix="Match results to calls by id, not by the order in which they finish; give each call only its own result.",
)
def results_swapped(context: ToolContext) -> Iterator[Note]:
    for call, run in _shown(context, "equal", "text"):
        if (other := _joined_to(context, run)) is not None:
            yield Note(
                f"the call {call.call.id or call.call.name!r} shows the result of #{other.index} behind its own",
                (*places(call, run), f"#{other.index} response /result"),
            )
    together = {run.index for _, run in context.runs}
    for call, run in _shown(context, "other"):
        if run.seen_of in together:
            yield Note(
                f"the call {call.call.id or call.call.name!r} shows the result of #{run.seen_of} and not its own: "
                f"{_quoted(run.seen_text)}",
                (*places(call, run), f"#{run.seen_of} response /result"),
            )


def _joined_to(context: ToolContext, run: ToolRun) -> ToolRun | None:
    """The run of another call of the answer whose whole result is shown together with the run's own."""
    own, shown = (run.returned_text or "").strip(), run.seen_text or ""
    for _, other in context.final:
        text = (other.returned_text or "").strip()
        if other is not run and len(text) >= _WHOLE and text in shown and text not in own and own not in text:
            return other
    return None


_WHOLE = 16
"""Characters. A shorter result may be a part of another one by chance."""


@tool_rule(
    "client-tool-result-stale",
    "client",
    "error",
    "P",
    says="The model sees the result of an earlier run again, and not that of its own call.",
    fix="Look for a cache of results, or a list of messages that is not emptied.",
    not_when=("The tool was not executed again: then it is a warning",),
)
def result_stale(context: ToolContext) -> Iterator[Note]:
    together = {run.index for _, run in context.runs}
    for call, run in _shown(context, "other"):
        if run.seen_of not in together:
            yield Note(
                f"{of(run)} returned {_quoted(run.returned_text)}, but the model sees the result of #{run.seen_of} "
                f"again: {_quoted(run.seen_text)}",
                (*places(call, run), f"#{run.seen_of} response /result"),
            )
    for call in context.missing if context.over == "closed" else ():
        earlier = context.returned_before(call)
        if earlier is not None and call.shown is not None:
            yield Note(
                f"the call of {call.call.name!r} was not executed; the model sees the result of #{earlier.index} again",
                (f"#{earlier.index} response /result", f"#{call.shown.index} request {call.shown.pointer}".strip()),
                severity="warning",
            )


@tool_rule(
    "client-tool-error-mark-lost",
    "client",
    "warning",
    "P",
    says="A tool reported an error, and the client does not mark the result as one.",
    fix="Set `is_error` (Anthropic) or `status: error` (Bedrock) where the tool's result has `isError`; say so in words where "
    "the API has no such mark.",
    not_when=(
        "The text reads like an error: then it is an info",
        "The API has no such mark: then it is an info, and nothing where the text reads like an error",
    ),
)
def error_mark_lost(context: ToolContext) -> Iterator[Note]:
    for call, run in context.final:
        plain = reads_like_error(run.seen_text or "") or _FAILURE.search((run.seen_text or "")[:200]) is not None
        if "error_mark" in run.lost and run.outcome in ("answered", "failed"):
            yield Note(
                f"{of(run)} reported an error, but its result is not marked as one: {_quoted(run.seen_text)}",
                places(call, run),
                severity="info" if plain else None,
            )
        elif run.is_error and run.outcome == "answered" and run.seen_as == "equal" and not run.seen_error and not plain:
            yield Note(
                f"{of(run)} reported an error, and nothing says so to the model: {_quoted(run.seen_text)}",
                places(call, run),
                severity="info",
            )


@tool_rule(
    "client-tool-error-invented",
    "client",
    "error",
    "P",
    says="The tool succeeded, but the client shows the model an error.",
    fix="Look into the client's log for what failed after the tool had answered.",
    not_when=(
        "The tool reported an error",
        "The result breaks the schema that the tool states: clients must refuse it",
        "The result is larger than the client takes: then it is a warning",
        "The result is empty, and the client only says so in words: then it is a warning",
        "The result came after the model had been asked again: then `client-tool-gave-up` says so",
    ),
)
def error_invented(context: ToolContext) -> Iterator[Note]:
    for call, run in context.final:
        # Where the API has no mark, only the client's own words say so. They are its own where the tool said nothing.
        words = ShownText(run.seen_text or "").texts if run.seen_as == "empty" else []
        unmarked = any(reads_like_error(text) for text in words)
        if run.outcome != "answered" or run.is_error or not (run.seen_error or unmarked):
            continue
        if waited(call, run) is not None:
            continue
        mild = not run.seen_error or (_says_so(run) and run.seen_as in ("cut", "file", "changed"))
        yield Note(
            f"{of(run)} returned a result without an error, but the model sees an error: {_quoted(run.seen_text)}",
            places(call, run),
            severity="warning" if mild else None,
        )


@tool_rule(
    "client-tool-result-doubled",
    "client",
    "info",
    "P",
    says="The model sees the text of one result twice, and each later turn pays for both.",
    fix="Pass on `content` or `structuredContent`, not both: servers send the same data in both.",
    not_when=("The tool itself returned the text twice", "The text is short"),
)
def result_doubled(context: ToolContext) -> Iterator[Note]:
    for call, run in context.final:
        if run.outcome != "answered" or run.seen_as not in ("equal", "text"):
            continue
        text = without_space(run.returned_text or "")
        if len(text) < _ALONE:
            continue
        folded = ShownText(run.seen_text or "").folded
        times = max(shown.count(text) for shown in folded)
        if times > 1 and (len(text) >= _WORTH or text * times in folded):
            yield Note(
                f"the model sees the result of {of(run)} {times} times: {_quoted(run.returned_text)}",
                places(call, run),
            )


_WORTH = 60
"""Characters without white space. A shorter text twice may be there by chance, beside others."""
_ALONE = 8
"""So many are not there twice by chance where they are all that the model sees."""


RULES = (
    results_swapped,
    result_stale,
    error_invented,
    error_mark_lost,
    result_lost,
    result_changed,
    result_cut,
    result_as_file,
    structured_lost,
    text_lost,
    image_lost,
    audio_lost,
    resource_lost,
    result_doubled,
)
