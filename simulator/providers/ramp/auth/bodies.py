"""The request body of the token exchange, and the parameters of the key actions."""

from typing import Annotated

from pydantic import Field

from simulator.engine.text.fields import Body, Name, Text


class TokenBody(Body):
    """The key pair to exchange for a token."""

    public_key: Annotated[str, Field(description="Starts with pk_test_ or pk_live_.")]
    """The public key. It starts with `pk_test_` (sandbox) or `pk_live_` (production)."""
    secret_key: Annotated[str, Field(description="Starts with sk_test_ or sk_live_.")]
    """The secret key of the same pair. It starts with `sk_test_` or `sk_live_`. Only this request accepts it."""


class NewKey(Body):
    label: Name | None = None
    """A name for the key pair."""
    permissions: list[str] | None = None
    """The permissions of the key pair. The default is all permissions."""


class RevokedKey(Body):
    public_key: Text
    """The public key of the key pair to revoke."""
