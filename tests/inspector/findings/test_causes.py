"""Causes and echoes by id."""

from dataclasses import replace

import pytest
from conversations import HELLO, chat, said
from judged import context_of, gemini, gives, judged, turn

from turntape.inspector.findings.catalogue import catalogue
from turntape.inspector.findings.causes import (
    ECHOES,
    FIELD_WRONG,
    FORM_ECHOES,
    OF_CLIENT,
    OUT_OF_ORDER,
    PASSED_ON,
    RATE_LIMITED,
    STORM,
    TOOL_CAUSES,
    TOOL_ECHOES,
    of_weight,
)
from turntape.inspector.findings.finding import Finding, Layer, Severity
from turntape.inspector.findings.severity import ANSWERED, CACHE_ONLY, FOLLOWED, LASTING

IDS = {rule.id for rule in catalogue().rules}


def test_every_id_in_a_table_is_that_of_a_rule() -> None:
    """An old id of a rule is only an alias: no finding has it."""
    echoes = {echo for all_echoes in ECHOES.values() for echo in all_echoes}

    assert {*ECHOES, *echoes, *FORM_ECHOES, STORM, RATE_LIMITED, FIELD_WRONG, OUT_OF_ORDER} - IDS == set()
    about_tools = {
        *TOOL_ECHOES,
        *TOOL_CAUSES,
        *PASSED_ON,
        *OF_CLIENT,
        *(one for ids in OF_CLIENT.values() for one in ids),
    }
    assert about_tools - IDS == set()
    assert {*ANSWERED, *CACHE_ONLY, *FOLLOWED, *LASTING} - IDS == set()


def test_no_finding_is_its_own_cause() -> None:
    assert not [cause for cause, echoes in ECHOES.items() if cause in echoes]


KEPT = ("api-field-wrong",)


@pytest.mark.parametrize(
    ("layer", "of_cause", "kept"), [("api", "info", ()), ("api", "warning", KEPT), ("model", "info", KEPT)]
)
def test_what_is_worth_no_warning_takes_no_blame(layer: Layer, of_cause: Severity, kept: tuple[str, ...]) -> None:
    context = context_of(chat([HELLO], said("A strip.")))
    cause = Finding("api-field-wrong", layer, of_cause, "P", "a field is missing", ("#0 response",))
    effect = Finding("model-args-break-schema", "model", "error", "P", "wrong", ("#0 call",), because_of=(cause.id,))
    milder = replace(effect, severity="info")
    context.begin([cause, effect, milder])

    assert [one.because_of for one in of_weight([effect, milder], context)] == [kept, (cause.id,)]
    context.begin([effect])
    assert of_weight([effect], context)[0].because_of == (cause.id,), "a cause that is nowhere stays"


def test_a_field_that_the_client_put_up_with_takes_no_blame_from_the_model() -> None:
    made = {"functionCall": {"name": "look_up", "args": [{"word": "tape"}]}}
    hi = turn("user", {"text": "hi"})
    found = judged(gemini([hi], [made]), gemini([hi, turn("model", made), turn("user", gives())], [{"text": "x"}], 1))
    by_id = {one.id: (one.severity, one.because_of) for one in found}

    assert by_id["api-field-wrong"] == ("info", ())
    assert by_id["model-args-break-schema"] == ("warning", ())
