"""Authentication: each environment has a card whose secret is sent with every call. There are no tokens to exchange."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simulator.engine.rows.error import ApiError
from simulator.engine.rows.identity import Identity
from simulator.engine.rows.operation import Call, Operation
from simulator.engine.rows.room import Room
from simulator.kernel.dataclass import dataclass
from simulator.kernel.ids import derive, text_of
from simulator.kernel.store import TableKey
from simulator.kernel.world import World


@dataclass(frozen=True, slots=True)
class Card:
    """A library card. Its number is public; its secret opens the interface."""

    public_key: str
    secret_key: str
    environment: str
    status: str = "active"
    permissions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reader:
    user_id: str
    email: str
    phone_number: str


CARDS = TableKey("cards", Card, per_environment=True)
READER = Reader("reader-1", "reader@example.com", "+441632960001")


def _issue(world: World) -> None:
    for environment in world.environments:
        number = text_of(derive("card", world.keys_of, environment))
        secret = text_of(derive("secret", world.keys_of, environment))
        card = Card(f"card-{number}", f"secret-{secret}", environment)
        world.store[CARDS.of(environment)].put(card.public_key, card)


def _cards(world: World) -> list[Card]:
    return [card for environment in world.environments for card in world.store[CARDS.of(environment)].values()]


def _caller(world: World, environment: str, token: str, wall_ms: int) -> Card:
    for card in world.store[CARDS.of(environment)].values():
        if card.secret_key == token:
            return card
    raise ApiError("unauthorized", "No card has this secret.")


def _rekey(world: World) -> None:
    for card in _cards(world):
        world.store[CARDS.of(card.environment)].delete(card.public_key)
    _issue(world)


def _no_gates(operation: Operation, call: Call) -> None:
    """Every reader may do everything."""


def _credentials(world: World) -> Mapping[str, Mapping[str, str]]:
    cards = _cards(world)
    return {card.environment: {"public_key": card.public_key, "secret_key": card.secret_key} for card in cards}


def _secrets(world: World) -> Sequence[str]:
    return [card.secret_key for card in _cards(world)]


IDENTITY = Identity(
    caller=_caller,
    check_gates=_no_gates,
    keys=_cards,
    tokens=_secrets,
    credentials=_credentials,
    rekey=_rekey,
    account=lambda world: READER,
    other_users=lambda world: (),
)
ROOM = Room("desk", tables=(CARDS,), setup=_issue)
