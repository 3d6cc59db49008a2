"""A read-only view of a world: its identity, its time, and what happened in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from simulator.testing.books import Ledger, available, ledger_of
from simulator.testing.errors import hides_traceback
from simulator.testing.given import Target, id_of
from simulator.testing.links.clients import Keys
from simulator.testing.links.link import Link

if TYPE_CHECKING:
    from simulator.engine.control.history.requests import JournalEntryShape
    from simulator.engine.control.objects.inspection_shapes import ResourceStory
    from simulator.engine.control.shapes import Envelope
    from simulator.engine.control.worlds.world_object import WorldObject
    from simulator.engine.insight.shapes import Finding
    from simulator.engine.webhooks import shapes as webhooks

__tracebackhide__ = hides_traceback


class SeenWorld:
    """The read-only attributes of a world. `World` adds the methods that change the world."""

    def __init__(self, link: Link, info: WorldObject) -> None:
        self.link = link
        self.info: WorldObject = info
        """The world as the control API returned it when the world was created or last restored."""
        self.on_advance: list[Callable[[datetime], None]] = []
        """Called with the new simulated time after a test advances the clock."""
        self.on_delivery: list[Callable[[datetime], None]] = []
        """Called in a receiver's thread with the simulated time, before it handles a delivery."""
        self.patience_seconds: float | None = None
        """The time limit for control requests in seconds, or None for no limit."""

    # Identity

    @property
    def id(self) -> str:
        return self.info["id"]

    @property
    def seed(self) -> int:
        return self.info["seed"]

    @property
    def url(self) -> str:
        """The origin of the world's server."""
        return self.link.url

    @property
    def dashboard_url(self) -> str:
        """The URL of the world's dashboard."""
        return f"{self.link.url}/_simulator/dashboard?world={quote(self.id)}"

    @property
    def keys(self) -> Keys:
        """The credentials for the sandbox: `.public_key`, `.secret_key`, `.webhook_key`."""
        return Keys(**next(iter(self.info["credentials"].values())))

    @property
    def production_keys(self) -> Keys:
        return Keys(**self.info["credentials"]["production"])

    @property
    def base_url(self) -> str:
        """The base URL of the API for the sandbox: `http://HOST:PORT/v1`."""
        return self.keys.base_url

    @property
    def production_url(self) -> str:
        """The base URL of the API for the simulated production environment."""
        return self.production_keys.base_url

    # Time and history

    @property
    def now(self) -> datetime:
        """The simulated time as an aware datetime in UTC."""
        return datetime.fromisoformat(self.control("GET", "/clock")["now"])

    def events(self, type: str | None = None, object_id: Target | None = None, **filters: object) -> list[Envelope]:
        """Return the envelopes of all events, even without a subscriber, oldest first. Filters: type, resource."""
        about = None if object_id is None else id_of(object_id)
        found: list[Envelope] = self._list("/events", {"type": type, "object_id": about, **filters})
        return found

    def deliveries(self, **filters: object) -> list[webhooks.RecordedDelivery]:
        """Return every delivery attempt, oldest first. Filters: `event_id`, `endpoint_id`, `status`, `limit`."""
        found: list[webhooks.RecordedDelivery] = self._list("/deliveries", filters)
        return found

    def requests(self, **filters: object) -> list[JournalEntryShape]:
        """Return the API requests, oldest first, with secrets masked. Filters: `method`, `path` (a glob), `status`,
        `limit`.
        """
        found: list[JournalEntryShape] = self._list("/requests", filters)
        return found

    def advice(self, **filters: object) -> list[Finding]:
        """Return findings about the API requests, the latest last. Filters: `severity`, `kind`, `limit`."""
        found: list[Finding] = self._list("/advice", filters)
        return found

    def resource(self, id: Target) -> ResourceStory:
        """Return `resource`, `state`, `history` (transitions and causes), `allowed` (actions) and more about a
        resource.
        """
        story: ResourceStory = self.control("GET", f"/resources/{quote(id_of(id), safe='')}")
        return story

    def ledger(self, environment: str | None = None) -> Ledger:
        """Return the account's ledger: `accounts` (sums) and `entries`, with Decimal amounts."""
        return ledger_of(self.control("GET", "/ledger", environment=environment))

    def balance(self, symbol: str, network: str | None = None, environment: str | None = None) -> Decimal:
        """Return the available balance: `world.balance("USDC", "CELO")`. Raises SimulatorError for an unknown asset."""
        sums = ledger_of(self.control("GET", "/ledger", query={"entries": 0}, environment=environment))
        return available(sums, symbol, network)

    # The control interface

    def control(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | bytes | None = None,
        *,
        query: Mapping[str, object] | None = None,
        environment: str | None = None,
    ) -> Any:
        """Send any control request for which this class has no method: `world.control("GET", "/emails")`. `path` is
        relative to /_simulator. Returns the parsed response, or None.
        """
        headers = None if environment is None else {"X-Simulator-Environment": environment}
        return self.link.control(
            method, path, body, world=self.id, query=query, headers=headers, timeout_seconds=self.patience_seconds
        )

    def _list(self, path: str, query: Mapping[str, object]) -> Any:
        return self.control("GET", path, query=query)["data"]
