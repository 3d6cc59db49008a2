"""The world object of the control interface: its shape, and how a world is rendered to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from typing_extensions import TypeAliasType, TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.time.clock import ClockState, show_clock
from simulator.engine.control.worlds.set_aside import UnreadableWorld
from simulator.engine.rows.vocabulary import identity_of, vocabulary_of
from simulator.engine.text.enums import ENVIRONMENT
from simulator.engine.text.shapes import Count, Format, PerEnvironment, Timestamp
from simulator.engine.webhooks import webhook_key
from simulator.engine.worlds.settings import AllSettings, all_settings
from simulator.engine.worlds.simulator import Simulator
from simulator.kernel.clock import format_timestamp
from simulator.kernel.world import World


class KeySet(TypedDict):
    public_key: str
    """Identifies the key pair; send it to POST /auth/token."""
    secret_key: str
    """The secret of the pair, for POST /auth/token only."""
    webhook_key: str
    """The key that webhooks are signed with."""
    base_url: Annotated[str, Format("uri")]
    """Where the interface of this environment begins."""


CredentialSet = TypeAliasType(
    "CredentialSet", Annotated[Mapping[str, KeySet], PerEnvironment(f"The keys of {ENVIRONMENT}.")]
)


class PlatformUserEntry(TypedDict):
    user_id: str
    """The user's id, as a destination names it."""
    email: str
    """The user's e-mail address."""
    phone_number: str
    """The user's phone number."""


class WorldObject(TypedDict):
    id: str
    """Names the world, in the header X-Simulator-World."""
    seed: Count
    """The seed that all its ids, addresses and chances come from."""
    clock: ClockState
    """Its clock."""
    credentials: CredentialSet
    """Its keys, by environment."""
    platform_users: list[PlatformUserEntry]
    """Other users of the service who can be sent money."""
    scenarios: list[str]
    """The active scenarios, by name; later ones win."""
    settings: AllSettings
    """Its settings."""
    created_at: Timestamp
    """The simulated time at which it began."""


class WorldList(TypedDict):
    data: list[WorldObject]
    """The worlds, oldest first."""
    unreadable: list[UnreadableWorld]
    """Worlds of the store that this version cannot read. Their calls are answered 503 until they are ended."""


def show_world(call: ControlCall, world: World) -> WorldObject:
    """The world object of the control interface."""
    return world_object(call.simulator, call.origin, world)


def world_object(simulator: Simulator, origin: str, world: World) -> WorldObject:
    """Return the world object; `origin` is the address of the server."""
    return {
        "id": world.id,
        "seed": world.seed,
        "clock": show_clock(world),
        "credentials": {name: _key_set(origin, world, name) for name in world.environments},
        "platform_users": [
            {"user_id": user.user_id, "email": user.email, "phone_number": user.phone_number}
            for user in identity_of(world).other_users(world)
        ],
        "scenarios": simulator.engine.active(world),
        "settings": all_settings(world),
        "created_at": format_timestamp(world.started_at_ms),
    }


def _key_set(origin: str, world: World, environment: str) -> KeySet:
    pair = identity_of(world).credentials(world)[environment]
    return {
        "public_key": pair["public_key"],
        "secret_key": pair["secret_key"],
        "webhook_key": webhook_key(world, environment),
        "base_url": origin + vocabulary_of(world).provider.environments[environment],
    }
