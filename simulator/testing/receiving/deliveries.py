"""Webhook deliveries that a receiver gets, and the check that they are genuine."""

from __future__ import annotations

import json
import time
from datetime import datetime
from pathlib import Path
from threading import Event
from traceback import extract_tb
from typing import TYPE_CHECKING, Any

from simulator.engine.text.json import JsonObject
from simulator.service import SIGNATURE
from simulator.testing.links.extra import httpx
from simulator.testing.links.loop_thread import in_thread

if TYPE_CHECKING:
    from simulator.testing.worlds import World


class Delivery(dict[str, Any]):
    """One webhook request. Indexing reads the event: `delivery["data"]["object"]`.

    `event` is the envelope, or {} if the body is not an envelope. `headers` are case-insensitive. `body` is the raw
    bytes. `genuine`: True if the signature is the world's and the timestamp is within five minutes of the current time,
    which is simulated or real as the setting `webhook_timestamp` says. `status` is the status of the response, or None
    if there is none. `error` is the exception that the application or function raised for this delivery.
    """

    def __init__(self, headers: httpx.Headers, body: bytes, *, genuine: bool) -> None:
        super().__init__(envelope_of(body))
        self.headers = headers
        self.body = body
        self.genuine = genuine
        self.status: int | None = None
        self.error: BaseException | None = None
        self.handled = Event()

    def finish(self, status: int | None) -> None:
        """Record the status of the response, or None if the connection was cut."""
        self.status = status
        self.handled.set()

    @property
    def event(self) -> JsonObject:
        return dict(self)

    def fits(self, type: str | None, object_id: str | None) -> bool:
        """Return True if a delivery has this type and resource. None matches every value."""
        return (type is None or self.get("type") == type) and (object_id is None or _object_id(self) == object_id)

    def __str__(self) -> str:
        answer = "not answered yet" if self.status is None else f"answered {self.status}"
        if self.status is None and self.handled.is_set():
            answer = "cut off"
        if self.error is not None:
            answer += f" ({type(self.error).__name__}: {self.error})"
        about = f" of {_object_id(self)}" if _object_id(self) else ""
        return f"{self.get('type', 'no event')}{about}, {answer}{'' if self.genuine else ', not genuine'}"


class Judge:
    """Checks a request's signature with the world's webhook key, and its timestamp against real or simulated time. A
    check that fails is repeated with the current key, settings and time, because the key may have been rotated.
    """

    def __init__(self, world: World, environment: str) -> None:
        self._world = world
        self._environment = environment
        self._key = ""
        self._is_simulated = False
        self._now_ms = 0

    async def is_genuine(self, headers: httpx.Headers, body: bytes) -> bool:
        if self._key and not self._is_simulated and self._holds(headers, body):
            return True
        await in_thread(self._ask)
        return self._holds(headers, body)

    def _ask(self) -> None:
        info = self._world.link.control("GET", f"/worlds/{self._world.id}")
        self._key = info["credentials"][self._environment]["webhook_key"]
        self._is_simulated = info["settings"]["webhook_timestamp"] == "simulated"
        self._now_ms = round(datetime.fromisoformat(info["clock"]["now"]).timestamp() * 1000)

    def _holds(self, headers: httpx.Headers, body: bytes) -> bool:
        now_ms = self._now_ms if self._is_simulated else time.time_ns() // 1_000_000
        return not SIGNATURE.problem(headers, body, (self._key,), now_ms)


def envelope_of(body: bytes) -> JsonObject:
    try:
        envelope = json.loads(body)
    except ValueError:
        return {}
    return envelope if isinstance(envelope, dict) else {}


def what_raised(error: BaseException) -> str:
    """Describe a handler's error with the last line of code that is not in a library."""
    frames = extract_tb(error.__traceback__)
    own = [one for one in frames if "site-packages" not in one.filename] or frames
    place = "".join(f" ({Path(one.filename).name}:{one.lineno}, in {one.name})" for one in own[-1:])
    return f"{type(error).__name__}: {error}{place}"


def _object_id(envelope: JsonObject) -> str | None:
    try:
        found = envelope["data"]["object"]["id"]
    except (KeyError, TypeError):
        return None
    return found if isinstance(found, str) else None
