"""The address of a collector and what the environment adds to it."""

import pytest

from turntape.cassettes.errors import TurntapeError
from turntape.inspector.exporters.otel_span import resource_spans
from turntape.inspector.otlp.collector import collector_at
from turntape.inspector.wire.json_value import as_object


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
        ("http://127.0.0.1:4318/", "http://127.0.0.1:4318/v1/traces"),
        ("https://cloud.example/api/public/otel", "https://cloud.example/api/public/otel/v1/traces"),
        ("https://cloud.example/otel/v1/traces", "https://cloud.example/otel/v1/traces"),
        ("https://cloud.example/otel?tenant=a", "https://cloud.example/otel/v1/traces?tenant=a"),
        ("http://[::1]:4318", "http://[::1]:4318/v1/traces"),
    ],
)
def test_the_path_of_the_traces_is_added_once(given: str, url: str) -> None:
    assert collector_at(given, {}).url == url


@pytest.mark.parametrize(
    "given", ["localhost:4317", "", "grpc://a:4317", "http://", "http://a:99999999", "http://[::1"]
)
def test_what_is_not_an_address_is_refused_in_one_sentence(given: str) -> None:
    with pytest.raises(TurntapeError, match="is not the address of a collector; give its HTTP endpoint"):
        collector_at(given, {})


def test_headers_come_from_the_environment_and_the_password_of_the_address_is_not_shown() -> None:
    environ = {
        "OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Basic%20YTpi, x-tenant = blue ,nothing",
        "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "x-tenant=green",
    }

    named = collector_at("http://a:4318", environ)
    with_password = collector_at("http://me:p%40ss@a:4318", {})

    assert dict(named.headers) == {"authorization": "Basic YTpi", "x-tenant": "green"}
    assert dict(with_password.headers) == {"authorization": "Basic bWU6cEBzcw=="}
    assert "p@ss" not in repr(with_password) and "p%40ss" not in with_password.url


def test_the_environment_names_the_service() -> None:
    environ = {
        "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=ci,service.name=other",
        "OTEL_SERVICE_NAME": "mailer",
    }

    resource = collector_at("http://a", environ).named(resource_spans("nightly", []))

    assert as_object(resource["resource"])["attributes"] == [
        {"key": "deployment.environment", "value": {"stringValue": "ci"}},
        {"key": "service.name", "value": {"stringValue": "mailer"}},
    ]
    assert collector_at("http://a", {}).named(resource_spans("nightly", [])) == resource_spans("nightly", [])
