"""Clean loops: none of them may have a finding above info. Each variant does what a rule might take for a fault."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from .catalogue.edits import LAST, PARALLEL, QUERIES, READS, answered, on_answer, say
from .catalogue.fault import ALL, ANTHROPIC, CHAT, FULL, RESPONSES, STRINGS
from .dialects import DIALECTS
from .loop import Loop, Step
from .pieces import Message, Raw, Result, Text, Tool
from .story import incident

type Variant = Callable[[Loop], object]


@dataclass(frozen=True)
class Clean:
    name: str
    dialect: str
    streamed: bool
    vary: Variant

    def loop(self) -> Loop:
        loop = incident(DIALECTS[self.dialect], streamed=self.streamed)
        self.vary(loop)
        return loop


VARIANTS: list[tuple[str, tuple[str, ...], Variant]] = []


def variant(name: str, dialects: tuple[str, ...] = ALL) -> Callable[[Variant], Variant]:
    def add(vary: Variant) -> Variant:
        VARIANTS.append((name, dialects, vary))
        return vary

    return add


@variant("plain")
def plain(loop: Loop) -> None:
    """The story as it is."""


@variant("the user comes back")
def user_comes_back(loop: Loop) -> None:
    loop.steps[LAST].says = "Thanks. Who should know?"
    loop.steps.append(Step(say(loop, "people", "The storefront team: checkout is theirs."), gap=40.0))


@variant("polling with progress")
def polling(loop: Loop) -> None:
    sql = '{"sql": "SELECT count(*) FROM charges WHERE state = \'open\'"}'
    for number in range(5):
        step = Step(say(loop, f"poll{number}", "Are there still open charges?", ("run_query", sql)))
        loop.steps.insert(QUERIES, answered(step, f"count\n{500 - 90 * number}"))


def _beside(loop: Loop, name: str, text: str, answer: str, **changes: object) -> Loop:
    """A short call beside the main thread, without tools."""
    small = incident(loop.dialect, streamed=False, name=name)
    small.system, small.tools, small.opening = "", (), [Message("user", (Text(text),))]
    small.steps = [Step(say(small, "only", answer), **changes)]  # type: ignore[arg-type]
    small.begins = 1.3
    loop.others.append(small)
    return small


@variant("a title beside it")
def title(loop: Loop) -> None:
    small = _beside(loop, "title", "Write a title of at most five words for: checkout failed last night.",
                    "Checkout failures last night")  # fmt: skip
    small.max_output = 64


@variant("a quota ping", ("openai-chat", "deepseek-chat", "mistral-chat", *ANTHROPIC, "gemini-generate"))
def ping(loop: Loop) -> None:
    small = _beside(loop, "ping", "quota", "Hi", finish="length")
    small.max_output = 1


@variant("two agents at once")
def two_agents(loop: Loop) -> None:
    other = incident(loop.dialect, streamed=loop.streamed, name="second")
    other.opening = [Message("user", (Text("The gateway shows many 502 since midnight. Find out why."),))]
    other.begins = 1.1
    loop.others.append(other)


@variant("the same task again later")
def same_task_again(loop: Loop) -> None:
    other = incident(loop.dialect, streamed=loop.streamed, name="again")
    other.begins = 400.0
    loop.others.append(other)


@variant("several drafts of one prompt")
def drafts(loop: Loop) -> None:
    for number in range(2):
        draft = _beside(loop, f"draft{number}", "Suggest a name for this incident.", f"The short timeout {number}")
        warm = {"gemini-generate": {"generationConfig": {"temperature": 0.9}},
                "bedrock-converse": {"inferenceConfig": {"temperature": 0.9}},
                "ollama-chat": {"options": {"temperature": 0.9}}}  # fmt: skip
        draft.parameters = dict(warm.get(loop.dialect.name, {"temperature": 0.9}))
        draft.begins = 1.3 + number / 100


@variant("a slow stream")
def slow(loop: Loop) -> None:
    if loop.streamed:
        loop.steps[LAST].stall = (0.6, 30.0, 3)


@variant("slow to think")
def slow_to_think(loop: Loop) -> None:
    loop.steps[READS].duration = 90.0


@variant("white space trimmed", FULL)
def trimmed(loop: Loop) -> None:
    step = loop.steps[READS]
    seen = step.blocks
    step.blocks = tuple(replace(b, text=f"{b.text}\n\n") if isinstance(b, Text) else b for b in seen)
    on_answer(loop, READS, lambda _: seen)


@variant("a forced first step", tuple(name for name in ALL if name not in ("ollama-chat", "anthropic-thinking")))
def forced_first(loop: Loop) -> None:
    loop.steps[0].ask["tool_choice"] = "required"


@variant("caps and temperature")
def settings(loop: Loop) -> None:
    loop.max_output = 4000
    loop.parameters = {"gemini-generate": {"generationConfig": {"temperature": 0.2}},
                       "bedrock-converse": {"inferenceConfig": {"temperature": 0.2}},
                       "ollama-chat": {"options": {"num_ctx": 32768, "temperature": 0.2}}}.get(
        loop.dialect.name, {"temperature": 0.2})  # fmt: skip


@variant("a tool without parameters")
def no_parameters(loop: Loop) -> None:
    loop.tools = (*loop.tools, Tool("list_services", "List the services of the shop.",
                                    {"type": "object", "properties": {}}))  # fmt: skip
    empty = "" if loop.dialect.name in STRINGS else "{}"
    step = Step(say(loop, "services", "Which services are there?", ("list_services", empty)))
    loop.steps.insert(QUERIES, answered(step, "checkout, payments, inventory, shipping, gateway"))


@variant("one of three fails")
def one_of_three_fails(loop: Loop) -> None:
    calls = [("read_file", f'{{"path": "docs/runbooks/{name}.md"}}') for name in ("checkout", "payments", "fees")]
    step = Step(say(loop, "books", "The run books will say whom to call.", *calls))
    answered(step, "# checkout\nCall the storefront team.", "# payments\nCall the money team.", "no such file")
    step.results = (*step.results[:2], *(replace(r, error=True) for r in step.results[2:] if isinstance(r, Result)))
    loop.steps.insert(QUERIES, step)


@variant("words of the user behind results", ("openai-chat", "deepseek-chat", "anthropic-messages", *RESPONSES))
def words_behind(loop: Loop) -> None:
    loop.steps[READS].results = (*loop.steps[READS].results, Text("By the way: it also happened on Tuesday."))


@variant("stop strings", CHAT[:3])
def stop_strings(loop: Loop) -> None:
    loop.parameters = {"stop": ["\n\nUser:"]}


@variant("the dated model", ("openai-chat", *RESPONSES, *ANTHROPIC))
def dated(loop: Loop) -> None:
    loop.model = loop.dialect.served or ""


@variant("a picture", ("openai-chat", "anthropic-messages", "gemini-generate"))
def picture(loop: Loop) -> None:
    data = "iVBORw0KGgo" + "QUJD" * 200
    shapes = {
        "openai-chat": {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}},
        "anthropic-messages": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}},
        "gemini-generate": {"inlineData": {"mimeType": "image/png", "data": data}},
    }
    loop.opening = [Message("user", (*loop.opening[0].blocks, Raw(shapes[loop.dialect.name])))]


@variant("an empty result")
def empty_result(loop: Loop) -> None:
    answered(loop.steps[PARALLEL], "", "97 lines match")


@variant("a call of one of many kinds of arguments", STRINGS)
def spread_out(loop: Loop) -> None:
    step = loop.steps[PARALLEL]
    step.blocks = say(
        loop, "pretty", "Both logs.",
        ("search_logs", '{\n  "service": "checkout",\n  "query": "caf\\u00e9",\n  "since": "2026-05-28T20:50:00Z"\n}'),
        ("search_logs", '{"since":"2026-05-28T20:50:00Z","service":"payments","query":"charge"}'),
    )  # fmt: skip
    answered(step, "412 lines match", "97 lines match")


def clean_loops() -> Iterator[Clean]:
    for name, dialects, vary in VARIANTS:
        for dialect in dialects:
            for streamed in (False, True):
                yield Clean(f"{name} {dialect} {'streamed' if streamed else 'whole'}", dialect, streamed, vary)
