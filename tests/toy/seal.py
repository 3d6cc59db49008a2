"""Webhook signatures with other headers, another string to sign and other keys than the ramp's."""

from __future__ import annotations

from simulator.engine.rows.signature import Signature
from simulator.engine.rows.signing import Email, Endpoint, Signing
from simulator.engine.text.json import JsonObject, Shown
from simulator.kernel.clock import MINUTE_MS, format_timestamp
from simulator.kernel.ids import derive, text_of
from simulator.kernel.world import World

SIGNATURE = Signature(
    timestamp_header="Library-Date",
    signature_header="Library-Seal",
    signed_string=lambda stamp, raw: raw + b"@" + stamp.encode(),
    key_prefixes={"practice": "seal_practice_", "open": "seal_open_"},
    tolerance_ms=MINUTE_MS,
)


def _new_key(world: World, environment: str, rotations: int) -> str:
    return SIGNATURE.key_prefixes[environment] + text_of(derive("seal", world.keys_of, environment, rotations))


def _envelope(event_id: str, event_type: str, at_ms: int, environment: str, shown: Shown) -> JsonObject:
    moment = format_timestamp(at_ms)
    return {"id": event_id, "type": event_type, "created_at": moment, "open": environment, "data": {"object": shown}}


def _email(endpoint: Endpoint) -> Email:
    return Email("We stopped writing to you", f"{endpoint.url} did not answer.")


SIGNING = Signing(
    signature=SIGNATURE,
    new_key=_new_key,
    retry_delays_ms=lambda world: (MINUTE_MS, MINUTE_MS),
    disables=lambda world: True,
    disabled_email=_email,
    timeout_seconds=2.0,
    event_prefix="notice-",
    envelope=_envelope,
)
