"""Passwords of a story: what a test file itself contains, and its recordings have as a value called `password`.

The rules for secrets replace such a value, and a test about it then gets `REDACTED`. It is not a secret where the code
of the test shows it and only its name makes it look like one.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import orjson

from ..redaction.redactor import Redactor
from ..regex import regex

_VALUE = regex(
    rb"(?:passw(?:or)?d|passphrase|pwd)\\{0,7}[\"']\s{0,4}:\s{0,4}\\{0,7}[\"']([^\"'\\\s]{1,64})\\{0,7}[\"']",
    re.IGNORECASE,
)
"""A value in a recording, whose text is JSON within JSON or YAML."""


def story_values(recordings: Mapping[Path, Iterable[Path]]) -> dict[Path, list[str]]:
    """The values that each test file shows, of those that its recordings have under a name of passwords.

    Raises CassetteError when the settings for secrets are wrong.
    """
    found: defaultdict[Path, list[str]] = defaultdict(list)
    redactor = Redactor.from_config()
    for file, sources in recordings.items():
        named = {value for source in set(sources) if source.is_file() for value in _VALUE.findall(source.read_bytes())}
        texts = _texts(file) if named else set[str]()
        for value in sorted(one.decode(errors="replace") for one in named):
            if value in texts and _is_ordinary(value, redactor):
                found[file].append(value)
    return dict(found)


def _texts(file: Path) -> set[str]:
    """The texts that a file of Python contains as a whole."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return set()
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def _is_ordinary(value: str, redactor: Redactor) -> bool:
    """True when the rules replace the value because it is called a password, and for no other reason."""
    named, keyed = (orjson.dumps({name: value}) for name in ("password", "api_key"))
    return redactor.body(named) != named and redactor.body(keyed) == keyed
