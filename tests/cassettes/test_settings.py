"""turntape.toml and [tool.turntape]: every key, every wrong value, and what is imported for it."""

import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from turntape.cassettes import CassetteError
from turntape.cassettes.settings import ENTROPY, FUNCTION, KEEP, ModelPrices, ReplaySettings, Settings, read_settings

ALL = """
redact = ["corp-[0-9]+"]
allow_headers = ["x-team"]
rules = ["mypackage.rules"]

[replay]
profile = "ordered"
ignore = ["/metadata/run"]
ignore_text = ["build-[0-9]+"]
map_values = false
rules = {system = "warn"}

[prices]
"acme-7b" = {input = 0.5, output = 1, cache_read = "0.05"}
"acme-*" = {like = "openai/gpt-5"}

[[protocols]]
name = "gateway"
finish = "/done"
"""
EVERYTHING = Settings(
    redact=("corp-[0-9]+",),
    allow_headers=("x-team",),
    rules=("mypackage.rules",),
    protocols=({"name": "gateway", "finish": "/done"},),
    prices={
        "acme-7b": ModelPrices(Decimal("0.5"), Decimal(1), Decimal("0.05")),
        "acme-*": ModelPrices(like="openai/gpt-5"),
    },
    replay=ReplaySettings("ordered", ("/metadata/run",), ("build-[0-9]+",), {"system": "warn"}, False),
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_key_is_read() -> None:
    Path("turntape.toml").write_text(ALL)

    assert read_settings() == EVERYTHING


def test_pyproject_has_the_same_keys() -> None:
    tables = ALL.replace("[replay]", "[tool.turntape.replay]").replace("[[protocols]]", "[[tool.turntape.protocols]]")
    tables = tables.replace("[prices]", "[tool.turntape.prices]")
    Path("pyproject.toml").write_text("[project]\nname = 'mine'\n[tool.turntape]" + tables)

    assert read_settings() == EVERYTHING


def test_a_file_that_is_given_is_the_only_one_read(folder: Path) -> None:
    Path("turntape.toml").write_text("redact = ['a']")
    (folder / "other.toml").write_text("redact = ['b']")

    assert read_settings(folder / "other.toml").redact == ("b",)
    assert read_settings("missing.toml") == Settings()


def test_turntape_toml_comes_before_pyproject() -> None:
    Path("pyproject.toml").write_text("[tool.turntape]\nredact = ['a']")
    assert read_settings().redact == ("a",)

    Path("turntape.toml").write_text("# nothing yet\n")
    assert read_settings().redact == ("a",)

    Path("turntape.toml").write_text("redact = ['b']")
    assert read_settings().redact == ("b",)


@pytest.mark.parametrize("text", ["", "[tool.other]\nkey = 1\n", "tool = 3\n"])
def test_a_pyproject_without_our_table_changes_nothing(text: str) -> None:
    Path("pyproject.toml").write_text(text)

    assert read_settings() == Settings()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("redcat = []", "'turntape.toml' has the unknown key 'redcat'; did you mean 'redact'?"),
        (
            "zzz = 1",
            "'turntape.toml' has the unknown key 'zzz'; "
            "the known keys are redact, redact_entropy, redact_function, redact_keep, allow_headers, rules, protocols, "
            "prices, replay",
        ),
        (
            "[replay]\nprofil = 'strict'",
            "the table 'replay' of 'turntape.toml' has the unknown key 'profil'; did you mean 'profile'?",
        ),
        (
            "[replay]\nzzz = 1",
            "the table 'replay' of 'turntape.toml' has the unknown key 'zzz'; "
            "the known keys are profile, ignore, ignore_text, rules, map_values",
        ),
        ("redact = 3", "'redact' in 'turntape.toml' is 3; write a list of strings"),
        ("redact = 'x'", "'redact' in 'turntape.toml' is 'x'; write a list of strings"),
        ("allow_headers = ['a', 3]", "'allow_headers[1]' in 'turntape.toml' is 3; write a string"),
        ("rules = 3", "'rules' in 'turntape.toml' is 3; write a list of strings"),
        ("protocols = 3", "'protocols' in 'turntape.toml' is 3; write a list of tables"),
        ("protocols = [3]", "'protocols[0]' in 'turntape.toml' is 3; write a table"),
        ("replay = 1", "'replay' in 'turntape.toml' is 1; write a table"),
        (
            "replay.profile = 'stric'",
            "'replay.profile' in 'turntape.toml' is 'stric'; write one of 'strict', 'ordered' or 'sequence'",
        ),
        ("replay.ignore = 3", "'replay.ignore' in 'turntape.toml' is 3; write a list of strings"),
        ("replay.ignore_text = [1]", "'replay.ignore_text[0]' in 'turntape.toml' is 1; write a string"),
        ("replay.map_values = 'x'", "'replay.map_values' in 'turntape.toml' is 'x'; write true or false"),
        ("replay.rules = 'warn'", "'replay.rules' in 'turntape.toml' is 'warn'; write a table"),
        (
            "replay.rules = {system = 'maybe'}",
            "'replay.rules.system' in 'turntape.toml' is 'maybe'; write one of 'fail', 'warn' or 'ignore'",
        ),
    ],
)
def test_a_value_that_cannot_be_used_is_one_sentence(text: str, sentence: str) -> None:
    Path("turntape.toml").write_text(text)

    with pytest.raises(CassetteError) as failure:
        read_settings()

    assert str(failure.value) == sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("tool.turntape = 3", "[tool.turntape] in 'pyproject.toml' is 3; write a table"),
        ("tool.turntape = 0", "[tool.turntape] in 'pyproject.toml' is 0; write a table"),
        (
            "[tool.turntape]\nredcat = []",
            "[tool.turntape] in 'pyproject.toml' has the unknown key 'redcat'; did you mean 'redact'?",
        ),
    ],
)
def test_pyproject_is_named_with_its_table(text: str, sentence: str) -> None:
    Path("pyproject.toml").write_text(text)

    with pytest.raises(CassetteError) as failure:
        read_settings()

    assert str(failure.value) == sentence


@pytest.mark.parametrize("content", [b"=", b"\xff"])
def test_a_file_that_cannot_be_parsed_is_named(content: bytes) -> None:
    Path("turntape.toml").write_bytes(content)

    with pytest.raises(CassetteError, match="cannot read the settings in 'turntape.toml': .*; correct or remove"):
        read_settings()


def test_a_folder_in_place_of_the_file_is_an_error() -> None:
    Path("turntape.toml").mkdir()

    with pytest.raises(CassetteError, match="cannot read the settings in 'turntape.toml'"):
        read_settings()


@pytest.mark.parametrize(
    ("pyproject", "loaded"),
    [(None, False), ("[project]\nname = 'mine'\n", False), ("[tool.turntape]\nredact = ['a']\n", True)],
)
def test_what_reads_and_checks_settings_is_imported_only_where_there_are_some(
    pyproject: str | None, loaded: bool
) -> None:
    if pyproject:
        Path("pyproject.toml").write_text(pyproject)
    code = (
        "from turntape.cassettes import Redactor; Redactor.from_config(); import sys\n"
        "print(*({'pydantic', 'tomllib'} & {*sys.modules}))"
    )

    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert set(shown.split()) == ({"pydantic", "tomllib"} if loaded else set())


NUMBER = "write US dollars per million tokens, a number such as 1.25"


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("{inputs = 1, output = 1}", "has the unknown key 'inputs'; did you mean 'input'?"),
        ("{input = 'x', output = 1}", "'prices.m.input' in 'turntape.toml' is 'x'; " + NUMBER),
        ("{input = '?', output = 1}", "'prices.m.input' in 'turntape.toml' is '?'; " + NUMBER),
        ("{input = [1], output = 1}", "'prices.m.input' in 'turntape.toml' is [1]; " + NUMBER),
        ("{input = -1, output = 1}", "write amounts from 0"),
        ("{input = 1, output = -1}", "write amounts from 0"),
        ("{input = 1, output = 1, cache_read = -1}", "write amounts from 0"),
        ("{input = 1, output = 1, cache_write = -1}", "write amounts from 0"),
        ("{input = 1, output = inf}", "is inf; " + NUMBER),
        ("{input = 1}", "write input and output in US dollars per million tokens, or like = 'vendor/model'"),
        ("{output = 1}", "write input and output in US dollars per million tokens, or like = 'vendor/model'"),
        ("{}", "write input and output in US dollars per million tokens, or like = 'vendor/model'"),
        ("{like = 'gpt-5'}", "write like = 'vendor/model' alone"),
        ("{like = 'openai/gpt-5', input = 1}", "write like = 'vendor/model' alone"),
        ("3", "'prices.m' in 'turntape.toml' is 3; write a table"),
    ],
)  # fmt: skip
def test_a_wrong_price_says_what_to_write(row: str, problem: str) -> None:
    Path("turntape.toml").write_text(f"prices.m = {row}")

    with pytest.raises(CassetteError) as raised:
        read_settings()

    assert problem in str(raised.value)


def test_prices_may_be_zero() -> None:
    Path("turntape.toml").write_text("prices.m = {input = 0, output = 0.0}")

    assert read_settings().prices == {"m": ModelPrices(Decimal(0), Decimal(0))}


@pytest.mark.parametrize(
    ("said", "entropy", "function"),
    [
        ({}, True, "a:b"),
        ({ENTROPY: "no", FUNCTION: ""}, False, "a:b"),
        ({ENTROPY: "1", FUNCTION: "c:d"}, True, "c:d"),
    ],
)
def test_variables_come_before_the_file_unless_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: dict[str, str], entropy: bool, function: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("turntape.toml").write_text('redact = ["x"]\nredact_entropy = true\nredact_function = "a:b"\n')
    for name, value in said.items():
        monkeypatch.setenv(name, value)

    assert read_settings() == Settings(("x",), entropy, function)
    assert read_settings("turntape.toml") == Settings(("x",), True, "a:b")


def test_the_variable_adds_to_what_the_file_keeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("turntape.toml").write_text('redact_keep = ["a"]\n')
    monkeypatch.setenv(KEEP, "b\nc d\n")

    assert read_settings().redact_keep == ("a", "b", "c d")
    assert read_settings("turntape.toml").redact_keep == ("a",)


@pytest.mark.parametrize("name", ["turntape.toml", "pyproject.toml"])
def test_settings_that_have_no_end_are_refused_at_once(name: str, folder: Path) -> None:
    (folder / name).symlink_to("/dev/zero")

    with pytest.raises(CassetteError, match="is a pipe or a device"):
        read_settings()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a = " + "[" * 3000 + "]" * 3000, "nested too deeply"),
        ("redact = [] #" + "x" * (16 << 20), "longer than 16 MB"),
    ],
    ids=["deep", "long"],
)
def test_a_file_beyond_what_people_write_is_one_sentence(text: str, why: str) -> None:
    Path("turntape.toml").write_text(text)

    with pytest.raises(CassetteError, match=why):
        read_settings()


def test_a_byte_order_mark_and_other_ends_of_lines_are_read() -> None:
    Path("turntape.toml").write_bytes(b"\xef\xbb\xbfredact = ['a']\r\nredact_entropy = true\r\n")

    assert read_settings() == Settings(redact=("a",), redact_entropy=True)
