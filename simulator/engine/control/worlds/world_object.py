"""The world object: its type and rendering."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, NotRequired

from typing_extensions import TypeAliasType, TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.time.clock import ClockState, show_clock
from simulator.engine.control.worlds.set_aside import UnreadableWorld
from simulator.engine.text.shapes import ENVIRONMENT, Count, Format, PerEnvironment, Timestamp
from simulator.engine.vocabulary.vocabulary import identity_of, vocabulary_of
from simulator.engine.webhooks import webhook_key
from simulator.engine.worlds.observations import Observed
from simulator.engine.worlds.settings import AllSettings, all_settings
from simulator.engine.worlds.simulator import Simulator
from simulator.kernel.clock import format_timestamp
from simulator.kernel.world import World


class KeySet(TypedDict):
    public_key: str
    """The public key of the pair, for POST /auth/token."""
    secret_key: str
    """The secret key of the pair, for POST /auth/token only."""
    webhook_key: str
    """The key that webhooks are signed with."""
    base_url: Annotated[str, Format("uri")]
    """The base URL of the API in this environment."""


CredentialSet = TypeAliasType(
    "CredentialSet", Annotated[Mapping[str, KeySet], PerEnvironment(f"The keys of {ENVIRONMENT}.")]
)


class PlatformUserEntry(TypedDict):
    user_id: str
    """The user's id, for transfers."""
    email: str
    """The user's e-mail address."""
    phone_number: str
    """The user's phone number."""


class ObservedSource(TypedDict):
    name: str
    """The name of the observed service."""
    environment: str
    """The environment of the service, such as `sandbox`."""
    observed_at: Annotated[str, Format("date")]
    """The date of the observation."""


class WorldObject(TypedDict):
    id: str
    """The id of the world, for the header X-Simulator-World."""
    seed: Count
    """The seed for its ids, addresses and random decisions."""
    clock: ClockState
    """The clock."""
    credentials: CredentialSet
    """The keys, by environment."""
    platform_users: list[PlatformUserEntry]
    """Other users of the service, who can receive transfers."""
    scenarios: list[str]
    """The names of the active scenarios. Later ones take precedence."""
    settings: AllSettings
    """The settings."""
    observed: NotRequired[list[ObservedSource]]
    """The observed files (files of observations that `probe` or `infer` writes) that the world is based on. Absent
    without such a file.
    """
    created_at: Timestamp
    """The simulated time at which the world was created."""


class WorldList(TypedDict):
    data: list[WorldObject]
    """The worlds, oldest first."""
    unreadable: list[UnreadableWorld]
    """Saved worlds that this version cannot read. Calls to these worlds return 503 until the worlds are deleted."""


def show_world(call: ControlCall, world: World) -> WorldObject:
    """Return the world object for the response to a control call."""
    return world_object(call.simulator, call.origin, world)


def world_object(simulator: Simulator, origin: str, world: World) -> WorldObject:
    """Return the world object. The URLs in the object start with `origin`, the address of the server."""
    files = observed_by(simulator, world)
    shown: WorldObject = {
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
    if files:
        shown["observed"] = [_source(one) for one in files]
    return shown


def observed_by(simulator: Simulator, world: World) -> tuple[Observed, ...]:
    """Return the files with observations of the real service (`observed`) on which a world is based."""
    blueprint = simulator.blueprints.get(world.id)
    return () if blueprint is None else blueprint.observed


def _source(file: Observed) -> ObservedSource:
    name, environment = (str(file.target.get(key, "")) for key in ("name", "environment"))
    return {"name": name, "environment": environment, "observed_at": file.date}


def _key_set(origin: str, world: World, environment: str) -> KeySet:
    pair = identity_of(world).credentials(world)[environment]
    return {
        "public_key": pair["public_key"],
        "secret_key": pair["secret_key"],
        "webhook_key": webhook_key(world, environment),
        "base_url": origin + vocabulary_of(world).provider.environments[environment],
    }
