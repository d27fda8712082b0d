"""Folders with a space or other characters in their path: what names them, and how their paths are spelled."""

import pytest

from turntape.cassettes.matching.fresh_values import replaced, split
from turntape.cassettes.matching.working_folders import WorkingFolders, named_in, slug, written

ODD = "/srv/My Project/ä b"


@pytest.mark.parametrize(
    "text",
    [
        f"Working directory: {ODD}\nPlatform: linux",
        f"<cwd>{ODD}</cwd>",
        f'"cwd": "{ODD}"',
        rf"{{\"cwd\": \"{ODD}\"}}",
        r'{"cwd": "/srv/My Project/\u00e4 b"}',
        f"The current directory is `{ODD}`.",
        f"cwd: '{ODD}' now",
        f"Workspace root folder: {ODD}",
        f"**Workspace Directories:**\n  - {ODD}\n",
        f"- Current working directory: {ODD}.",
    ],
)
def test_a_text_names_the_folder_up_to_its_end(text: str) -> None:
    assert list(named_in(text)) == [(ODD, True)]


@pytest.mark.parametrize(
    "text",
    [
        "Working directory: /srv/x",
        "Working directory: /srv/x. Do not leave it",
        "Working directory: /srv/x, and /srv/y",
        "Working directory: /srv/x /srv/y",
        "Working directory: /srv/x (a repository)",
        f"Open {ODD}",
        '"cwd": "/srv/x y',
    ],
)
def test_other_words_are_not_part_of_a_folder(text: str) -> None:
    assert not any(is_sure for _, is_sure in named_in(text))


@pytest.mark.parametrize("proof", ["see /srv/x now/a.txt", "in ~/.client/-srv-x-now/memory"])
def test_a_word_after_a_path_is_a_part_of_it_when_another_text_says_so(proof: str) -> None:
    folders = WorkingFolders()

    folders.learn_from("Working directory: /srv/x now")
    before = len(folders)
    folders.learn_from(proof)

    assert (before, len(folders)) == (0, 1)


def test_the_folders_above_are_known_too_but_not_the_top() -> None:
    folders = WorkingFolders()

    folders.learn(["/a b/c d/e", "/x y", "/srv/plain"])

    assert [value.text for value in split("/a b/c d/e/f /a b/c d/g /x y", folders).values] == [
        "/a b/c d/e/f",
        "/a b/c d/g",
        "/x",
    ]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (f"see {ODD}/a.txt.", f"{ODD}/a.txt"),
        (f"see {ODD}.", ODD),
        (f"<p>{ODD}</p>", ODD),
        (r'{"path": "/srv/My Project/\u00e4 b/a.txt"}', f"{ODD}/a.txt"),
        (r"cat /srv/My\ Project/ä\ b/a.txt", f"{ODD}/a.txt"),
        (r'{"command": "cat /srv/My\\ Project/\u00e4\\ b/a.txt"}', f"{ODD}/a.txt"),
        ("file:///srv/My%20Project/%C3%A4%20b/a.txt", f"{ODD}/a.txt"),
        (f"jq '{ODD}/a.txt' now", f"{ODD}/a.txt"),
        (f"{ODD}2 is", "/srv/My Project/ä"),
    ],
)
def test_a_known_folder_is_found_in_each_spelling_and_written_back_in_it(text: str, path: str) -> None:
    folders = WorkingFolders()
    folders.learn([ODD])

    (value, *_) = split(text, folders).values
    assert value.text == path
    assert text[value.start : value.end] == written(path, value.spelling)
    other = path.replace(ODD, "/srv/ö c")
    changes = [(value.start, value.end, written(other, value.spelling))] if other != path else []
    assert replaced(text, lambda old: old.replace(ODD, "/srv/ö c"), folders) == changes


def test_a_path_with_quotes_and_one_without_are_equal_and_the_quotes_stay() -> None:
    folders = WorkingFolders()
    folders.learn([ODD])

    texts = (f"jq '{ODD}/a' it's/b", "jq /srv/x/a it's/b", "jq '/srv/x/a' it's/b")
    assert {split(text, folders).skeleton for text in texts} == {"jq ⟨path⟩ it's/b"}
    assert replaced(texts[0], lambda old: old.replace(ODD, "/srv/x"), folders) == [(3, 7 + len(ODD), "'/srv/x/a'")]
    assert split(texts[2]).skeleton == "jq '⟨path⟩' it's/b"


def test_a_slug_has_a_dash_for_each_unit_of_utf_16() -> None:
    assert slug("/srv/ä b/😀_1") == "-srv---b----1"
