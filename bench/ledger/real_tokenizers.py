"""The tokenizers of real models, out of packages that carry their vocabularies. The ledger never sees them.

Nobody here made or trained them. The packages are installed without their dependencies into a folder that is removed at
the end: GPT, Claude and DeepSeek are in litellm, Mistral's is in mistral-common.
"""

import base64
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from .tokenizers import Count

_PACKAGES = ("litellm==1.110.2", "mistral-common==1.13.1")


@contextmanager
def real_tokenizers() -> Iterator[dict[str, Callable[[], Count]]]:
    """What makes each tokenizer, by the name of its model; the folder of the vocabularies lives as long.

    Raises SystemExit when the packages cannot be installed.
    """
    with tempfile.TemporaryDirectory(prefix="turntape-tokenizers-") as folder:
        install = [os.environ.get("UV", "uv"), "pip", "install", "--quiet", "--no-deps", "--python", sys.executable]
        done = subprocess.run([*install, "--target", folder, *_PACKAGES], check=False)
        if done.returncode:
            raise SystemExit(f"make ledger: {' and '.join(_PACKAGES)} cannot be installed; the reason is above")
        ours = Path(folder) / "litellm/litellm_core_utils/tokenizers"
        yield {
            "GPT-4o": lambda: _of_openai("o200k_base", ours),
            "GPT-4": lambda: _of_openai("cl100k_base", ours),
            "Claude 2": lambda: _described(ours / "anthropic_tokenizer.json"),
            "DeepSeek": lambda: _described(ours / "deepseek_tokenizer.json"),
            "Mistral": lambda: _tekken(Path(folder) / "mistral_common/data/tekken_240911.json"),
        }


def _of_openai(name: str, folder: Path) -> Count:
    """From a folder that has the vocabularies as tiktoken keeps those that it downloaded."""
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    return _counting(_tiktoken().get_encoding(name))


def _tekken(file: Path) -> Count:
    """From a file of Mistral: the pattern that cuts a text first, and the tokens with their ranks."""
    made = json.loads(file.read_bytes())
    size = made["config"]["default_vocab_size"] - made["config"]["default_num_special_tokens"]
    ranks = {base64.b64decode(token["token_bytes"]): token["rank"] for token in made["vocab"][:size]}
    pattern = made["config"]["pattern"]
    return _counting(_tiktoken().Encoding("tekken", pat_str=pattern, mergeable_ranks=ranks, special_tokens={}))


def _tiktoken() -> Any:
    import tiktoken  # pyright: ignore[reportMissingImports] - of the group bench

    return tiktoken


def _counting(encoding: Any) -> Count:
    return lru_cache(100_000)(lambda text: len(encoding.encode_ordinary(text)))


def _described(file: Path) -> Count:
    """From a file of the library `tokenizers`."""
    from tokenizers import Tokenizer

    made = Tokenizer.from_file(str(file))
    return lru_cache(100_000)(lambda text: len(made.encode(text, add_special_tokens=False).ids))
