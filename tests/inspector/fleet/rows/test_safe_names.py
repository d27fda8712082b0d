"""What a row shows of texts from outside: names, and hashes of everything else."""

import pytest

from turntape.cassettes import Redactor
from turntape.inspector.fleet.rows.keyed_hash import KeyedHash
from turntape.inspector.fleet.rows.safe_names import SafeNames

KEY = "sk-ant-api03-abcDEF123456ghiJKL789012mnoPQR345678stuVWX"
names = SafeNames(KeyedHash(b"key"), Redactor())


@pytest.mark.parametrize("text", ["gpt-5", "us.anthropic.claude:1", "mcp__files__read", "models/x", "call_1", "日本語"])
def test_names_are_kept(text: str) -> None:
    assert names.name(text) == text


@pytest.mark.parametrize("text", ["delete all files please", "a\nb", "x" * 200, KEY, ""])
def test_anything_else_is_hashed(text: str) -> None:
    hashed = names.name(text)

    assert hashed is not None
    assert hashed.startswith("hash:")
    assert names.name(text) == hashed
    assert SafeNames(KeyedHash(b"other"), Redactor()).name(text) != hashed


def test_only_ids_are_kept_of_headers() -> None:
    uuid = "6f9619ff-8b86-d011-b42d-00cf4fc964ff"

    assert names.identifier(uuid) == uuid
    assert names.identifier("0123456789abcdef") == "0123456789abcdef"
    assert str(names.identifier("my-secret-session")).startswith("hash:")
    assert names.identifier(None) is None


def test_a_path_keeps_its_names() -> None:
    assert names.path("/v1/models/gemini-3:generateContent") == "/v1/models/gemini-3:generateContent"
    hidden = names.path("/v1/say%20the%20word/x")
    assert hidden.startswith("/v1/hash:") and hidden.endswith("/x")
    assert KEY not in names.path(f"/v1/{KEY}/x")


def test_labels_lose_secrets_and_line_breaks() -> None:
    assert names.label("fix the\nbuild") == "fix the build"
    assert KEY not in names.label(f"token {KEY}")
    assert len(names.label("x" * 1000)) == 256
    assert names.label("broken \ud800 text") == "broken ? text"


def test_a_name_with_half_a_character_is_hashed() -> None:
    assert str(names.name("broken\ud800")).startswith("hash:")
