"""Calls of the ramp: one attempt each, because the queue makes the next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import httpx

Document = dict[str, Any]
WORTH_ANOTHER_TRY = (429, 500, 502, 503, 504)


class Refused(Exception):
    """The API refused the call for good. `code` is its error code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


class Unclear(Exception):
    """The outcome of the call is unknown, or the API asks for another attempt."""


class Expired(Unclear):
    """The token is no longer valid."""


class Ramp:
    """One account at the API."""

    def __init__(self, base_url: str, public_key: str, secret_key: str, transport: httpx.BaseTransport) -> None:
        self._keys = {"public_key": public_key, "secret_key": secret_key}
        self._http = httpx.Client(base_url=base_url, timeout=5, transport=transport)
        self._token: str | None = None

    def close(self) -> None:
        self._http.close()

    def get(self, path: str, **query: str | int) -> Document:
        return self._call("GET", path, params=query)

    def post(self, path: str, body: Mapping[str, Any], key: str | None = None) -> Document:
        return self._call("POST", path, json=body, headers={"Idempotency-Key": key} if key else {})

    def transactions(self, **query: str | int) -> Iterator[Document]:
        """All transactions that match, the oldest first."""
        page, pages = 1, 1
        while page <= pages:
            listing = self.get("/transactions", **query, sort_order="asc", page=page)
            yield from listing["data"]
            page, pages = page + 1, listing["pagination"]["total_pages"]

    def _call(self, method: str, path: str, **parts: Any) -> Document:
        """A call with a token. A token that has expired is renewed once."""
        headers = parts.pop("headers", {})
        for last in (False, True):
            if self._token is None:
                self._token = self._send("POST", "/auth/token", json=self._keys)["access_token"]
            try:
                return self._send(method, path, headers={**headers, "Authorization": f"Bearer {self._token}"}, **parts)
            except Expired:
                self._token = None
                if last:
                    raise
        raise AssertionError

    def _send(self, method: str, path: str, **parts: Any) -> Document:
        """The JSON of a 2xx response. Raise `Refused` or `Unclear`."""
        try:
            answer = self._http.request(method, path, **parts)
            document = self.decoded(answer)
        except httpx.TransportError as trouble:
            raise Unclear(f"{method} {path}: {trouble!r}") from None
        if answer.is_success:
            return document
        error = document.get("error") or {}
        if answer.status_code == 401:
            raise Expired(f"{method} {path}: 401 {error.get('code')}")
        if answer.status_code in WORTH_ANOTHER_TRY:
            raise Unclear(f"{method} {path}: {answer.status_code} {error.get('code')}")
        raise Refused(error.get("code", ""), error.get("message", ""))

    def decoded(self, answer: httpx.Response) -> Document:
        """The body as an object. Raise `Unclear` for anything else."""
        try:
            return dict(answer.json())
        except (ValueError, TypeError):
            raise Unclear(f"{answer.status_code} with a body that is not JSON") from None
