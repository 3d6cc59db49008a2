"""The callers of a service, their rights, and other users, as far as engine and tools need them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from simulator.engine.rows.operation import Call, Caller, Operation
from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import World


class Key(Caller, Protocol):
    """A key pair of the account."""

    @property
    def environment(self) -> str: ...

    @property
    def status(self) -> str: ...


class User(Protocol):
    """A user of the platform."""

    @property
    def user_id(self) -> str: ...

    @property
    def email(self) -> str: ...

    @property
    def phone_number(self) -> str: ...


@dataclass(frozen=True)
class Identity:
    """The functions by which a provider manages its keys, tokens and users."""

    caller: Callable[[World, str, str, int], Caller]
    """Return the key pair behind a token, from world, environment, token and wall clock in milliseconds.

    Raise `ApiError` 401 if the token is unknown, expired, revoked or of the other environment. The wall clock is 0
    unless the world has a scaled clock.
    """
    check_gates: Callable[[Operation, Call], None]
    """Raise `ApiError` 403 if the account or the key of the caller may not make a call."""
    keys: Callable[[World], Sequence[Key]]
    """The key pairs of all environments, revoked ones included, oldest first in each."""
    tokens: Callable[[World], Sequence[str]]
    """Return the tokens that were issued in a world."""
    credentials: Callable[[World], Mapping[str, Mapping[str, str]]]
    """The `public_key` and `secret_key` to use in each environment."""
    rekey: Callable[[World], None]
    """Give a forked world its own keys and delete its tokens; inside a change."""
    account: Callable[[World], User]
    """The user whose account the world is."""
    other_users: Callable[[World], Sequence[User]]
    """Return the other users of the platform."""

    def public_keys(self, world: World) -> list[str]:
        """Return the public keys of all environments, including revoked ones."""
        return [key.public_key for key in self.keys(world)]

    def directory_entries(self, world: World) -> list[str]:
        """Return the public keys and tokens by which calls find the world."""
        return [*self.public_keys(world), *self.tokens(world)]
