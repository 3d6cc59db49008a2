"""A toy service for scenario tests: small state tables with the real names of actions, kinds and events."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Annotated, Any, Literal

from pydantic import Field

from simulator.engine.records.origins import RequestOrigin
from simulator.engine.records.records import create, move, new_fields
from simulator.engine.rows.action import Action, ActionCall, ActionTable, Initial
from simulator.engine.rows.error import invalid
from simulator.engine.rows.event import emit
from simulator.engine.rows.kind import Kind, Record
from simulator.engine.rows.room import Room
from simulator.engine.scenario.files.library import Library
from simulator.engine.scenario.files.loader import Loader
from simulator.engine.scenario.play.engine import Engine
from simulator.engine.text.fields import Amount, Body
from simulator.engine.text.texts import json_text
from simulator.engine.vocabulary.vocabulary import Vocabulary, collected
from simulator.kernel.clock import Clock, parse_timestamp
from simulator.kernel.dataclass import dataclass
from simulator.kernel.journal import Cause
from simulator.kernel.machine import Machine, Move
from simulator.kernel.store import TableKey
from simulator.kernel.world import Wiring, World
from simulator.providers.ramp.provider import PROVIDER, ROOMS
from tests.support import ENVIRONMENTS, START


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing(Record):
    sort: str
    shown: dict[str, Any] = field(default_factory=dict)
    failure_code: str | None = None
    recurring_payment_id: str | None = None
    wallet_id: str | None = None

    @property
    def kind(self) -> str:
        return self.sort


def _render(world: World, thing: Thing) -> dict[str, Any]:
    failed = {} if thing.failure_code is None else {"failure_code": thing.failure_code}
    return {"id": thing.id, "type": thing.sort, "status": thing.status, **thing.shown, **failed}


def _event(name: str) -> tuple[str, ...]:
    return (f"transaction.{name}",)


_FLIGHT: dict[str, tuple[Move, ...]] = {
    "processing": (
        Move("complete", "completed", _event("completed")),
        Move("fail", "failed", _event("failed")),
        Move("refund", "refunded", _event("refunded")),
    ),
    "failed": (Move("refund", "refunded", _event("refunded")),),
    "completed": (),
    "refunded": (),
}


def _waiting(name: str, state: str, arrives: str) -> Machine:
    return Machine(
        name,
        (Move("begin", state, ("transaction.created", f"transaction.{state}")),),
        {
            state: (
                Move(arrives, "processing", _event("processing")),
                Move("payment_declined", "failed", _event("failed")),
            ),
            **_FLIGHT,
        },
    )


MACHINES = {
    "onramp": _waiting("onramp", "awaiting_payment", "payment_arrives"),
    "offramp": _waiting("offramp", "awaiting_deposit", "deposit_arrives"),
    "withdraw": Machine("withdraw", (Move("begin", "processing", _event("processing")),), _FLIGHT),
    "buy": Machine(
        "buy",
        (Move("begin", "pending"),),
        {"pending": (Move("payment_arrives", "processing", _event("processing")),), **_FLIGHT},
    ),
    "recurring_payment": Machine("recurring", (Move("begin", "draft"),), {"draft": ()}),
    "wallet": Machine("wallet", (Move("begin", "active", ("wallet.created",)),), {"active": ()}),
    "deposit": Machine(
        "deposit",
        (Move("begin", "detected", ("deposit.detected",)),),
        {"detected": (Move("deposit_confirms", "confirmed", ("deposit.confirmed",)),), "confirmed": ()},
    ),
    "beneficiary": Machine("beneficiary", (Move("begin", "saved", ("beneficiary.created",)),), {"saved": ()}),
}


class Nothing(Body):
    pass


class Arrival(Body):
    amount: Amount | None = None


class WalletArrival(Body):
    asset: str
    amount: Amount


class Failure(Body):
    failure_code: Literal["payout_failed", "network_unavailable", "internal_error"] = "internal_error"


class Network(Body):
    network: Literal["stellar", "celo", "bitcoin"]
    status: Literal["operational", "degraded", "down"]


class Rate(Body):
    asset: str | None = None
    fiat_currency: str | None = None
    source: Annotated[dict[str, str] | None, Field(alias="from")] = None
    to: dict[str, str] | None = None
    rate: Amount


class Balance(Body):
    symbol: str
    network: str
    amount: Amount


class Percent(Body):
    percent: float


BALANCES = TableKey("balances", list[str])
NETWORKS = TableKey("toy_networks", str)
RATES = TableKey("toy_rates", str)


def _moves(name: str) -> Any:
    def act(call: ActionCall) -> Thing:
        thing: Thing = call.target
        if isinstance(call.parameters, Failure):
            thing = replace(thing, failure_code=call.parameters.failure_code)
        return move(call.world, thing, name)

    return act


def _set_network(call: ActionCall) -> dict[str, Any]:
    status = call.parameters.status
    call.world.store[NETWORKS].put(call.parameters.network, status)
    shown = {"network": call.parameters.network, "status": status}
    emit(call.world, call.environment, "network.status_changed", shown, call.parameters.network)
    return shown


def _set_balance(call: ActionCall) -> dict[str, Any]:
    if call.parameters.symbol == "DOGE":
        raise invalid("symbol", "no such asset")
    if call.parameters.symbol == "BUG":
        call.world.store[BALANCES].put("BUG", [call.parameters.amount, call.environment])
        raise ZeroDivisionError("a defect")
    call.world.store[BALANCES].put(call.parameters.symbol, [call.parameters.amount, call.environment])
    return {}


def _set_rate(call: ActionCall) -> dict[str, Any]:
    call.world.store[RATES].put(str(call.parameters.asset), call.parameters.rate)
    return {}


def _move_rates(call: ActionCall) -> dict[str, Any]:
    """Change something, then refuse."""
    call.world.store[RATES].put("USDC", call.parameters.percent)
    raise invalid("percent", "too much")


_TRANSACTIONS = ("onramp", "offramp", "withdraw", "buy", "send", "swap")

ROWS = (
    Action("payment_arrives", "", _moves("payment_arrives"), ("onramp", "buy"), lambda: Arrival),
    Action("payment_declined", "", _moves("payment_declined"), ("onramp", "buy")),
    Action("deposit_arrives", "", _moves("deposit_arrives"), ("offramp",), lambda: Arrival),
    Action("deposit_arrives", "", _moves("deposit_arrives"), ("wallet",), lambda: WalletArrival),
    Action("deposit_confirms", "", _moves("deposit_confirms"), ("deposit",)),
    Action("confirmation_arrives", "", _moves("confirmation_arrives"), ("deposit",)),
    Action("broadcast", "", _moves("broadcast"), ("send",)),
    Action("complete", "", _moves("complete"), _TRANSACTIONS),
    Action("fail", "", _moves("fail"), _TRANSACTIONS, lambda: Failure),
    Action("refund", "", _moves("refund"), _TRANSACTIONS),
    Action("set_network", "", _set_network, (), lambda: Network, initially=Initial("networks", "Networks", 3)),
    Action("set_rate", "", _set_rate, (), lambda: Rate, initially=Initial("rates", "Rates", 1)),
    Action("move_rates", "", _move_rates, (), lambda: Percent),
    Action("set_balance", "", _set_balance, (), lambda: Balance, initially=Initial("balances", "Balances", 2)),
)

ACTIONS = ActionTable(ROWS)
RAMP = (replace(room, actions=()) for room in ROOMS)
LOADER = Loader(Vocabulary(replace(PROVIDER, rooms=(*RAMP, Room("toy", actions=ROWS)))))
"""Reads scenarios with the events, calls and kinds of the ramp and the actions of the toy."""


def network_status(world: World, environment: str, network: str) -> str:
    return world.store[NETWORKS].get(network) or "operational"


OUTAGES = replace(PROVIDER.outages, status=network_status)


def engine_of(*texts: str) -> Engine:
    """Return an engine with these shipped scenarios."""
    library = Library()
    for text in texts:
        file = LOADER.load(text, "toy.yaml", library)
        library[file.name] = file
    return Engine(ACTIONS, library, OUTAGES)


KINDS = {
    name: Kind(name, TableKey(name, Thing, per_environment=True), _render, machine, parent="recurring_payment_id")
    for name, machine in MACHINES.items()
}


def world_of(engine: Engine, seed: int = 1) -> World:
    wiring = Wiring(
        timers={row.kind: row for row in engine.timers},
        on_event=(engine.on_event,),
        on_created=(engine.on_created,),
        kinds=KINDS,
        on_failure=engine.on_failure,
        environments=ENVIRONMENTS,
        vocabulary=collected(PROVIDER),
    )
    return World("w", seed, Clock(parse_timestamp(START)), wiring)


def begin(
    world: World,
    sort: str,
    shown: dict[str, Any] | None = None,
    *,
    body: dict[str, Any] | None = None,
    scenario: str = "",
    environment: str = "sandbox",
    **members: Any,
) -> str:
    """Create a resource as a request with this body would. Return its id."""
    with world.change(Cause("request", "begin"), RequestOrigin(json_text(body or {}), scenario)):
        thing = Thing(
            **new_fields(world, environment, "x_", f"ids.{sort}"),
            sort=sort,
            shown={"network": "celo", **(shown or {})},
            **members,
        )
        return create(world, thing, "begin").id


def activate(world: World, engine: Engine, *names: str) -> None:
    with world.change(Cause("action", "activate")):
        engine.activate(world, names)
