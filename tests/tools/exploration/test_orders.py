"""`--plan orders`: the deliveries of a test in every order, each event up to several times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.tools.exploration.suite import Explored, explore

SHOP = """
import pytest

SEND = {"symbol": "USDC", "network": "CELO", "amount": "5", "reference": "A-1",
        "destination": {"type": "address", "address": "0x52908400098527886E0F7030069857D2E4169EE7"}}
FINAL = ("completed", "failed")

class Shop:
    def __init__(self):
        self.state, self.amount, self.seen, self.world = "new", 0, set(), None

    def handle(self, delivery):
        event = delivery.event
        about = event["data"]["object"]
        @HANDLE@

    def book(self, about):
        self.state = about["status"]
        if self.state == "completed":
            self.amount = float(about["net_amount"])

    def fetch(self, about):
        return self.world.client.get(f"/transactions/{about['id']}").json()

@pytest.fixture
def shop(world, webhooks):
    made = Shop()
    made.world = world
    webhooks.respond_with(made.handle)
    return made

def pytest_rampsim_books(item):
    shop = item.funcargs["shop"]
    return [("A-1", shop.state, str(shop.amount), "USDC")]
"""
TEST = """
import pytest
from conftest import SEND

@pytest.mark.scenario("autopilot")
def test_send(world, shop):
    world.client.post("/wallet/send", json=SEND, headers={"Idempotency-Key": "k"}).raise_for_status()
    world.advance("1m")
    assert shop.state == "completed"
"""
HANDLERS = {
    "the present state": "self.book(self.fetch(about))",
    "never back": """
        if self.state not in FINAL:
            self.book(about)""",
    "the last event": "self.book(about)",
    "each completion": """
        self.state = "completed" if self.state == "completed" else about["status"]
        if event["type"] == "transaction.completed":
            self.amount += float(about["net_amount"])""",
    "in this order only": """
        if event["type"] == "transaction.completed" and self.state != "processing":
            return 200
        if self.state != "completed":
            self.book(about)""",
    "in this order, refusing others": """
        if event["type"] == "transaction.completed" and self.state == "new":
            return 503
        if self.state != "completed":
            self.book(about)""",
    "how often it was told": """
        if self.state == "booked early":
            return 200
        self.state, self.amount = "completed", 4.99
        if len(self.seen) == 0 and event["type"] == "transaction.completed":
            self.state = "booked early"
        self.seen.add(event["id"])""",
}


def explored(directory: Path, handler: str, *words: str) -> Explored:
    (directory / "conftest.py").write_text(SHOP.replace("@HANDLE@", HANDLERS[handler].strip()))
    (directory / "test_shop.py").write_text(TEST)
    return explore(directory, "--plan", "orders", *words)


def shown(found: Explored) -> dict[str, str]:
    """The sites of all runs and their verdicts."""
    rows: list[dict[str, Any]] = found.report["runs"]
    return {row["site"]: row["verdict"] for row in rows}


@pytest.mark.parametrize("handler", ["the present state", "never back", "in this order, refusing others"])
def test_a_handler_that_books_in_any_order_survives_all_orders(handler: str, tmp_path: Path) -> None:
    found = explored(tmp_path, handler)
    assert (found.code, shown(found)) == (0, {"transaction #1": "survived"}), found.said
    (row,) = found.report["runs"]
    assert row["note"].startswith("19 sequences of 2 events in up to 2 copies: "), row


@pytest.mark.parametrize(
    ("handler", "copies", "wrong"),
    [
        ("the last event", "1", {"after": "stuck"}),
        ("each completion", "2", {"again": "doubled"}),
        ("in this order only", "1", {"early": "lost"}),
    ],
)
def test_orders_finds_the_shortest_sequence_that_goes_wrong(
    handler: str, copies: str, wrong: dict[str, str], tmp_path: Path
) -> None:
    sites = {
        "after": "transaction #1: deliver transaction.completed, late-after-final transaction.processing",
        "early": "transaction #1: deliver transaction.completed, late-after-final transaction.processing",
        "again": "transaction #1: deliver transaction.processing, deliver transaction.completed, "
        "again transaction.completed",
    }
    found = explored(tmp_path, handler, "--copies", copies)
    assert found.code == 1, found.said
    verdicts = shown(found)
    for name, verdict in wrong.items():
        assert verdict in verdicts.values(), verdicts
        assert sites[name] in verdicts or name == "again", verdicts


def test_each_completion_once_survives_a_single_copy(tmp_path: Path) -> None:
    found = explored(tmp_path, "each completion", "--copies", "1")
    assert shown(found) == {"transaction #1": "survived"}, found.said


def test_books_that_depend_on_the_order_alone_are_order_dependent(tmp_path: Path) -> None:
    """The amount is right in both orders, and the state is not one of the service."""
    found = explored(tmp_path, "how often it was told", "--copies", "1")
    site = "transaction #1: deliver transaction.completed, late-after-final transaction.processing"
    assert shown(found) == {site: "order-dependent"}, found.said
    (name,) = found.report["findings"]
    assert explore(tmp_path, "--replay", name).code == 1
    (tmp_path / "conftest.py").write_text(SHOP.replace("@HANDLE@", HANDLERS["never back"].strip()))
    assert explore(tmp_path, "--replay", f".rampsim/explore/findings/{name}.yaml").code == 0


def test_orders_are_the_same_on_two_workers(tmp_path: Path) -> None:
    explored(tmp_path, "the last event")
    report = (tmp_path / ".rampsim/explore/report.json").read_bytes()
    explored(tmp_path, "the last event", "--workers", "2")
    assert (tmp_path / ".rampsim/explore/report.json").read_bytes() == report
