"""The ramp's webhook signatures and retries: chapter "Delivery and signature", decisions W1, W4 and W5."""

from __future__ import annotations

import hashlib
import hmac

from simulator.engine import webhooks
from simulator.engine.webhooks import webhook_key
from simulator.kernel.clock import MINUTE_MS
from simulator.providers.ramp.key_forms import SIGNATURE
from simulator.providers.ramp.provider import PROVIDER, ROOMS
from tests.support import find_operation, invoke, make_world
from tests.unit.engine.webhooks.support import BROKEN, deliver_all_until, probed

SIGNING = PROVIDER.signing


def test_the_signature_is_hmac_sha256_over_timestamp_dot_body() -> None:
    raw = b'{"a":1}'
    expected = hmac.new(b"whk_test_x", b"1700000000000." + raw, hashlib.sha256).hexdigest()
    sent = SIGNATURE.headers("whk_test_x", 1_700_000_000_000, raw)
    assert sent == (("X-Timestamp", "1700000000000"), ("X-Signature", expected))


def test_the_default_world_has_the_well_known_keys_and_others_have_their_own() -> None:
    """Decision W1: one key per account and environment."""
    default, other = make_world(*ROOMS), make_world(*ROOMS, world_id="ci-1")
    assert webhook_key(default, "sandbox") == "whk_test_simulator"
    assert webhook_key(default, "production") == "whk_live_simulator"
    keys = {webhook_key(other, environment) for environment in ("sandbox", "production")}
    assert {key[:9] for key in keys} == {"whk_test_", "whk_live_"}
    assert keys.isdisjoint({"whk_test_simulator", "whk_live_simulator"})
    assert keys.isdisjoint(
        {webhook_key(make_world(*ROOMS, world_id="ci-2"), environment) for environment in ("sandbox", "production")}
    )


def test_an_event_is_repeated_for_three_days_and_then_its_endpoint_is_disabled() -> None:
    """Decisions W4, W5 and W9."""
    assert SIGNING.timeout_seconds == 10
    world = make_world(*ROOMS)
    assert [delay / MINUTE_MS for delay in SIGNING.retry_delays_ms(world)] == [1, 5, 30, 120, 360, *(5 * [720])]
    body = {"url": "https://receiver.example.com/hooks", "events": ["*"]}
    endpoint = probed(world, invoke(world, find_operation(ROOMS, "POST", "/webhooks"), body))["id"]
    invoke(world, find_operation(ROOMS, "POST", "/webhooks/{id}/test"), {}, id=endpoint)
    attempts = deliver_all_until(world, world.now_ms + 5 * 24 * 60 * MINUTE_MS, BROKEN)
    assert len(attempts) == 11
    (email,) = webhooks.emails(world)
    assert email["to"] == "wanjiku@example.test"
    assert endpoint in email["body"]
