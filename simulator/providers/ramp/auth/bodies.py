"""The request body of the token exchange, and the parameters of the actions on keys."""

from typing import Annotated

from pydantic import Field

from simulator.engine.text.fields import Body, Name, Text


class TokenBody(Body):
    """The key pair to exchange for a token."""

    public_key: Annotated[str, Field(description="Starts with pk_test_ or pk_live_.")]
    """The public key: starts with `pk_test_` (sandbox) or `pk_live_` (production)."""
    secret_key: Annotated[str, Field(description="Starts with sk_test_ or sk_live_.")]
    """The secret key of the same pair: starts with `sk_test_` or `sk_live_`. No other request takes it."""


class NewKey(Body):
    label: Name | None = None
    """A name for the key pair."""
    permissions: list[str] | None = None
    """The permissions of the key pair. By default all."""


class RevokedKey(Body):
    public_key: Text
    """The public key of the pair to revoke."""
