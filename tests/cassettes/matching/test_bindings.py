"""One recorded value has one value in a run, and what only looks like a new value is a change."""

import hashlib

import pytest

from turntape.cassettes.matching.bindings import Bindings, spliced
from turntape.cassettes.matching.fresh_values import split

A, B, C = (f"{letter * 8}-1111-4222-8333-444444444444" for letter in "abc")
HERE = "Working directory: /home/ana/proj\n"
THERE = "Working directory: /srv/ci/build/checkout\n"
ROOT = "/" + "root"  # a home that is not below a folder of homes


def unify(bindings: Bindings, recorded: str, given: str, models: tuple[str, ...] = ()) -> bool:
    one, other = split(recorded), split(given)
    assert one.skeleton == other.skeleton
    return bindings.unify(one.values, other.values, models)


def fits(recorded: str, given: str, models: tuple[str, ...] = ()) -> bool:
    return unify(Bindings(), recorded, given, models)


def mapped(recorded: str, given: str) -> list[str]:
    bindings = Bindings()
    assert unify(bindings, recorded, given)
    return [str(one) for one in bindings.mapped()]


def test_a_uuid_replaces_one_recorded_uuid() -> None:
    assert mapped(f"{A} {A}", f"{B} {B}") == [f"the UUID {A} is {B} in this run"]
    assert not fits(f"{A} {A}", f"{B} {C}")
    assert not fits(f"{A} {B}", f"{C} {C}")
    assert not fits(f"{A} {A}", f"{A} {B}")


def test_a_binding_holds_for_the_whole_run() -> None:
    bindings = Bindings()

    assert unify(bindings, A, B)
    assert unify(bindings.copy(), f"{A} {C}", f"{B} {C}")
    assert not unify(bindings.copy(), A, C)
    assert not unify(bindings.copy(), C, B)


def test_a_value_of_the_model_never_gets_another_one() -> None:
    assert not fits(A, B, models=(A,))
    assert fits(A, A, models=(A,))
    assert not fits("/tmp/tmpab3x9qk1/a", "/tmp/tmpzz3x9qk1/a", models=("/tmp/tmpab3x9qk1/a",))


def test_the_working_directory_explains_the_paths_in_it() -> None:
    assert mapped(f"/home/ana/proj/a.py {HERE}", f"/srv/ci/build/checkout/a.py {THERE}") == [
        "the working directory /home/ana/proj is /srv/ci/build/checkout in this run"
    ]


@pytest.mark.parametrize(
    ("recorded", "given"),
    [
        ("/home/ana/proj/a.py", "/srv/ci/build/checkout/b.py"),
        ("/home/ana/proj/a.py", "/srv/ci/build/checkout/src/a.py"),
        ("/home/ana/proj/a.py", "/srv/ci/build/a.py"),
        ("/home/ana/project/a.py", "/srv/ci/build/checkout/a.py"),
        ("/home/ana/a.py", "/srv/ci/build/a.py"),
        ("/etc/passwd", "/srv/ci/build/checkout/passwd"),
        ("/home/ana/proj/run-1795337212007", "/srv/ci/build/checkout/run-1795337999999"),
    ],
)
def test_another_file_is_a_change(recorded: str, given: str) -> None:
    assert not fits(HERE + recorded, THERE + given)


@pytest.mark.parametrize(
    ("recorded", "given"),
    [
        ("/etc/passwd", "/etc/group"),
        ("/opt/.x/a", "/usr/.x/a"),
        ("/data/a.txt", "/srv/a.txt"),
        ("/home/ana/a.txt", "/home/ana/b.txt"),
        ("/home/ana/a.txt", "/srv/a.txt"),
        ("/tmp/report12.txt", "/tmp/report13.txt"),
        ("/tmp/a.txt", "/tmp/b.txt"),
        ("/home/ana/.config/a", "/home/bo/.config/b"),
        ("/home/ana/x/1795337212007", "/home/ana/x/1795337999999"),
        ("/home/ana/.x/1795337212007", "/home/ana/.y/1795337999999"),
    ],
)
def test_without_a_working_directory_only_known_folders_may_differ(recorded: str, given: str) -> None:
    assert not fits(recorded, given)


@pytest.mark.parametrize(
    ("recorded", "given", "said"),
    [
        ("/home/ana/a.txt", "/home/bo/a.txt", ["the folder /home/ana is /home/bo in this run"]),
        ("/Users/ana/a.txt", f"{ROOT}/a.txt", [f"the folder /Users/ana is {ROOT} in this run"]),
        (
            "/tmp/pytest-of-ana/pytest-3/t0/a",
            "/private/tmp/pytest-of-bo/pytest-12/t0/a",
            ["the folder /tmp/pytest-of-ana/pytest-3 is /private/tmp/pytest-of-bo/pytest-12 in this run"],
        ),
        ("/tmp/tmpab3x9qk1/a", "/tmp/tmpzz3x9qk1/a", ["the file name tmpab3x9qk1 is tmpzz3x9qk1 in this run"]),
        ("/srv/h/.claude/a", "/data/.claude/a", ["the folder /srv/h/.claude is /data/.claude in this run"]),
        (f"~/.x/{A}/a", f"~/.x/{B}/a", [f"the UUID {A} is {B} in this run"]),
        (f"/srv/s-{A}/a", f"/srv/s-{B}/a", [f"the UUID {A} is {B} in this run"]),
    ],
)
def test_home_temporary_and_hidden_folders_may_differ(recorded: str, given: str, said: list[str]) -> None:
    assert mapped(recorded, given) == said


def test_the_folders_above_known_ones_are_known() -> None:
    recorded = "Working directory: /tmp/x/laptop/home\nUse /tmp/x/laptop/opencode for temporary work"
    given = "Working directory: /tmp/x/ci/job-1/home\nUse /tmp/x/ci/job-1/opencode for temporary work"

    assert mapped(recorded, given) == [
        "the working directory /tmp/x/laptop/home is /tmp/x/ci/job-1/home in this run",
        "the folder /tmp/x/laptop is /tmp/x/ci/job-1 in this run",
    ]
    assert not fits(recorded, given.replace("/opencode", "/other"))
    assert not fits(recorded, given.replace("/job-1/opencode", "/job-2/opencode"))
    # Another last name: nothing above is known.
    assert not fits(recorded.replace("/home\n", "/home1\n"), given)


@pytest.mark.parametrize(
    ("recorded", "given", "same"),
    [
        (
            "/tmp/a/1795349310368-output-dcc1616785cf47b9.txt",
            "/var/tmp/b/c/1795349350902-output-aade13c293b64a11.txt",
            True,
        ),
        ("/tmp/a/1795349310368-output-dcc1616785cf47b9.txt", "/srv/b/1795349350902-output-aade13c293b64a11.txt", False),
        ("/tmp/a/1795349310368-output-dcc1616785cf47b9.txt", "/tmp/b/1795349350902-input-aade13c293b64a11.txt", False),
        ("/tmp/a/notes.txt", "/tmp/b/c/notes.txt", False),
    ],
)
def test_a_temporary_file_with_a_random_name_may_be_in_another_folder(recorded: str, given: str, same: bool) -> None:
    assert fits(recorded, given) is same


def test_a_home_directory_is_one_folder() -> None:
    assert fits("/home/ana/a /home/ana/b", "/home/bo/a /home/bo/b")
    assert not fits("/home/ana/a /home/ana/b", "/home/bo/a /home/cy/b")
    assert not fits("/home/ana/a /home/bo/b", "/home/cy/a /home/cy/b")


@pytest.mark.parametrize(
    "name",
    [
        lambda path: path.replace("/", "-"),
        lambda path: path.rpartition("/")[2],
        lambda path: hashlib.sha256(path.encode()).hexdigest(),
    ],
)
def test_a_program_names_its_folder_after_the_working_directory(name: object) -> None:
    one, other = name("/home/ana/proj"), name("/srv/ci/build/checkout")  # type: ignore[operator]

    assert fits(f"/home/ana/.x/{one}/a {HERE}", f"/home/bo/.x/{other}/a {THERE}")
    assert not fits(f"/home/ana/.x/{one}/a {HERE}", f"/home/bo/.x/other/a {THERE}")
    assert not fits(f"/srv/{one}/a {HERE}", f"/srv/{other}/a {THERE}")


def test_the_same_path_is_not_a_change_wherever_it_is() -> None:
    assert mapped(f"{HERE}/usr/bin/env /home/ana/proj/a", f"{THERE}/usr/bin/env /home/ana/proj/a") == [
        "the working directory /home/ana/proj is /srv/ci/build/checkout in this run"
    ]


def test_recorded_values_are_replaced_and_put_back() -> None:
    bindings = Bindings()
    recorded = f"{HERE}/home/ana/proj/a /tmp/tmpab3x9qk1/a {A} /home/ana/projects tmpab3x9qk1"
    given = f"{THERE}/srv/ci/build/checkout/a /tmp/tmpzz3x9qk1/a {B} /home/ana/projects tmpab3x9qk1"
    assert unify(bindings, recorded, given)

    assert spliced(recorded, bindings.in_this_run(recorded)) == given
    assert bindings.as_recorded(given) == recorded


def test_the_innermost_folder_counts() -> None:
    bindings = Bindings()
    assert unify(bindings, f"{HERE}/home/ana/x", f"{THERE}/home/bo/x")

    said = "/home/ana/proj/a /home/ana/b"
    assert spliced(said, bindings.in_this_run(said)) == "/srv/ci/build/checkout/a /home/bo/b"


def test_texts_that_differ_otherwise_still_say_the_working_directory() -> None:
    bindings = Bindings()

    bindings.learn(split(f"{HERE}one"), split(f"{THERE}two /x/y"))
    bindings.learn(split(f"{A} one"), split(f"{B} two"))

    assert [one.given for one in bindings.mapped()] == ["/srv/ci/build/checkout"]


def test_values_that_are_equal_are_not_a_mapping() -> None:
    bindings = Bindings()
    assert unify(bindings, f"{HERE}{A}", f"{HERE}{A}")

    assert not bindings
    assert bindings.as_recorded(f"{HERE}{A}") == f"{HERE}{A}"
