"""A world as a test looks at it: who it is, what time it is there, and what happened."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from simulator.testing.books import Ledger, available, ledger_of
from simulator.testing.errors import is_told
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

__tracebackhide__ = is_told


class SeenWorld:
    """What can be read of a world; `World` is one that a test does things in."""

    def __init__(self, link: Link, info: WorldObject) -> None:
        self.link = link
        self.info: WorldObject = info
        """The world object of the control interface, as it was when the world was made or last put back."""
        self.on_advance: list[Callable[[datetime], None]] = []
        """Called with the new simulated time whenever a test has moved it."""
        self.on_delivery: list[Callable[[datetime], None]] = []
        """Called with the simulated time before a receiver of the test handles a delivery; from its thread."""
        self.patience_seconds: float | None = None
        """How long its control calls may take; None: as long as the server works."""

    # Who it is

    @property
    def id(self) -> str:
        return self.info["id"]

    @property
    def seed(self) -> int:
        return self.info["seed"]

    @property
    def url(self) -> str:
        """The origin of its server."""
        return self.link.url

    @property
    def dashboard_url(self) -> str:
        """Where a person looks at it."""
        return f"{self.link.url}/_simulator/dashboard?world={quote(self.id)}"

    @property
    def keys(self) -> Keys:
        """Of the sandbox: `.public_key`, `.secret_key`, `.webhook_key`."""
        return Keys(**next(iter(self.info["credentials"].values())))

    @property
    def production_keys(self) -> Keys:
        return Keys(**self.info["credentials"]["production"])

    @property
    def base_url(self) -> str:
        """Where the interface begins, in the sandbox: `http://HOST:PORT/v1`."""
        return self.keys.base_url

    @property
    def production_url(self) -> str:
        """Where the simulated production begins."""
        return self.production_keys.base_url

    # What time it is, and what happened

    @property
    def now(self) -> datetime:
        """The simulated time, aware, UTC."""
        return datetime.fromisoformat(self.control("GET", "/clock")["now"])

    def events(self, type: str | None = None, object_id: Target | None = None, **filters: object) -> list[Envelope]:
        """The envelopes of all events, oldest first, subscribed or not; of a type, about a resource."""
        about = None if object_id is None else id_of(object_id)
        found: list[Envelope] = self._list("/events", {"type": type, "object_id": about, **filters})
        return found

    def deliveries(self, **filters: object) -> list[webhooks.RecordedDelivery]:
        """Every attempt to deliver an event, oldest first: `event_id`, `endpoint_id`, `status`, `limit`."""
        found: list[webhooks.RecordedDelivery] = self._list("/deliveries", filters)
        return found

    def requests(self, **filters: object) -> list[JournalEntryShape]:
        """The calls of the interface, oldest first, secrets masked: `method`, `path` (a glob), `status`, `limit`."""
        found: list[JournalEntryShape] = self._list("/requests", filters)
        return found

    def advice(self, **filters: object) -> list[Finding]:
        """Findings about the traffic, the one seen last at the end: `severity`, `kind`, `limit`."""
        found: list[Finding] = self._list("/advice", filters)
        return found

    def resource(self, id: Target) -> ResourceStory:
        """A resource and its story: `resource`, `state`, `history` (moves and causes), `allowed` (actions), …"""
        story: ResourceStory = self.control("GET", f"/resources/{quote(id_of(id), safe='')}")
        return story

    def ledger(self, environment: str | None = None) -> Ledger:
        """The account's books: `accounts` (sums) and `entries`, amounts as Decimal."""
        return ledger_of(self.control("GET", "/ledger", environment=environment))

    def balance(self, symbol: str, network: str | None = None, environment: str | None = None) -> Decimal:
        """What is available of an asset: `world.balance("USDC", "CELO")`. SimulatorError for what does not exist."""
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
        """Any control call of this world, for what has no member here: `world.control("GET", "/emails")`.

        `path` is below /_simulator. Gives the parsed answer, or None.
        """
        headers = None if environment is None else {"X-Simulator-Environment": environment}
        return self.link.control(
            method, path, body, world=self.id, query=query, headers=headers, timeout_seconds=self.patience_seconds
        )

    def _list(self, path: str, query: Mapping[str, object]) -> Any:
        return self.control("GET", path, query=query)["data"]
