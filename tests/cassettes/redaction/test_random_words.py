"""With `redact_entropy`, words that look random are masked; ids, signatures and prose are not."""

from pathlib import Path

import pytest

from turntape.cassettes import Redactor
from turntape.cassettes.redaction.random_words import looks_random

PLAIN, ENTROPY = Redactor(salt="s"), Redactor(salt="s", entropy=True)
MIXED = "aB3dE5fG7hJ9kL1mN3pQ5rS7"
HEX = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"


@pytest.mark.parametrize(
    "word", [MIXED, HEX, "wJalrXUtnFEMIK7MDENGbPxRfiCYzzTOPSECRE9", "q1W/e2R+t3Y4u5I6o7P8a9S0d1F2="]
)
def test_a_random_word_in_a_sentence_is_masked_when_it_is_requested(word: str) -> None:
    text = f"say {word} to it".encode()

    assert PLAIN.body(text) == text
    assert word.encode() not in ENTROPY.body(text) and ENTROPY.body(text).endswith(b" to it")
    assert ENTROPY.body(ENTROPY.body(text)) == ENTROPY.body(text)


@pytest.mark.parametrize(
    "text",
    [
        f'{{"id":"{MIXED}"}}',
        f'{{"tool_use_id": "{MIXED}"}}',
        f'{{\\"signature\\":\\"{MIXED}\\"}}',
        f'{{"encrypted_content":"{MIXED}"}}',
        f'{{"thoughtSignature":"{MIXED}"}}',
        f'{{"prompt_cache_key":"{HEX}"}}',
        f"call_{MIXED} toolu_{MIXED} chatcmpl-{MIXED}",
        "f4c94ed7-238d-4c46-93db-48cd62ec33b7",
        "src/components/Button2/IndexPage/main",
        "supercalifragilisticexpialidocious",
        "getUserAccountSettings2",
        "2026-11-22-18-44-31-000123",
        MIXED * 10,
    ],
)
def test_ids_signatures_paths_and_words_stay(text: str) -> None:
    assert ENTROPY.body(text.encode()) == text.encode()


@pytest.mark.parametrize("word", [MIXED[:19], MIXED.lower(), "aB1" * 8, "0" * 40, MIXED[:10] + "_" * 20])
def test_what_is_short_or_plain_does_not_look_random(word: str) -> None:
    assert f"x {word} x".encode() == ENTROPY.body(f"x {word} x".encode())


def test_letters_are_judged_by_how_often_they_come() -> None:
    assert looks_random(MIXED.encode()) and not looks_random(b"aB3aB3aB3aB3aB3aB3aB3aB3")


def test_the_settings_ask_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "turntape.toml").write_text("redact_entropy = true")

    assert MIXED.encode() not in Redactor.from_config().body(MIXED.encode())
