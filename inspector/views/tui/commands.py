"""The commands of the command palette, and the keys that work in every pane, for the help page."""

from .pages.help_page import HelpSection
from .widgets.growth_plot import GrowthPlot
from .widgets.growth_strip import GrowthStrip
from .widgets.line_view import LineView
from .widgets.page_view import PageView
from .widgets.tabs import Tabs
from .widgets.turn_list import TurnList

HELP_SECTIONS: tuple[HelpSection, ...] = (
    LineView.HELP_KEYS,
    TurnList.HELP_KEYS,
    PageView.HELP_KEYS,
    HelpSection(
        "jumping",
        (
            ("n N", "next, previous finding; during a search the next, previous line that matches"),
            ("e E", "next, previous turn with an error"),
            ("c C", "next, previous tool call"),
            ("t T", "next, previous thread"),
            ("/", "search everything sent and received; Enter goes to the first match, Esc shows all again"),
            ("!", "only the turns with errors, and all again"),
            (":12 :t2:12", "to turn 12 of this thread, of thread t2"),
        ),
    ),
    Tabs.HELP_KEYS,
    GrowthStrip.HELP_KEYS,
    GrowthPlot.HELP_KEYS,
    HelpSection(
        "playback",
        (
            ("p", "play the run from here, as it happened, and stop; what is still to come is hidden"),
            ("Space", "pause, and go on"),
            ("← →", "back, the next turn; after the last one it pauses"),
            ("+ -", "faster, slower; the fastest has no timing. Long waits are shortened"),
        ),
    ),
    HelpSection(
        "copy and save",
        (
            ("y", "copy the answer, the bodies, curl, Python"),
            ("x", "save a picture (SVG), Markdown, the turn as a cassette, a body"),
        ),
    ),
    HelpSection(
        "other",
        (
            ("f", "follow the recording, and stop following"),
            ("Ctrl-t", "next theme"),
            ("Ctrl-p :", "all commands, also by what you mean: money, slow, raw"),
            ("Ctrl-z", "back to the shell; fg comes back"),
            ("?", "this page"),
            ("q", "quit"),
        ),
    ),
)
"""The keys in the order of the help page."""

COMMANDS: tuple[tuple[str, str, str], ...] = (
    ("Turn", "what is new in the request, the answer, calls with their results (1)", "view('turn')"),
    ("Wire", "headers, events with their times, raw bodies (2)", "view('wire')"),
    ("Growth", "tokens and cost of each turn (3)", "view('growth')"),
    ("Context", "what this request consists of (4)", "view('context')"),
    ("Findings", "what went wrong, and the layer to blame (5)", "view('findings')"),
    ("Diff", "this request and the one before, the answer and what was sent back of it (6)", "view('diff')"),
    ("Tools", "tool runs: the result as returned beside the result as seen (7)", "view('tools')"),
    ("Costs", "what each piece of the prompts cost, by tool, agent and thread; cache misses (9)", "view('costs')"),
    ("Timeline", "where the time went: waiting, answers, client, tools (0)", "view('timeline')"),
    ("Mark", "mark this turn, or compare it with the marked one (m)", "mark"),
    ("Sort", "the next order of the turns, or of the pieces on the page of costs (s)", "sort"),
    ("Next finding", "what went wrong next (n)", "jump('finding', 1)"),
    ("Previous finding", "what went wrong before this (N)", "jump('finding', -1)"),
    ("Next match", "the next line that matches the search (n)", "next(1)"),
    ("Next error", "the next turn with an error (e)", "jump('error', 1)"),
    ("Previous error", "the turn with an error before this one (E)", "jump('error', -1)"),
    ("Next tool call", "of this turn or a later one (c)", "jump('call', 1)"),
    ("Previous tool call", "of this turn or an earlier one (C)", "jump('call', -1)"),
    ("Next thread", "its first turn (t)", "thread(1)"),
    ("Previous thread", "its first turn (T)", "thread(-1)"),
    ("Search", "words in everything sent, or tool:, layer:, is:, cost:>0.05 (/)", "search"),
    ("Errors only", "only the turns with errors, and all again (!)", "errors"),
    ("Play", "answers as they arrived, from this turn on; again to stop (p)", "play"),
    ("Faster", "while a run is played (+)", "speed(1)"),
    ("Slower", "while a run is played (-)", "speed(-1)"),
    ("Copy", "the answer, the bodies, curl, Python (y)", "app.copy"),
    ("Save", "a picture, Markdown, this turn as a cassette (x)", "app.save"),
    ("Zoom", "only this pane, and both again (z)", "zoom"),
    ("Side by side", "list and page side by side, or one above the other (v)", "side"),
    ("Dollars or tokens", "what the growth strip shows ($)", "unit"),
    ("Follow", "follow a recording (f)", "follow"),
    ("Next theme", "dark, light, high contrast, no colour (Ctrl-t)", "app.next_theme"),
    ("Suspend", "back to the shell; fg comes back (Ctrl-z)", "app.suspend_process"),
    ("Help", "all keys and signs (?)", "app.help"),
    ("Quit", "leave the viewer (q)", "app.quit"),
)
"""Name, what it does, and the action of the screen, or of the app."""
