"""The public names of the test kit: visible to a type checker, and imported on first use.

mypy reads the tests with the package (`files` in pyproject.toml): `assert_type` is its part of the test.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
import tomllib
from datetime import datetime
from decimal import Decimal
from typing import Any, assert_type

import httpx
import pytest

import simulator.testing
from simulator.testing import (
    ActionRefused,
    Delivery,
    NotReached,
    Receiver,
    Server,
    SimulatorError,
    World,
    receiver,
    serve,
    strategies,
    world,
)
from tests.places import ROOT

PUBLIC = {
    "ActionRefused": ActionRefused,
    "Delivery": Delivery,
    "NotReached": NotReached,
    "Receiver": Receiver,
    "Server": Server,
    "SimulatorError": SimulatorError,
    "World": World,
    "receiver": receiver,
    "serve": serve,
    "strategies": strategies,
    "world": world,
}


def test_the_public_names_are_these() -> None:
    assert set(simulator.testing.__all__) == set(PUBLIC)
    assert not hasattr(simulator.testing, "Wrold")


def test_no_module_takes_the_place_of_a_public_name() -> None:
    """An imported module becomes an attribute of its package, and would hide what has its name."""
    for module in pkgutil.iter_modules(simulator.testing.__path__):
        importlib.import_module(f"simulator.testing.{module.name}")
    assert {name: getattr(simulator.testing, name) for name in PUBLIC} == PUBLIC


def _as_a_type_checker_sees_it(server: Server) -> None:
    """Never called: mypy alone reads it."""
    with world(server, seed=7) as made, receiver(made) as webhooks, serve(strict=True) as other:
        assert_type(made, World)
        assert_type(webhooks, Receiver)
        assert_type(other.new_world(clock="2026-03-01"), World)
        assert_type(made.now, datetime)
        assert_type(made.client, httpx.Client)
        assert_type(made.async_client, httpx.AsyncClient)
        assert_type(made.token(), str)
        assert_type(made.keys.webhook_key, str)
        assert_type(made.advance("31m")["fired"], int)
        assert_type(made.act("payment_arrives", "txn_1")["action"], str)
        assert_type(made.trigger("transaction.completed")["event"]["id"], str)
        assert_type(made.event("transaction.completed", {"id": "txn_1"})["type"], str)
        assert_type(made.deliveries(status="failed")[0]["attempt"], int)
        assert_type(made.requests(path="/quotes")[0]["status"], int)
        assert_type(made.advice()[0]["what_to_do"], str)
        assert_type(made.resource("txn_1")["allowed"], list[str])
        assert_type(made.balance("USDC", "CELO"), Decimal)
        assert_type(made.ledger().accounts[0]["amount"], Decimal)
        assert_type(made.ledger().entries[0]["postings"][0]["account"], str)
        assert_type(made.snapshot()["id"], str)
        assert_type(made.fork(), World)
        assert_type(made.timeline(), str)
        assert_type(webhooks.wait_for("transaction.completed"), Delivery)
        with made.fault("POST /quotes", drop=True) as fault:
            assert_type(fault.hits, int)
    error: SimulatorError = NotReached("never") or ActionRefused("not now")
    assert_type(error.code, str | None)
    assert_type(error.param, str | None)


def test_a_type_checker_reads_this_file() -> None:
    checked: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mypy"]
    assert "tests" in checked["files"]
    assert not re.search(checked["exclude"][0], "tests/tools/testing/test_exports.py")


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    return (done.stdout + done.stderr).strip()


def test_importing_the_kit_imports_next_to_nothing() -> None:
    looked = "import sys, simulator.testing; print([n for n in sys.modules if n.startswith(('simulator.', 'httpx'))])"
    assert run(looked) == "['simulator.engine', 'simulator.engine.lazy', 'simulator.version', 'simulator.testing']"


@pytest.mark.parametrize("name", ["World", "Server", "serve", "world", "receiver"])
def test_without_the_extra_the_first_use_says_what_to_install(name: str) -> None:
    program = f"""
import sys
sys.modules["httpx"] = None
import simulator.testing
from simulator.testing import SimulatorError
try:
    simulator.testing.{name}
except ImportError as error:
    print(error)
"""
    assert run(program) == 'The test kit needs httpx: pip install "./rampsim-0.1.0-py3-none-any.whl[testing]"'
