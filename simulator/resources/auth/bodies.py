"""The body of the token exchange and the parameters of the key actions."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from simulator.wire.fields import Body, Name, Text


class TokenBody(Body):
    public_key: Annotated[str, Field(description="Starts with pk_test_ or pk_live_.")]
    secret_key: Annotated[str, Field(description="Starts with sk_test_ or sk_live_.")]


class NewKey(Body):
    label: Name | None = None
    permissions: list[str] | None = None


class RevokedKey(Body):
    public_key: Text
