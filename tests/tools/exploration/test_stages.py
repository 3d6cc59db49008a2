"""`--settle none|before|after`: the books before and after the integrator's job."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.exploration.suite import explore

HOOKS = """
import pytest

SEND = {"symbol": "USDC", "network": "CELO", "amount": "5",
        "destination": {"type": "address", "address": "0x52908400098527886E0F7030069857D2E4169EE7"}}

class Shop:
    def __init__(self, world):
        self.world, self.orders = world, {}

    def send(self, reference):
        self.orders[reference] = ("new", "0")
        sent = self.world.client.post("/wallet/send", headers={"Idempotency-Key": reference},
                                      json={**SEND, "reference": reference})
        self.orders[reference] = (sent.json()["status"], "0")

    def handle(self, delivery):
        about = delivery.event["data"]["object"]
        if delivery.event["type"] == "transaction.completed":
            self.orders[about["reference"]] = ("completed", about["net_amount"])

    def settle(self):
        for row in self.world.client.get("/transactions").json()["data"]:
            self.orders[row["reference"]] = (row["status"], row["net_amount"] if row["status"] == "completed" else "0")

@pytest.fixture
def shop(world, webhooks):
    made = Shop(world)
    webhooks.respond_with(made.handle)
    return made

def pytest_rampsim_settle(item):
    item.funcargs["shop"].settle()

def pytest_rampsim_books(item):
    return [(name, *row, "USDC") for name, row in item.funcargs["shop"].orders.items()]
"""
"""A shop whose handler books an event, and whose job books what the service says."""
SENDS = """
import pytest

@pytest.mark.scenario("autopilot")
def test_send(shop):
    shop.send("A-1")
    shop.world.advance("1m")
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "conftest.py").write_text(HOOKS)
    (tmp_path / "test_shop.py").write_text(SENDS)
    return tmp_path


@pytest.mark.parametrize(
    ("mode", "code", "verdict", "stages"),
    [
        ("none", 1, "lost", None),
        ("before", 0, "hidden-by-settle", {"before": "lost", "after": "survived"}),
        ("after", 0, "survived", None),
    ],
)
def test_settle_mode_says_when_the_books_are_judged(
    mode: str, code: int, verdict: str, stages: dict[str, str] | None, shop: Path
) -> None:
    found = explore(shop, "--settle", mode, "--faults", "webhook-lost-for-good", "--plan", "quick")
    assert found.code == code, found.said
    rows = {row["site"]: row for row in found.report["runs"]}
    row = rows["transaction.completed #1"]
    assert (row["verdict"], row.get("stages")) == (verdict, stages)
    assert ("warning: in 2 runs, only your job made the books right" in found.said) == (mode == "before")


def test_a_job_that_hides_a_wrong_handler_without_faults_is_a_warning(shop: Path) -> None:
    text = (shop / "conftest.py").read_text().replace('"transaction.completed":', '"never":')
    (shop / "conftest.py").write_text(text)
    found = explore(shop, "--settle", "before", "--faults", "refused-503", "--plan", "quick")
    rows = {row["fault"]: row["verdict"] for row in found.report["runs"]}
    assert (found.code, rows["none"]) == (0, "hidden-by-settle"), found.said


@pytest.mark.parametrize(
    ("words", "said"),
    [(("none", "before"), "two modes, 'none' and 'before'"), (("a", "b"), "two commands, 'a' and 'b'")],
)
def test_two_settle_modes_or_commands_are_refused(words: tuple[str, str], said: str, tmp_path: Path) -> None:
    found = explore(tmp_path, "--settle", words[0], "--settle", words[1], command=("true",))
    assert (found.code, said in found.said) == (2, True), found.said


DURING = """
import pytest

@pytest.mark.scenario("autopilot")
def test_send(shop):
    shop.send("A-1")
    for _ in range(3):
        shop.world.advance("3h")
"""


@pytest.mark.parametrize(("tolerate", "verdict"), [("7h", "survived"), ("5h", "late")])
def test_during_finds_books_that_agree_too_late(tolerate: str, verdict: str, shop: Path) -> None:
    """The event comes six hours late. Before the end of the test, the books agree."""
    (shop / "test_shop.py").write_text(DURING)
    text = (shop / "conftest.py").read_text().replace('(sent.json()["status"], "0")', '("placed", "0")')
    (shop / "conftest.py").write_text(text)
    words = ("--during", "--tolerate", tolerate, "--faults", "webhook-late")
    found = explore(shop, *words)
    rows = {row["site"]: row for row in found.report["runs"]}
    row = rows["transaction.completed #1"]
    assert row["verdict"] == verdict, found.said
    assert "none" not in {one["fault"] for one in found.report["runs"]}
    if verdict == "late":
        assert row["note"].endswith("since 2026-01-05T08:00:20.000Z"), row
        assert explore(shop, *words[:3], "--replay", row["id"]).code == 1
    assert "late" not in explore(shop, "--faults", "webhook-late").report["summary"]


@pytest.mark.parametrize(
    ("words", "said"), [(("--tolerate", "5m"), "Use it with --during"), (("--during",), "needs pytest as the command")]
)
def test_during_and_tolerate_name_what_they_need(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    found = explore(tmp_path, *words, command=("true",))
    assert (found.code, said in found.said) == (2, True), found.said
