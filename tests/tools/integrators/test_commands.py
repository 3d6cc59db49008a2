"""The shop as it runs for customers: its own server, webhooks over loopback, and its commands."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx
import pytest

from simulator.testing import World
from tests.tools.integrators.rig import PHONE, WALLET
from tests.tools.integrators.shop.careless import MISTAKES

ORDER = {
    "reference": "A-1",
    "kind": "onramp",
    "amount": "5000",
    "amount_currency": "KES",
    "asset": "USDC",
    "fiat_currency": "KES",
    "name": "Wanjiru Otieno",
    "phone_number": PHONE,
    "wallet_address": WALLET,
}


@pytest.fixture
def account(world: World, tmp_path: Path) -> Mapping[str, str]:
    """The environment of the shop's processes."""
    keys = world.keys
    return {
        **os.environ,
        "SIMULATOR_URL": world.base_url,
        "SIMULATOR_PUBLIC_KEY": keys.public_key,
        "SIMULATOR_SECRET_KEY": keys.secret_key,
        "SIMULATOR_WEBHOOK_KEY": keys.webhook_key,
        "SHOP_BOOKS": str(tmp_path / "books"),
        "PORT": "0",
    }


@pytest.fixture
def address(account: Mapping[str, str]) -> Iterator[str]:
    """Where the shop is served."""
    command = [sys.executable, "-m", "tests.tools.integrators.shop", "serve"]
    with subprocess.Popen(command, env=account, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = iter(process.stderr)
        yield next(found[0] for line in said if (found := re.search(r"http://[\d.:]+", line)))
        process.terminate()


def say(account: Mapping[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.tools.integrators.shop", *words], env=account, capture_output=True, text=True
    )


@pytest.mark.farm
@pytest.mark.scenario("autopilot")
def test_the_shop_as_it_runs(world: World, account: Mapping[str, str], address: str) -> None:
    assert say({**account, "PORT": address.rpartition(":")[2]}, "register").returncode == 0
    assert httpx.post(f"{address}/orders", json=ORDER).json()["state"] == "awaiting_payment"
    world.advance("1m")
    booked = {"order": "A-1", "state": "completed", "amount": "37.892536", "currency": "USDC"}
    assert httpx.get(f"{address}/orders/A-1").json() == booked

    world.act("refund", world.client.get("/transactions?search=A-1").json()["data"][0])
    world.settle()
    settled = say(account, "settle")
    assert (settled.returncode, settled.stdout, settled.stderr) == (0, "", "")
    books = say(account, "books")
    assert [json.loads(line) for line in books.stdout.splitlines()] == [{**booked, "state": "refunded", "amount": "0"}]


@pytest.mark.farm
def test_commands_report_problems(account: Mapping[str, str]) -> None:
    assert say(account, "look").stderr == "Say one of: books, reconcile, settle, serve, register, mistakes.\n"
    assert len(say({}, "mistakes").stdout.splitlines()) == len(MISTAKES)
    nobody = {name: text for name, text in account.items() if name != "SIMULATOR_SECRET_KEY"}
    assert say(nobody, "books").stderr == "The shop does not know its account: set SIMULATOR_SECRET_KEY.\n"
    wrong = {**account, "SHOP_MISTAKES": "float-money,slopy"}
    assert say(wrong, "books").stderr.startswith("No mistake is called slopy; there are pays-twice-after-rejection, ")
