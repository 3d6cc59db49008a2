"""A client generated from the contract works in an integration: it type-checks, and every flow completes."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from simulator.contract.files import operations_of
from simulator.engine.server.config import Config
from simulator.engine.server.process import serving
from simulator.host import create_app
from tests.places import ROOT
from tests.snippets import blocks
from tests.tools.judges import tools
from tests.tools.judges.conftest import CLIENTS, Broken
from tests.tools.judges.generators import GENERATORS, make, mypy_cache
from tests.tools.judges.workshop import Workshop, another_field

pytestmark = CLIENTS

FLOWS = tools.HERE / "flows.py"
PYTHON = GENERATORS[0]


def check_types(directory: Path) -> CompletedProcess[str]:
    """mypy on the flows alone, strictly; the client is read for its types."""
    options = ("--strict", "--config-file=", "--follow-imports=silent", "--cache-dir", mypy_cache())
    return tools.run(sys.executable, "-m", "mypy", *options, FLOWS, MYPYPATH=f"{directory}:{ROOT}")


def go(directory: Path) -> CompletedProcess[str]:
    """Run the flows against a real server with a manual clock and the autopilot."""

    async def serve() -> CompletedProcess[str]:
        async with serving(create_app(Config(clock="manual"))) as origin:
            path = f"{directory}:{ROOT}"
            return await asyncio.to_thread(tools.run, sys.executable, FLOWS, origin, PYTHONPATH=path)

    return asyncio.run(serve())


@pytest.fixture
def client(workshop: Workshop) -> Path:
    """The directory of a client made of the contract as it is."""
    directory, done = workshop.client(PYTHON)
    assert done.returncode == 0, done.stdout
    return directory


def test_the_generator_takes_every_operation(client: Path, document: dict[str, Any]) -> None:
    modules = {path.stem for path in (client / "ramp_client" / "api").glob("*/*.py")} - {"__init__"}
    assert modules == {operation["operationId"] for _, _, operation in operations_of(document)}


def test_an_integration_on_the_client_type_checks(client: Path) -> None:
    done = check_types(client)
    assert done.returncode == 0, done.stdout


def test_an_onramp_an_offramp_a_swap_and_a_recurring_payment_complete(client: Path) -> None:
    done = go(client)
    assert done.returncode == 0, done.stdout
    assert json.loads(done.stdout) == {
        "onramp": "completed",
        "offramp": "completed",
        "swap": "completed",
        "recurring payment": "completed",
        "runs": "completed completed",
    }


def test_the_program_of_the_page_makes_an_order(client: Path, origin: str) -> None:
    page = blocks((ROOT / "simulator/docs/how-to/generated-client.md").read_text("utf-8"))
    [program] = [block.text for block in page if block.language == "python"]
    done = tools.run(
        *(sys.executable, "-c", program),
        PYTHONPATH=str(client),
        SIMULATOR_BASE_URL=f"{origin}/v1",
        SIMULATOR_PUBLIC_KEY="pk_test_simulator",
        SIMULATOR_SECRET_KEY="sk_test_simulator",
    )
    assert (done.returncode, done.stdout.strip()) == (0, "awaiting_payment"), done.stdout


def test_a_client_of_a_contract_with_another_field_does_not_work(workshop: Workshop) -> None:
    done = go(workshop.client(PYTHON, another_field).directory)
    assert done.returncode != 0
    assert "access_token" in done.stdout or "'token'" in done.stdout


def test_the_generator_fails_a_contract_with_a_reference_that_leads_nowhere(broken: Broken, tmp_path: Path) -> None:
    def spoil(document: dict[str, Any]) -> None:
        schema = {"$ref": "#/components/schemas/NoSuchShape"}
        document["paths"]["/profile"]["get"]["responses"]["200"]["content"]["application/json"]["schema"] = schema

    done = make(PYTHON, broken(spoil), tmp_path / "client")
    assert done.returncode != 0
    assert "NoSuchShape" in done.stdout or "Could not find reference" in done.stdout
