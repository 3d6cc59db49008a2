"""Fault classes that need more than one failure: repeated failures, lost events, the calendar."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.exploration.suite import explore

PAYS = """
import httpx, pytest

SEND = {{"symbol": "USDC", "network": "CELO", "amount": "5", "reference": "A-1", "destination": {{"type": "address",
        "address": "0x52908400098527886E0F7030069857D2E4169EE7"}}}}

@pytest.mark.scenario("autopilot")
def test_pay(world):
    for attempt in range({attempts}):
        try:
            answer = world.client.post("/wallet/send", json=SEND, headers={{"Idempotency-Key": {key}}})
            if answer.status_code == 201:
                break
        except httpx.TransportError:
            pass
        world.advance("10m")
    world.advance("1m")
"""


def verdicts(directory: Path, fault: str, **more: object) -> dict[str, str]:
    (directory / "test_pay.py").write_text(PAYS.format(**more))
    found = explore(directory, "--faults", fault)
    return {row["site"]: row["verdict"] for row in found.report["runs"]}


def test_fails_n_finds_a_new_key_until_attempts_run_out(tmp_path: Path) -> None:
    """The order is placed by the first attempt. A third attempt under another key places it again."""
    found = verdicts(tmp_path, "fails-n", attempts=3, key='f"k-{attempt}"')
    sites = [f"POST /wallet/send #1, {n} time{'s' * (n > 1)}" for n in range(1, 7)]
    assert found == dict(zip(sites, ["doubled"] * 2 + ["survived"] * 4, strict=True))


@pytest.mark.parametrize(("attempts", "verdict"), [(3, "lost"), (8, "survived")])
def test_fails_until_given_up_ends_after_a_simulated_hour(attempts: int, verdict: str, tmp_path: Path) -> None:
    """Attempts are ten minutes apart, so the seventh is an hour after the first."""
    found = verdicts(tmp_path, "fails-until-given-up", attempts=attempts, key='"key"')
    assert found == {"POST /wallet/send #1": verdict}


FORGED = """
import hmac, pytest

@pytest.mark.scenario("autopilot")
def test_a_forged_webhook_is_refused(world, webhooks):
    async def handler(scope, receive, send):
        body = (await receive())["body"]
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        signed = headers["x-timestamp"].encode() + b"." + body
        expected = hmac.digest(world.keys.webhook_key.encode(), signed, "sha256").hex()
        genuine = hmac.compare_digest(expected, headers["x-signature"])
        await send({"type": "http.response.start", "status": 200 if genuine else 401, "headers": []})
        await send({"type": "http.response.body"})

    with webhooks.forward_to(handler):
        world.fault("webhook-forged")
        world.flow("onramp")
        assert {delivery.status for delivery in webhooks.received} == {401}
"""


def test_a_fault_that_stays_after_the_test_is_not_the_tests_own(tmp_path: Path) -> None:
    """A test's own fault ends with the test. Otherwise an application that refuses forgeries would be disabled."""
    (tmp_path / "test_forged.py").write_text(FORGED)
    found = explore(tmp_path, "--faults", "webhook-lost-for-good")
    assert found.report["runs"], "nothing was played"
    assert {row["verdict"] for row in found.report["runs"]} == {"survived", "failed-loudly"}


DATES = """
import pytest

SEND = {"symbol": "USDC", "network": "CELO", "amount": "5", "reference": "A-1", "destination": {"type": "address",
        "address": "0x52908400098527886E0F7030069857D2E4169EE7"}}
days = []

@pytest.mark.scenario("autopilot")
def test_pay(world):
    days[:] = [world.now.date()]
    world.client.post("/wallet/send", json=SEND, headers={"Idempotency-Key": "k"}).raise_for_status()
    with open("starts", "a") as file:
        print(world.now.isoformat(), file=file)
    world.advance("1m")
    days.append(world.now.date())

def books(item):
    return [("A-1", "completed", "4.99" if days[0] == days[1] else "0", "USDC")]
"""


def test_starts_at_finds_code_that_reads_only_orders_of_today(tmp_path: Path) -> None:
    (tmp_path / "test_pay.py").write_text(DATES)
    (tmp_path / "conftest.py").write_text("from test_pay import books as pytest_rampsim_books\n")
    found = explore(tmp_path, "--faults", "starts-at")
    assert {row["site"]: row["verdict"] for row in found.report["runs"]} == {
        "start #1, before midnight UTC": "lost",
        "start #1, on the 31st": "survived",
        "start #1, before a clock change": "survived",
    }, found.said
    starts = {line[:16] for line in (tmp_path / "starts").read_text().splitlines()}
    assert starts == {"2026-01-05T08:00", "2026-01-05T23:59", "2026-01-31T08:00", "2026-03-29T00:59"}
