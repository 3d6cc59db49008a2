"""A delivery counts as forged or stale if it was mutated when it was sent, even if keys or clock change later."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.tools.exploration.suite import explore

pytestmark = [pytest.mark.farm, pytest.mark.xdist_group("genuine")]

SUITE = """
import hashlib, hmac, time
import pytest

def make(world, name):
    world.client.post("/beneficiaries", headers={"Idempotency-Key": name}, json={"type": "phone_number",
        "name": name, "country": "KE", "fiat_currency": "KES",
        "phone_number": {"phone_number": "+254722000000", "provider": "mpesa"}}).raise_for_status()
    world.settle()

def test_%(name)s(world, webhooks):
    keys = [world.keys.webhook_key]

    def handle(delivery):
        stamp = delivery.headers["x-timestamp"]
        signed = stamp.encode() + b"." + delivery.body
        good = {hmac.new(key.encode(), signed, hashlib.sha256).hexdigest() for key in keys}
        fresh = %(looks)s or abs(time.time() * 1000 - int(stamp)) <= 300_000
        return 200 if fresh and delivery.headers["x-signature"] in good else 401

    webhooks.respond_with(handle)
    %(begin)s
        make(world, "Wanjiru Otieno")
        make(world, "Amina Otieno")
    world.act("rotate_webhook_key")
    keys.append(world.control("GET", f"/worlds/{world.id}")["credentials"]["sandbox"]["webhook_key"])
"""
FAULTS = ("--plan", "full", "--faults", "webhook-forged,webhook-stale")
BEGINS = {"frozen": "with world.freeze():", "wall": "if True:"}
Found = Mapping[str, set[tuple[str, str]]]
"""Classes and verdicts of all runs, by the name of the test."""


def found(directory: Path, *, looks: bool) -> Found:
    """What explore finds of a verifier, with a clock that is frozen and with that of the wall."""
    suites = (SUITE % {"name": name, "begin": begin, "looks": looks} for name, begin in BEGINS.items())
    (directory / "test_events.py").write_text("".join(suites))
    rows = explore(directory, *FAULTS).report["runs"]
    return {
        name: {(row["fault"], row["verdict"]) for row in rows if row["test"].endswith(f"::test_{name}")}
        for name in BEGINS
    }


@pytest.fixture(scope="module")
def of_a_right_one(tmp_path_factory: pytest.TempPathFactory) -> Found:
    return found(tmp_path_factory.mktemp("right"), looks=False)


@pytest.fixture(scope="module")
def of_one_without_a_clock(tmp_path_factory: pytest.TempPathFactory) -> Found:
    return found(tmp_path_factory.mktemp("clockless"), looks=True)


@pytest.mark.parametrize("name", BEGINS)
def test_a_right_verifier_has_no_findings(name: str, of_a_right_one: Found) -> None:
    assert of_a_right_one[name] == {("webhook-forged", "survived"), ("webhook-stale", "survived")}


@pytest.mark.parametrize("name", BEGINS)
def test_a_verifier_without_a_clock_is_found(name: str, of_one_without_a_clock: Found) -> None:
    assert {one for one in of_one_without_a_clock[name] if one[1] != "survived"} == {
        ("webhook-stale", "forged-accepted")
    }
