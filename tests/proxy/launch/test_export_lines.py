"""The shell lines of `turntape record`."""

from turntape.proxy.launch.export_lines import exports


def test_one_line_per_value_and_the_other_names_refer_to_it() -> None:
    variables = {"A": "http://x y", "B": "1", "C": "http://x y"}

    assert exports(variables, variables) == ["  export A='http://x y'", "  export C=$A", "  export B=1"]


def test_long_lists_of_names_are_wrapped() -> None:
    variables = {f"VARIABLE_{number}": "x" for number in range(12)}

    lines = exports(variables, variables)

    assert max(map(len, lines)) <= 79
    assert lines[0] == "  export VARIABLE_0=x"
    assert " ".join(lines).count("=$VARIABLE_0") == 11
