"""Writes docs/python-api.md from the signatures and docstrings of the public names.

python docs/python_api.py            # writes the page
python docs/python_api.py --check    # exit code 1 when the page is not as it would be written
"""

import ast
import importlib
import inspect
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parent / "python-api.md"
PACKAGES = ("turntape", "turntape.cassettes", "turntape.cassettes.vcr", "turntape.inspector", "turntape.proxy")

INTRO = """\
# Python API

<!-- Written by docs/python_api.py from the docstrings; `make docs` updates it. -->

`turntape` has the names that most programs need. `turntape.cassettes` has all of recording and replay,
`turntape.inspector` reads the meaning of a round trip, and `turntape.proxy` is the proxy for programs that embed it.
`turntape.cassettes.vcr` has the names of vcrpy, for suites that [moved](migrating.md). A name is imported when it is
first used, so `import turntape` is fast.

**What is stable.** The names in `__all__` of these five packages are public. They are listed
[at the end](#public-names), and a test pins the list. Until 1.0, a public name or argument is removed or changes its
meaning only in a new minor version, and the changelog says what to write instead; a renamed name keeps its old name as
an alias for at least one minor version. All other modules, names that begin with an underscore, the wording of messages
and the `repr` of objects can change at any time. The [cassette format](cassette-format.md) and
[`show --json`](show-json.md) have separate versions.

The examples run in the order of this page, in a folder with the cassette
[`example.cassette.jsonl`](example.cassette.jsonl). The comment after a `print` shows its output.
"""


@dataclass(frozen=True)
class Entry:
    """A public name on the page."""

    package: str
    name: str
    example: str
    heading: str = ""

    @property
    def value(self) -> object:
        return getattr(importlib.import_module(self.package), self.name)


ENTRIES = (
    Entry(
        "turntape",
        "Cassette",
        """
        from turntape import Cassette

        cassette = Cassette.load("example.cassette.jsonl")
        print(len(cassette))  # 12
        print([trip.index for trip in cassette if trip.response and trip.response.status != 200])  # [8]
        print(cassette.problems)  # []
        """,
    ),
    Entry(
        "turntape",
        "RoundTrip",
        """
        import json

        trip = cassette[0]
        print(trip.request.method, trip.request.url)  # POST https://api.anthropic.com/v1/messages
        print(json.loads(trip.request.body)["stream"])  # True
        if trip.response is not None:  # None when nothing came
            print(sum(chunk.size for chunk in trip.response.chunks) == len(trip.response.body))  # True
        print(trip.failure)  # None
        """,
    ),
    Entry(
        "turntape",
        "Recorder",
        """
        from turntape import Recorder

        with Recorder("copy.cassette.jsonl") as recorder:
            for trip in cassette[:3]:
                recorder.write(trip)

        print(recorder.problem)  # None
        print(len(Cassette.load("copy.cassette.jsonl")))  # 3
        """,
    ),
    Entry(
        "turntape",
        "RecordingTransport",
        """
        import httpx2

        from turntape import RecordingTransport

        URL = "https://api.openai.com/v1/chat/completions"


        def live(_: httpx2.Request) -> httpx2.Response:  # in place of the network
            return httpx2.Response(200, json={"object": "chat.completion", "choices": []})


        with (
            Recorder("recorded.cassette.jsonl") as recorder,
            httpx2.Client(transport=RecordingTransport(recorder, httpx2.MockTransport(live))) as client,
        ):
            client.post(URL, json={"model": "gpt-5", "messages": []})

        print(len(Cassette.load("recorded.cassette.jsonl")))  # 1
        """,
    ),
    Entry(
        "turntape",
        "ReplayTransport",
        """
        from turntape import ReplayTransport

        transport = ReplayTransport("recorded.cassette.jsonl")
        with httpx2.Client(transport=transport) as client:
            answer = client.post(URL, json={"messages": [], "model": "gpt-5"})
            print(answer.json()["object"])  # chat.completion
            print(answer.extensions["turntape"])  # turn 1, #0: exact
            missed = client.post(URL, json={"model": "gpt-4", "messages": []})
            print(missed.status_code)  # 400

        print(transport.misses[0].pointer)  # /model
        """,
    ),
    Entry(
        "turntape",
        "AsyncReplayTransport",
        """
        import asyncio

        from turntape import AsyncReplayTransport


        async def ask() -> httpx2.Response:
            async with httpx2.AsyncClient(transport=AsyncReplayTransport("recorded.cassette.jsonl")) as client:
                return await client.post(URL, json={"model": "gpt-5", "messages": []})


        print(asyncio.run(ask()).status_code)  # 200
        """,
    ),
    Entry(
        "turntape",
        "CassetteTransport",
        """
        from turntape import CassetteTransport

        for _ in range(2):  # the first time it records, the second time it replays
            once = CassetteTransport("once.cassette.jsonl", mode="once", transport=httpx2.MockTransport(live))
            with httpx2.Client(transport=once) as client:
                client.post(URL, json={"model": "gpt-5", "messages": []})
            print(once.session.plan.writes)  # replaced, then nothing
        """,
    ),
    Entry(
        "turntape",
        "Session",
        """
        from turntape import Session

        session = Session("once.cassette.jsonl")
        request = Cassette.load("once.cassette.jsonl")[0].request
        found = session.ask(request.method, request.url, request.headers, request.body)
        print(found is not None, session.misses, len(session.passed))  # True [] 1
        print(session.finish())  # 0
        """,
    ),
    Entry(
        "turntape",
        "Matching",
        """
        from turntape import Matching

        tolerant = Matching(rules={"model": "warn"}, ignore=("/metadata/run",))
        with httpx2.Client(transport=ReplayTransport("recorded.cassette.jsonl", matching=tolerant)) as client:
            answer = client.post(URL, json={"model": "gpt-4", "messages": []})
            print(answer.extensions["turntape"].grade)  # same turn, small change
        """,
    ),
    Entry(
        "turntape",
        "Player",
        """
        from turntape import Player

        player = Player("example.cassette.jsonl")
        first = cassette[0].request
        print(player.answer(first.method, first.url, first.headers, first.body).index)  # 0
        print(len(player.unplayed))  # 11
        print(player.report().clean)  # False
        """,
    ),
    Entry(
        "turntape",
        "Fault",
        """
        from turntape import Fault

        faulty = ReplayTransport("recorded.cassette.jsonl", faults=Fault("*", "529", retry_after=0))
        with httpx2.Client(transport=faulty) as client:
            for _ in range(2):
                answer = client.post(URL, json={"model": "gpt-5", "messages": []})
                print(answer.status_code)  # 529, then 200
        """,
    ),
    Entry(
        "turntape",
        "read",
        """
        from turntape import read

        reading = read(cassette[2])
        if reading.finish and reading.emission:  # None outside of generation
            print(reading.protocol, reading.finish.label)  # anthropic-messages tool_calls
            print([call.name for call in reading.emission.calls])  # ['read_file', 'task']
        """,
    ),
    Entry(
        "turntape",
        "Run",
        """
        from turntape import Run

        run = Run.load("example.cassette.jsonl")
        print(len(run.rows.all))  # 12
        """,
        heading="Run: the run index",
    ),
    Entry(
        "turntape.proxy",
        "Engine",
        """
        from pathlib import Path

        from turntape.proxy import Engine, running

        with Recorder("proxied.cassette.jsonl") as recorder:
            engine = Engine(recorder, upstreams={"openai": "https://llm.example.com"}, confdir=Path("ca"))
            with running(engine):
                print(engine.port > 0)  # True
        """,
    ),
    Entry("turntape.proxy", "running", ""),
)


def annotation(node: ast.expr | None) -> str:
    """A type as the source has it, without the quotes of a type that is only known to checkers."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return ast.unparse(node) if node is not None else ""


def argument(node: ast.arg, default: ast.expr | None) -> str:
    kind = f": {annotation(node.annotation)}" if node.annotation else ""
    if default is None:
        return node.arg + kind
    return f"{node.arg}{kind}{' = ' if kind else '='}{ast.unparse(default)}"


def signature(node: ast.FunctionDef | ast.AsyncFunctionDef, name: str, *, bound: bool) -> str:
    """`name(a: int, *, b: str = "x") -> bool`; `bound` leaves out `self` or `cls`."""
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(args.defaults))
    shown = [argument(a, d) for a, d in zip(positional, [*defaults, *args.defaults], strict=True)][bound:]
    if args.vararg or args.kwonlyargs:
        shown.append(f"*{args.vararg.arg}" if args.vararg else "*")
    shown += [argument(a, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    result = f" -> {annotation(node.returns)}" if node.returns and name[0].islower() else ""
    line = f"{name}({', '.join(shown)}){result}"
    if len(line) <= 110:
        return line
    return f"{name}(\n" + "".join(f"    {one},\n" for one in shown) + f"){result}"


def docstring(node: ast.AST) -> str:
    return inspect.cleandoc(ast.get_docstring(node, clean=False) or "") if isinstance(node, DOCUMENTED) else ""


DOCUMENTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def definition(value: object) -> ast.FunctionDef | ast.ClassDef:
    node = ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]  # pyright: ignore[reportArgumentType]
    assert isinstance(node, ast.FunctionDef | ast.ClassDef)
    return node


def fields_of(node: ast.ClassDef) -> list[tuple[str, str]]:
    """The annotated fields of a dataclass: `name: type = default`, and the string below each."""
    found: list[tuple[str, str]] = []
    for one, following in zip(node.body, [*node.body[1:], None], strict=True):
        if not isinstance(one, ast.AnnAssign) or not isinstance(one.target, ast.Name) or one.target.id.startswith("_"):
            continue
        said = ""
        if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            said = inspect.cleandoc(str(following.value.value))
        default = (
            "" if one.value is None else " = ..." if isinstance(one.value, ast.Call) else f" = {ast.unparse(one.value)}"
        )
        found.append((f"{one.target.id}: {annotation(one.annotation)}{default}", said))
    return found


def attributes_of(function: ast.FunctionDef) -> list[tuple[str, str]]:
    """The attributes that `__init__` sets and describes with a string below."""
    found: list[tuple[str, str]] = []
    for one, following in zip(function.body, [*function.body[1:], None], strict=True):
        target = (
            one.targets[0] if isinstance(one, ast.Assign) else one.target if isinstance(one, ast.AnnAssign) else None
        )
        if not isinstance(target, ast.Attribute) or target.attr.startswith("_"):
            continue
        if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            kind = f": {annotation(one.annotation)}" if isinstance(one, ast.AnnAssign) else ""
            found.append((target.attr + kind, inspect.cleandoc(str(following.value.value))))
    return found


def is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(d, ast.Name) and d.id in ("property", "cached_property") for d in node.decorator_list)


def is_classmethod(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(d, ast.Name) and d.id == "classmethod" for d in node.decorator_list)


def members(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """What a caller uses of a class: fields, attributes, properties and methods, each with its description."""
    yield from fields_of(node)
    for one in node.body:
        if not isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if one.name == "__init__" and isinstance(one, ast.FunctionDef):
            yield from attributes_of(one)
        elif not one.name.startswith("_") and docstring(one):
            shown = f"{one.name}: {annotation(one.returns)}" if is_property(one) else None
            lead = "await " if isinstance(one, ast.AsyncFunctionDef) else f"{node.name}." if is_classmethod(one) else ""
            yield shown or lead + signature(one, one.name, bound=True), docstring(one)


def call(entry: Entry, node: ast.FunctionDef | ast.ClassDef) -> str:
    """How the name is called."""
    if isinstance(node, ast.FunctionDef):
        return signature(node, node.name, bound=False)
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and one.name == "__init__":
            return signature(one, entry.name, bound=True)
    required = [text for text, _ in fields_of(node)]
    line = f"{entry.name}({', '.join(required)})"
    return line if len(line) <= 110 else f"{entry.name}(\n" + "".join(f"    {one},\n" for one in required) + ")"


def bullet(name: str, said: str) -> str:
    name, said = " ".join(name.split()), " ".join(said.split())
    return f"- `{name}`: {said}" if said else f"- `{name}`"


def section(entry: Entry) -> Iterator[str]:
    node = definition(entry.value)
    yield f"## {entry.heading or entry.name}\n"
    yield f"`from {entry.package} import {entry.name}`\n"
    yield f"```text\n{call(entry, node)}\n```\n"
    yield docstring(node) + "\n"
    if isinstance(node, ast.ClassDef) and (found := [bullet(name, said) for name, said in members(node)]):
        yield "\n".join(found) + "\n"
    if entry.example:
        yield f"```python\n{textwrap.dedent(entry.example).strip()}\n```\n"


def names() -> Iterator[str]:
    yield "## Public names\n"
    for package in PACKAGES:
        listed = ", ".join(f"`{name}`" for name in importlib.import_module(package).__all__)
        yield f"`{package}`: {listed}.\n"


def page() -> str:
    """The whole page."""
    return "\n".join([INTRO, *(line for entry in ENTRIES for line in section(entry)), *names()])


def main() -> int:
    text = page()
    current = PAGE.exists() and PAGE.read_text(encoding="utf-8") == text
    if not current and "--check" not in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
    sys.stdout.write(f"docs/{PAGE.name}: {'current' if current else 'changed'}\n")
    return 1 if not current and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
