"""A running server for the command line, and a way to run commands in this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
from click.testing import CliRunner, Result

from simulator.cli import main
from simulator.engine.clients.control import ControlClient
from simulator.engine.server.config import Config
from tests.remote import running
from tests.support import BENEFICIARY, CELO


@pytest.fixture(scope="session")
def guarded() -> Iterator[str]:
    """A server whose control interface needs the token `sesame`."""
    with running(Config(host="0.0.0.0", clock="manual", control_token="sesame")) as (address, _):
        yield address


class Command:
    """Calls `rampsim` in this process, in a world of its own."""

    def __init__(self, origin: str, world: str) -> None:
        self.origin = origin
        self.world = world
        self.client = ControlClient(origin, world)

    def __call__(self, *words: str, **variables: str) -> Result:
        environment = {"SIMULATOR_URL": self.origin, "SIMULATOR_WORLD": self.world, **variables}
        return CliRunner().invoke(main, list(words), env=environment, catch_exceptions=False)

    def json(self, *words: str, **variables: str) -> Any:
        """The printed answer of a command that must succeed."""
        result = self(*words, **variables)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)


_numbers = count(1)


@pytest.fixture
def make_command(origin: str) -> Callable[..., Command]:
    def make(**body: Any) -> Command:
        world = ControlClient(origin).post("/worlds", {"id": f"cli-{next(_numbers)}", "seed": 1, **body})
        return Command(origin, world["id"])

    return make


@pytest.fixture
def rampsim(make_command: Callable[..., Command]) -> Command:
    """The command line in a world where nothing happens but by timers and calls."""
    return make_command(scenarios=[])


@pytest.fixture
def offramp(rampsim: Command) -> str:
    """The id of an offramp that awaits its deposit."""
    return make_offramp(rampsim)


def make_offramp(rampsim: Command, **more: Any) -> str:
    """Make an offramp through the interface; its id."""
    keys = rampsim.client.get(f"/worlds/{rampsim.world}")["credentials"]["sandbox"]
    api = Interface(keys["base_url"])
    pair = {"public_key": keys["public_key"], "secret_key": keys["secret_key"]}
    api.token = api.post("/auth/token", pair)["access_token"]
    beneficiary = api.post(
        "/beneficiaries",
        BENEFICIARY,
    )
    quote = api.post(
        "/quotes",
        {
            "type": "offramp",
            "network": "celo",
            "asset": "USDC",
            "fiat_currency": "KES",
            "amount": "30",
            "amount_currency": "USDC",
            "method": "mobile_money",
        },
    )
    confirmation = {
        "beneficiary_id": beneficiary["id"],
        "refund_address": CELO,
        **more,
    }
    identifier: str = api.post(f"/quotes/{quote['id']}/confirm", confirmation)["id"]
    return identifier


class Interface:
    """The simulated interface, as an integrator calls it."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.token = ""

    def post(self, path: str, body: Any) -> Any:
        from urllib.request import Request, urlopen

        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"}
        with urlopen(Request(self.base_url + path, json.dumps(body).encode(), headers)) as answer:
            return json.loads(answer.read())
