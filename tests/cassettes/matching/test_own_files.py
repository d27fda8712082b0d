"""Recordings in a client's list of files."""

import pytest

from turntape.cassettes.matching.own_files import without_own_files

RUN = "run-20261123-020428.cassette.jsonl"
NEXT = "run-20261124-101112-2.cassette.jsonl.zst"


def status(*lines: str) -> str:
    return f"Current branch: main\n\nStatus:\n{''.join(f'{line}\n' for line in lines)}\nRecent commits:\n67fa120 one\n"


def tree(*lines: str) -> str:
    return f"Folder Structure:\n\n/home/me/p/\n{''.join(f'{line}\n' for line in lines)}\n\n</session_context>"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (status(f"?? {RUN}"), status("(clean)")),
        (status(" M a.txt", f"?? {RUN}"), status(" M a.txt", f"?? {RUN}", f"A  tapes/{NEXT}")),
        (tree("├───a.txt", f"└───{RUN}"), tree("├───a.txt", f"├───{RUN}", f"└───{NEXT}")),
        (tree("├───b", "│   └───c", f"└───{RUN}"), tree("└───b", "    └───c")),
        (tree(f"└───{RUN}"), tree()),
        (f"?? {RUN}", ""),
    ],
)
def test_recordings_with_a_name_of_their_own_do_not_count(one: str, other: str) -> None:
    assert one != other
    assert without_own_files(one) == without_own_files(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (status("?? a.cassette.jsonl"), status("(clean)")),
        (status("?? a.txt", f"?? {RUN}"), status("?? b.txt", f"?? {RUN}")),
        (status(f"?? my {RUN}"), status("(clean)")),
        (f"the result is in {RUN}\n", f"the result is in {NEXT}\n"),
        (f"- {RUN}\n", f"- {NEXT}\n"),
        (tree("├───b", "│   └───c"), tree("├───b", "└───c")),
        (tree("└───mine.cassette.jsonl"), tree()),
    ],
)
def test_every_other_file_counts(one: str, other: str) -> None:
    assert without_own_files(one) != without_own_files(other)


def test_another_text_stays_as_it_is() -> None:
    for text in ("Status:\n\nRecent commits:\n", f"see {RUN}", "Status:\n(clean)\n", "a ─── b"):
        assert without_own_files(text) == text
