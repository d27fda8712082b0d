"""What is wrong with SQL is one sentence that names the nearest thing there is."""

import pytest
from fleet_rows import folder, row

from turntape.inspector.fleet.asking.database import Database
from turntape.inspector.fleet.asking.sql_errors import QuestionError
from turntape.inspector.fleet.store.store import Store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return folder(tmp_path_factory.mktemp("store"), [row(0)])


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("select costusd from turns", "there is no column 'costusd'; did you mean 'cost_usd'?"),
        ("select t.modell from turns t", "there is no column 'modell'"),
        ("select severity from turns", "there is no column 'severity' in turns; see findings"),
        ("select zzzzzzzz from runs", "`describe runs` lists the columns"),
        ("select * from turnz", "there is no view 'turnz'; did you mean 'turns'?"),
        ("select f.idd from (select unnest(findings) as f from turns)", "there is no field 'idd'; did you mean 'id'?"),
        ("select countt(*) from turns", "there is no function 'countt'; did you mean 'count'?"),
        ("select * form turns", """syntax error at or near "turns", at line 1: 'turns'"""),
        ("select\n 1 + from form turns", "at line 2: '"),
        ("select $branch", "a parameter without a value: branch; give it with -p NAME=VALUE"),
        ("select cast('x' as int)", "Could not convert string 'x' to INT32"),
        ("copy turns to 'x.csv'", "-o FILE writes the answer"),
    ],
)
def test_the_error_is_one_line_with_what_to_do(sql: str, message: str, store: Store) -> None:
    with Database(store) as database, pytest.raises(QuestionError) as raised:
        database.ask(sql)

    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
