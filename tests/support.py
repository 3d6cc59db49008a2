"""Helpers for tests on the ramp: a world with some of its rooms, and request bodies. `calls` has helpers for any
service.
"""

from __future__ import annotations

import dataclasses

from simulator.engine.rows.provider import Provider
from simulator.engine.rows.room import Room
from simulator.kernel.world import World
from simulator.providers.ramp.provider import PROVIDER
from tests.calls import START as START
from tests.calls import act as act
from tests.calls import advance as advance
from tests.calls import event_types as event_types
from tests.calls import eventually as eventually
from tests.calls import find_operation as find_operation
from tests.calls import invoke as invoke
from tests.calls import untraced as untraced
from tests.calls import whole as whole
from tests.calls import world_of as world_of

KEYS = {"public_key": "pk_test_simulator", "secret_key": "sk_test_simulator"}
"""The sandbox key pair of the world `default`."""

CELO = "0x52908400098527886E0F7030069857D2E4169EE7"
STELLAR = "GAAZI4TCR3TY5OJHCTJC2A4QSY6CJWJH5IAJTGKIN2ER7LBNVKOCCWN7"
"""Addresses of somebody outside."""

UNUSUAL_PHONES = (
    "+254 712 000 111",
    "+254-712-000-111",
    "+254(712)000111",
    " +254712000111",
    "+254712000111 ",
    "254712000111",
)
"""The phone number of the user Amina, not written as + and digits only (decision R4)."""

QUOTE = {
    "type": "onramp",
    "network": "celo",
    "asset": "USDC",
    "fiat_currency": "KES",
    "amount": "5000",
    "amount_currency": "KES",
    "method": "mobile_money",
}
"""The body of a quote that nothing is wrong with."""

BENEFICIARY = {
    "type": "phone_number",
    "name": "Wanjiru Otieno",
    "country": "KE",
    "fiat_currency": "KES",
    "phone_number": {"phone_number": "+254722000000", "provider": "mpesa"},
}
"""The body of a beneficiary that nothing is wrong with."""


ENVIRONMENTS = ("sandbox", "production")


def ramp_with(*rooms: Room) -> Provider:
    """The ramp, with further rooms."""
    return dataclasses.replace(PROVIDER, rooms=(*PROVIDER.rooms, *rooms))


def make_world(*rooms: Room, seed: int = 1, now: str = START, world_id: str = "default") -> World:
    """A world of the ramp with a manual clock that knows exactly these rooms."""
    return world_of(dataclasses.replace(PROVIDER, rooms=rooms), seed=seed, now=now, world_id=world_id)
