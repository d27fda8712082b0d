"""Runs whose true tokens are known: a backend counts each piece with a tokenizer that the ledger never sees.

Each story shows one thing that a run may do: call tools in parallel, think, show pictures, change its system
prompt or its tools, ask a subagent, lose an answer.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cached_turns import claude
from conversations import chat, result, said, user
from judged import trip

from turntape.cassettes.tape.model import RoundTrip

type Count = Callable[[str], int]
ROLE, BEGINS = 4, 3
"""What a chat template adds for each message, and in front of an answer."""


def words(text: str) -> int:
    """Pieces of words, as most tokenizers have them."""
    return len(re.findall(r"\w{1,5}|\s+|[^\w\s]", text))


def all_bytes(text: str) -> int:
    return len(text.encode())


@dataclass
class Backend:
    """A chat API that counts; `trips` and `truths` grow with each `turn`."""

    count: Count = words
    hidden: int = 0
    """Hidden tokens in front of each prompt that has tools."""
    trips: list[RoundTrip] = field(default_factory=list[RoundTrip])
    truths: list[list[int]] = field(default_factory=list[list[int]])
    """Of each turn, the tokens of each piece of its prompt, definitions first."""

    def turn(
        self,
        messages: Sequence[dict[str, Any]],
        answer: dict[str, Any],
        *,
        tools: Sequence[dict[str, Any]] = (),
        thought: int = 0,
        pictures: Sequence[int] = (),
        apart: bool = False,
        counted: bool = True,
        **fields: Any,
    ) -> None:
        """Send `messages`; `thought` are tokens of reasoning in the answer, `pictures` those of each picture.

        With `apart`, the tokens of pictures are also stated beside the sum. Without `counted`, the usage is lost.
        """
        truth = [self.count(json.dumps(tool["function"])) + 5 for tool in tools]
        if truth:
            truth[0] += self.hidden
        shown = list(pictures)
        for message in messages:
            truth += self._pieces(message, shown)
        spoken = sum(self._pieces(answer, [])) - ROLE + 1
        details: dict[str, int] = {"image_tokens": sum(pictures)} if apart else {}
        usage = (sum(truth) + BEGINS, spoken + thought) if counted else None
        trip = chat(messages, answer, index=len(self.trips), tools=list(tools) or None, usage=usage, **fields)
        if counted and trip.response is not None:
            body = json.loads(trip.response.body)
            body["usage"]["prompt_tokens_details"] |= details
            if thought:
                body["usage"]["completion_tokens_details"] = {"reasoning_tokens": thought}
            trip = replace(trip, response=replace(trip.response, content=json.dumps(body).encode()))
        self.trips.append(trip)
        self.truths.append(truth)

    def _pieces(self, message: dict[str, Any], shown: list[int]) -> list[int]:
        """The tokens of each piece of a message; what is around it is in the first one."""
        content, found = message.get("content"), list[int]()
        for block in [content] if isinstance(content, str) else content or ():
            if isinstance(block, str) or block["type"] == "text":
                found.append(self.count(block if isinstance(block, str) else block["text"]))
            else:
                found.append(shown.pop(0))
        for call in message.get("tool_calls", ()):
            found.append(self.count(call["function"]["name"] + call["function"]["arguments"]) + 2)
        return [found[0] + ROLE, *found[1:]] if found else []


def tool(name: str, description: str, *fields: str) -> dict[str, Any]:
    properties = {one: {"type": "string", "description": f"the {one} of it"} for one in fields}
    schema = {"type": "object", "properties": properties}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


def system(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}


def picture(sides: str = "") -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"https://example.com/{sides}.png"}}


LOG = "12:04:07 ERROR worker-3 could not write block 0x7f3a: no space left on device (12 of 40 retried)\n"
PROSE = "The tape holds what was said, in the order in which it was said, and nothing of what was meant. "
CODE = "    for row in rows:\n        if row.number > last:  # new\n            yield row, self._at[row.number]\n"
READ = tool("read_file", "Reads a file of the project and returns its text.", "path", "from_line", "to_line")
RUN = tool("run", "Runs a command in a shell and returns what it prints.", "command")
DEEP = tool("query", "Queries the database with a filter for each of its many columns.", *"abcdefghijkl")
RULES = system("You repair programs. " + PROSE * 4)


def called(number: int, name: str, **arguments: str) -> tuple[str, str, str]:
    return f"call_{number}", name, json.dumps(arguments)


def coding(count: Count, hidden: int = 0) -> Backend:
    """Calls, two of them in parallel, with results of different texts, and a last word."""
    made, tools = Backend(count, hidden), [READ, RUN]
    messages = [RULES, user("The tests of the parser fail since yesterday. Find out why, and repair it.")]
    steps = [
        (said(None, called(1, "run", command="pytest -q")), [result("call_1", LOG * 12)]),
        (
            said("Two files.", called(2, "read_file", path="src/a.py"), called(3, "read_file", path="src/b.py")),
            [result("call_2", CODE * 20), result("call_3", PROSE * 9)],
        ),
        (said(None, called(4, "run", command="pytest -q -k parser")), [result("call_4", "3 passed in 0.04 s")]),
    ]
    for answer, results in steps:
        made.turn(messages, answer, tools=tools)
        messages = [*messages, answer, *results]
    made.turn(messages, said("Fixed: the loop ended one row too early."), tools=tools)
    return made


def thinking() -> Backend:
    """Answers with reasoning that the API does not keep."""
    made, messages = Backend(), [user("How many tapes fit on a shelf of 2 m?")]
    for number, thought in enumerate((300, 40, 900)):
        answer = said(PROSE * (number + 1), called(number, "run", command=f"echo {number}"))
        made.turn(messages, answer, tools=[RUN], thought=thought)
        messages = [*messages, answer, result(f"call_{number}", LOG * (2 + 3 * number))]
    made.turn(messages, said("About 110."), tools=[RUN], thought=64)
    return made


def pictures(apart: bool) -> Backend:
    """Pictures, whose tokens the API counts apart or not."""
    made = Backend()
    shown = {"role": "user", "content": [{"type": "text", "text": "What do these two show?"}, picture(), picture("b")]}
    answer = said("A tape, and a reel.")
    made.turn([shown], answer, pictures=(85, 765), apart=apart)
    more = {"role": "user", "content": [{"type": "text", "text": PROSE}, picture("c")]}
    made.turn([shown, answer, more], said("The same reel."), pictures=(85, 765, 425), apart=apart)
    return made


def changed_head() -> Backend:
    """Another system prompt in the third turn, other tools in the fourth."""
    made, messages = Backend(hidden=300), [user("Look at the log.")]
    heads = [(RULES, [READ, RUN])] * 2 + [(system("You are done soon. " + PROSE), [READ, RUN])]
    heads.append((heads[-1][0], [READ, DEEP]))
    for number, (head, tools) in enumerate(heads):
        answer = said(None, called(number, "read_file", path=f"log.{number}"))
        made.turn([head, *messages], answer, tools=tools)
        messages = [*messages, answer, result(f"call_{number}", LOG * (5 + number))]
    return made


def two_threads() -> Backend:
    """A subagent with the same tools and another task; the main thread continues."""
    made, head = Backend(hidden=120), system(PROSE * 3)
    main = [head, user("Find the row that is missing, and say why.")]
    answer = said(None, called(0, "run", command="grep -rn yield src"))
    made.turn(main, answer, tools=[READ, RUN], run="main")
    made.turn([head, user(CODE * 3)], said("Row 7 is never given."), tools=[READ, RUN], run="other")
    main = [*main, answer, result("call_0", CODE * 4)]
    made.turn(main, said("Row 7: the range ends too early."), tools=[READ, RUN], run="main")
    return made


MARK = {"type": "ephemeral"}
_THOUGHT = 150
THINKS = {"type": "thinking", "thinking": "", "signature": "EqQBCkYIBRgCKkBm" * 20}


def marked() -> Backend:
    """Claude with marks for the cache. It thinks before its calls and keeps that; its counts do not say how much."""
    made = Backend()
    system_text, tool_text, results = PROSE * 40, LOG * 3, [CODE * 30, LOG * 11, PROSE * 8]
    tool_one = {"name": "look", "description": tool_text, "input_schema": {"type": "object"}}
    head = [words(tool_text) + 30, words(system_text)]
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Look at all files."}]
    pieces, known = [words("Look at all files.") + ROLE], 0
    for number, found in enumerate([*results, None]):
        last = messages[-1]
        blocks = last["content"] if isinstance(last["content"], list) else [{"type": "text", "text": last["content"]}]
        sent = [*messages[:-1], {**last, "content": [*blocks[:-1], {**blocks[-1], "cache_control": MARK}]}]
        total = sum(head) + sum(pieces)
        call = {"type": "tool_use", "id": f"toolu_{number}", "name": "look", "input": {"at": str(number)}}
        content = [THINKS, call] if found else [{"type": "text", "text": "All is well."}]
        trip = claude(
            sent,
            (known, total - known, BEGINS),
            system=system_text,
            mark={"cache_control": MARK},
            tools=[tool_one],
            at=60.0 * number,
            output=_THOUGHT + 24,
            content=content,
            answer="Fine.",
        )
        made.trips.append(replace(trip, index=number))
        made.truths.append([*head, *pieces])
        known = total
        if found:
            answer = {"role": "assistant", "content": [*content, {"type": "text", "text": "Fine."}]}
            brought = {"type": "tool_result", "tool_use_id": call["id"], "content": found}
            messages = [*messages, answer, {"role": "user", "content": [brought]}]
            pieces += [_THOUGHT, words("look{at:0}") + 8, words("Fine."), words(found) + ROLE]
    return made


def lost_and_shortened() -> Backend:
    """A turn without counts, an answer that the client rewrote, and a history that begins again."""
    made, messages = Backend(), [RULES, user("one " * 30)]
    for number, (spoken, sent) in enumerate(
        [("first", "first"), ("second", "second"), ("third", "A third, rewritten")]
    ):
        answer = said(f"{spoken} {PROSE}")
        made.turn(messages, answer, counted=number != 1)
        messages = [*messages, said(f"{sent} {PROSE}"), user(f"go on {'please ' * number}")]
    made.turn(messages, said("fourth"))
    made.turn([RULES, user(f"What came before: {PROSE}"), user("go on")], said("fifth"))
    return made


def priced_and_not() -> Backend:
    """A tool of an MCP server, a request that is refused and sent again, a model without a price, embeddings."""
    made, head = Backend(), system(PROSE * 2)
    searched = tool("mcp__shelf__search__all", "Searches the shelf.", "query")
    messages = [head, user("Which tape has the song?")]
    answer = said(None, called(0, "mcp__shelf__search__all", query="the song"))
    made.turn(messages, answer, tools=[searched, READ])
    embedded = trip(
        "https://api.openai.com/v1/embeddings",
        {"model": "text-embedding-3-small", "input": PROSE},
        {"data": [], "usage": {"prompt_tokens": 1000, "total_tokens": 1000}},
    )
    made.trips.append(replace(embedded, index=1, started_at=made.trips[0].started_at + 1))
    made.truths.append([])
    messages = [*messages, answer, result("call_0", LOG * 6)]
    busy = {"error": {"message": "Rate limit reached", "type": "rate_limit_error"}}
    made.trips.append(chat(messages, index=2, tools=[searched, READ], status=429, error=busy))
    made.truths.append([*made.truths[0], 0, 0])
    made.turn(messages, said("Tape 12 has it."), tools=[searched, READ])
    messages = [*messages, said("Tape 12 has it."), user("And who sings?")]
    made.turn(messages, said("Nobody knows."), tools=[searched, READ], model="our-own-model")
    return made


STORIES: dict[str, Callable[[], Backend]] = {
    "coding, words": lambda: coding(words),
    "coding, bytes": lambda: coding(all_bytes),
    "coding, with a long hidden text": lambda: coding(words, 2_000),
    "reasoning that is dropped": thinking,
    "pictures": lambda: pictures(apart=False),
    "pictures that are counted apart": lambda: pictures(apart=True),
    "another system prompt, other tools": changed_head,
    "two threads": two_threads,
    "marks for the cache": marked,
    "with a price and without one": priced_and_not,
    "a turn without counts, a rewritten answer, a new beginning": lost_and_shortened,
}
