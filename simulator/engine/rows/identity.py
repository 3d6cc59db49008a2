"""The interface through which the engine and the tools read a service's API keys, tokens and users."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from simulator.engine.rows.operation import Call, Caller, Operation
from simulator.engine.rows.token_exchange import TokenExchange
from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import World


class Key(Caller, Protocol):
    """An API key pair of the account, with its environment and status."""

    @property
    def environment(self) -> str: ...
    @property
    def status(self) -> str: ...


class User(Protocol):
    """The part of a platform user's profile that the engine and the tools need."""

    @property
    def user_id(self) -> str: ...
    @property
    def email(self) -> str: ...
    @property
    def phone_number(self) -> str: ...


@dataclass(frozen=True)
class Identity:
    """The functions with which a provider manages its keys, tokens and users."""

    caller: Callable[[World, str, str, int], Caller]
    """Returns the key pair that a token was issued for. The arguments are world, environment, token and wall-clock time
    in milliseconds. The wall-clock time is 0 unless the world has a scaled clock. Raises `ApiError` 401 if the token is
    unknown, expired, revoked or from the other environment.
    """
    check_gates: Callable[[Operation, Call], None]
    """Raises `ApiError` 403 if the caller's account or key may not make a request."""
    keys: Callable[[World], Sequence[Key]]
    """Returns the key pairs of all environments, including revoked ones. In each environment, the oldest is first."""
    tokens: Callable[[World], Sequence[str]]
    """Returns the tokens that were issued in a world."""
    credentials: Callable[[World], Mapping[str, Mapping[str, str]]]
    """Returns the `public_key` and `secret_key` to use in each environment."""
    rekey: Callable[[World], None]
    """Replaces the keys of a forked world with new ones and deletes its tokens. Called inside a transaction."""
    account: Callable[[World], User]
    """Returns the user whose account the world simulates."""
    other_users: Callable[[World], Sequence[User]]
    """Returns the other users of the platform."""
    exchange: TokenExchange | None = None
    """The request that returns tokens, or None if the secret key itself is the token."""

    def public_keys(self, world: World) -> list[str]:
        """Return the public keys of all environments, including revoked ones."""
        return [key.public_key for key in self.keys(world)]

    def directory_entries(self, world: World) -> list[str]:
        """Return all public keys and tokens of a world, by which the server finds the world of a request."""
        return [*self.public_keys(world), *self.tokens(world)]
