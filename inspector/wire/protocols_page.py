"""docs/protocols.md, made from the registry: `python -m turntape.inspector.wire.protocols_page [--check]`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from .protocols.endpoints import ENDPOINTS
from .protocols.protocol import Protocol
from .registry import built_in

_HEAD = """# Protocols

Made by `python -m turntape.inspector.wire.protocols_page`; do not edit it by hand.

A protocol is one wire shape of one API. It is found by path and body shape first, by host last, so a gateway on
localhost is read as well as the vendor. The first row that fits reads the round trip; one that fits none is kept
whole and labelled `unknown`.

A finish word that is in no table is labelled `unknown`, never `complete`. Where the answer holds complete tool
calls and the word says an ordinary end, the effective label is `tool_calls`. A streamed answer without terminal
evidence is `cut`.

What the vendors' SDKs know and a protocol does not read is listed with what happens to it. A content block, an item or
an event of a type that is in no list is kept and shown raw.
"""

_TITLES = ("name", "what it is", "streams as")


def render() -> str:
    """The whole page."""
    rows = [(f"[`{p.name}`](#{p.name})", p.title, ", ".join(p.streams) or "one body") for p in built_in()]
    sections = [_HEAD, _table(_TITLES, rows), *(_section(protocol) for protocol in built_in()), _endpoints()]
    return "\n".join(sections).rstrip() + "\n"


def _section(protocol: Protocol) -> str:
    lines = [f"## {protocol.name}", "", f"{protocol.title}. {_about(protocol)}", "", f"Specified at: {protocol.spec}"]
    if protocol.finish:
        rows = [(f"`{word}`", label) for word, label in protocol.finish.items()]
        lines += ["", _table(("finish word", "label"), rows).rstrip()]
    if known := [(kind, word, what) for kind, words in protocol.not_read.items() for word, what in words.items()]:
        rows = [(kind, f"`{word}`", what) for kind, word, what in known]
        lines += ["", _table(("known, not read", "word", "what happens"), rows).rstrip()]
    return "\n".join([*lines, ""])


def _about(protocol: Protocol) -> str:
    """The first paragraph of the protocol's module."""
    text = sys.modules[protocol.detect.__module__].__doc__ or ""
    return " ".join(text.split("\n\n")[0].split())


def _endpoints() -> str:
    rows = [(row.kind, f"`{row.path.pattern.replace('|', chr(92) + '|')}`", ", ".join(sorted(row.methods)))
            for row in ENDPOINTS]  # fmt: skip
    head = "## Paths beside generation\n\nThe first that fits names the kind; these round trips have no turn.\n"
    return "\n".join([head, _table(("kind", "path", "methods"), rows)])


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def page() -> Path:
    """Where the page lies in a checkout."""
    return Path(__file__).resolve().parents[2] / "docs" / "protocols.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; with `--check`, say whether it is up to date (exit 1 when it is not)."""
    parser = argparse.ArgumentParser(prog="python -m turntape.inspector.wire.protocols_page", description=__doc__)
    parser.add_argument("--check", action="store_true", help="do not write; exit 1 when the page is out of date")
    parser.add_argument("--output", type=Path, default=page(), help="the file (default: docs/protocols.md)")
    options = parser.parse_args(arguments)
    text = render()
    if not options.check:
        options.output.write_text(text, encoding="utf-8")
        return 0
    if options.output.is_file() and options.output.read_text(encoding="utf-8") == text:
        return 0
    print(f"{options.output} is out of date: run python -m turntape.inspector.wire.protocols_page.", file=sys.stderr)  # noqa: T201
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
