"""Tokenizers that the ledger never sees, as unlike each other as those of real models.

Some are trained here on this repository's own prose and code, by byte pairs, as unigram models or as pieces of words.
The others are ours. The ledger was made better with one half of them, and is judged by the other.
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
_CASES = (
    r"[^\r\n\p{L}\p{N}]?\p{Lu}*\p{Ll}+|[^\r\n\p{L}\p{N}]?\p{Lu}+|\p{L}|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""The same with words cut at capitals, and each digit alone."""
_PIECES = re.compile(r"[A-Za-z]{1,4}| ?\d{1,2}|\s+|[^\sA-Za-z\d]")
_SYLLABLES = re.compile(
    r" ?[B-DF-HJ-NP-TV-Zb-df-hj-np-tv-z]*[AEIOUaeiou]+|[B-DF-HJ-NP-TV-Zb-df-hj-np-tv-z]+"
    r"|\d{1,3}|\n+ *| +|[!-/:-@\[-`{-~]{1,2}|."
)


def texts(third: int = 0) -> Iterator[str]:
    """What the tokenizers are trained on: every third file, so that most of what is counted later is new to them."""
    for number, path in enumerate(sorted([*ROOT.glob("docs/**/*.md"), *ROOT.glob("inspector/**/*.py")])):
        if number % 3 == third:
            yield path.read_text("utf-8")


def _trained(model: Any, trainer: Any, pieces: Any, *, strips: bool, third: int = 0) -> Count:
    from tokenizers import Tokenizer, pre_tokenizers

    made = Tokenizer(model)
    made.pre_tokenizer = pieces or pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.train_from_iterator(texts(third), trainer)
    return lambda text: len(made.encode(text.strip() if strips else text, add_special_tokens=False).ids)


@cache
def byte_pairs(size: int, pattern: str = _GPT, third: int = 0) -> Count:
    """Byte pairs with a vocabulary of `size`, as OpenAI's and Anthropic's models have them."""
    from tokenizers import Regex, models, pre_tokenizers, trainers

    cut = pre_tokenizers.Split(Regex(pattern), "isolated")
    pieces = pre_tokenizers.Sequence([cut, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    trainer = trainers.BpeTrainer(
        vocab_size=size, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    return _trained(models.BPE(), trainer, pieces, strips=False, third=third)


@cache
def word_pieces(size: int) -> Count:
    """Pieces of words, each sign alone, spaces not counted, as older models have them."""
    from tokenizers import models, pre_tokenizers, trainers

    trainer = trainers.WordPieceTrainer(vocab_size=size, show_progress=False, special_tokens=["[UNK]"])
    return _trained(
        models.WordPiece(unk_token="[UNK]"), trainer, pre_tokenizers.BertPreTokenizer(), strips=False, third=1
    )


@cache
def unigram(size: int, third: int = 0) -> Count:
    """A unigram model, as Google's models have it."""
    from tokenizers import models, pre_tokenizers, trainers

    trainer = trainers.UnigramTrainer(
        vocab_size=size,
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        unk_token="<unk>",
        special_tokens=["<unk>"],
    )
    return _trained(models.Unigram(), trainer, None, strips=False, third=third)


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


def syllables(text: str) -> int:
    """Syllables with the space before them, digits in threes, signs in pairs, other characters alone."""
    return len(_SYLLABLES.findall(text))


def characters(text: str) -> int:
    """A token for each character, and for each run of spaces."""
    return len(re.sub(r"\s+", " ", text))


LOOKED_AT: dict[str, Callable[[], Count]] = {
    "byte pairs, 16,000": lambda: byte_pairs(16_000),
    "byte pairs, 2,000": lambda: byte_pairs(2_000),
    "unigram, 8,000": lambda: unigram(8_000),
    "short words": lambda: short_words,
    "pairs of bytes": lambda: pairs_of_bytes,
    "bytes": lambda: bytes_alone,
}
"""With these the ledger's first guesses were made."""
JUDGES: dict[str, Callable[[], Count]] = {
    "byte pairs, 8,000": lambda: byte_pairs(8_000, _CASES, 1),
    "byte pairs, 30,000": lambda: byte_pairs(30_000, third=2),
    "pieces of words": lambda: word_pieces(12_000),
    "unigram, 16,000": lambda: unigram(16_000, 2),
    "syllables": lambda: syllables,
    "characters": lambda: characters,
}
"""By these it is judged."""
