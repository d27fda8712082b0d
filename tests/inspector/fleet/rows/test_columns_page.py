"""The page about rows has the columns of the models."""

from turntape.inspector.fleet.rows.columns_page import PAGE, main, page, tables
from turntape.inspector.fleet.rows.schema import Row


def test_the_page_is_up_to_date() -> None:
    assert main(["--check"]) == 0
    assert page(PAGE.read_text("utf-8")) == PAGE.read_text("utf-8")


def test_every_column_has_a_type_and_a_sentence() -> None:
    lines = tables().splitlines()

    for name in Row.model_fields:
        (line,) = [one for one in lines if one.startswith(f"| `{name}` |")][:1]
        _, _, kind, said, _ = (cell.strip() for cell in line.split(" | ".strip()))
        assert kind, name
        assert said.endswith((".", "others")), name
    assert "| `started_at` | time (UTC) |" in tables()
    assert "| `cost_usd` | decimal(18, 9) |" in tables()
    assert "| `findings` | list |" in tables()
