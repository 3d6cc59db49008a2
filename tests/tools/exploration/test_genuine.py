"""Deliveries count as forged or stale by what was done to them when they were sent, whatever has changed since."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.exploration.suite import explore

pytestmark = pytest.mark.farm

SUITE = """
import hashlib, hmac, time
import pytest

def make(world, name):
    world.client.post("/beneficiaries", headers={"Idempotency-Key": name}, json={"type": "phone_number",
        "name": name, "country": "KE", "fiat_currency": "KES",
        "phone_number": {"phone_number": "+254722000000", "provider": "mpesa"}}).raise_for_status()
    world.settle()

def test_events(world, webhooks):
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


@pytest.mark.parametrize("begin", ["with world.freeze():", "if True:"], ids=["frozen", "wall"])
def test_a_right_verifier_has_no_findings(begin: str, tmp_path: Path) -> None:
    (tmp_path / "test_events.py").write_text(SUITE % {"begin": begin, "looks": False})
    found = explore(tmp_path, *FAULTS)
    assert (found.code, found.findings) == (0, set()), found.said
    assert found.verdicts == {"survived"}


@pytest.mark.parametrize("begin", ["with world.freeze():", "if True:"], ids=["frozen", "wall"])
def test_a_verifier_without_a_clock_is_found(begin: str, tmp_path: Path) -> None:
    (tmp_path / "test_events.py").write_text(SUITE % {"begin": begin, "looks": True})
    found = explore(tmp_path, *FAULTS)
    assert found.findings == {("webhook-stale", "forged-accepted")}, found.said
