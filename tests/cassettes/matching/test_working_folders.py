"""Folders with a space or other characters in their path: what names them, and how their paths are spelled."""

import json
import shlex

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


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("'{}' now", True),
        ('"{}"', True),
        (r"\"{}\"", True),
        ("`{}` now", True),
        ("<cwd>{}</cwd>", True),
        ("{}\nnow", False),
        ("{} now", False),
        ("**{}**", False),
    ],
)
@pytest.mark.parametrize("path", ["/srv/My Project", "/srv/v. 2", "/srv/x, y (old)"])
def test_quotes_say_where_a_path_ends_and_a_space_alone_does_not(path: str, text: str, sure: bool) -> None:
    assert [found for found in named_in(f"cwd: {text.format(path)}") if found[1]] == [(path, True)] * sure


@pytest.mark.parametrize("text", ["cwd: {}\nnow", "**cwd:** {}.\n", "- **cwd: {}**"])
def test_a_line_that_could_be_a_path_alone_is_one_that_may_go_on(text: str) -> None:
    assert list(named_in(text.format("/srv/My Project"))) == [("/srv/My Project", False)]
    assert list(named_in(text.format("/srv/v. 2"))) == []


def test_a_path_without_a_space_ends_at_the_first_one() -> None:
    assert list(named_in("Working directory: /srv/a&b\n")) == [("/srv/a&b", True)]
    assert list(named_in("Working directory: /srv/a&b/\n")) == [("/srv/a&b", True)]


@pytest.mark.parametrize("folder", ["/srv/plain", "/srv/plain/x", "/x y", "/"])
def test_a_folder_that_any_pattern_finds_and_one_at_the_top_are_not_learned(folder: str) -> None:
    folders = WorkingFolders()
    folders.learn([folder])

    assert (len(folders), folders.pattern) == (0, None)


def test_the_longest_of_the_known_folders_is_meant() -> None:
    folders = WorkingFolders()
    folders.learn(["/srv/a b", "/srv/a b c", "/srv/a b/d e"])

    for path in ("/srv/a b", "/srv/a b c", "/srv/a b/d e", "/srv/a b/d"):
        (value,) = split(f"see {path}!", folders).values
        assert value.text == path


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


@pytest.mark.parametrize("path", ["/srv/it's here", '/srv/a "b"', "/srv/$HOME `x`", "/srv/a\\b;c"])
def test_a_shell_reads_a_path_as_it_was(path: str) -> None:
    assert shlex.split(written(path, "shell")) == shlex.split(written(path, "quoted")) == [path]
    assert json.loads(f'"{written(path, "json")}"') == path
    assert shlex.split(json.loads(f'"{written(path, "json shell")}"')) == [path]


def test_a_slug_has_a_dash_for_each_unit_of_utf_16() -> None:
    assert slug("/srv/ä b/😀_1") == "-srv---b----1"


@pytest.mark.parametrize("sign", ['"', "\\", "`", "*_"])
def test_a_long_row_of_signs_after_the_name_of_a_folder_is_read_quickly(sign: str) -> None:
    """It was read in as many ways as it has triples of signs."""
    folders = WorkingFolders()

    folders.learn_from(f"/cwd{sign * 20_000}")

    assert folders.pattern is None
