"""What a run cost, as text: each turn's tokens by kind, and the sums."""

from dataclasses import replace

from conversations import chat, loop, said, user

from turntape.inspector.run.growth import KINDS, steps
from turntape.inspector.run.rows import Rows
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.text.cost_text import MARKS, cost_text
from turntape.inspector.views.text.terminal_text import plain, width_of
from turntape.inspector.views.vocabulary.kinds import KIND_LOOKS


def lines(rows: Rows, **options: object) -> list[str]:
    return [plain(line) for line in cost_text(rows, "run", **options)]  # type: ignore[arg-type]


def test_each_turn_has_a_bar_of_its_kinds_and_the_cost_so_far() -> None:
    shown = lines(Run.of(loop()).rows, width=100)

    # 100 in and 10 out, then 150 of which 100 were sent before, and 20 out: 170 tokens fill the 37 cells.
    first, second = (line for line in shown if " in " in line and " out " in line)
    assert (first.count("█"), first.count("◼"), first.count("▓")) == (22, 2, 0)
    assert (second.count("▓"), second.count("█"), second.count("◼")) == (22, 11, 4)
    assert first.split()[-4:] == ["$0.00022", "$0.00022", "<1", "%"]
    assert second.split()[-4:] == ["$0.00039", "$0.00061", "<1", "%"]


def test_each_column_has_its_name() -> None:
    for width in (72, 100):
        shown = lines(Run.of(loop()).rows, width=width)

        [head] = [line for line in shown if line.strip().startswith("turn ")]
        first = shown[shown.index(head) + 1]
        assert head.split() == ["turn", "tokens", "cost", "so", "far", "context"]
        assert head.index("cost") + 4 == first.index("$0.00022") + 8
        assert head.index("so far") + 6 == first.rindex("$0.00022") + 8
        assert head.index("context") == first.index("<1 %")


def test_a_turn_without_tokens_keeps_the_columns() -> None:
    rows = Run.of([*loop(), chat([user("x")], said("y"), usage=None, index=2, at=1_780_000_900.0)]).rows

    shown = lines(rows, width=72)

    ends = {line.index(" out ") for line in shown if " in " in line and " out " in line and ":" in line}
    assert len(ends) == 1


def test_the_sums_by_kind_are_those_of_the_turns() -> None:
    shown = lines(Run.of(loop()).rows)

    assert "$0.00061 · 2 turns · 250 tokens in, 30 out" in shown
    sums = [line for line in shown if line.endswith("%") and " in " not in line]
    assert {line[:14].strip(): line.split()[-3] for line in sums} == {
        "resent": "100",
        "new input": "150",
        "output": "30",
    }, "a kind that no turn has is not listed"


def test_threads_are_summed_and_one_can_be_chosen() -> None:
    rows = Run.of([*loop(), chat([user("else")], said("yes"), index=2, at=1_780_000_900.0)]).rows

    both = lines(rows)
    assert [line.split()[:2] for line in both[-2:]] == [["t1", "$0.00061"], ["t2", "$0.00022"]]
    only = lines(rows, thread="t2")
    assert "$0.00022 · 1 turn · 100 tokens in, 10 out" in only
    assert not [line for line in only if line.strip().startswith(("t1", "t2"))]


def test_no_line_is_wider_than_asked_and_every_kind_has_a_mark_of_its_own() -> None:
    for width in (40, 55, 56, 71, 72, 100):
        assert all(width_of(line) <= width for line in lines(Run.of(loop()).rows, width=width))
    assert all(width_of(line) <= 40 for line in lines(Run.of(loop()).rows, width=20))
    assert [MARKS[name] for name, _ in KINDS] == [
        (look.shade, look.name) for look in KIND_LOOKS if look.name != "other"
    ]
    assert len({mark for mark, _ in MARKS.values()}) == len(MARKS)


def test_turns_without_tokens_and_runs_without_turns_are_shown() -> None:
    silent = Run.of([chat([user("x")], said("y"), usage=None)]).rows
    assert any("tokens unknown" in line for line in lines(silent))
    assert lines(silent)[1] == "unpriced · 1 turn · tokens unknown", "and not 0"
    assert lines(Run.of([]).rows) == ["run", "0 turns"]


def test_a_turn_without_a_price_is_counted_as_unpriced() -> None:
    trip = replace(loop()[0])
    rows = Run.of([chat([user("x")], said("y"), model="nobody-knows", index=0), replace(trip, index=1)]).rows

    assert [step.row.cost is None for step in steps(enumerate(rows.all))] == [True, False]
    assert lines(rows)[1].startswith("≥$0.00022 · 2 turns · ")
    assert lines(rows)[1].endswith(" · 1 request without a known price")


def test_each_attempt_has_its_own_name() -> None:
    refused = {"error": {"type": "server_error", "message": "overloaded", "code": None}}
    trips = [chat([user("go")], error=refused, status=503, index=at, at=100.0 + at) for at in range(3)]

    assert [line.split()[0] for line in lines(Run.of(trips).rows) if "? in" in line] == ["1", "1·2", "1·3"]


def test_the_legend_is_never_cut() -> None:
    lines = ["".join(text for text, _ in line) for line in cost_text(Run.of(loop()).rows, "run", width=72)]

    assert max(map(len, lines)) <= 72
    legend = "\n".join(lines[3 : lines.index("", 3)])
    assert [label for name, label in KINDS if f"{MARKS[name][0]} {label}" in legend] == [
        "resent",
        "new input",
        "output",
    ]
