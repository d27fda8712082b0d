"""The twelve named questions in the SQL of other engines, over the Parquet files of a table (`t`).

One text for each question; what the engines spell differently is in braces. This module imports nothing of turntape:
it also runs in an environment that has only the engines (`python dialects.py ENGINE FOLDER`).
"""

import json
import re
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

FAILED = "count(distinct case when verdict = 'fail' then recording end)"
PASSED = "count(distinct case when verdict = 'pass' then recording end)"

QUESTIONS = {
    "cost-by-branch": "select branch, request_model, count(distinct recording) as runs, count(*) as turns, "
    "sum(cost_usd) as cost_usd from t where turn is not null group by branch, request_model",
    "findings-trend": "select {f}id as id, {f}severity as severity, {week} as week, count(*) as findings, "
    "count(distinct recording) as runs from {findings} group by 1, 2, 3",
    "prompt-regressions": f"select system_hash, branch, count(distinct recording) as runs, {FAILED} as failed "
    "from t where system_hash is not null and turn is not null group by system_hash, branch",
    "dearest-tools": "select {f}name as name, count(*) as calls, sum({f}result_bytes) as result_bytes "
    "from {calls} group by 1",
    "cache-by-client": "select client, client_version, count(*) as turns, sum(input) as input, "
    "sum(cache_read) as cache_read from t where input is not null and turn is not null "
    "group by client, client_version",
    "slowest": "select request_model, count(*) as turns, {p95} as p95_ms from t "
    "where status = 200 and first_byte_ms is not null and turn is not null group by request_model",
    "task-costs": "select task, branch, count(distinct recording) as runs, "
    "{double}(sum(cost_usd){as_double}) / count(distinct recording) as cost_per_run from t "
    "where task is not null and turn is not null group by task, branch",
    "flaky-tasks": f"select task, branch, {PASSED} as passed, {FAILED} as failed from t "
    "where task is not null and turn is not null group by task, branch having count(distinct verdict) > 1",
    "flaky-turns": "select prefix_hash, request_model, n, count(*) as turns, count(distinct finish) as finishes from t "
    "where prefix_hash is not null and turn is not null group by prefix_hash, request_model, n "
    "having count(distinct finish) > 1",
    "api-errors": "select provider, status, {hour} as hour, count(*) as requests, count(distinct recording) as runs "
    "from t where status >= 400 and turn is not null group by provider, status, {hour}",
    "cache-breaks": "select client, client_version, count(*) as turns, sum(input) as input from t "
    "where turn > 1 and history = 'changed' and cache_read = 0 group by client, client_version",
    "dearest-runs": "select branch, task, count(*) as turns, sum(cost_usd) as cost_usd from t where turn is not null "
    "group by recording, run, branch, task",
}
"""The columns that are compared; they have the names of the answers of `turntape query`."""

DATAFUSION = {
    "f": "f.",
    "findings": "(select unnest(findings) as f, recording, started_at from t) as x",
    "calls": "(select unnest(tool_calls) as f from t where turn is not null) as x",
    "week": "cast(date_trunc('week', started_at) as date)",
    "p95": "percentile_cont(first_byte_ms, 0.95)",
    "hour": "cast(date_part('hour', started_at) as bigint)",
    "double": "cast",
    "as_double": " as double",
}
SPARK = DATAFUSION | {
    "findings": "(select explode(findings) as f, recording, started_at from t) as x",
    "calls": "(select explode(tool_calls) as f from t where turn is not null) as x",
    "p95": "percentile(first_byte_ms, 0.95)",
    "hour": "hour(started_at)",
}
CHDB = DATAFUSION | {
    "findings": "(select arrayJoin(findings) as f, recording, started_at from t) as x",
    "calls": "(select arrayJoin(tool_calls) as f from t where turn is not null) as x",
    "week": "toDate(toStartOfWeek(started_at, 1, 'UTC'))",
    "p95": "quantileExactInclusive(0.95)(first_byte_ms)",
    "hour": "toHour(started_at, 'UTC')",
    "double": "toFloat64",
    "as_double": "",
}


def answers(rows_of: Callable[[str], list[dict[str, Any]]], dialect: dict[str, str]) -> dict[str, list[Any]]:
    """The answer of each question, in the form that is compared."""
    return {name: comparable(rows_of(sql.format(**dialect)), columns(name)) for name, sql in QUESTIONS.items()}


def columns(name: str) -> list[str]:
    """The names of the compared columns of a question."""
    head = QUESTIONS[name].partition(" from ")[0].removeprefix("select ")
    parts = head.replace("(case when verdict = 'pass' then recording end)", "").split(", ")
    return [part.rpartition(" as ")[2] if " as " in part else part for part in parts]


def comparable(rows: list[dict[str, Any]], names: list[str]) -> list[Any]:
    """Rows in one order, with numbers as floats and dates as text: engines differ in types and in the order of ties."""
    return comparable_rows([row[name] for name in names] for row in rows)


def comparable_rows(rows: Iterable[Iterable[Any]]) -> list[Any]:
    """The same for rows without names."""
    shown = [[_plain(value) for value in row] for row in rows]
    return sorted(shown, key=lambda row: json.dumps([round(one, 4) if isinstance(one, float) else one for one in row]))


def equal(one: list[Any], other: list[Any]) -> bool:
    """True for the same rows; numbers may differ by a thousandth, because answers are rounded."""
    return len(one) == len(other) and all(
        _close(a, b) for left, right in zip(one, other, strict=True) for a, b in zip(left, right, strict=True)
    )


def _close(a: Any, b: Any) -> bool:
    return abs(a - b) <= 0.001 if isinstance(a, float) and isinstance(b, float) else a == b


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    if hasattr(value, "isoformat"):
        return value.isoformat()[:10]
    return float(value)


def _datafusion(folder: str) -> dict[str, list[Any]]:
    context: Any = import_module("datafusion").SessionContext()
    context.register_parquet("t", folder)
    return answers(lambda sql: context.sql(sql).to_arrow_table().to_pylist(), DATAFUSION)


def _chdb(folder: str) -> dict[str, list[Any]]:
    engine: Any = import_module("chdb.session").Session()
    source = f"(select * from file('{folder}/**/*.parquet', Parquet))"

    def rows(sql: str) -> list[dict[str, Any]]:
        text = re.sub(r"\bfrom t\b", f"from {source} as t", sql)
        return json.loads(
            str(
                engine.query(
                    text + " settings prefer_column_name_to_alias = 1, output_format_json_quote_64bit_integers = 0",
                    "JSON",
                )
            )
        )["data"]

    return answers(rows, CHDB)


def spark_session() -> Any:
    """A Spark of this process."""
    builder: Any = import_module("pyspark.sql").SparkSession.builder
    session = (
        builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    return session


def _spark(folder: str) -> dict[str, list[Any]]:
    session = spark_session()
    session.read.parquet(folder).createOrReplaceTempView("t")
    return answers(lambda sql: [row.asDict(recursive=True) for row in session.sql(sql).collect()], SPARK)


ENGINES = {"chdb": _chdb, "datafusion": _datafusion, "pyspark": _spark}
"""By the name of the package."""

if __name__ == "__main__":
    print(json.dumps(ENGINES[sys.argv[1]](sys.argv[2])))
