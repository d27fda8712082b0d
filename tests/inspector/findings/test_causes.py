"""Causes and echoes by id."""

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
)
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
