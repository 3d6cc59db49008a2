"""Control of the world under test: its clock, outside events, webhook receivers and other keys."""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from urllib.parse import urljoin, urlsplit

from simulator.conformance.service import parsed
from simulator.engine.clients.address import inbox_path
from simulator.engine.clients.control import CallRefused, ControlClient, Unreachable, segment
from simulator.engine.text.json import Shown

INBOX = "conform-laws"


class Delivery:
    """One webhook request that was received."""

    def __init__(self, headers: Mapping[str, str], raw: str) -> None:
        self.headers = {name.lower(): value for name, value in headers.items()}
        self.raw = raw
        self.event: Shown = parsed(raw.encode())

    @property
    def type(self) -> str:
        return str(self.event.get("type"))

    @property
    def id(self) -> str:
        return str(self.event.get("id"))

    @property
    def object(self) -> Shown:
        data = self.event.get("data")
        found = data.get("object") if isinstance(data, Mapping) else None
        return found if isinstance(found, Mapping) else {}

    def signed_with(self, key: str) -> bool:
        """Return True if the request was signed with this webhook key."""
        text = f"{self.headers.get('x-timestamp', '')}.{self.raw}"
        due = hmac.new(key.encode(), text.encode(), "sha256").hexdigest()
        return hmac.compare_digest(due, self.headers.get("x-signature", ""))


class ControlledWorld:
    """The world that the key pair under test belongs to."""

    def __init__(self, url: str, world: Shown, token: str | None = None) -> None:
        self.url, self.shown, self._token = url, world, token
        self.control = ControlClient(url, str(world["id"]), token=token)
        self.environment, self.other_environment = world["credentials"]
        """The environment under test, and the account's other environment."""

    @property
    def webhook_key(self) -> str:
        return str(self.shown["credentials"][self.environment]["webhook_key"])

    @property
    def other_keys(self) -> dict[str, str]:
        pair = self.shown["credentials"][self.other_environment]
        return {name: pair[name] for name in ("public_key", "secret_key")}

    def other_base(self, base_url: str) -> str:
        """Return the base URL for the other environment on the same origin."""
        own: str = self.shown["credentials"][self.other_environment]["base_url"]
        return urljoin(base_url, urlsplit(own).path)

    def advance(self, by: str) -> None:
        self.control.post("/clock/advance", {"by": by})

    def advance_to(self, moment: datetime | str) -> None:
        at = moment if isinstance(moment, str) else moment.isoformat().replace("+00:00", "Z")
        self.control.post("/clock/advance", {"to": at})

    def act(self, action: str, target: str | None = None, **parameters: object) -> Shown:
        """Perform an action, and return its result. `resource` in the result is the target after the action."""
        given = {"target": target} if target else {}
        answer: Shown = self.control.post(f"/actions/{action}", {**given, **parameters})
        return answer

    def next_midnight(self) -> datetime:
        """Return the next midnight in UTC according to the world's clock."""
        now = datetime.fromisoformat(self.control.get("/clock")["now"])
        return now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)

    def settle(self) -> None:
        self.control.post("/settle")

    def inbox(self, name: str = INBOX) -> str:
        """Return the URL of a receiver that returns 200, or the statuses set with `inbox_answers`."""
        return f"{self.url}{inbox_path(str(self.shown['id']), name)}"

    def received(self, name: str) -> list[Delivery]:
        """Return the deliveries to a receiver, oldest first."""
        self.settle()
        rows: list[Shown] = self.control.get(f"/inbox/{segment(name)}", limit=1000)["data"]
        return [Delivery(row["headers"], row["body"]) for row in rows]

    def inbox_answers(self, name: str, *statuses: int) -> None:
        """Set the next statuses that a receiver returns. The last status is repeated."""
        self.control.put(f"/inbox/{segment(name)}", {"respond": [*statuses]})

    @contextmanager
    def settings(self, **changed: object) -> Iterator[None]:
        """Change the world's settings for the duration of the block."""
        before = self.control.get("/settings")
        self.control.call("PATCH", "/settings", changed)
        try:
            yield
        finally:
            self.control.call("PATCH", "/settings", {name: before[name] for name in changed})


@contextmanager
def controlled_world(url: str | None, public_key: str, token: str | None = None) -> Iterator[ControlledWorld | None]:
    """Yield the world of a key pair, or None if there is none. Its scenarios are inactive until the block ends."""
    found: Shown | None = None
    if url is not None:
        client = ControlClient(url, token=token, timeout_seconds=10)
        with suppress(CallRefused, Unreachable, LookupError, TypeError):
            client.get("/health")
            found = next((row for row in client.get("/worlds")["data"] if _has(row, public_key)), None)
    if url is None or found is None:
        yield None
        return
    world = ControlledWorld(url.rstrip("/"), found, token)
    world.control.put("/scenarios/active", {"names": []})
    try:
        yield world
    finally:
        world.control.put("/scenarios/active", {"names": found["scenarios"]})


def _has(world: Shown, public_key: str) -> bool:
    credentials = world.get("credentials")  # absent in a saved world that cannot be read
    return credentials is not None and next(iter(credentials.values()))["public_key"] == public_key
