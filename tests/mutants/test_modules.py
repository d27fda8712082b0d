"""Every module that has a bar is there, and its own tests are found."""

import pytest

from mutants.modules import ELSEWHERE, GROUPS, ROOT, modules, own_tests


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_names_modules_that_exist(group: str) -> None:
    chosen = modules([group])

    assert chosen
    assert all((ROOT / module.path).is_file() for module in chosen)
    assert all((ROOT / place).exists() for module in chosen for place in module.tests)


def test_the_own_tests_are_those_that_mirror_the_module() -> None:
    assert own_tests("cassettes/tape/delta.py") == ("tests/cassettes/tape/test_delta.py",)


def test_the_table_of_all_rules_belongs_to_each_of_them() -> None:
    assert own_tests("inspector/findings/rules/loop.py") == (
        "tests/inspector/findings/rules/test_loop.py",
        "tests/inspector/findings/test_rules.py",
    )


def test_what_shows_a_module_to_work_elsewhere_is_beside_its_own_tests_or_alone() -> None:
    assert own_tests("proxy/cli/command_line.py") == (
        "tests/proxy/cli/test_command_line.py",
        "tests/proxy/test_cli.py",
        "tests/test_dependencies.py",
    )
    assert own_tests("proxy/tool_wire/identity.py") == ("tests/proxy/tool_wire/test_link_session.py",)
    assert all((ROOT / module).exists() for module in ELSEWHERE)
    assert all((ROOT / tests).exists() for module in ELSEWHERE for tests in own_tests(module))


def test_a_module_without_a_test_file_has_the_tests_of_its_folder() -> None:
    assert own_tests("cassettes/tape/not_there.py") == ("tests/cassettes/tape",)


def test_a_name_that_is_neither_a_group_nor_a_file_is_refused() -> None:
    with pytest.raises(SystemExit, match=r"there is no module 'recoder'"):
        modules(["recoder"])
