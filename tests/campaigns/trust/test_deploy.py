"""The deployment examples use flags, calls and ports that exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from simulator.cli.server.serve import serve
from simulator.host import control_rows
from tests.places import ROOT

DEPLOY = Path(__file__).parent / "deploy"
PORT = 8642


def compose() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return read


def kubernetes() -> dict[str, Any]:
    """By kind."""
    return {read["kind"]: read for read in yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())}


def variables() -> set[str]:
    return {str(option.envvar) for option in serve.params if getattr(option, "envvar", None)}


def pod() -> dict[str, Any]:
    spec: dict[str, Any] = kubernetes()["Deployment"]["spec"]["template"]["spec"]
    return spec


@pytest.mark.parametrize("name", ["compose.yaml", "kubernetes.yaml"])
def test_settings_and_calls_are_those_of_the_server(name: str) -> None:
    text = (DEPLOY / name).read_text()
    named = set(re.findall(r"SIMULATOR_\w+", text))
    assert {"SIMULATOR_STORE", "SIMULATOR_ADVERTISE", "SIMULATOR_CONTROL_TOKEN"} <= named <= variables()
    paths = {row.path for row in control_rows()}
    assert set(re.findall(r"/_simulator(/\w+)", text)) <= paths
    assert {int(port) for port in re.findall(r"(?:localhost|127\.0\.0\.1|replica-\d|POD_IP\)):(\d+)", text)} == {PORT}
    assert f"SIMULATOR_PORT={PORT}" in (ROOT / "Dockerfile").read_text()


def test_extras_of_the_image_are_those_of_the_package() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (wanted,) = {one["build"]["args"]["EXTRAS"] for one in compose()["services"].values() if "build" in one}
    assert set(wanted.split(",")) <= set(extras)
    assert f"EXTRAS={wanted}" in (DEPLOY / "kubernetes.yaml").read_text()
    assert "ARG EXTRAS" in (ROOT / "Dockerfile").read_text()


def test_three_replicas_know_where_they_are_and_the_balancer_knows_them() -> None:
    services = compose()["services"]
    replicas = [name for name, one in services.items() if "SIMULATOR_ADVERTISE" in one.get("environment", {})]
    assert len(replicas) == 3
    assert len({services[name]["environment"]["SIMULATOR_STORE"] for name in replicas}) == 1
    for name in replicas:
        assert services[name]["environment"]["SIMULATOR_ADVERTISE"] == f"http://{name}:{PORT}"
    balancing = compose()["configs"]["balancer"]["content"]
    assert re.findall(r"server (\S+) max_fails", balancing) == [f"{name}:{PORT}" for name in replicas]
    assert "proxy_next_upstream off" in balancing, "a call that broke would be made again"
    assert services["balancer"]["configs"][0]["source"] in compose()["configs"]
    assert set(services["balancer"]["depends_on"]) == set(replicas)


def test_pods_are_asked_on_their_port_and_have_time_to_hand_worlds_over() -> None:
    (container,) = pod()["containers"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert ports == {"http": PORT}
    assert container["readinessProbe"]["httpGet"] == {"path": "/_simulator/ready", "port": "http"}
    waits = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod()["terminationGracePeriodSeconds"] > waits + 10
    labels = kubernetes()["Deployment"]["spec"]["template"]["metadata"]["labels"]
    for chooses in (
        kubernetes()["Deployment"]["spec"]["selector"]["matchLabels"],
        kubernetes()["Service"]["spec"]["selector"],
        kubernetes()["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
    ):
        assert chooses.items() <= labels.items()
    assert kubernetes()["Service"]["spec"]["ports"][0]["targetPort"] == "http"
    least = kubernetes()["PodDisruptionBudget"]["spec"]["minAvailable"]
    assert least < kubernetes()["Deployment"]["spec"]["replicas"]
