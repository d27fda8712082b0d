"""The examples of docs/fleet.md for other engines as they are written there, but for the place of the files.

chDB, DataFusion and Polars read a bucket through their own access to S3. DuckDB and Spark read a folder, because their
S3 libraries are in no registry of Python. This module imports nothing of turntape: it runs in the environment of the
engines (`python documented.py ENGINE`, with a `Place` as JSON on stdin), and prints the rows of the last statement.
"""

import ast
import json
import os
import re
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "fleet.md"
DOCUMENTED = "s3://bucket/agents"


@dataclass(frozen=True)
class Place:
    """Where the files are: in a folder, and at a server of S3 under the same names."""

    folder: str
    url: str
    bucket: str
    key: str
    secret: str


def example(engine: str) -> str:
    """The code of the page for an engine, which is named in the bold line above it."""
    found = re.search(rf"\*\*[^*\n]*{engine}[^*\n]*\*\*[^\n]*\n+```\w+\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert found, f"{PAGE.name} has no example for {engine}"
    return found[1]


def _statements(sql: str) -> list[str]:
    return [one for one in sql.split(";") if one.strip()]


def _python(code: str, names: dict[str, Any]) -> Any:
    """The value of the last expression of Python code."""
    *before, last = ast.parse(code).body
    assert isinstance(last, ast.Expr)
    exec(compile(ast.Module(before, []), PAGE.name, "exec"), names)
    return eval(compile(ast.Expression(last.value), PAGE.name, "eval"), names)


def _duckdb(place: Place) -> list[tuple[Any, ...]]:
    connection: Any = import_module("duckdb").connect()
    return connection.execute(example("DuckDB").replace(DOCUMENTED, place.folder)).fetchall()


def _chdb(place: Place) -> list[tuple[Any, ...]]:
    sql = example("chDB").replace("https://bucket.s3.amazonaws.com", f"{place.url}/{place.bucket}")
    sql = sql.replace("'Parquet')", f"'{place.key}', '{place.secret}', 'Parquet')").rstrip().rstrip(";")
    engine: Any = import_module("chdb.session").Session()
    found = json.loads(str(engine.query(sql, "JSON")))["data"]
    return [tuple(row.values()) for row in found]


def _datafusion(place: Place) -> list[tuple[Any, ...]]:
    context: Any = import_module("datafusion").SessionContext()
    objects: Any = import_module("datafusion.object_store").AmazonS3(
        bucket_name=place.bucket,
        endpoint=place.url,
        region="us-east-1",
        access_key_id=place.key,
        secret_access_key=place.secret,
        allow_http=True,
    )
    context.register_object_store("s3://", objects, place.bucket)
    answer = None
    for one in _statements(example("DataFusion").replace("s3://bucket/", f"s3://{place.bucket}/")):
        answer = context.sql(one).to_arrow_table()
    assert answer is not None
    return [tuple(row.values()) for row in answer.to_pylist()]


def _polars(place: Place) -> list[tuple[Any, ...]]:
    os.environ |= {
        "AWS_ENDPOINT_URL": place.url,
        "AWS_ALLOW_HTTP": "true",
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": place.key,
        "AWS_SECRET_ACCESS_KEY": place.secret,
    }
    code = example("Polars").replace("s3://bucket/", f"s3://{place.bucket}/")
    return _python(code, {"pl": import_module("polars")}).rows()


def _spark(place: Place) -> list[tuple[Any, ...]]:
    spark = import_module("dialects").spark_session()
    code = example("Spark").replace("s3a://bucket/agents", place.folder).replace(".show()", ".collect()")
    return [tuple(row) for row in _python(code, {"spark": spark})]


ENGINES = {"duckdb": _duckdb, "chdb": _chdb, "datafusion": _datafusion, "polars": _polars, "pyspark": _spark}
"""By the name of the package."""

if __name__ == "__main__":
    rows = ENGINES[sys.argv[1]](Place(**json.load(sys.stdin)))
    print(json.dumps([[one if isinstance(one, str | None) else float(one) for one in row] for row in rows]))
