"""The page of metrics, read by the official parser of Prometheus."""

from prometheus_client.parser import text_string_to_metric_families

from turntape.proxy.gateway.metrics import by, text
from turntape.proxy.gateway.recording_metrics import Counted, page

COUNTED = Counted(
    ready=True,
    started_at=1_780_000_000.5,
    recorded=12,
    lost=1,
    running=3,
    streams=2,
    waiting_bytes=512,
    segments=4,
    segment_bytes=2048,
    shipped={"shipped": 2, "failed": 1, "dropped": 0, "files": 1, "bytes": 999, "age": 7},
)
LABELS: dict[str, object] = {
    "round_trips": 11,
    "turns": 9,
    "failed": 1,
    "tool_calls": 5,
    "input": 1000,
    "output": 50,
    "cost_usd": 0.25,
    "findings.error": 2,
    "spans": {"sent": 7, "dropped": 1, "refused": 0, "waiting": 3, "problem": "x"},
}


def samples(data: bytes) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(data.decode())
        for sample in family.samples
    }


def test_the_official_parser_reads_every_value() -> None:
    read = samples(page(COUNTED, LABELS))

    assert read[("turntape_round_trips_total", ())] == 12
    assert read[("turntape_lost_total", ())] == 1
    assert read[("turntape_streams", ())] == 2
    assert read[("turntape_tokens_total", (("kind", "input"),))] == 1000
    assert read[("turntape_tokens_total", (("kind", "reasoning"),))] == 0
    assert read[("turntape_cost_usd_total", ())] == 0.25
    assert read[("turntape_findings", (("severity", "error"),))] == 2
    assert read[("turntape_spans_total", (("state", "sent"),))] == 7
    assert read[("turntape_shipped_files_total", (("state", "shipped"),))] == 2
    assert read[("turntape_spool_bytes", ())] == 999
    assert read[("turntape_spool_age_seconds", ())] == 7
    assert read[("turntape_start_time_seconds", ())] == 1_780_000_000.5
    assert {family.type for family in text_string_to_metric_families(page(COUNTED, LABELS).decode())} == {
        "counter",
        "gauge",
    }


def test_before_the_first_label_everything_is_zero_and_what_is_off_is_left_out() -> None:
    read = samples(page(Counted(False, 0.0, 0, 0, 0, 0, 0), {}))

    assert read[("turntape_ready", ())] == 0
    assert read[("turntape_turns_total", ())] == 0
    assert not [name for name, _ in read if "span" in name or "spool" in name or "shipped" in name]


def test_a_label_keeps_every_character() -> None:
    odd = 'a"b\\c\nd'

    assert samples(text([by("x", "gauge", 'he"lp\nme\\', "name", {odd: 1})])) == {("x", (("name", odd),)): 1}
