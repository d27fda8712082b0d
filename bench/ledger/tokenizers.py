"""Tokenizers that the ledger never sees, as unlike each other as those of real models.

Two are trained here on this repository's own prose and code, by byte pairs and as a unigram model. The others are ours.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

type Count = Callable[[str], int]

ROOT = Path(__file__).parents[2]
_GPT = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
"""How most byte-pair tokenizers cut a text first."""
_PIECES = re.compile(r"[A-Za-z]{1,4}| ?\d{1,2}|\s+|[^\sA-Za-z\d]")


def texts() -> Iterator[str]:
    """What the tokenizers are trained on: every third file, so that most of what is counted later is new to them."""
    for number, path in enumerate(sorted([*ROOT.glob("docs/**/*.md"), *ROOT.glob("inspector/**/*.py")])):
        if number % 3 == 0:
            yield path.read_text("utf-8")


def _trained(model: Any, trainer: Any, pieces: Any, *, strips: bool) -> Count:
    from tokenizers import Tokenizer, pre_tokenizers

    made = Tokenizer(model)
    made.pre_tokenizer = pieces or pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.train_from_iterator(texts(), trainer)
    return lambda text: len(made.encode(text.strip() if strips else text, add_special_tokens=False).ids)


@cache
def byte_pairs(size: int) -> Count:
    """Byte pairs with a vocabulary of `size`, as OpenAI's and Anthropic's models have them."""
    from tokenizers import Regex, models, pre_tokenizers, trainers

    cut = pre_tokenizers.Split(Regex(_GPT), "isolated")
    pieces = pre_tokenizers.Sequence([cut, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    trainer = trainers.BpeTrainer(
        vocab_size=size, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    return _trained(models.BPE(), trainer, pieces, strips=False)


@cache
def unigram(size: int) -> Count:
    """A unigram model, as Google's models have it."""
    from tokenizers import models, pre_tokenizers, trainers

    trainer = trainers.UnigramTrainer(
        vocab_size=size,
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        unk_token="<unk>",
        special_tokens=["<unk>"],
    )
    return _trained(models.Unigram(), trainer, None, strips=False)


def bytes_alone(text: str) -> int:
    """A token for each byte."""
    return len(text.encode("utf-8", "surrogatepass"))


def pairs_of_bytes(text: str) -> int:
    """Two letters in a token, every other byte alone."""
    return sum(
        (len(run) + 1) // 2 if run.isalpha() and run.isascii() else len(run.encode("utf-8", "surrogatepass"))
        for run in re.findall(r"[A-Za-z]+|[^A-Za-z]", text)
    )


def short_words(text: str) -> int:
    """Words in pieces of up to four letters, digits in twos, signs alone."""
    return len(_PIECES.findall(text))


TOKENIZERS: dict[str, Callable[[], Count]] = {
    "byte pairs, 16,000": lambda: byte_pairs(16_000),
    "byte pairs, 2,000": lambda: byte_pairs(2_000),
    "unigram, 8,000": lambda: unigram(8_000),
    "short words": lambda: short_words,
    "pairs of bytes": lambda: pairs_of_bytes,
    "bytes": lambda: bytes_alone,
}
