"""The simulator used in a certification run. A receiver may read the object of an event from the API, so `certify`
creates its payments in the world whose webhook key the receiver has.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import field
from decimal import Decimal
from urllib.parse import urlsplit

from simulator.certification.service import Flow, Playbook, Step
from simulator.certification.sources import Unusable, printed
from simulator.engine.clients.address import DEFAULT_HOST, DEFAULT_PORT
from simulator.engine.clients.control import CallRefused, ControlClient, Unreachable, segment
from simulator.engine.clients.synchronous import NoResponse, SyncClient
from simulator.engine.clients.tool_mark import marked
from simulator.engine.rows.provider import Provider
from simulator.engine.scenario.play.matching import dig
from simulator.engine.server.config import Config
from simulator.engine.server.process import open_socket, serving
from simulator.engine.text.json import JsonObject
from simulator.engine.vocabulary.vocabulary import collected
from simulator.engine.webhooks.courier.courier import wall_clock_ms
from simulator.host import PROVIDER, create_app
from simulator.kernel.clock import parse_timestamp
from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import DEFAULT_WORLD
from simulator.service import LIVE_KEYS, TOOLING

_PROBE_SECONDS = 2
_OWN = "certify"
"""A world with this name marks a simulator that was started by a certification run."""
_CALL_SECONDS = 30
_CALM_SECONDS = 0.15


class NoStage(Exception):
    """There is no usable simulator. `unreachable` is True if no simulator is running."""

    def __init__(self, message: str, *, unreachable: bool = False) -> None:
        super().__init__(message)
        self.unreachable = unreachable


class Unplayed(Exception):
    """The service does not support a feature that a rule needs."""


@dataclass(frozen=True)
class Service:
    """The service whose receivers are certified."""

    provider: Provider = PROVIDER
    playbook: Playbook = field(default_factory=TOOLING.playbook)

    @property
    def needed_world(self) -> str:
        """Advice on the world that a certification run needs. It is shown if an order cannot be created."""
        return (
            f"certify needs a world in which {self.playbook.needed} are possible. `rampsim reset` restores such a world"
        )

    def delivered(self, kind: str, order: JsonObject) -> tuple[Decimal, str]:
        """Return the amount and currency that an order pays out, or 0 and "" if it does not pay out money."""
        row = self.provider.money.orders.get(kind)
        if row is None:
            return Decimal(0), ""
        return Decimal(str(dig(order, row.amount))), str(dig(order, row.currency))


@dataclass
class Order:
    """One payment order in the simulator."""

    stage: Stage
    reference: str
    """The order's name in the application's records."""
    id: str
    amount: Decimal
    """The delivered amount."""
    currency: str

    def live(self, *steps: Step) -> None:
        """Perform steps of the order, such as its payment."""
        for step in steps:
            if step.action:
                self.stage.act(step.action, self.id)

    def event(self, kind: str) -> JsonObject:
        """Return the order's latest event of a type."""
        rows: list[JsonObject] = self.stage.control.get("/events", type=kind, object_id=self.id)["data"]
        return rows[-1]


@dataclass
class Stage:
    """One environment in a simulator's world."""

    control: ControlClient
    world: JsonObject
    environment: str
    key: str
    """The receiver's webhook key."""
    run: str
    """Makes this run's references unique."""
    description: str
    service: Service
    ordering: str | None = None
    """The command with which the application creates an order, if it creates orders itself."""
    _token: str | None = None
    _made: int = field(default=0)

    @property
    def keys(self) -> Mapping[str, str]:
        """The environment's base URL and keys."""
        found: Mapping[str, str] = self.world["credentials"][self.environment]
        return found

    @property
    def other_key(self) -> str:
        """The webhook key for the other environment."""
        other = next(name for name in self.world["credentials"] if name != self.environment)
        return str(self.world["credentials"][other]["webhook_key"])

    def now_ms(self) -> int:
        """Return the time for X-Timestamp in milliseconds (decision W2)."""
        if self.world["settings"]["webhook_timestamp"] == "simulated":
            return parse_timestamp(self.control.get("/clock")["now"])
        return wall_clock_ms()

    def event_id(self) -> str:
        """Return a fresh event id."""
        self._made += 1
        return f"{self.service.provider.signing.event_prefix}{self.run}{self._made:0{20 - len(self.run)}}"

    def envelope(self, kind: str, shown: JsonObject) -> JsonObject:
        """Return an event with the current time and a fresh id."""
        at_ms = self.now_ms()
        return self.service.provider.signing.envelope(self.event_id(), kind, at_ms, self.environment, shown)

    @property
    def variables(self) -> Mapping[str, str]:
        """Environment variables that tell the application's commands how to reach the service."""
        return {
            "SIMULATOR_URL": self.keys["base_url"],
            "SIMULATOR_PUBLIC_KEY": self.keys["public_key"],
            "SIMULATOR_SECRET_KEY": self.keys["secret_key"],
            "SIMULATOR_WEBHOOK_KEY": self.key,
        }

    def order(self, rule: str, flow: Flow | None = None) -> Order:
        """Create an order of the flow's kind, by default of `Playbook.kind`. Raise `NoStage` if the simulator refuses
        it, and `Unusable` if the application's command fails.
        """
        chosen, reference = flow or self.service.playbook, f"certify-{self.run}-{rule}"
        made = self._ordered(chosen.kind) if self.ordering else chosen.order(self.call, reference)
        delivers = self.service.delivered(chosen.kind, made)
        return Order(self, made.get("reference") or made["id"], made["id"], *delivers)

    def _ordered(self, name: str) -> JsonObject:
        """Run the application's command that creates an order, and return that order."""
        text = printed("--order", str(self.ordering), {**self.variables, "SIMULATOR_ORDER_KIND": name})
        kind = collected(self.service.provider).kinds[name]
        ids = re.findall(rf"\b{kind.prefix}[a-z0-9]+", text)
        if not ids:
            words = f"the id of a new {kind.name}, such as {kind.prefix}sdc0hwa5vkk922a0bb95"
            raise Unusable(f"--order: `{self.ordering}` printed {text.strip()[:120]!r}, not {words}")
        made = self.call("GET", f"{self.service.playbook.path}{ids[-1]}")
        if (made["type"], made["status"]) != (kind.name, kind.machine.initial[0].target):
            words = f"print the id of an {kind.name} that awaits its payment (see SIMULATOR_ORDER_KIND)"
            raise Unusable(f"--order: {made['id']} is an {made['type']} with status {made['status']}; {words}")
        return made

    def act(self, action: str, target: str) -> None:
        self.control.post(f"/actions/{action}", {"target": target})

    @contextmanager
    def fault(self, fault: JsonObject) -> Iterator[str]:
        """Create a fault for the duration of the block and yield the fault's id."""
        made = str(self.control.post("/faults", fault)["id"])
        try:
            yield made
        finally:
            self.control.call("DELETE", f"/faults/{segment(made)}")

    def await_calm(self, fault: str, seconds: float) -> None:
        """Wait at most `seconds` until a fault has applied to calls and has not applied again for a short time."""
        deadline, hits, since = time.monotonic() + seconds, 0, time.monotonic()
        while time.monotonic() < deadline and (not hits or time.monotonic() - since < _CALM_SECONDS):
            time.sleep(0.02)
            now = next((row["hits"] for row in self.control.get("/faults")["data"] if row["id"] == fault), 0)
            if now != hits:
                hits, since = now, time.monotonic()

    @contextmanager
    def quiet(self, url: str) -> Iterator[None]:
        """During the block, deactivate scenarios and drop the webhooks that the world itself sends to the receiver."""
        scenarios = self.world["scenarios"]
        endpoints = [one["id"] for one in self.call("GET", "/webhooks?size=100")["data"] if one["url"] == url]
        self.control.put("/scenarios/active", {"names": []})
        with ExitStack() as stack:
            for endpoint in endpoints:
                lost = {"webhook": {"endpoint_id": endpoint}, "deliver": {"drop": True}}
                stack.enter_context(self.fault(lost))
            stack.callback(lambda: self.control.put("/scenarios/active", {"names": scenarios}))
            yield

    def call(self, method: str, path: str, body: JsonObject | None = None) -> JsonObject:
        """Call the API with a token. Raise `NoStage` if the API refuses the call."""
        if self._token is None:
            self._token, exchange = self.keys["secret_key"], self.service.playbook.exchange
            if exchange is not None:
                self._token = self._answer("POST", exchange.path, exchange.body(self.keys))[exchange.token_field]
        return self._answer(method, path, body, Authorization=f"Bearer {self._token}")

    def _answer(self, method: str, path: str, body: JsonObject | None, **headers: str) -> JsonObject:
        url = f"{self.keys['base_url']}{path}"
        sent = {"Content-Type": "application/json", **marked("certify"), **headers}
        content = None if body is None else json.dumps(body).encode()
        try:
            # The host in the base URL is not checked, because the base URL comes from a server whose own host was
            # checked.
            client = SyncClient(self.keys["base_url"], any_host=True, live_keys=LIVE_KEYS)
            status, _, received = client.request(method, path, content, sent, _CALL_SECONDS)
        except NoResponse as error:
            raise NoStage(f"lost the connection to the simulator at {url} ({error})", unreachable=True) from None
        if not 200 <= status < 300:
            said = received.decode(errors="replace")
            raise NoStage(f"the simulator refused {method} {url}: {status} {said}\n{self.service.needed_world}")
        answer: JsonObject = json.loads(received)
        return answer


def running_stage(url: str, webhook_key: str, token: str | None, service: Service) -> Stage:
    """Find the world with this webhook key in the simulator running at `url`. If no world has this key, use the world
    `default`. Raise `NoStage` if neither exists.
    """
    try:
        worlds = ControlClient(url, token=token, timeout_seconds=_CALL_SECONDS).get("/worlds")["data"]
        found = _environment(worlds, webhook_key, service)
        if found is None:
            raise NoStage(f"no world in the simulator at {url} has the receiver's webhook key. Check --webhook-key")
        return _stage(url, found, webhook_key, token, f"{url}, already running, world {found[0]['id']}", service)
    except Unreachable as error:
        raise NoStage(str(error), unreachable=True) from None
    except CallRefused as refusal:
        raise NoStage(f"the simulator at {url} could not list its worlds: {refusal}") from None
    except (LookupError, TypeError, AttributeError):
        raise NoStage(
            f"the server at {url} is not a simulator, or its version differs from this one", unreachable=True
        ) from None


def _environment(worlds: Sequence[JsonObject], webhook_key: str, service: Service) -> tuple[JsonObject, str] | None:
    """Return the world and the environment with this webhook key. If there is none, return the world `default` and its
    first environment, or None if there is no such world.
    """
    rows = [(world, name, keys) for world in worlds for name, keys in world["credentials"].items()]
    found = [(world, name) for world, name, keys in rows if keys["webhook_key"] == webhook_key]
    usual = next(iter(service.provider.environments))
    return next(iter([*found, *((world, usual) for world in worlds if world["id"] == DEFAULT_WORLD)]), None)


def is_simulator(url: str) -> bool:
    """Return True if a simulator is running at an address that no other certification run has started."""
    client = ControlClient(url, timeout_seconds=_PROBE_SECONDS)
    try:
        health = client.get("/health")
        if not isinstance(health, dict) or health.get("status") != "ok":
            return False
        return all(row["id"] != _OWN for row in client.get("/worlds")["data"])
    except CallRefused as refusal:
        return refusal.status == 401  # the simulator requires a control token
    except (Unreachable, LookupError, TypeError, AttributeError):
        return False


@asynccontextmanager
async def own_stage(usual: str, webhook_key: str) -> AsyncIterator[Stage]:
    """Start a simulator for the block. It listens at the address `usual`, or on a free port if its port is in use."""
    parts = urlsplit(usual)
    host, port = parts.hostname or DEFAULT_HOST, parts.port or DEFAULT_PORT
    # Event ids must differ between runs, because a receiver remembers them.
    application = create_app(Config(clock="real", seed=wall_clock_ms(), scenarios=()))
    try:
        listener, taken = open_socket(host, port), False
    except OSError:
        listener, taken = open_socket(host, 0), True
    async with serving(application, listener) as url:
        control, service = ControlClient(url), Service()
        worlds = (await asyncio.to_thread(control.get, "/worlds"))["data"]
        await asyncio.to_thread(control.post, "/worlds", {"id": _OWN})
        found = _environment(worlds, webhook_key, service)
        assert found is not None
        why = f"because port {port} is in use" if taken else "and ends with this run"
        yield _stage(url, found, webhook_key, None, f"{url}, started for this run, {why}", service)


def _stage(url: str, found: tuple[JsonObject, str], key: str, token: str | None, where: str, service: Service) -> Stage:
    world, environment = found
    control = ControlClient(url, str(world["id"]), environment=environment, token=token, timeout_seconds=_CALL_SECONDS)
    return Stage(control, world, environment, key, _base36(wall_clock_ms()), where, service)


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, rest = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[rest] + digits
    return digits
