"""`turntape query 'SELECT …' --at S`: SQL over all shipped runs."""

import argparse
from typing import TYPE_CHECKING, Any

from ...exit_codes import OK
from .. import argument_types as types
from ..command import Command
from ..option_groups import add_at, add_output, add_width

if TYPE_CHECKING:
    from turntape.inspector.fleet.asking.questions import Question

FORMATS = ("text", "json", "csv", "parquet")
ENDINGS = {".json": "json", ".jsonl": "json", ".ndjson": "json", ".csv": "csv", ".parquet": "parquet", ".txt": "text"}
"""The format of a file by the ending of its name."""


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "question", metavar="SQL|NAME", nargs="?", help="SQL, or the name of a question; - reads SQL from stdin"
    )
    add_at(parser)
    parser.add_argument(
        "--days", type=types.day_count, metavar="N", help="only runs of the last N days, today included"
    )
    parser.add_argument(
        "-p",
        "--param",
        type=types.parameter,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="the value of a parameter of the question, or of $NAME in the SQL; repeatable",
    )
    parser.add_argument("--list", action="store_true", help="list the named questions and their parameters")
    parser.add_argument("--sql", action="store_true", help="print the SQL of the named question instead of asking it")
    form = parser.add_argument_group("the answer")
    form.add_argument("--format", choices=FORMATS, help="format of the answer (default: text, or by FILE's ending)")
    form.add_argument("--json", dest="format", action="store_const", const="json", help="one JSON object for each row")
    form.add_argument("--csv", dest="format", action="store_const", const="csv", help="comma-separated values")
    add_output(parser, "FILE", "write to FILE (default: stdout): .json, .csv, .parquet or text")
    add_width(parser)


def main(options: argparse.Namespace) -> int:
    from turntape.inspector.fleet.asking.questions import question

    from ..text_output import writing

    if options.list:
        with writing(options.output) as out:
            out.writelines(_listed(options.format == "json"))
        return OK
    sql, named = _question(options.question)
    if options.sql:
        with writing(options.output) as out:
            out.write((named or question(sql.strip())).sql + "\n")
        return OK
    form = _format(options)
    answer = _answer(options, sql, named)
    _write(answer, form, options)
    return OK


def _question(given: str | None) -> "tuple[str, Question | None]":
    """The SQL, and the named question that it belongs to. Raises QuestionError for a name that does not exist."""
    import sys

    from turntape.cassettes.errors import TurntapeError
    from turntape.inspector.fleet.asking.questions import is_name, question

    if given is None or not given.strip():
        raise TurntapeError("there is no question; give SQL or a name: `turntape query --list` shows the names")
    if given == "-":
        return sys.stdin.read(), None
    if is_name(given.strip()):
        named = question(given.strip())
        return named.sql, named
    return given, None


def _format(options: argparse.Namespace) -> str:
    """The requested format, or that of the file's name. Raises TurntapeError for Parquet on a terminal."""
    import sys
    from pathlib import Path

    from turntape.cassettes.errors import TurntapeError

    to_file = options.output not in (None, "-")
    by_name = ENDINGS.get(Path(options.output).suffix.lower()) if to_file else None
    form: str = options.format or by_name or "text"
    if form == "parquet" and not to_file and sys.stdout.isatty():
        raise TurntapeError("Parquet is not for a terminal; write it to a file: -o answer.parquet")
    return form


def _answer(options: argparse.Namespace, sql: str, named: "Question | None") -> Any:
    from datetime import UTC, datetime, timedelta

    from turntape.inspector.fleet.asking.database import Database
    from turntape.inspector.fleet.asking.questions import values
    from turntape.inspector.fleet.store.store import open_store

    from ..shipped_tapes import store_address
    from ..waiting import Waiting

    given = dict(options.param)
    parameters: dict[str, object] = values(named, given) if named else dict(given)
    since = datetime.now(UTC).date() - timedelta(days=options.days - 1) if options.days else None
    store = open_store(store_address(options.at))
    with Waiting("asking") as waiting, Database(store, since, waiting.fetched) as database:
        return database.ask(sql, parameters)


def _write(answer: Any, form: str, options: argparse.Namespace) -> None:
    import sys

    from turntape.inspector.fleet.asking import formats

    from ...launch.terminal import columns
    from ..text_output import private_bytes, writing

    if form == "parquet":
        if options.output in (None, "-"):
            formats.parquet(answer, sys.stdout.buffer)
            return
        with private_bytes(options.output) as file:
            formats.parquet(answer, file)
        return
    with writing(options.output) as out:
        if form == "json":
            formats.json_lines(answer, out)
        elif form == "csv":
            formats.comma_separated(answer, out)
        else:
            to_terminal = options.output in (None, "-") and out.isatty()
            width = columns(options.width) if to_terminal or options.width else 10_000
            limit = 1_000 if to_terminal else answer.num_rows
            out.writelines(f"{line}\n" for line in formats.text(answer, width, limit))


def _listed(as_json: bool) -> list[str]:
    """The named questions, each with its parameters."""
    import json

    from turntape.inspector.fleet.asking.questions import QUESTIONS

    if as_json:
        return [
            json.dumps({"name": one.name, "summary": one.summary, "parameters": dict(one.parameters)}) + "\n"
            for one in QUESTIONS
        ]
    lines: list[str] = []
    for one in QUESTIONS:
        given = ", ".join(f"{name}={'all' if value is None else value}" for name, value in one.parameters.items())
        lines.append(f"{one.name:20}{one.summary}{f'  ({given})' if given else ''}\n")
    return [*lines, "\nturntape query NAME --at STORE [-p NAME=VALUE]; --sql prints the SQL of one\n"]


COMMAND = Command(
    usage="turntape query 'SELECT ...'|NAME --at STORE [--json|--csv] [-o FILE]",
    description="Ask all shipped runs of a store with SQL (DuckDB): the views are turns, runs, threads, tool_calls, "
    "tool_runs, findings, and round_trips with every row. A dozen questions have names. A question reads that store "
    "and nothing else.",
    examples=(
        "turntape query --list",
        "turntape query cost-by-branch --at s3://bucket/agents",
        "turntape query 'SELECT model, sum(cost_usd) FROM turns GROUP BY 1' --at runs",
    ),
    add=add,
    main=main,
    mixed=True,
)
