"""docs/findings.md, made from the table of rules: `python -m turntape.inspector.findings.findings_page [--check]`.

The part above the mark is generated; the part below it is written by hand and kept.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from .docs import GROUPS, LAYERS, FailureClass, classes
from .finding import SEVERITIES

_HEAD = """# Findings

What turntape can say of a run, by the layer that it blames. `turntape explain ID` says the same with an example,
`turntape check F` looks for them, and [layers.md](layers.md) explains the three layers.

Everything up to the mark below is made by `python -m turntape.inspector.findings.findings_page` (`make docs`) from the
table of rules; do not edit it by hand.

A finding is an **error** when the run is broken or an answer is lost, a **warning** when it costs money or will
break, an **info** when it is worth knowing. Its tier says how sure it is: **P** proven by the bytes, **S** a strong
inference that leaves one benign reading, **H** a heuristic, which is off unless `--hints` asks for it and never
above a warning. A rule says nothing without evidence: each finding names the round trips (`#3` is the fourth of
the cassette) and, where there are any, the JSON pointers of the bytes that prove it. A finding that only follows
from another one says so (`because of`) and is listed below it. The severity, tier or layer of a finding may differ from
the row's where the bytes say so: a block that the API itself returned is not blamed on the client.
"""
_MARK = "<!-- Made by turntape.inspector.findings.findings_page up to here; what follows is written by hand. -->"
_TAIL = """
## On real traffic
"""
_TITLE = {"model": "Model", "api": "API", "client": "Client", "advice": "Advice"}
_TITLES = ("id", "severity", "tier", "what it means", "what to do", "not when")


def render() -> str:
    """The part of the page that is made, with its mark."""
    return "\n".join([_HEAD, *(_section(group) for group in GROUPS), _MARK]) + "\n"


def _section(group: str) -> str:
    chosen = sorted(
        (one for one in classes() if one.group == group), key=lambda one: -SEVERITIES.index(one.severities[0])
    )
    about = next((text for layer, text in LAYERS.items() if layer == group), "what could be better; blames nobody")
    head = f"## {_TITLE[group]}: {about}\n"
    note = "\nOnly with `--lint`.\n" if group == "advice" else ""
    rows = [(f"`{one.id}`", _severities(one), " / ".join(one.tiers), _meaning(one), one.rule.fix,
             one.rule.exceptions) for one in chosen]  # fmt: skip
    return head + note + "\n" + _table(rows)


def _severities(one: FailureClass) -> str:
    return " / ".join(one.severities)


def _meaning(one: FailureClass) -> str:
    only = [f"`{name}`" for name in one.protocols]
    asked = f"only with `{one.switch}`" if one.switch == "--hints" else ""
    extra = "; ".join(text for text in (f"for {', '.join(only)}" if only else "", asked) if text)
    return one.rule.says + (f" ({extra[0].upper()}{extra[1:]}.)" if extra else "")


def _table(rows: Sequence[Sequence[str]]) -> str:
    lines = [_TITLES, ["---"] * len(_TITLES), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "".join("| " + " | ".join(line).rstrip() + " |\n" for line in lines)


def page() -> Path:
    """Where the page lies in a checkout."""
    return Path(__file__).resolve().parents[2] / "docs" / "findings.md"


def _split(path: Path) -> tuple[str, str]:
    """What is made, with the mark, and what is written by hand, of the page as it is."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    made, mark, rest = text.partition(_MARK + "\n")
    return (made + mark, rest) if mark else ("", _TAIL)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; with `--check`, say whether it is up to date (exit 1 when it is not)."""
    parser = argparse.ArgumentParser(prog="python -m turntape.inspector.findings.findings_page", description=__doc__)
    parser.add_argument("--check", action="store_true", help="do not write; exit 1 when the page is out of date")
    parser.add_argument("--output", type=Path, default=page(), help="the file (default: docs/findings.md)")
    options = parser.parse_args(arguments)
    made, written = _split(options.output)
    if not options.check:
        options.output.write_text(render() + written, encoding="utf-8")
        return 0
    if made == render():
        return 0
    print(f"{options.output} is out of date: run python -m turntape.inspector.findings.findings_page.", file=sys.stderr)  # noqa: T201
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
