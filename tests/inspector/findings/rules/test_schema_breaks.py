"""Arguments that break the schema of their tool because the client gave it another one."""

from typing import Any

import pytest
from conversations import HELLO, chat, result, said
from judged import judged

from turntape.cassettes.tape.model import RoundTrip

NAME, BROKEN = "client-tool-redefined", "model-args-break-schema"
NUMBER = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
LIST = {
    "type": "object",
    "properties": {"ids": {"type": "array", "items": {"type": "integer"}}},
    "required": ["ids"],
    "additionalProperties": False,
}


def run(*turns: tuple[dict[str, Any], str]) -> list[RoundTrip]:
    """A turn for each schema, whose model calls the tool with these arguments."""
    history, trips = [HELLO], list[RoundTrip]()
    for index, (schema, arguments) in enumerate(turns):
        tool = {"name": "refund", "description": "Pay an order back.", "parameters": schema}
        called = said(None, (f"call_{index}", "refund", arguments))
        trips.append(chat(history, called, index=index, tools=[{"type": "function", "function": tool}]))
        history = [*history, called, result(f"call_{index}", "done")]
    return [*trips, chat(history, said("It is done."), index=len(turns))]


def test_a_model_that_calls_a_tool_as_its_history_does_is_not_to_blame() -> None:
    found = judged(*run((NUMBER, '{"id":5}'), (LIST, '{"id":6}')))
    by_name = {one.id: one for one in found}

    assert by_name[NAME].message.startswith(
        "the schema of 'refund' is another than at call call_0 of #0, and the model calls it as it did there"
    )
    assert (by_name[NAME].at, by_name[NAME].layer, by_name[NAME].severity) == (1, "client", "warning")
    assert by_name[BROKEN].because_of == (NAME,)


def test_the_old_form_also_explains_later_calls() -> None:
    found = judged(*run((NUMBER, '{"id":5}'), (LIST, '{"ids":[6]}'), (LIST, '{"id":7}')))

    assert [(one.at, one.because_of) for one in found if one.id == BROKEN] == [(2, (NAME,))]


@pytest.mark.parametrize(
    "turns",
    [
        [(NUMBER, '{"id":5}'), (NUMBER, '{"id":"6"}')],
        [(LIST, '{"ids":[5]}'), (LIST, '{"id":6}')],
        [(NUMBER, '{"id":"5"}'), (NUMBER, '{"id":"6"}')],
        [(LIST, '{"id":6}')],
    ],
    ids=["same schema", "same schema, another form", "never fitted", "first call"],
)
def test_a_model_that_breaks_the_schema_alone_is_to_blame(turns: list[tuple[dict[str, Any], str]]) -> None:
    found = judged(*run(*turns))

    assert NAME not in {one.id for one in found}
    assert {one.because_of for one in found if one.id == BROKEN} == {()}


def test_an_id_of_a_history_that_was_not_recorded_explains_nothing() -> None:
    """The recording begins within a conversation, and the answer has the id of a call in it again."""
    tool = {"type": "function", "function": {"name": "refund", "description": "Pay back.", "parameters": LIST}}
    before = [HELLO, said(None, ("call_0", "refund", '{"id":5}')), result("call_0", "done")]
    answer = said(None, ("call_0", "refund", '{"ids":[6]}'), ("call_1", "refund", '{"id":7}'))

    found = judged(chat(before, answer, tools=[tool]))

    assert [one.because_of for one in found if one.id == BROKEN] == [()]


@pytest.mark.parametrize("strict", [True, False, None])
def test_the_api_is_to_blame_for_arguments_of_a_strict_tool(*, strict: bool | None) -> None:
    function = {"name": "refund", "parameters": LIST, **({} if strict is None else {"strict": strict})}
    for tool in ({"type": "function", "function": function}, {"type": "function", **function}):
        call = said(None, ("call_1", "refund", '{"id":"six"}'))
        found = {one.id: one for one in judged(chat([HELLO], call, tools=[tool]))}

        assert ("api-format-not-enforced" in found) is (strict is True)
        assert found[BROKEN].because_of == (("api-format-not-enforced",) if strict else ())
        fits = said(None, ("call_1", "refund", '{"ids":[6]}'))
        assert judged(chat([HELLO], fits, tools=[tool])) == []


def test_arguments_may_fit_another_tool_of_the_same_name() -> None:
    def tool(schema: dict[str, Any]) -> dict[str, Any]:
        return {"type": "function", "function": {"name": "refund", "description": "Pay back.", "parameters": schema}}

    def found(arguments: str) -> set[str]:
        call = said(None, ("call_1", "refund", arguments))
        return {one.id for one in judged(chat([HELLO], call, tools=[tool(NUMBER), tool(LIST)]))}

    assert BROKEN not in found('{"id":5}') | found('{"ids":[5]}')
    assert BROKEN in found('{"name":5}')
