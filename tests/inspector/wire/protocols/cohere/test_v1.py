"""Cohere, version 1: a message beside its history, and results that repeat their calls."""

from typing import Any

import pytest
from judged import ids, judged, only, trip

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run.labels import label_all
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.protocols.cohere.answer_format import V1_ORDER
from turntape.inspector.wire.stream_order import order_breaks

URL = "https://api.cohere.com/v1/chat"
DAY = {"description": "The day.", "type": "str", "required": True}
TOOLS = [
    {"name": "sales", "description": "Sales of a day.", "parameter_definitions": {"day": DAY, "top": {"type": "int"}}},
    {"name": "stock", "description": "What is left.", "parameter_definitions": {"kind": {"type": "List[str]"}}},
]
ASK = "How much was sold on 29 September, and what is left?"
SALES: dict[str, Any] = {"name": "sales", "parameters": {"day": "2023-09-29"}}
STOCK: dict[str, Any] = {"name": "stock", "parameters": {"kind": ["pens"]}}
RESULTS = [{"call": SALES, "outputs": [{"sum": "10,000"}]}, {"call": STOCK, "outputs": [{"pens": 3}]}]
META = {"tokens": {"input_tokens": 100, "output_tokens": 20}}


def answer(text: str, *calls: dict[str, Any]) -> dict[str, Any]:
    body = {
        "response_id": f"r{len(text)}",
        "generation_id": f"g{len(text)}",
        "text": text,
        "finish_reason": "COMPLETE",
        "meta": META,
    }
    return body | ({"tool_calls": list(calls)} if calls else {})


def loop(*calls: dict[str, Any], results: list[dict[str, Any]], single: bool = False) -> list[RoundTrip]:
    """Calls and their results: with the history, or in a single step, which sends the message again."""
    asked = {"model": "command-r", "message": ASK, "tools": TOOLS}
    history = [{"role": "USER", "message": ASK}, {"role": "CHATBOT", "message": "", "tool_calls": list(calls)}]
    more = {"tool_results": results} if single else {"tool_results": results, "chat_history": history, "message": ""}
    return [trip(URL, asked, answer("", *calls)), trip(URL, {**asked, **more}, answer("10,000, and 3 pens."), 1)]


@pytest.mark.parametrize("single", [False, True])
def test_a_healthy_loop_is_one_thread_without_findings(single: bool) -> None:
    trips = loop(SALES, STOCK, results=RESULTS, single=single)

    assert judged(*trips) == []
    assert [done.label["thread"] for done in label_all(trips)] == ["t1", "t1"]


@pytest.mark.parametrize("single", [False, True])
def test_a_result_that_is_missing(single: bool) -> None:
    trips = loop(SALES, STOCK, results=RESULTS[:1], single=single)

    assert only("client-missing-tool-result" if not single else "client-assistant-mutated", *trips).layer == "client"


def test_parameters_are_checked_by_their_definitions() -> None:
    def broken(**parameters: object) -> set[str]:
        return ids(*loop({"name": "sales", "parameters": parameters}, results=RESULTS[:1])[:1])

    assert "model-args-break-schema" in broken()
    assert "model-args-break-schema" in broken(day="2023-09-29", top="five")
    assert "model-args-break-schema" not in broken(day="2023-09-29", top=5)
    assert "model-args-break-schema" not in broken(day="2023-09-29", other="x")


def test_the_parameters_of_a_tool_are_a_schema() -> None:
    sales, stock = read(loop(results=[])[0]).request.tools

    assert sales.schema == {
        "type": "object",
        "properties": {
            "day": {"description": "The day.", "type": "string"},
            "top": {"description": "", "type": "integer"},
        },
        "required": ["day"],
    }
    assert stock.schema == {
        "type": "object", "properties": {"kind": {"description": "", "type": "array", "items": {}}}, "required": [],
    }  # fmt: skip


@pytest.mark.parametrize("definitions", [None, [], "x", {"day": 5}, {"day": {"type": None}}, {"day": {"type": "Date"}}])
def test_definitions_of_another_form_are_not_checked(definitions: object) -> None:
    asked = {"model": "command-r", "message": ASK, "tools": [{"name": "sales", "parameter_definitions": definitions}]}

    assert "model-args-break-schema" not in ids(trip(URL, asked, answer("", SALES)))


@pytest.mark.parametrize("results", [[5], [{"outputs": []}], [{"call": None, "outputs": []}], [{"call": [SALES]}]])
def test_results_without_a_call_are_read(results: list[Any]) -> None:
    asked = {"model": "command-r", "message": ASK, "tools": TOOLS, "tool_results": results}

    assert [message.role for message in read(trip(URL, asked, answer("x"))).request.messages] == ["user", "tool"]


def test_generate_begins_with_its_first_text() -> None:
    """`chat` begins with `stream-start`; `generate` has the same events without it."""

    def broken(*kinds: str) -> bool:
        return any(order_breaks([("", {"event_type": kind}) for kind in kinds], V1_ORDER))

    assert not broken("text-generation", "text-generation", "stream-end")
    assert not broken("stream-start", "text-generation", "stream-end")
    assert broken("text-generation", "stream-end", "text-generation")
