"""The command palette: finds commands by their names and by what people mean, and turns by their numbers."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Protocol, cast, override

from textual.app import App
from textual.command import CommandInput, CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.events import Key
from textual.fuzzy import Matcher
from textual.widgets import Input

from turntape.cassettes.frozen import frozen
from turntape.cassettes.regex import regex
from turntape.cassettes.whole_number import whole_number

MEANINGS: dict[str, str] = {
    "view('turn')": "read message messages answer prompt conversation request response",
    "view('wire')": "raw http json headers sse events bytes body bodies chunks status",
    "view('growth')": "tokens chart graph plot bars usage window",
    "view('context')": "prompt size bytes parts what is sent system tools",
    "view('findings')": "problems errors warnings bugs issues wrong failed why",
    "view('diff')": "difference changed compare before history",
    "view('tools')": "mcp servers results tool calls",
    "view('costs')": "money price cost dollars cents usd bill spend spent expensive dear budget cache misses caching "
    "what if models",
    "view('timeline')": "time slow latency wait speed duration gantt lanes ttft first token seconds",
    "mark": "compare two turns difference between versus",
    "errors": "failed failures only problems filter",
    "jump('finding', 1)": "problem issue",
    "jump('error', 1)": "failed failure problem",
    "jump('call', 1)": "function tool use",
    "unit": "dollars tokens money strip growth bars",
    "search": "find grep filter look for text",
    "sort": "order most expensive slowest largest dearest",
    "play": "replay stream animate watch run",
    "app.copy": "clipboard curl python yank",
    "app.save": "export write file svg markdown screenshot picture image cassette",
    "app.next_theme": "colours colors dark light contrast",
    "zoom": "full screen maximize bigger",
    "side": "layout split beside columns",
    "follow": "live tail watch newest",
    "app.help": "keys shortcuts legend signs manual",
    "app.suspend_process": "shell background pause ctrl-z",
    "app.quit": "exit close leave end",
}
"""Words for an action beside those in its name and its explanation."""


_TURN = regex(r"(?:go to )?(?:turn)? *[#:]*(?:(?P<thread>t\d+):)?(?P<number>\d+)(?:·\d+)?(?: of (?P<of>t\d+))?")
"""A turn in the words of the screens: `6`, `turn 6 of t2`, `t2:6`. Of several attempts the last one is shown."""
MOST = 100
"""The most characters of a command: each one that is typed compares all commands."""


@frozen
class Choice:
    """A command."""

    name: str
    what: str
    action: str
    run: Callable[[], object]


class Chooses(Protocol):
    """What the palette needs of the app."""

    def choices(self) -> Iterable[Choice]:
        """All commands."""
        ...

    def turn_choice(self, number: int, thread: str | None) -> Choice:
        """The command that goes to a turn, of that thread if one is given."""
        ...


def ranked(text: str, choices: Iterable[Choice]) -> list[tuple[float, Choice]]:
    """The commands that fit a text, the best first, with a score from 0 to 1."""
    tokens = text.lower().split()
    scored = [(min((_score(token, one) for token in tokens), default=0.0), one) for one in choices]
    found = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
    if found:
        return found
    matcher = Matcher(text)
    return sorted(((matcher.match(one.name) / 10, one) for one in choices if matcher.match(one.name)), key=_first)


def _first(pair: tuple[float, Choice]) -> float:
    return -pair[0]


def _score(token: str, one: Choice) -> float:
    """How well a word fits: the name, what is meant, the explanation."""
    name, meanings = one.name.lower(), MEANINGS.get(one.action, "").split()
    if name.startswith(token):
        return 1.0
    if token in name.split() or token in meanings:
        return 0.9
    if token in name:
        return 0.7
    if any(word.startswith(token) for word in meanings):
        return 0.6
    return 0.4 if token in one.what.lower() else 0.0


def best(text: str, app: Chooses) -> list[tuple[float, Choice]]:
    """The commands for what was typed; a number is a turn."""
    asked = _TURN.fullmatch(text.strip().lower())
    number = whole_number(asked["number"]) if asked else None
    if asked and number is not None:
        return [(1.0, app.turn_choice(number, asked["thread"] or asked["of"]))]
    return ranked(text, [*app.choices()])


class Commands(Provider):
    """The commands as the palette lists them."""

    @override
    async def discover(self) -> Hits:
        for one in cast(Chooses, self.app).choices():
            yield DiscoveryHit(one.name, one.run, help=one.what)

    @override
    async def search(self, query: str) -> Hits:
        for score, one in best(query, cast(Chooses, self.app)):
            yield Hit(score, one.name, one.run, help=one.what)


class CommandBox(CommandPalette):
    """Enter runs what fits the typed text best, even before the list shows it. Where nothing fits, it stays open."""

    def __init__(self) -> None:
        super().__init__([Commands], placeholder="a command, or the number of a turn", id="--command-palette")

    def on_mount(self) -> None:
        """No command is as long as a pasted file, which would stop the screen."""
        self.query_one(CommandInput).max_length = MOST

    async def on_key(self, event: Key) -> None:
        """Keys that come before the box has the focus, as when `:6` is typed quickly or pasted, are typed into it."""
        box = self.query_one(CommandInput)
        if box.has_focus:
            return
        if event.key == "enter":
            event.stop()
            await box.action_submit()
        elif event.is_printable and event.character is not None:
            event.stop()
            box.insert_text_at_cursor(event.character)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Run the best command for the text, unless another one was picked in the list."""
        app = cast(App[None], self.app)  # pyright: ignore[reportUnknownMemberType]
        picked = self.query_one(CommandList).highlighted
        text = self.query_one(CommandInput).value.strip()
        found: Sequence[tuple[float, Choice]] = best(text, cast(Chooses, app)) if text else ()
        if picked or not text:
            return
        event.stop()
        event.prevent_default()
        if not found:
            # What the list still shows is for the text before the last keys.
            return
        app.post_message(CommandPalette.Closed(option_selected=True))
        self.dismiss()
        app.call_later(partial(_run, found[0][1]))


def _run(choice: Choice) -> None:
    choice.run()
