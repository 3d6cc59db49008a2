"""The simulator behind an examination: the payments that its events tell of truly happen there.

A receiver may read the object of an event anew, as the specification advises. So certify makes its payments in the
world whose webhook key the receiver has: in a simulator that runs, or in one that it starts for the purpose.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import field
from decimal import Decimal
from urllib.parse import urlsplit

from simulator.certification.application import Unusable, printed
from simulator.certification.service import Examined, Step
from simulator.engine.clients.address import DEFAULT_HOST, DEFAULT_PORT
from simulator.engine.clients.control import CallRefused, ControlClient, Unreachable, segment
from simulator.engine.clients.synchronous import NoResponse, SyncClient
from simulator.engine.clients.tool_mark import marked
from simulator.engine.rows.provider import Provider
from simulator.engine.rows.vocabulary import collected
from simulator.engine.scenario.play.matching import dig
from simulator.engine.server.config import Config
from simulator.engine.server.process import open_socket, serving
from simulator.engine.text.json import JsonObject
from simulator.engine.webhooks.courier.courier import wall_clock_ms
from simulator.host import PROVIDER, create_app
from simulator.kernel.clock import parse_timestamp
from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import DEFAULT_WORLD
from simulator.service import LIVE_KEYS, TOOLING

_PROBE_SECONDS = 2
_OWN = "certify"
"""A world of this name marks the simulator that an examination has started for itself."""
_CALL_SECONDS = 30
_CALM_SECONDS = 0.15


class NoStage(Exception):
    """The simulator behind the examination cannot be had; `unreachable` when none answers."""

    def __init__(self, message: str, *, unreachable: bool = False) -> None:
        super().__init__(message)
        self.unreachable = unreachable


class Unplayed(Exception):
    """The service has nothing of the sort that a rule plays; the text says what."""


@dataclass(frozen=True)
class Service:
    """The service whose receivers are examined."""

    provider: Provider = PROVIDER
    examined: Examined = field(default_factory=TOOLING.examined)

    @property
    def needed_world(self) -> str:
        """What a person can do when an order does not go through."""
        return f"an examination needs a world in which {self.examined.told} go through; `rampsim reset` makes it one"

    def delivered(self, kind: str, order: JsonObject) -> tuple[Decimal, str]:
        """The amount that an order delivers, and its currency; 0 and "" for orders without money."""
        row = self.provider.money.orders.get(kind)
        if row is None:
            return Decimal(0), ""
        return Decimal(str(dig(order, row.amount))), str(dig(order, row.currency))


@dataclass
class Order:
    """One order. `reference` is its name in the books of the receiver's application, `amount` what it delivers."""

    stage: Stage
    reference: str
    id: str
    amount: Decimal
    currency: str

    def live(self, *steps: Step) -> None:
        """Let these steps of its life happen."""
        for step in steps:
            if step.action:
                self.stage.act(step.action, self.id)

    def event(self, kind: str) -> JsonObject:
        """The envelope of its event of this type."""
        rows: list[JsonObject] = self.stage.control.get("/events", type=kind, object_id=self.id)["data"]
        return rows[-1]


@dataclass
class Stage:
    """One environment of a world of a simulator.

    `key` is the webhook key that the receiver has. `run` makes the references of one examination differ from those of
    another. `told` is what a person reads of it. `ordering` is the command by which the receiver's application makes
    an order, where that makes its own.
    """

    control: ControlClient
    world: JsonObject
    environment: str
    key: str
    run: str
    told: str
    service: Service
    ordering: str | None = None
    _token: str | None = None
    _made: int = field(default=0)

    @property
    def keys(self) -> Mapping[str, str]:
        """Base URL and keys of the environment."""
        found: Mapping[str, str] = self.world["credentials"][self.environment]
        return found

    @property
    def other_key(self) -> str:
        """The webhook key of the other environment."""
        other = next(name for name in self.world["credentials"] if name != self.environment)
        return str(self.world["credentials"][other]["webhook_key"])

    def now_ms(self) -> int:
        """What X-Timestamp says (decision W2)."""
        if self.world["settings"]["webhook_timestamp"] == "simulated":
            return parse_timestamp(self.control.get("/clock")["now"])
        return wall_clock_ms()

    def event_id(self) -> str:
        """An id that no event had before."""
        self._made += 1
        return f"{self.service.provider.signing.event_prefix}{self.run}{self._made:0{20 - len(self.run)}}"

    def envelope(self, kind: str, shown: JsonObject) -> JsonObject:
        """An event of now, with an id of its own."""
        at_ms = self.now_ms()
        return self.service.provider.signing.envelope(self.event_id(), kind, at_ms, self.environment, shown)

    @property
    def variables(self) -> Mapping[str, str]:
        """By which a command of the application finds the service."""
        return {
            "SIMULATOR_URL": self.keys["base_url"],
            "SIMULATOR_PUBLIC_KEY": self.keys["public_key"],
            "SIMULATOR_SECRET_KEY": self.keys["secret_key"],
            "SIMULATOR_WEBHOOK_KEY": self.key,
        }

    def order(self, rule: str) -> Order:
        """An order at the beginning of its life. NoStage, Unusable."""
        examined, reference = self.service.examined, f"certify-{self.run}-{rule}"
        made = self._ordered() if self.ordering else examined.order(self.call, reference)
        delivers = self.service.delivered(examined.kind, made)
        return Order(self, made.get("reference") or made["id"], made["id"], *delivers)

    def _ordered(self) -> JsonObject:
        """The order that the application has just made."""
        text = printed("--order", str(self.ordering), self.variables)
        kind = collected(self.service.provider).kinds[self.service.examined.kind]
        ids = re.findall(rf"\b{kind.prefix}[a-z0-9]+", text)
        if not ids:
            words = f"the id of the {kind.name} that it made, like {kind.prefix}sdc0hwa5vkk922a0bb95"
            raise Unusable(f"--order: `{self.ordering}` printed {text.strip()[:120]!r}, and not {words}")
        made = self.call("GET", f"{self.service.examined.path}{ids[-1]}")
        if (made["type"], made["status"]) != (kind.name, kind.machine.initial[0].target):
            words = f"an {kind.name} that waits for its payment is wanted"
            raise Unusable(f"--order: {made['id']} is an {made['type']}, {made['status']}; {words}")
        return made

    def act(self, action: str, target: str) -> None:
        self.control.post(f"/actions/{action}", {"target": target})

    @contextmanager
    def fault(self, fault: JsonObject) -> Iterator[str]:
        """A fault of the world for the length of a block; gives its id."""
        made = str(self.control.post("/faults", fault)["id"])
        try:
            yield made
        finally:
            self.control.call("DELETE", f"/faults/{segment(made)}")

    def await_calm(self, fault: str, seconds: float) -> None:
        """Wait until a fault has met calls and meets no more for a moment, but no longer than this."""
        deadline, hits, since = time.monotonic() + seconds, 0, time.monotonic()
        while time.monotonic() < deadline and (not hits or time.monotonic() - since < _CALM_SECONDS):
            time.sleep(0.02)
            now = next((row["hits"] for row in self.control.get("/faults")["data"] if row["id"] == fault), 0)
            if now != hits:
                hits, since = now, time.monotonic()

    @contextmanager
    def quiet(self, url: str) -> Iterator[None]:
        """The world leaves the orders to certify: no scenario acts, and its own webhooks do not go to the receiver."""
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
        """Call the interface, signed in. NoStage when it refuses."""
        if self._token is None:
            self._token = self.service.examined.sign_in(self._answer, self.keys)
        return self._answer(method, path, body, {"Authorization": f"Bearer {self._token}"})

    def _answer(
        self, method: str, path: str, body: JsonObject | None, headers: Mapping[str, str] | None = None
    ) -> JsonObject:
        url = f"{self.keys['base_url']}{path}"
        sent = {"Content-Type": "application/json", **marked("certify"), **(headers or {})}
        content = None if body is None else json.dumps(body).encode()
        try:
            # The base URL comes from a server whose own host was checked, so its host is not checked again.
            client = SyncClient(self.keys["base_url"], any_host=True, live_keys=LIVE_KEYS)
            status, _, received = client.request(method, path, content, sent, _CALL_SECONDS)
        except NoResponse as error:
            raise NoStage(f"the simulator broke off at {url} ({error})", unreachable=True) from None
        if not 200 <= status < 300:
            said = received.decode(errors="replace")
            raise NoStage(f"the simulator refused {method} {url}: {status} {said}\n{self.service.needed_world}")
        answer: JsonObject = json.loads(received)
        return answer


def running_stage(url: str, webhook_key: str, token: str | None, service: Service) -> Stage:
    """The world of a running simulator that has this webhook key, else its world `default`. NoStage."""
    try:
        return _running_stage(url, webhook_key, token, service)
    except Unreachable as error:
        raise NoStage(str(error), unreachable=True) from None
    except CallRefused as refusal:
        raise NoStage(f"the simulator at {url} refused to show its worlds: {refusal}") from None
    except (LookupError, TypeError, AttributeError):
        raise NoStage(f"what answers at {url} is not a simulator of this version", unreachable=True) from None


def _running_stage(url: str, webhook_key: str, token: str | None, service: Service) -> Stage:
    listed = ControlClient(url, token=token, timeout_seconds=_CALL_SECONDS).get("/worlds")["data"]
    for world in listed:
        environment = _environment_of(world, webhook_key)
        if environment is not None:
            told = f"{url}, which was running, world {world['id']}"
            return _stage(url, world, environment, webhook_key, token, told, service)
    default = next((row for row in listed if row["id"] == DEFAULT_WORLD), None)
    if default is None:
        raise NoStage(f"no world of the simulator at {url} has the webhook key of the receiver")
    told = f"{url}, which was running, world {DEFAULT_WORLD}"
    return _stage(url, default, _usual_environment(service), webhook_key, token, told, service)


def _environment_of(world: JsonObject, webhook_key: str) -> str | None:
    credentials: Mapping[str, Mapping[str, str]] = world["credentials"]
    return next((name for name, keys in credentials.items() if keys["webhook_key"] == webhook_key), None)


def _usual_environment(service: Service) -> str:
    return next(iter(service.provider.environments))


def is_simulator(url: str) -> bool:
    """Whether a simulator answers at this address that is not another examination's own, which ends with that."""
    client = ControlClient(url, timeout_seconds=_PROBE_SECONDS)
    try:
        health = client.get("/health")
        if not isinstance(health, dict) or health.get("status") != "ok":
            return False
        return all(row["id"] != _OWN for row in client.get("/worlds")["data"])
    except CallRefused as refusal:
        return refusal.status == 401  # of its control token
    except (Unreachable, LookupError, TypeError, AttributeError):
        return False


@asynccontextmanager
async def own_stage(usual: str, webhook_key: str) -> AsyncIterator[Stage]:
    """A simulator for the length of a block: at its usual address, or at a free port where that is taken."""
    parts = urlsplit(usual)
    host, port = parts.hostname or DEFAULT_HOST, parts.port or DEFAULT_PORT
    # Events of two runs must differ: a receiver remembers those it has had.
    application = create_app(Config(clock="real", seed=wall_clock_ms(), scenarios=()))
    try:
        listener, taken = open_socket(host, port), False
    except OSError:
        listener, taken = open_socket(host, 0), True
    async with serving(application, listener) as url:
        world = await asyncio.to_thread(_marked, ControlClient(url))
        why = f"because something else has port {port}" if taken else "and ends with this run"
        service = Service()
        environment = _environment_of(world, webhook_key) or _usual_environment(service)
        yield _stage(url, world, environment, webhook_key, None, f"{url}, started for this run, {why}", service)


def _marked(control: ControlClient) -> JsonObject:
    """The world `default` of a simulator that is marked as an examination's own."""
    world: JsonObject = control.get("/worlds")["data"][0]
    control.post("/worlds", {"id": _OWN})
    return world


def _stage(
    url: str, world: JsonObject, environment: str, key: str, token: str | None, told: str, service: Service
) -> Stage:
    control = ControlClient(url, str(world["id"]), environment=environment, token=token, timeout_seconds=_CALL_SECONDS)
    return Stage(control, world, environment, key, _base36(wall_clock_ms()), told, service)


def origin_of(url: str) -> str:
    """The origin of an address: a base URL of the interface names its simulator too."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, rest = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[rest] + digits
    return digits
