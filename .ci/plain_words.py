"""The word list of `make check`: words that a second-language reader stumbles over, each with a plain one.

    python .ci/plain_words.py [PATH ...]              files or folders (default: everything that git tracks)
    python .ci/plain_words.py --commit-message FILE   a commit message, as a commit-msg hook passes it

Prints `file:line: word: plain alternative` for each hit and exits with 1. A line that must quote a foreign text
says so with `plain-words: quoted`.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

WORDS: tuple[tuple[str, str], ...] = (
    (r"mend(?:s|ed|ing)?", "fix, fixed"),
    (r"minded", "respected"),
    (r"told|tells?|telling", "reported, said, shown"),
    (r"kin", "similar"),
    (r"stands?|stood|standing", "is, is at, remains"),
    (r"anew", "again, regenerated"),
    (r"afresh", "again"),
    (r"as such", "leave it out"),
    (r"by (?:it|them)self", "on its own, automatically"),
    (r"by themselves", "on their own, automatically"),
    (r"go(?:ne|es)? through|going through", "passes, uses, supports"),
    (r"graver?|gravest|gravity", "severe, severity"),
    (r"for good", "permanently"),
    (r"fugitives?", "a client that disconnected"),
    (r"deeds?", "actions"),
    (r"besides", "also, in addition"),
    (r"such as want", "that require"),
    (r"thereof|therein|thereby|whence|whither|hither|hence", "a short sentence"),
    (r"(?:has|have) the last word", "takes precedence"),
    (r"(?:came|come|comes) to nothing", "had no effect"),
    (r"in the light of", "given"),
    (r"of late", "recently"),
    (r"nought|naught", "nothing, 0"),
    (r"takes? over", "converts, imports"),
    (r"put(?:s|ting)? down", "write, record"),
    (r"goes its (?:own )?way|go(?:es)? on live", "continues live"),
    (r"goes on", "continues"),
    (r"in force", "active"),
    (r"forthwith|anon|ere|lest|whilst|amidst|amongst", "a modern word"),
    (
        r"of (?:its|their|your) own(?=\W*$|[.,;:)\"'`]| (?:in|at|before|and|or|is|are|for|even|again|over|that)\b)",
        "its own X, a separate X",
    ),
    (r"(?:be[cs]ame|becomes|become) of", "what X did with Y, what happened to Y"),
    (r"in vain", "without success"),
    (r"all else", "everything else, the rest"),
    (r"nothing but", "only"),
    (r"for ever", "forever, permanently"),
    (r"at most so many|by so many|after so many|in so many", "at most N, this many"),
    (r"(?:was|were|is|are|be|been) asked for", "was requested"),
    (r"(?:has|have|had) parted|parted first|where (?:it|they|two \w+|a \w+) parts?", "diverge"),
    (r"benign reading", "harmless explanation"),
    (r"no such \w+ as", "leave it out"),
    (r"blames nobody", "blames no layer"),
    (r"says? of (?:it|one|him|them)|says? more of", "says about it, explains it"),
)
"""A regular expression for whole words, case ignored, and what to write."""

NO_NOUN = re.compile(
    r"(?<!there )\b(?:is|are|was|were|am|be) no "
    r"(?!(?:longer|more|less|such|other|one|need|way|matter)\b)(?=[\w`{'\"])",
    re.IGNORECASE,
)
"""`is no JSON`; `there is no JSON` is fine."""

SKIPPED = ("uv.lock", "LICENSE")
SUFFIXES = (".py", ".md", ".toml", ".yml", ".yaml", ".js", ".css", ".tcss", ".html", "Makefile")
QUOTED = "plain-words: quoted"

_WORD = re.compile(
    rf"\b(?:{'|'.join(f'(?P<w{n}>{pattern})' for n, (pattern, _) in enumerate(WORDS))})\b", re.IGNORECASE
)


def hits(text: str) -> Iterator[tuple[int, str, str]]:
    """`(line, word, plain alternative)` for each hit."""
    for number, line in enumerate(text.splitlines(), 1):
        if QUOTED in line:
            continue
        # An identifier is read word by word.
        words = line.replace("_", " ")
        for found in _WORD.finditer(words):
            yield number, found[0], WORDS[int((found.lastgroup or "w0")[1:])][1]
        for found in NO_NOUN.finditer(words):
            yield number, found[0].strip(), "is not a, is not valid"


def tracked(paths: list[str]) -> Iterator[Path]:
    """The text files that git tracks under `paths`."""
    listed = subprocess.run(["git", "ls-files", "-z", "--", *paths], capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        path = Path(name)
        if path.name not in SKIPPED and name.endswith(SUFFIXES) and path.resolve() != Path(__file__).resolve():
            yield path


def main() -> int:
    parser = argparse.ArgumentParser(prog="plain_words", description=__doc__)
    parser.add_argument("paths", metavar="PATH", nargs="*")
    parser.add_argument("--commit-message", metavar="FILE")
    options = parser.parse_args()
    if options.commit_message:
        said = [line for line in Path(options.commit_message).read_text("utf-8").splitlines() if line[:1] != "#"]
        found = [f"commit message:{n}: {word}: write {plain}" for n, word, plain in hits("\n".join(said))]
    else:
        found = [
            f"{path}:{number}: {word}: write {plain}"
            for path in tracked(options.paths)
            for number, word, plain in hits(path.read_text("utf-8", "replace"))
        ]
    print("\n".join(found) or "plain words: no hits")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
