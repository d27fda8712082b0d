"""What a run has used, summed up from labels."""

from turntape.proxy.limits.progress import NO_PROGRESS, ProgressCounter


def label(turn: int | None = 1, cost: str | None = "0.25", finding: str | None = None) -> dict[str, object]:
    findings = [{"id": finding, "message": "it happened"}] if finding else []
    facts = {"cost_usd": cost, "status": 200, "model": {"emitted": "text"}, "findings": findings}
    return {"thread": "t1", "turn": turn, "url": "https://llm.local/predict", **facts}


def test_turns_costs_and_findings_are_summed_up() -> None:
    counter = ProgressCounter()
    counter.add(0, label(1))
    counter.add(1, label(2, None, "model-refusal"))
    counter.add(2, label(None, "5"))  # embeddings

    assert counter.report(3) == {
        "read": 3,
        "turns": 2,
        "cost": "5.25",
        "unpriced": 1,
        "findings": {"model-refusal": "it happened"},
        "paths": ["/predict"],
    }


def test_a_fee_without_a_price_makes_a_cost_a_lower_bound_and_a_refused_request_costs_nothing() -> None:
    counter = ProgressCounter()
    counter.add(0, label(1) | {"unpriced_fees": ["Google Maps"]})
    counter.add(1, label(2, None) | {"status": 529, "model": {"emitted": "none"}, "api": {"effective": "error"}})
    counter.add(2, label(None, "1") | {"unpriced_fees": ["reranking"]})

    report = counter.report(3)

    assert (report["cost"], report["unpriced"]) == ("1.25", 2)


def test_a_later_label_of_a_turn_replaces_the_earlier_one() -> None:
    counter = ProgressCounter()
    counter.add(0, label(1, "0.25", "model-refusal"))
    counter.add(0, label(1, "0.30"))

    report = counter.report(1)

    assert (report["turns"], report["cost"], report["findings"]) == (1, "0.30", {})


def test_turns_of_one_session_are_counted_one_by_one() -> None:
    counter = ProgressCounter()
    counter.add(0, label(1))
    counter.add(0, label(2))
    counter.add(0, label(1) | {"thread": "t2"})

    assert counter.report(1)["turns"] == 3


def test_a_websocket_handshake_that_failed_is_not_a_turn_and_its_findings_count() -> None:
    counter = ProgressCounter()
    counter.add(0, label(1, None, "access-refused") | {"method": "GET"})
    counter.add(1, label(1, "0.25") | {"method": "POST", "thread": "t2"})

    report = counter.report(2)

    assert (report["turns"], report["cost"], report["unpriced"]) == (1, "0.25", 0)
    assert report["findings"] == {"access-refused": "it happened"}


def test_without_labels_there_is_no_progress() -> None:
    assert ProgressCounter().report(0) == NO_PROGRESS


def test_a_finding_is_listed_under_its_former_ids_too() -> None:
    counter = ProgressCounter()
    found = {"id": "request-rejected", "aliases": ["api-invalid-request"], "message": "no"}
    counter.add(0, label(1) | {"findings": [found]})

    assert counter.report(1)["findings"] == {"request-rejected": "no", "api-invalid-request": "no"}


def test_findings_about_messages_of_tool_servers_count_too_and_the_messages_do_not() -> None:
    counter = ProgressCounter()
    counter.add(0, label(None, None, "tool-reported-error"))
    counter.add(0, label(None, None, "tool-server-ended"))

    report = counter.report(1)

    assert (report["turns"], report["findings"], report["paths"]) == (0, {"tool-server-ended": "it happened"}, [])
