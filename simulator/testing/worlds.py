"""`World`: one isolated simulation for a test, over any connection to a server."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote

from simulator.engine.text.json import JsonObject
from simulator.testing import freezing, messages
from simulator.testing.errors import NotReached, SimulatorError, hides_traceback
from simulator.testing.faults import Fault, make_fault
from simulator.testing.given import Scenario, Target, id_of, ids_in, scenario_file, span_of, timestamp
from simulator.testing.links.clients import Keys, SignIn, exchange, make_async_client, make_client
from simulator.testing.links.link import Link
from simulator.testing.reading import SeenWorld

if TYPE_CHECKING:
    import httpx

    from simulator.engine.control.history.events import DeliveryCount
    from simulator.engine.control.objects.actions import ActionAnswer
    from simulator.engine.control.shapes import AdvanceReceipt, Envelope, TriggerAnswer
    from simulator.engine.control.worlds.snapshots import SnapshotEntry
    from simulator.engine.control.worlds.world_object import WorldObject
    from simulator.testing.freezing import Freezing, Library

__tracebackhide__ = hides_traceback


class Detachable(Protocol):
    """The methods of a receiver that its world calls. `receivers` imports this module, so `Receiver` cannot be imported
    here.
    """

    def detach(self) -> None: ...

    def unraised_errors(self) -> list[str]: ...


class World(SeenWorld):
    """One isolated simulation: its clients, its clock, outside events, and what happened.

    Methods that call the server raise SimulatorError if the control API refuses the request. A resource can be passed
    as an id or as a whole. In a `with` statement, the world is deleted at the end of the block.
    """

    def __init__(self, link: Link, info: WorldObject, server: object | None = None) -> None:
        super().__init__(link, info)
        self.server = server
        """The Server that created the world, or None."""
        self.before_end: list[Callable[[World], None]] = []
        """Called before the world or a fork of it is deleted, reset or restored."""
        self.receivers: list[Detachable] = []
        """The world's open webhook receivers."""
        self._clients: list[httpx.Client] = []
        self._sign_ins: dict[str, SignIn] = {}
        self._forks: list[World] = []
        self._frozen: list[Freezing[World]] = []
        self._begun_with: tuple[Scenario, ...] | None = None
        self.has_ended = False
        """Whether this object has deleted the world."""
        self.outlives = False
        """Whether the world still exists after `delete`, so that you can inspect it."""

    def __repr__(self) -> str:
        return f"<World {self.id} at {self.url}>"

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: object) -> None:
        self.delete()

    # Clients

    @cached_property
    def client(self) -> httpx.Client:
        """An API client for `base_url` that authenticates automatically: `world.client.get("/profile")`."""
        return self._client("sandbox", self.keys)

    @cached_property
    def production(self) -> httpx.Client:
        """Like `client`, but for `production_url`."""
        return self._client("production", self.production_keys)

    @cached_property
    def async_client(self) -> httpx.AsyncClient:
        """Like `client`, but for asyncio and trio. It keeps no connection open, so any event loop can use it."""
        return make_async_client(self.link, self.keys, self._sign_in("sandbox", self.keys))

    def _client(self, environment: str, keys: Keys) -> httpx.Client:
        client = make_client(self.link, keys, self._sign_in(environment, keys))
        self._clients.append(client)
        return client

    def _sign_in(self, environment: str, keys: Keys) -> SignIn:
        return self._sign_ins.setdefault(environment, SignIn(keys))

    def token(self, environment: str = "sandbox") -> str:
        """Return a new access token for the test's own client. Raises SimulatorError if the exchange is refused."""
        keys = self.keys if environment == "sandbox" else self.production_keys
        return exchange(self.link, keys)

    # Time

    def advance(
        self,
        by: str | float | timedelta | None = None,
        *,
        to: str | date | None = None,
        to_next_timer: bool = False,
        until: Mapping[str, object] | None = None,
        horizon: str | float | timedelta | None = None,
        wait: bool = False,
    ) -> AdvanceReceipt:
        """Advance the clock. Everything that is due by then happens before this method returns, including webhooks.

        Pass exactly one of `by`, `to`, `to_next_timer` and `until`. `by`: `"31m"`, `"2h30m"`, `"3d"`, seconds as a
        number, or a timedelta. `to`: a time or a date. `until`: a condition, `{"resource": id, "status": "completed"}`
        or `{"event": type, "object_id": id}`. It must become true within `horizon` (default: ten years). Otherwise
        raises NotReached. `wait`: True to wait for slow receivers without a time limit. Returns what happened:
        `from`, `now`, `fired` (timers), `events` (ids), `deliveries` (attempts), `reached`.
        """
        goal = None if until is None else ids_in(until)
        body = {
            "by": None if by is None else span_of(by),
            "to": None if to is None else timestamp(to),
            "to_next_timer": to_next_timer or None,
            "until": goal,
            "horizon": None if horizon is None else span_of(horizon),
        }
        asked = {name: value for name, value in body.items() if value is not None}
        try:
            receipt: AdvanceReceipt = self.control("POST", "/clock/advance", asked, query={"wait": bool(wait) or None})
        except NotReached as error:
            self._report_advanced(error.receipt.get("now"))
            raise messages.not_reached(self, goal or {}, error) from None
        except SimulatorError:
            self._follow_clock()  # the clock may have advanced part of the way
            raise
        self._report_advanced(receipt["now"])
        return receipt

    def _follow_clock(self) -> None:
        if self.on_advance:
            with contextlib.suppress(SimulatorError):  # the caller already raises an error
                self._report_advanced(self.control("GET", "/clock")["now"])

    def _report_advanced(self, now: str | None) -> None:
        if now is not None:
            for hear in list(self.on_advance):
                hear(datetime.fromisoformat(now))

    def freeze(self, using: Library | None = None) -> Freezing[World]:
        """Freeze the test's own time at `now`, starting immediately. `advance` advances both clocks. See
        `freezing.Freezing`.

        In a `with` statement, freezing ends with the block. Otherwise it ends with the test or the world.
        """
        frozen = freezing.Freezing(self, using)
        self._frozen.append(frozen)
        return frozen

    def unfreeze(self) -> None:
        """Unfreeze the test's own time if `freeze` was called without a block for this world or its forks."""
        for fork in self._forks:
            fork.unfreeze()
        for frozen in reversed(self._frozen):
            if not frozen.has_block:
                frozen.end()

    # Outside events

    def act(
        self, name: str, /, target: Target | None = None, *, environment: str | None = None, **parameters: object
    ) -> ActionAnswer:
        """Cause an outside event, for example `world.act("payment_arrives", onramp)`.

        `environment`: the environment of an action without a target. The default is the sandbox. Raises ActionRefused
        if the action is currently illegal. The `allowed` field of the error lists the legal actions. Returns
        `{action, target, at, resource, events}`, where `resource` is the state after the action.
        """
        body = parameters if target is None else {"target": id_of(target), **parameters}
        answer: ActionAnswer = self.control("POST", f"/actions/{quote(name, safe='')}", body, environment=environment)
        return answer

    def trigger(self, event: str, target: Target | None = None, *, environment: str | None = None) -> TriggerAnswer:
        """Run the steps that lead to an event of `target`, or of a resource that is found or created. Return both."""
        body = {"event": event} if target is None else {"event": event, "target": id_of(target)}
        try:
            answer: TriggerAnswer = self.control("POST", "/trigger", body, environment=environment)
        finally:
            self._follow_clock()
        return answer

    def flow(self, name: str, status: str = "completed", **fields: object) -> JsonObject:
        """Create an order with API calls and bring it to a status with outside events.

        `world.flow("onramp")` returns a completed transaction, `world.flow("offramp", "refunded", fiat_currency="NGN")`
        a refunded one. `fields` are fields of the quote and of its confirmation. Other fields get suitable values.
        Raises ValueError for an unknown flow or status, TypeError for an unknown field, SimulatorError if the API
        refuses a call.
        """
        from simulator.testing import flows

        return flows.play(self.client, self.trigger, name, status, fields)

    def add_history(self, days: int = 90, per_day: int = 40, mix: str = "typical") -> JsonObject:
        """Create orders on each of the next simulated days, and bring them to an end with outside events.

        The clock advances by `days`. `mix`: `"typical"` or `"failures"`. The same seed gives the same history. Return
        `{from, now, orders, refused, events}`.
        """
        answer: JsonObject = self.control("POST", "/seed", {"days": days, "per_day": per_day, "mix": mix})
        self._report_advanced(answer["now"])
        return answer

    def scenario(self, *names_or_paths: Scenario) -> None:
        """Activate exactly these scenarios. Later scenarios take precedence. Without arguments, only service rules
        apply.

        Each scenario is a name, the path of a YAML file, or a whole document. Raises SimulatorError that lists every
        problem in a file.
        """
        names = [self._uploaded(one) for one in names_or_paths]
        self.control("PUT", "/scenarios/active", {"names": names})

    def _uploaded(self, given: Scenario) -> str:
        path = None if isinstance(given, Mapping) else scenario_file(given)
        if path is None and not isinstance(given, Mapping):
            return str(given)
        try:
            document = given if isinstance(given, Mapping) else Path(given).read_bytes()
            name: str = self.control("POST", "/scenarios", document)["name"]
        except OSError as error:
            raise SimulatorError(f"The scenario {path} cannot be read: {error.strerror}.") from None
        except SimulatorError as error:
            error.args = (f"The scenario {path or 'that was given'} is not valid. {error}",)
            raise
        return name

    def begin_with(self, *scenarios: Scenario) -> None:
        """Activate scenarios now, and again after each reset."""
        self._begun_with = scenarios
        self.scenario(*scenarios)

    def fault(
        self,
        what: str | Mapping[str, object] | None = None,
        /,
        *,
        match: str | Mapping[str, object] | None = None,
        **members: object,
    ) -> Fault:
        """Inject a fault until you remove it, or for a block: `with world.fault("GET /quotes", drop=True)`.

        `what` describes the API requests to match, as `"POST /quotes"` or `{"method": ..., "path": ...}` (same as
        `match`), or is the name of a preset, such as `"webhook-forged"` (`rampsim faults presets` lists all presets).
        `webhook={...}` matches webhook deliveries instead. The other fields are the fields of `POST
        /_simulator/faults`: `respond`, `delay`, `after_commit`, `deliver`, … They narrow or change a preset:
        `world.fault("refused-503", match="/quotes", times=1)`.
        """
        return make_fault(self, what, match, members)

    # History

    def event(self, type: str, object_id: Target | None = None) -> Envelope:
        """Return the only event of a type (and resource). Otherwise, raises AssertionError with a list of events."""
        found = self.events(type, object_id)
        if len(found) != 1:
            about = None if object_id is None else id_of(object_id)
            raise AssertionError(messages.not_exactly_one(self, type, about, found))
        return found[0]

    def settle(self) -> DeliveryCount:
        """Wait until no webhook attempt is in flight. Return `{deliveries}`, the number that finished meanwhile."""
        count: DeliveryCount = self.control("POST", "/settle")
        return count

    def detach_applications(self) -> None:
        """Wait for attempts in flight, then detach all applications from the receivers of this world and its forks."""
        for receiver in list(self.receivers):
            receiver.detach()
        for fork in self._forks:
            fork.detach_applications()

    def timeline(self) -> str:
        """Return a short history of the world, newest entry last. A failing test prints this history."""
        return messages.timeline(self)

    # Snapshots

    def snapshot(self, name: str | None = None) -> SnapshotEntry:
        """Save the world's state. Return `{id, name, at, world}`."""
        entry: SnapshotEntry = self.control("POST", "/snapshots", {} if name is None else {"name": name})
        return entry

    def restore(self, snapshot: Target) -> None:
        """Go back to a snapshot of this world. Clients authenticate again automatically."""
        self._report_end()
        self._put_back(self.control("POST", f"/snapshots/{quote(id_of(snapshot), safe='')}/restore"))

    def reset(self) -> None:
        """Restart the world in its initial state, with the same seed and keys. Clients authenticate again."""
        self._report_end()
        self._put_back(self.control("POST", "/reset"))
        if self._begun_with is not None:
            self.scenario(*self._begun_with)

    def _put_back(self, info: WorldObject) -> None:
        self.info = info
        for sign_in in self._sign_ins.values():
            sign_in.forget()
        self._report_advanced(info["clock"]["now"])

    def _report_end(self) -> None:
        for tell in self.before_end:
            tell(self)

    def fork(self, snapshot: Target | None = None, **body: object) -> World:
        """Create a world with its own keys that continues from the current state or from a snapshot. The fork is
        deleted together with this world. `body`: additional fields for `POST /_simulator/worlds`.
        """
        kept = self.snapshot() if snapshot is None else snapshot
        made: WorldObject = self.link.control("POST", "/worlds", {**body, "from_snapshot": id_of(kept)})
        fork = World(self.link, made, self.server)
        fork.before_end = self.before_end
        self._forks.append(fork)
        return fork

    def delete(self) -> None:
        """Delete the world and its forks, and close their clients. Does nothing if the world has been deleted."""
        for fork in self._forks:
            fork.delete()
        self.close()
        if self.has_ended or self.outlives:
            return
        self._report_end()
        try:
            self.link.control("DELETE", f"/worlds/{quote(self.id, safe='')}", timeout_seconds=self.patience_seconds)
        except SimulatorError as error:
            if error.code != "not_found":
                raise
        self.has_ended = True

    def close(self) -> None:
        """Close the clients, keep the world for inspection, and unfreeze the test's own time."""
        self.unfreeze()
        for client in self._clients:
            client.close()
