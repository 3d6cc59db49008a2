"""Calls to the service: tokens, retries, and the distinction between a refused call and an unknown result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import httpx

from tests.tools.integrators.shop.settings import Settings

Document = dict[str, Any]

TRIES = 5
SECONDS_TO_ANSWER = 5.0
WORTH_ANOTHER_TRY = (429, 500, 502, 503, 504)


class Refused(Exception):
    """The service said no, and this call has done nothing. Branch on `code`, never on the message."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code


class Unknown(Exception):
    """No answer that can be read came, however often it was tried: the work is done, or it is not."""


class Service:
    """One account at the service. May be used by several threads."""

    def __init__(self, settings: Settings, transport: httpx.BaseTransport | None = None) -> None:
        self.settings = settings
        self._http = httpx.Client(
            base_url=settings.base_url, timeout=SECONDS_TO_ANSWER, transport=transport, trust_env=False
        )
        self._token: str | None = None

    def get(self, path: str, query: Mapping[str, str | int] | None = None, *, tries: int = TRIES) -> Document:
        """A resource, or a page of a list. Refused, Unknown."""
        return self._call("GET", path, tries, params=query or {})

    def post(self, path: str, body: Mapping[str, Any], key: str) -> Document:
        """Have something done once, however often it is tried: every try carries the same `key`. Refused, Unknown."""
        return self._call("POST", path, TRIES, json=body, headers={"Idempotency-Key": key})

    def put(self, path: str, body: Mapping[str, Any]) -> Document:
        """Lay something down; doing it twice is doing it once. Refused, Unknown."""
        return self._call("PUT", path, TRIES, json=body)

    def delete(self, path: str) -> None:
        """Delete a resource. Raise Refused or Unknown."""
        self._call("DELETE", path, TRIES)

    def every(self, path: str, **query: str | int) -> Iterator[Document]:
        """Everything on a list, oldest first: what is added meanwhile comes at the end. Refused, Unknown."""
        page, pages = 1, 1
        while page <= pages:
            answer = self.get(path, {**query, "sort_order": "asc", "page": page, "size": 100})
            yield from answer["data"]
            page, pages = page + 1, answer["pagination"]["total_pages"]

    def close(self) -> None:
        self._http.close()

    def _call(self, method: str, path: str, tries: int, **parts: Any) -> Document:
        """A call with a token. One that has lapsed is renewed once: when the new one is no good, that is final."""
        token = self._token or self._renewed(None, tries)
        try:
            return self._tried(method, path, tries, token, **parts)
        except Refused as refusal:
            if refusal.status != 401:
                raise
        return self._tried(method, path, tries, self._renewed(token, tries), **parts)

    def _renewed(self, lapsed: str | None, tries: int) -> str:
        """Another token than the one that has lapsed. Threads that miss it at one moment get one each: no harm."""
        if self._token is None or self._token == lapsed:
            keys = {"public_key": self.settings.public_key, "secret_key": self.settings.secret_key}
            self._token = str(self._tried("POST", "/auth/token", tries, None, json=keys)["access_token"])
        return self._token

    def _tried(
        self,
        method: str,
        path: str,
        tries: int,
        token: str | None,
        headers: Mapping[str, str] | None = None,
        **parts: Any,
    ) -> Document:
        """The first answer that settles it. What may be cured by waiting is tried again: as it was, after a pause."""
        signed = {**(headers or {}), **({"Authorization": f"Bearer {token}"} if token else {})}
        for number in range(tries):
            pause = 2.0**number
            try:
                answer = self._http.request(method, path, headers=signed, **parts)
                document = {} if answer.status_code == 204 else dict(answer.json())
            except httpx.TransportError as error:
                trouble = str(error) or type(error).__name__
            except (ValueError, TypeError):
                trouble = f"{answer.status_code} with a body that cannot be read"
            else:
                if answer.is_success:
                    return document
                said = document.get("error", {})
                refusal = Refused(answer.status_code, said.get("code", ""), said.get("message", ""))
                if answer.status_code not in WORTH_ANOTHER_TRY:
                    raise refusal
                trouble = str(refusal)
                asked = answer.headers.get("Retry-After", "")
                pause = float(asked) if asked.isdecimal() else pause
            if number + 1 < tries:
                self.settings.sleep(pause)
        raise Unknown(f"{method} {path} has no answer after {tries} tries; the last: {trouble}")
