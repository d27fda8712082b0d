from dataclasses import replace

from turntape.inspector.tools.tool_run import KEPT, ToolRun

RUN = ToolRun(index=3, session="s1", server="rich", name="add", arguments={"a": 1}, started_at=5.0)


def test_a_row_holds_a_small_run_as_it_is() -> None:
    run = replace(RUN, result={"content": []}, returned_bytes=14, returned_text="x" * KEPT, seen_text="")

    assert run.small() is run


def test_a_row_holds_the_beginnings_of_large_texts_and_no_large_result() -> None:
    run = replace(RUN, result={"content": []}, returned_bytes=KEPT + 1, returned_text="x" * (KEPT + 1), seen_text="yz")

    small = run.small()

    assert (small.result, small.returned_text, small.seen_text) == (None, "x" * KEPT, "yz")
    assert small.returned_bytes == KEPT + 1


def test_a_large_text_alone_leaves_the_result() -> None:
    run = replace(RUN, result={"content": []}, returned_bytes=14, seen_text="x" * (KEPT + 1))

    assert (run.small().result, run.small().seen_text) == ({"content": []}, "x" * KEPT)


def test_a_label_has_the_facts_without_the_texts() -> None:
    run = replace(RUN, returned_text="secret", seen_text="secret", joined="inferred", by="name", lost=("image",))

    made = run.as_json()

    assert "secret" not in str(made)
    assert (made["index"], made["server"], made["name"], made["arguments"]) == (3, "rich", "add", {"a": 1})
    assert (made["joined"], made["by"], made["lost"], made["seen_as"]) == ("inferred", "name", ["image"], None)
    assert replace(run, by="").as_json()["by"] is None
