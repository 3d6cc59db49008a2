"""The request with which a client exchanges a key pair for an access token."""

from __future__ import annotations

from collections.abc import Mapping

from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True)
class TokenExchange:
    """The POST request that returns a token for a key pair. Without it, the secret key itself is the token."""

    path: str
    """The path below the base URL of an environment."""
    token_field: str
    """The field of the response that contains the token."""

    @property
    def operation(self) -> str:
        """The method and path of the request."""
        return f"POST {self.path}"

    def body(self, keys: Mapping[str, str]) -> dict[str, str]:
        """Return the request body for a key pair."""
        return {"public_key": keys["public_key"], "secret_key": keys["secret_key"]}

    def token_in(self, answer: object) -> str | None:
        """Return the token in a parsed response body, or None if there is none."""
        token = answer.get(self.token_field) if isinstance(answer, dict) else None
        return token if isinstance(token, str) else None
