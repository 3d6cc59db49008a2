"""Secrets in every position of a call. None of them may appear in a recording."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from simulator.contract.files import contract_document, followed, operations_of
from simulator.evidence.corpus.known import known

_ALPHANUMERIC = string.ascii_lowercase + string.digits
_SYLLABLES = ["ba", "ko", "ndi", "sha", "thu", "mwe", "zi", "lo", "ra", "ngi", "pe", "so"]


@dataclass
class Call:
    """A request and its response with secrets in them."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes
    status: int
    answer_headers: list[tuple[str, str]]
    answer: bytes

    def request(self) -> bytes:
        return _message(f"{self.method} /v1{self.target} HTTP/1.1", [("Host", "127.0.0.1"), *self.headers], self.body)

    def response(self) -> bytes:
        return _message(f"HTTP/1.1 {self.status} Fine", self.answer_headers, self.answer)


def _message(first: str, headers: list[tuple[str, str]], body: bytes) -> bytes:
    lines = [first, *(f"{name}: {value}" for name, value in headers), f"Content-Length: {len(body)}"]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@dataclass
class Planter:
    """Draws secrets of many forms and remembers them."""

    chance: random.Random = field(default_factory=lambda: random.Random(1))
    secrets: list[str] = field(default_factory=list)

    def word(self) -> str:
        """A secret that may be a name of a field or header: letters with digits."""
        drawn = "".join(self.chance.choices(_ALPHANUMERIC, k=11))
        return self._planted(f"q{drawn}{self.chance.randrange(10)}")

    def text(self, name: str = "") -> str:
        """A secret of any form. A field with amounts gets no decimal number, because amounts are recorded."""
        forms: list[Callable[[], str]] = [
            lambda: f"{self._name()} {self._name()}",
            lambda: f"{self._name()}.{self._name()}@{self._name()}.co.ke".lower(),
            lambda: f"+25479{self.chance.randrange(10**7):07}",
            lambda: str(UUID(int=self.chance.getrandbits(128))),
            lambda: f"{self.chance.getrandbits(128):032x}",
            lambda: f"sk_live_{self.chance.getrandbits(80):020x}",
            lambda: f"qt_{''.join(self.chance.choices(_ALPHANUMERIC, k=18))}7",
            lambda: f"https://{self._name()}.example.org/{self.chance.getrandbits(40):x}".lower(),
            lambda: f"DE{self.chance.randrange(100):02} 3704 {self.chance.randrange(10**8)} {self._name()}",
            lambda: f"Ünbekannt-{self.chance.getrandbits(40):x}",
        ]
        if name not in known().numeric:
            forms.append(lambda: str(self.number()))
        return self._planted(self.chance.choice(forms)())

    def number(self) -> int:
        return int(self._planted(str(self.chance.randrange(10**11, 10**12))))

    def _name(self) -> str:
        return "".join(self.chance.choices(_SYLLABLES, k=4)).capitalize()

    def _planted(self, secret: str) -> str:
        self.secrets.append(secret)
        return secret

    def value(self, value: Any, name: str = "") -> Any:
        """Replace every string, and add fields that the contract lacks."""
        if isinstance(value, dict):
            more = {
                "foo": self.text(), self.word(): True, "bar": [self.text(), {"baz": self.text()}], "qux": self.number(),
            }  # fmt: skip
            return {**{key: self.value(one, key) for key, one in value.items()}, **more}
        if isinstance(value, list):
            return [self.value(one, name) for one in value]
        return self.text(name) if isinstance(value, str) else value

    def headers(self) -> list[tuple[str, str]]:
        return [
            ("Authorization", f"Bearer {self.word()}"), ("Cookie", f"a={self.word()}"), ("X-Trace", self.word()),
            (f"X-{self.word()}", "1"), ("User-Agent", self.word()), ("Idempotency-Key", self.word()),
            ("Content-Type", f"application/json; a={self.word()}"), ("X-Signature", self.word()),
            ("X-Api-Key", self.word()), ("X-Auth-Hint", self.word()), ("Accept", f"text/{self.word()}"),
        ]  # fmt: skip

    def answer_headers(self) -> list[tuple[str, str]]:
        return [
            ("Set-Cookie", f"a={self.word()}"), ("X-Request-Id", self.word()), ("Location", f"/{self.word()}"),
            ("Retry-After", self.word()), ("Allow", self.word()), (f"X-{self.word()}", "1"),
            ("Content-Type", "application/json"),
        ]  # fmt: skip

    def target(self, path: str) -> str:
        parts = [self.word() if part.startswith("{") else part for part in path.split("/")]
        return f"{'/'.join(parts)}?type={self.word()}&{self.word()}=1&page={self.word()}&foo={self.word()}"


def calls(planter: Planter) -> Iterator[Call]:
    """Each operation of the contract by its example, once answered and once refused, and a call of no operation."""
    document = contract_document()
    for method, path, operation in operations_of(document):
        request = followed(document, operation.get("requestBody", {}))
        status, response = next((s, r) for s, r in operation["responses"].items() if s.startswith("2"))
        error = {"code": planter.word(), "message": planter.text(), "param": planter.word(), "request_id": "req_1"}
        for code, answer in ((int(status), _example(document, response)), (400, {"error": error})):
            body = _example(document, request)
            yield Call(
                method,
                planter.target(path),
                planter.headers(),
                b"" if body is None else _json(planter.value(body)),
                code,
                planter.answer_headers(),
                b"" if answer is None else _json(answer if code == 400 else planter.value(answer)),
            )
    yield Call("GET", planter.target("/{unknown}/{path}"), planter.headers(), b"", 404, [], planter.word().encode())


def webhooks(planter: Planter) -> Iterator[bytes]:
    """A request for each type of event."""
    document = contract_document()
    for item in document["webhooks"].values():
        event = _example(document, item["post"]["requestBody"])
        body = _json({**planter.value(event), "type": event["type"]})
        yield _message("POST /inbox HTTP/1.1", [("Host", "127.0.0.1"), *planter.headers()], body)


def _example(document: dict[str, Any], part: Any) -> Any:
    content = followed(document, part).get("content", {}).get("application/json", {})
    examples = content.get("examples", {})
    return next((followed(document, one)["value"] for one in examples.values()), None)


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


def found(secrets: list[str], content: str) -> list[str]:
    """Return the secrets in a text, whatever their case."""
    lower = content.lower()
    return [one for one in secrets if one.lower() in lower or one.lower().encode("unicode_escape").decode() in lower]
