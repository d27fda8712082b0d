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

FIRST = "turntape: the run is not the recorded one; first to diverge: client, "
TITLE = "turn 1 of t1, #0"


def loop(turn: int) -> str:
    """The loop is the second thread, and its turns are the round trips behind the title's."""
    return f"turn {turn} of t2, #{turn}"


EXPECTED = {
    "Chat": {
        "system prompt": f'{loop(1)}: /messages/0/content was "You are a sales agent." and is "You are a salesman."',
        "user prompt": f'{loop(1)}: /messages/1/content was "Write to my prospects." and is "Write to my customers."',
        "tool schema": f'{loop(1)}: /tools/0/function/parameters/properties/company/type was "string" and is "number"',
        "tool dropped": f"{loop(1)}: /tools/1 is missing: ",
        "tool result": f'{loop(3)}: /messages/8/content was "done" and is "failed"',
        "result dropped": f"{loop(2)}: /messages/5 is missing: ",
        "history rewritten": f"{loop(3)}: /messages/1 is missing: ",
        "setting": f"{TITLE}: /temperature is new: 0.5",
        "model": f'{TITLE}: /model was "gpt-5" and is "gpt-5-mini"',
        "extra call": f"after {loop(2)}, POST /chat/completions was requested, but it was not recorded",
        "asks again": f"{loop(2)} was requested again",
        "stops early": f"{loop(3)} was not requested",
        "no title": f"{TITLE} was not requested",
        "order": f"{loop(1)} was requested before {TITLE}, which was recorded first",
    },
    "Messages": {
        "system prompt": f'{loop(1)}: /system was "You are a sales agent." and is "You are a salesman."',
        "user prompt": f'{loop(1)}: /messages/0/content was "Write to my prospects." and is "Write to my customers."',
        "tool schema": f'{loop(1)}: /tools/0/input_schema/properties/company/type was "string" and is "number"',
        "tool dropped": f"{loop(1)}: /tools/1 is missing: ",
        "tool result": f'{loop(3)}: /messages/4/content/1/content was "done" and is "failed"',
        "result dropped": f"{loop(2)}: /messages/2/content/2 is missing: ",
        "history rewritten": f"{loop(3)}: /messages/",
        "setting": f"{TITLE}: /max_tokens was 99 and is 50",
        "model": f'{TITLE}: /model was "claude-x" and is "claude-y"',
        "extra call": f"after {loop(2)}, POST /messages was requested, but it was not recorded",
        "asks again": f"{loop(2)} was requested again",
        "stops early": f"{loop(3)} was not requested",
        "no title": f"{TITLE} was not requested",
        "order": f"{loop(1)} was requested before {TITLE}, which was recorded first",
    },
}
"""The change, and how the first line of the report continues."""

KINDS = {"extra: ": ("extra call", "asks again", "history rewritten"), "order: ": ("order",)} | {
    "not requested: ": ("stops early", "no title")
}
"""How the second line begins; `changed: ` where nothing is said."""


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

    said = {
        report.nodeid.partition("[")[2].removesuffix("]"): report.longreprtext.splitlines()
        for report in reports
        if report.when == "teardown"
    }
    assert said.pop("nothing") == []
    assert {change: lines[0][: len(FIRST + expected[change])] for change, lines in said.items()} == {
        change: FIRST + words for change, words in expected.items()
    }
    for change, lines in said.items():
        assert lines[1].startswith(next((lead for lead, changes in KINDS.items() if change in changes), "changed: "))
