"""The published schemas and the table of keys, made from the models."""

from pathlib import Path
from typing import Any

import jsonschema_rs
import orjson
import pytest
from conversations import loop

from turntape.inspector.views.json.schemas import SCHEMAS, files, key_tables, main, schema
from turntape.inspector.views.json.show_json import show_json

DOCS = Path(__file__).parents[4] / "docs"


def line() -> dict[str, Any]:
    return orjson.loads(next(iter(show_json(loop()))))


def test_the_published_files_are_up_to_date() -> None:
    assert main(["--check"]) == 0


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_names_itself_and_its_version(name: str) -> None:
    made = schema(name)

    assert made["$id"] == f"{name}.json"
    assert (DOCS / "schemas" / f"{name}.json").is_file()
    jsonschema_rs.meta.validate(made)


def test_the_schema_requires_every_key_and_allows_more() -> None:
    validator = jsonschema_rs.validator_for(schema("show-1"))

    assert validator.is_valid(line())
    assert validator.is_valid({**line(), "later": 1})
    for key in line():
        assert not validator.is_valid({name: value for name, value in line().items() if name != key})


def test_the_tables_have_every_key_of_a_line() -> None:
    tables = key_tables()

    for key in line():
        assert f"| `{key}` |" in tables
    for path in ("model.tool_calls[]", "api.error", "client.echo.changes[]", "findings[]"):
        assert f"### `{path}`" in tables


def test_a_file_that_is_out_of_date_is_named_and_written_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "show-json.md"
    page.write_text((DOCS / "show-json.md").read_text("utf-8").replace("`cost_usd` |", "`cost` |"), encoding="utf-8")
    written = page.read_text("utf-8").partition("<!--")[0]

    assert main(["--check", "--docs", str(tmp_path)]) == 1
    assert str(page) in capsys.readouterr().err
    assert main(["--docs", str(tmp_path)]) == 0
    assert main(["--check", "--docs", str(tmp_path)]) == 0
    assert page.read_text("utf-8").startswith(written)
    assert len(files(tmp_path)) == len(list(tmp_path.rglob("*.*")))
