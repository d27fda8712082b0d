"""Metrics in the text format of Prometheus.

The format is that of https://prometheus.io/docs/instrumenting/exposition_formats/ (read 2026-11-22). No label has a
value from the traffic, so the number of series does not grow.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

from turntape.cassettes.frozen import frozen

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

type Number = int | float
type Labels = tuple[tuple[str, str], ...]


@frozen
class Metric:
    """One metric with its values, by the labels of each."""

    name: str
    kind: Literal["counter", "gauge"]
    help: str
    values: Mapping[Labels, Number]


def one(name: str, kind: Literal["counter", "gauge"], help: str, value: object) -> Metric:
    """A metric without labels; any other value than a number is 0."""
    return Metric(name, kind, help, {(): _number(value)})


def by(name: str, kind: Literal["counter", "gauge"], help: str, label: str, values: Mapping[str, object]) -> Metric:
    """A metric with one label."""
    return Metric(name, kind, help, {((label, key),): _number(value) for key, value in values.items()})


def text(metrics: Iterable[Metric]) -> bytes:
    """The page."""
    lines: list[str] = []
    for metric in metrics:
        lines += [f"# HELP {metric.name} {_escaped(metric.help)}", f"# TYPE {metric.name} {metric.kind}"]
        for labels, value in metric.values.items():
            pairs = ",".join(f'{name}="{_escaped(content)}"' for name, content in labels)
            lines.append(f"{metric.name}{f'{{{pairs}}}' if pairs else ''} {value!r}")
    return ("\n".join(lines) + "\n").encode()


def _number(value: object) -> Number:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
