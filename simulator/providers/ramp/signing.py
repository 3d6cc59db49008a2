"""Webhook delivery: keys, retry delays and event envelopes (sections "Webhooks" and "Events"; decisions W1, W5, W8)."""

from __future__ import annotations

from simulator.engine.clients.guard import with_checksum
from simulator.engine.rows.signing import Email, Endpoint, Signing
from simulator.engine.text.json import JsonObject, Shown
from simulator.engine.worlds.settings import assumes
from simulator.kernel.clock import HOUR_MS, MINUTE_MS, format_timestamp
from simulator.kernel.ids import derive, text_of
from simulator.kernel.world import DEFAULT_WORLD, World
from simulator.providers.ramp.key_forms import SIGNATURE, WELL_KNOWN, prefix

RETRY_DELAYS_MS = (MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 6 * HOUR_MS, *(5 * (12 * HOUR_MS,)))
"""The delays after failed attempts. If the last attempt fails, the endpoint is disabled (decision W5: 11 attempts)."""
_RETRIES_OF_A_DAY = 6
_KEY_LENGTH = 32


def _new_key(world: World, environment: str, rotations: int) -> str:
    """Return an environment's webhook key after `rotations`, derived from the world's id and seed (decision W1)."""
    beginning = prefix("whk", environment)
    if world.keys_of == DEFAULT_WORLD and not rotations:
        return beginning + WELL_KNOWN
    raw = derive("webhook_key", world.keys_of, world.seed, environment, rotations)
    return beginning + with_checksum(text_of(raw, _KEY_LENGTH))


def _retry_delays_ms(world: World) -> tuple[int, ...]:
    return RETRY_DELAYS_MS[:_RETRIES_OF_A_DAY] if assumes(world, "W5", "gives_up_after_a_day") else RETRY_DELAYS_MS


def _disables(world: World) -> bool:
    return not assumes(world, "W5", "endpoints_stay_enabled")


def _disabled_email(endpoint: Endpoint) -> Email:
    return Email(
        "Your webhook endpoint was disabled",
        f"The webhook endpoint {endpoint.id} ({endpoint.url}, {endpoint.environment}) did not return 2xx for three "
        "days and was disabled. It no longer receives events. Once your receiver works again, enable it with "
        f'PATCH /webhooks/{endpoint.id} {{"status": "enabled"}}.',
    )


def _envelope(event_id: str, event_type: str, at_ms: int, environment: str, shown: Shown) -> JsonObject:
    return {
        "id": event_id,
        "type": event_type,
        "created_at": format_timestamp(at_ms),
        "livemode": environment == "production",
        "data": {"object": shown},
    }


SIGNING = Signing(
    signature=SIGNATURE,
    new_key=_new_key,
    retry_delays_ms=_retry_delays_ms,
    disables=_disables,
    disabled_email=_disabled_email,
    timeout_seconds=10.0,
    event_prefix="evt_",
    envelope=_envelope,
)
