"""The collection and the workflows run unmodified against a new server, with the runners of Postman and Redocly."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from ruamel.yaml import YAML

from simulator.contract.files import operations_of
from simulator.engine.server.config import Config
from simulator.engine.server.process import serving
from simulator.host import create_app
from tests.tools.judges import tools

COLLECTION = tools.CONTRACTS / "collection" / "every-operation.postman_collection.json"
FLOWS = tools.CONTRACTS / "flows.arazzo.yaml"


def against_a_server(run: Callable[[str], CompletedProcess[str]]) -> CompletedProcess[str]:
    """Run a tool against a fresh server with the settings of `rampsim serve`, given its origin."""

    async def serve() -> CompletedProcess[str]:
        async with serving(create_app(Config())) as origin:
            return await asyncio.to_thread(run, origin)

    return asyncio.run(serve())


def newman(collection: Path, report: Path) -> CompletedProcess[str]:
    options = ("--reporters", "cli,json", "--reporter-json-export", report)
    return against_a_server(
        lambda origin: tools.run(tools.tool("newman"), "run", collection, "--env-var", f"origin={origin}", *options)
    )


def respect(flows: Path, *options: str | Path) -> CompletedProcess[str]:
    def run(origin: str) -> CompletedProcess[str]:
        servers = ("--server", f"interface={origin}/v1", "--server", f"control={origin}")
        return tools.run(tools.tool("redocly"), "respect", flows, *servers, "--input", f"origin={origin}", *options)

    return against_a_server(run)


def test_every_request_of_the_collection_succeeds_in_its_order(tmp_path: Path, document: dict[str, Any]) -> None:
    done = newman(COLLECTION, tmp_path / "report.json")
    assert done.returncode == 0, done.stdout
    run = json.loads((tmp_path / "report.json").read_bytes())["run"]
    assert run["failures"] == []
    sent = [one for one in run["executions"] if one["request"]["url"]["path"][0] == "v1"]
    answered = [one["assertions"][0]["assertion"].split()[0] for one in sent if one["response"]["code"] < 300]
    assert sorted(answered) == sorted(operation["operationId"] for _, _, operation in operations_of(document))


def test_every_flow_completes_and_every_answer_fits_the_contract(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = respect(FLOWS, "--json-output", report)
    assert done.returncode == 0, done.stdout
    (found,) = json.loads(report.read_bytes())["files"].values()
    workflows = [one["workflowId"] for one in YAML(typ="safe", pure=True).load(FLOWS)["workflows"]]
    assert [one["workflowId"] for one in found["executedWorkflows"]] == workflows
    checks = [check for one in found["executedWorkflows"] for step in one["executedSteps"] for check in step["checks"]]
    assert {check["name"] for check in checks if check["status"] != "success"} == set()
    assert {"success criteria check", "schema check"} <= {check["name"] for check in checks}


def test_the_flows_are_well_formed(tmp_path: Path) -> None:
    done = tools.run(tools.tool("redocly"), "lint", FLOWS, "--config", tools.HERE / "redocly.yaml")
    assert done.returncode == 0, done.stdout


def test_a_collection_with_a_wrong_request_fails(tmp_path: Path) -> None:
    text = COLLECTION.read_text("utf-8")
    broken = tmp_path / "collection.json"
    broken.write_text(text.replace('\\"method\\": \\"mobile_money\\"', '\\"method\\": \\"barter\\"'), "utf-8")
    assert broken.read_text("utf-8") != text
    done = newman(broken, tmp_path / "report.json")
    assert done.returncode == 1
    assert "create_quote answers 201" in done.stdout


def test_a_flow_that_expects_another_end_fails(tmp_path: Path) -> None:
    text = FLOWS.read_text("utf-8")
    for name in ("openapi.yaml", "control.yaml"):
        (tmp_path / name).symlink_to(tools.CONTRACTS / name)
    broken = tmp_path / "broken.arazzo.yaml"
    broken.write_text(text.replace("status == 'refunded'", "status == 'completed'"), "utf-8")
    assert broken.read_text("utf-8") != text
    done = respect(broken, "--workflow", "payout-fails-and-refunds")
    assert done.returncode == 1
    assert "$response.body#/resource/status == 'completed'" in done.stdout
