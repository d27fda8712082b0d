"""What an API needs back to continue its own work: compactions, the callers of calls, and the results of programs."""

from typing import Any

import pytest
from conversations import user
from judged import (
    FUNCTION,
    anthropic,
    asked,
    calls,
    gemini,
    gives,
    item_call,
    item_output,
    judged,
    lines,
    responses,
    spoke,
    turn,
    words,
)

from turntape.cassettes.tape.model import RoundTrip

type Item = dict[str, Any]

MUTATED = "client-assistant-mutated"
SEALED: Item = {"id": "cmp_1", "type": "compaction", "encrypted_content": "gAAAAB" * 30}
ASKED, NEXT = user("What is a tape, and who made the first one?"), user("And the first record?")
CALLER = {"type": "program", "caller_id": "call_p"}
PROGRAM: Item = {"id": "prog_1", "type": "program", "call_id": "call_p", "code": "find()", "status": "completed"}
RAN: Item = {"id": "po_1", "type": "program_output", "call_id": "call_p", "result": "5", "status": "completed"}
TOOLS = [{"type": "programmatic_tool_calling"}, FUNCTION]


def message(text: str, number: int = 1) -> Item:
    return {"id": f"msg_{number}", "type": "message", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}]}  # fmt: skip


FIRST = message("A tape is a strip of film, and Fritz Pfleumer made the first one.")
LAST = message("The first record was cut in 1877.", 2)


def reported(*trips: RoundTrip) -> list[tuple[str, str]]:
    return [(one.severity, one.message) for one in judged(*trips) if one.id == MUTATED]


def compacted(*history: Item, **fields: Any) -> list[RoundTrip]:
    """An answer with a compaction, a second turn that begins with it, and a third one with this history."""
    start = [SEALED, FIRST, NEXT]
    return [
        responses([ASKED], [SEALED, FIRST]),
        responses(start, [LAST], 1),
        responses([*history], [message("Thomas Edison.", 3)], 2, **fields),
    ]


LOST = "the compaction of the history did not come back"


def test_a_compaction_that_replaces_the_history_must_come_back() -> None:
    rest = [FIRST, NEXT, LAST, user("Who cut it?")]

    assert reported(*compacted(SEALED, *rest)) == []
    [(severity, said)] = reported(*compacted(*rest))
    assert (severity, said) == ("warning", f"{LOST}, nor did what it replaced: the model knows nothing of that")
    assert reported(*compacted(SEALED | {"id": "cmp_2", "encrypted_content": "other" * 9}, *rest)) == []
    assert reported(*compacted(*rest, model="gpt-4.1")) == []
    assert reported(*compacted(user("Who cut it?"), previous_response_id="resp_1")) == []


def test_a_compaction_beside_the_whole_history_may_be_missed_less() -> None:
    first = responses([ASKED], [SEALED, FIRST])

    assert reported(first, responses([ASKED, FIRST, NEXT], [LAST], 1)) == [("info", LOST)]
    assert reported(first, responses([ASKED, SEALED, FIRST, NEXT], [LAST], 1)) == []


def test_a_block_of_a_compaction_is_the_same_for_anthropic() -> None:
    block = {"type": "compaction", "content": "The user asked about tapes and records."}
    text = words("A tape is a strip of film, and a record is a disc with a groove.")
    first = anthropic([asked("What is a tape?")], [block, text])

    def second(*blocks: Item) -> RoundTrip:
        return anthropic([asked("What is a tape?"), spoke(*blocks), asked("And a reel?")], [words("A spool.")], 1)

    assert reported(first, second(block, text)) == []
    assert reported(first, second(text)) == [("info", LOST)]


OUTPUT = item_output() | {"caller": CALLER}


def called(*history: Item, output: Item = OUTPUT) -> list[RoundTrip]:
    made = item_call() | {"caller": CALLER}
    return [
        responses([ASKED], [PROGRAM, made], tools=TOOLS),
        responses([ASKED, PROGRAM, *history, output], [RAN, FIRST], 1, tools=TOOLS),
    ]


def test_a_call_of_a_program_comes_back_with_its_caller() -> None:
    lost = [("info", "the call of 'look_up' came back without its caller, a 'program'")]

    assert reported(*called(item_call() | {"caller": CALLER})) == []
    assert reported(*called(item_call())) == lost
    assert reported(*called(item_call() | {"caller": {"type": "direct"}})) == lost
    assert "#0 response /output/1, #1 request /input/2" in lines(*called(item_call()), only=MUTATED)[0]


@pytest.mark.parametrize("caller", [None, {"type": "direct"}])
def test_the_result_for_a_program_names_its_caller_too(caller: Item | None) -> None:
    output = item_output() | ({"caller": caller} if caller else {})
    trips = called(item_call() | {"caller": CALLER}, output=output)

    assert reported(*trips) == [("info", "the result of 'look_up' was sent without its caller, a 'program'")]
    assert "#0 response /output/1, #1 request /input/3" in lines(*trips, only=MUTATED)[0]


def test_a_result_of_anthropics_has_no_field_for_the_caller_of_its_call() -> None:
    made = {"type": "tool_use", "id": "toolu_1", "name": "look_up", "input": {"word": "tape"}}
    made["caller"] = {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"}
    given = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "a strip"}
    first = anthropic([asked("What is a tape?")], [made])

    assert (
        reported(
            first,
            anthropic(
                [asked("What is a tape?"), spoke(made), {"role": "user", "content": [given]}], [words("A strip.")], 1
            ),
        )
        == []
    )


@pytest.mark.parametrize("caller", [None, {"type": "direct"}])
def test_a_call_of_the_model_itself_needs_no_caller(caller: Item | None) -> None:
    made = item_call() | ({"caller": caller} if caller else {})
    trips = [responses([ASKED], [made]), responses([ASKED, item_call(), item_output()], [FIRST], 1)]

    assert reported(*trips) == []


def test_the_output_of_a_program_comes_back_although_another_answer_began_it() -> None:
    made = item_call() | {"caller": CALLER}
    start = [ASKED, PROGRAM, made, OUTPUT]

    def third(*history: Item) -> list[RoundTrip]:
        return [
            responses([ASKED], [PROGRAM, made], tools=TOOLS),
            responses(start, [RAN, FIRST], 1, tools=TOOLS),
            responses([*start, *history, NEXT], [LAST], 2, tools=TOOLS),
        ]

    assert reported(*third(RAN, FIRST)) == []
    assert reported(*third(FIRST)) == [("warning", "the API's own call of 'program' came back without its result")]


SIGN = "EqoBCkYIBxgCKkD" * 6
DROPPED = "client-reasoning-dropped"


def signed(word: str) -> Item:
    return calls(word) | {"thoughtSignature": SIGN + word}


def stepped(*first: Item, second: Item | None = None) -> list[RoundTrip]:
    """A loop of two steps whose third request holds these parts of the first one."""
    hi, found = turn("user", {"text": "hi"}), turn("user", gives())
    start = [hi, turn("model", signed("tape")), found]
    again = turn("model", second or signed("reel"))
    return [
        gemini([hi], [signed("tape")]),
        gemini(start, [signed("reel")], 1),
        gemini([hi, turn("model", *first), found, again, found], [{"text": "Done."}], 2),
    ]


def dropped(*trips: RoundTrip) -> list[tuple[str, str]]:
    return [(one.severity, one.message) for one in judged(*trips) if one.id == DROPPED]


def test_the_signature_of_an_earlier_step_stays_with_its_call() -> None:
    lost = [("info", "1 call of earlier steps came back without the signature of #1")]

    assert dropped(*stepped(signed("tape"))) == []
    assert dropped(*stepped(calls("tape"))) == lost
    assert dropped(*stepped(calls("other"))) == []


def test_the_signature_of_the_last_step_is_reported_once() -> None:
    [(severity, said)] = dropped(*stepped(signed("tape"), second=calls("reel")))

    assert (severity, said) == ("info", "1 piece of reasoning of #1 did not come back")


def test_reasoning_by_its_id_alone_is_lost_where_nothing_is_stored() -> None:
    thought = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAAAB" * 30}
    bare = {"id": "rs_1", "type": "reasoning", "summary": []}

    def later(item: Item, *, store: bool) -> list[tuple[str, str]]:
        history = [ASKED, item, item_call(), item_output()]
        first = responses([ASKED], [thought, item_call()], store=store)
        return dropped(first, responses(history, [FIRST], 1, store=store))

    assert later(bare, store=False) == [("info", "1 piece of reasoning of #0 did not come back")]
    assert later(bare, store=True) == []
    assert later(thought, store=False) == []


COMMENT = {**message("I will look both up."), "phase": "commentary"}
OPEN = "an answer came back without its phase, 'commentary': the API asks for it, and answers get worse without it"


def phased(sent: Item, **fields: Any) -> list[tuple[str, str]]:
    """An answer with a comment and a call, and a request in which the comment is sent back like this."""
    first = responses([ASKED], [COMMENT, item_call()])
    return reported(first, responses([ASKED, sent, item_call(), item_output()], [FIRST], 1, **fields))


def test_an_answer_that_comes_back_without_its_phase_is_an_info() -> None:
    assert phased(message("I will look both up.")) == [("info", OPEN)]


def test_an_answer_that_comes_back_with_its_phase_or_had_none_is_not() -> None:
    assert phased(COMMENT) == []
    plain = [message("I will look both up."), item_call()]
    assert reported(responses([ASKED], plain), responses([ASKED, *plain, item_output()], [FIRST], 1)) == []
