"""One thing changed in an agent is caught, and the report names the turn, the path and the layer.

The agents swallow every error, so that only what the plugin knows can fail their tests.
"""

import pytest
from plugin_project import taken_away, write

from turntape.cassettes import Cassette
from turntape.proxy.scripted.server import ScriptedServer

pytest_plugins = ("pytester",)

AGENTS = '''
import json

class Chat:
    """A title call, and behind it a loop over tools."""

    def __init__(self, change):
        self.client, self.change = OpenAI(max_retries=0), change
        self.tools = json.loads(json.dumps(TOOLS))
        for tool in self.tools:
            tool["function"]["parameters"]["properties"] = {"company": {"type": "string"}}
        if change == "tool schema":
            self.tools[0]["function"]["parameters"]["properties"]["company"]["type"] = "number"
        if change == "tool dropped":
            del self.tools[1]

    def ask(self, messages, **more):
        more = {"temperature": 0.5, **more} if self.change == "setting" else more
        model = "gpt-5-mini" if self.change == "model" else "gpt-5"
        return self.client.chat.completions.create(model=model, messages=messages, **more).choices[0].message

    def title(self):
        self.ask([{"role": "user", "content": "Give this conversation a title."}])

    def loop(self):
        system = "You are a salesman." if self.change == "system prompt" else "You are a sales agent."
        asked = "Write to my customers." if self.change == "user prompt" else "Write to my prospects."
        messages = [{"role": "system", "content": system}, {"role": "user", "content": asked}]
        for turn in range(1, 9):
            if turn == 3 and self.change == "stops early":
                return
            said = self.ask(messages, tools=self.tools)
            if turn == 2 and self.change == "extra call":
                self.ask([{"role": "user", "content": "Is this going well?"}])
            if turn == 2 and self.change == "asks again":
                said = self.ask(messages, tools=self.tools)
            calls = said.tool_calls or []
            messages.append(said.model_dump(exclude_none=True))
            for place, call in enumerate(calls):
                result = "failed" if (turn, place, self.change) == (2, 1, "tool result") else "done"
                if (turn, place, self.change) != (1, 2, "result dropped"):
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
            if turn == 2 and self.change == "history rewritten":
                messages[1:] = messages[3:]
            if not calls:
                return

class Messages:
    def __init__(self, change):
        self.client, self.change = Anthropic(max_retries=0), change
        kind = "number" if change == "tool schema" else "string"
        self.tools = [
            {"name": name, "input_schema": {"type": "object", "properties": {"company": {"type": kind}}}}
            for name in ("generate_email", "send_email")
        ]
        if change == "tool schema":
            self.tools[1]["input_schema"]["properties"]["company"]["type"] = "string"
        if change == "tool dropped":
            del self.tools[1]

    def ask(self, messages, **more):
        model = "claude-y" if self.change == "model" else "claude-x"
        most = 50 if self.change == "setting" else 99
        return self.client.messages.create(model=model, max_tokens=most, messages=messages, **more)

    title = Chat.title

    def loop(self):
        system = "You are a salesman." if self.change == "system prompt" else "You are a sales agent."
        asked = "Write to my customers." if self.change == "user prompt" else "Write to my prospects."
        messages = [{"role": "user", "content": asked}]
        for turn in range(1, 9):
            if turn == 3 and self.change == "stops early":
                return
            said = self.ask(messages, system=system, tools=self.tools)
            if turn == 2 and self.change == "extra call":
                self.ask([{"role": "user", "content": "Is this going well?"}])
            if turn == 2 and self.change == "asks again":
                said = self.ask(messages, system=system, tools=self.tools)
            calls = [block for block in said.content if block.type == "tool_use"]
            messages.append({"role": "assistant", "content": [b.model_dump(exclude_none=True) for b in said.content]})
            if not calls:
                return
            results = []
            for place, call in enumerate(calls):
                result = "failed" if (turn, place, self.change) == (2, 1, "tool result") else "done"
                if (turn, place, self.change) != (1, 2, "result dropped"):
                    results.append({"type": "tool_result", "tool_use_id": call.id, "content": result})
            messages.append({"role": "user", "content": results})
            if turn == 2 and self.change == "history rewritten":
                messages[0:] = messages[2:]

def run(kind, change):
    agent = kind(change)
    try:
        if change not in ("order", "no title"):
            agent.title()
        agent.loop()
        if change == "order":
            agent.title()
    except Exception:
        pass
'''

FIRST = "turntape: "
TITLE = "turn 1 of t1, #0"


def loop(turn: int) -> str:
    """The loop is the second thread, and its turns are the round trips behind the title's."""
    return f"turn {turn} of t2, #{turn}"


EXPECTED = {
    "Chat": {
        "system prompt": (
            f"{loop(1)} has changed in the system prompt",
            "/messages/0/content",
            "- You are a sales agent.",
            "+ You are a salesman.",
        ),
        "user prompt": (
            f"{loop(1)} has changed in a user message",
            "/messages/1/content",
            "- Write to my prospects.",
            "+ Write to my customers.",
        ),
        "tool schema": (
            f"{loop(1)} has changed in the tools",
            "/tools/0/function/parameters/properties/company/type",
            "- string",
            "+ number",
        ),
        "tool dropped": (f"{loop(1)} has changed in the tools", "/tools/1", '- {"type":"function"'),
        "tool result": (f"{loop(3)} has changed in a tool result", "/messages/8/content", "- done", "+ failed"),
        "result dropped": (f"{loop(2)} has changed in a tool result", "/messages/5", '- {"role":"tool"'),
        "history rewritten": (
            f"POST /chat/completions was requested after {loop(2)} and is not in the recording",
            f"the nearest is {loop(3)}",
            "/messages/1",
        ),
        "setting": (f"{TITLE} has changed in temperature", "/temperature", "+ 0.5"),
        "model": (f"{TITLE} has changed in the model", "/model", "- gpt-5", "+ gpt-5-mini"),
        "extra call": (f"POST /chat/completions was requested after {loop(2)} and is not in the recording",),
        "asks again": (f"{loop(2)} was requested again", "record again if the agent now repeats it"),
        "stops early": (f"{loop(3)} was not requested (client)", f"not requested: {loop(3)}", "partial=True"),
        "no title": (f"{TITLE} was not requested (client)", f"not requested: {TITLE}"),
        "order": (f"{loop(1)} was requested before {TITLE}, which was recorded first (client)", "any_order=True"),
    },
    "Messages": {
        "system prompt": (
            f"{loop(1)} has changed in the system prompt",
            "/system",
            "- You are a sales agent.",
            "+ You are a salesman.",
        ),
        "user prompt": (
            f"{loop(1)} has changed in a user message",
            "/messages/0/content",
            "- Write to my prospects.",
            "+ Write to my customers.",
        ),
        "tool schema": (
            f"{loop(1)} has changed in the tools",
            "/tools/0/input_schema/properties/company/type",
            "- string",
            "+ number",
        ),
        "tool dropped": (f"{loop(1)} has changed in the tools", "/tools/1", '- {"'),
        "tool result": (
            f"{loop(3)} has changed in a tool result",
            "/messages/4/content/1/content",
            "- done",
            "+ failed",
        ),
        "result dropped": (f"{loop(2)} has changed in a tool result", "/messages/2/content/2", '- {"'),
        "history rewritten": (
            f"POST /messages was requested after {loop(2)} and is not in the recording",
            f"the nearest is {loop(3)}",
        ),
        "setting": (f"{TITLE} has changed in max_tokens", "/max_tokens", "- 99", "+ 50"),
        "model": (f"{TITLE} has changed in the model", "/model", "- claude-x", "+ claude-y"),
        "extra call": (f"POST /messages was requested after {loop(2)} and is not in the recording",),
        "asks again": (f"{loop(2)} was requested again",),
        "stops early": (f"{loop(3)} was not requested (client)", f"not requested: {loop(3)}"),
        "no title": (f"{TITLE} was not requested (client)",),
        "order": (f"{loop(1)} was requested before {TITLE}, which was recorded first (client)",),
    },
}
"""The change; how the first line of the text continues, then what the lines below it contain, in this order."""


def text_of(report: pytest.TestReport) -> list[str]:
    """What a failure says, without the lines of code and the marks that pytest adds."""
    lines = [line.removeprefix("E").strip() for line in report.longreprtext.splitlines()]
    start = next(place for place, line in enumerate(lines) if line.startswith("turntape: "))
    return lines[start:]


def contains_in_order(lines: list[str], wanted: tuple[str, ...]) -> bool:
    """True when each of `wanted` is in a line after that of the one before."""
    left = iter(lines)
    return all(any(word in line for line in left) for word in wanted)


@pytest.mark.parametrize("kind", EXPECTED)
def test_every_change_is_caught_and_named(
    kind: str, project: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = EXPECTED[kind]
    write(
        project,
        f"""{AGENTS}
@pytest.mark.turntape(path="run.cassette.jsonl")
@pytest.mark.parametrize("change", {["nothing", *expected]})
def test_run(change):
    run({kind}, change)
""",
    )
    project.runpytest("--turntape-mode=once", "-k", "nothing").assert_outcomes(passed=1, deselected=len(expected))
    assert len(Cassette.load(project.path / "run.cassette.jsonl")) == 5
    taken_away(server, monkeypatch)

    reports = project.inline_run().getreports("pytest_runtest_logreport")

    failed = {
        report.nodeid.partition("[")[2].removesuffix("]"): (report.when, text_of(report))
        for report in reports
        if report.failed
    }
    assert set(failed) == set(expected)
    for change, (first, *below) in expected.items():
        when, lines = failed[change]
        assert when == "call"
        assert lines[0] == FIRST + first
        assert contains_in_order(lines[1:], tuple(below)), lines
        assert len(lines) < 30
        assert not any("site-packages" in line or "same turn" in line for line in lines)
