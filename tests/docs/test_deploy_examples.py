"""The files in docs/deploy are valid, and turntape takes the command lines in them."""

from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from turntape.proxy.cli.command import parse
from turntape.proxy.cli.commands.record import COMMAND

DEPLOY = Path(__file__).parent.parent.parent / "docs" / "deploy"


def documents(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((DEPLOY / name).read_text()))


def containers(document: dict[str, Any]) -> list[dict[str, Any]]:
    pod = document.get("spec", {}).get("template", {}).get("spec", {})
    return [*pod.get("initContainers", []), *pod.get("containers", [])]


@pytest.mark.parametrize("version", ["1.33", "1.37"])
@pytest.mark.parametrize("name", ["gateway.yaml", "sidecar.yaml"])
def test_kubernetes_knows_every_field(name: str, version: str) -> None:
    for document in documents(name):
        kubernetes_validate.validate(document, version, strict=True)


def test_a_misspelt_field_would_be_found() -> None:
    [deployment] = documents("sidecar.yaml")
    deployment["spec"]["template"]["spec"]["initContainers"][0]["restartPolcy"] = "Always"

    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(deployment, "1.33", strict=True)


def command_lines() -> list[list[str]]:
    pods = [one for name in ("gateway.yaml", "sidecar.yaml") for d in documents(name) for one in containers(d)]
    compose = documents("compose.yaml")[0]["services"]["turntape"]
    return [*(one["args"] for one in pods if "args" in one), compose["command"]]


@pytest.mark.parametrize("line", command_lines(), ids=["gateway", "sidecar", "compose"])
def test_turntape_takes_each_command_line(line: list[str]) -> None:
    assert line[0] == "record"
    options = parse("record", COMMAND, line[1:])

    assert options.rotate == (100_000_000, 3600.0)
    assert options.grace == 30.0
    assert options.ship and options.spool == Path("/spool")


def test_the_grace_of_the_platform_is_longer_than_ours() -> None:
    pods = [
        d["spec"]["template"]["spec"] for n in ("gateway.yaml", "sidecar.yaml") for d in documents(n) if containers(d)
    ]

    assert all(pod["terminationGracePeriodSeconds"] > 60 for pod in pods)
    assert documents("compose.yaml")[0]["services"]["turntape"]["stop_grace_period"] == "90s"


def test_every_name_in_the_compose_file_is_defined() -> None:
    [compose] = documents("compose.yaml")
    service = compose["services"]["turntape"]

    assert set(service["secrets"]) == compose["secrets"].keys()
    assert {volume.partition(":")[0] for volume in service["volumes"]} == compose["volumes"].keys()
