"""UUIDs and paths in a text, wherever a client writes them."""

import pytest

from turntape.cassettes.matching.fresh_values import is_private, random_parts, split

ID = "123e4567-E89B-12d3-a456-426614174000"


def values(text: str) -> list[tuple[str, str]]:
    return [(value.kind, value.text) for value in split(text).values]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("saved to /home/ana/a b", "/home/ana/a"),
        ("see `/home/ana/a-b.txt`.", "/home/ana/a-b.txt"),
        ("at /home/ana/x.", "/home/ana/x"),
        ("<p>/home/ana</p>", "/home/ana"),
        ("~/.claude/a", "~/.claude/a"),
        ("--dir=/srv/x,", "/srv/x"),
        ("file:///srv/x", "/srv/x"),
        (r'{"cmd":"cat\n/srv/x"}', "/srv/x"),
        ("/srv/überall/x", "/srv/überall/x"),
    ],
)
def test_a_path_is_found(text: str, path: str) -> None:
    assert [found for _, found in values(text)] == [path]


@pytest.mark.parametrize(
    "text", ["https://example.com/a/b", "and/or", "a/b/c", "1/2", "./x/y", "../x/y", "no value", "a-b-c", "//host/x"]
)
def test_what_is_not_an_absolute_path_is_text(text: str) -> None:
    assert split(text).skeleton == text


@pytest.mark.parametrize("text", [ID, f"id {ID}.", f"msg_{ID}", f'"{ID}"', rf"a\n{ID}"])
def test_a_uuid_is_found(text: str) -> None:
    assert values(text) == [("uuid", ID)]


@pytest.mark.parametrize("text", [f"a{ID}", f"{ID}0", f"0-{ID}"])
def test_what_is_longer_than_a_uuid_is_text(text: str) -> None:
    assert values(text) == []


@pytest.mark.parametrize(
    "lead",
    [
        *("Working directory: ", " - Primary working directory: ", "* Current working directory: ", "working dir="),
        *("<cwd>", '"cwd": "', r"{\"cwd\": \"", "Workspace root folder: ", "Project root is ", "cwd: "),
        *("**Workspace Directories:**\n  - ", "The current directory is `", "<working_directory>\n", "workdir: "),
    ],
)
def test_a_text_says_which_path_is_the_working_directory(lead: str) -> None:
    assert values(f"{lead}/srv/x") == [("folder", "/srv/x")]


@pytest.mark.parametrize("lead", ["saved in ", "temporary directory: ", "the workspace has /a/b and ", "cwd\n\nSee "])
def test_any_other_path_is_only_a_path(lead: str) -> None:
    assert values(f"{lead}/srv/x")[-1] == ("path", "/srv/x")


def test_the_skeleton_has_marks_in_place_of_the_values() -> None:
    assert split(f"from /a/b to {ID}!").skeleton == "from ⟨path⟩ to ⟨uuid⟩!"


@pytest.mark.parametrize(
    ("path", "private"),
    [
        *(("/tmp/x", True), ("/private/tmp/x", True), ("/var/folders/ab/cd/T/x", True), ("/var/tmp/x", True)),
        *(("/home/ana/.gemini/x", True), ("~/.claude/x", True)),
        *(("/home/ana/x", False), ("/srv/tmp/x", False), ("/tmpfiles/x", False), ("/home/ana/.profile", False)),
    ],
)
def test_programs_choose_names_in_temporary_and_hidden_folders(path: str, private: bool) -> None:
    assert is_private(path) is private


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("tool_20270b936001xZD4Iksq5RdzOh", "tool_⟨random 26⟩"),
        ("mcp-rich-big-1795337212007-3bjoo1.txt", "mcp-rich-big-⟨random 13⟩-⟨random 6⟩.txt"),
        ("1795337291649-copilot-27396b48f2e4424a.txt", "⟨random 13⟩-copilot-⟨random 16⟩.txt"),
        ("build-aB3xQz", "build-⟨random 6⟩"),
        ("tmpabcdefgh", "⟨random⟩"),
        *(("report.txt", None), ("report12.txt", None), ("2026-11-22", None), ("20261122", None), ("v1.2.3", None)),
        *(("tmpfiles", None), ("notes-3bjoo1.txt", None), ("IMG_0001", None), ("chapter10b", None)),
    ],
)
def test_a_random_part_of_a_name_looks_random(name: str, shape: str | None) -> None:
    assert random_parts(name) == shape
