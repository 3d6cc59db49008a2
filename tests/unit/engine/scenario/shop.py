"""A shop in addition to the library, for scenario tests: orders with several steps, offers, parcels and networks.

Its operations are only declared. `playing.begin` creates a resource as a call would.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import Annotated, Any, Literal

from pydantic import Field

from simulator.engine.records.records import existing, move
from simulator.engine.rows.action import Action, ActionCall, Initial
from simulator.engine.rows.error import ErrorCode, invalid
from simulator.engine.rows.event import EventType, emit
from simulator.engine.rows.kind import Kind, Record
from simulator.engine.rows.operation import Call, OperationDecorator
from simulator.engine.rows.provider import Outages
from simulator.engine.rows.room import Room
from simulator.engine.text.fields import Amount, Body
from simulator.kernel.agenda import Timer
from simulator.kernel.dataclass import dataclass
from simulator.kernel.machine import Machine, Move
from simulator.kernel.store import TableKey
from simulator.kernel.world import TimerRow, World
from tests.library import library_with
from tests.unit.engine.scenario import shop_shapes as shapes


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing(Record):
    sort: str
    shown: dict[str, Any] = field(default_factory=dict)
    failure_code: str | None = None
    subscription_id: str | None = None
    shelf_id: str | None = None

    @property
    def kind(self) -> str:
        return self.sort


def _render(world: World, thing: Thing) -> dict[str, Any]:
    failed = {} if thing.failure_code is None else {"failure_code": thing.failure_code}
    return {"id": thing.id, "type": thing.sort, "status": thing.status, **thing.shown, **failed}


def _of_order(name: str) -> tuple[str, ...]:
    return (f"order.{name}",)


_REFUND = Move("refund", "refunded", _of_order("refunded"))
_ENDS = Move("complete", "completed", _of_order("completed")), Move("fail", "failed", _of_order("failed"))
_FLIGHT: dict[str, tuple[Move, ...]] = {
    "processing": (*_ENDS, _REFUND),
    "failed": (_REFUND,),
    "completed": (_REFUND,),
    "refunded": (),
}  # fmt: skip


def _waiting(name: str, state: str, arrives: str) -> Machine:
    arrived = Move(arrives, "processing", _of_order("processing")), Move(arrives, state, when="short")
    declined = Move("payment_declined", "failed", _of_order("failed"))
    begun = Move("begin", state, ("order.created", f"order.{state}"))
    return Machine(name, (begun,), {state: (*arrived, declined), **_FLIGHT})


def _simple(name: str) -> Machine:
    """An order that is made silently, and ends for good."""
    return Machine(name, (Move("begin", "pending"),), {"pending": _ENDS, "completed": (), "failed": ()})


_OFFERED = Move("expire", "expired", ("offer.expired",)), Move("confirm", "used")
_STATUSES = ("operational", "degraded", "down")
MACHINES = {
    "purchase": _waiting("purchase", "awaiting_payment", "payment_arrives"),
    "buyback": _waiting("buyback", "awaiting_parcel", "parcel_arrives"),
    "gift": _simple("gift"),
    "trade": _simple("trade"),
    "preorder": Machine(
        "preorder",
        (Move("begin", "pending"),),
        {"pending": (Move("payment_arrives", "processing", _of_order("processing")),), **_FLIGHT},
    ),
    "dispatch": Machine("dispatch", (Move("begin", "processing", _of_order("processing")),), _FLIGHT),
    "offer": Machine("offer", (Move("begin", "active"),), {"active": _OFFERED, "expired": (), "used": ()}),
    "subscription": Machine("subscription", (Move("begin", "draft"),), {"draft": ()}),
    "shelf": Machine("shelf", (Move("begin", "active", ("shelf.created",)),), {"active": ()}),
    "parcel": Machine(
        "parcel",
        (Move("begin", "detected", ("parcel.detected",)),),
        {
            "detected": (
                Move("parcel_confirms", "confirmed", ("parcel.confirmed",)),
                Move("parcel_fails", "failed", ("parcel.failed",)),
            ),
            "confirmed": (),
            "failed": (),
        },
    ),
    "reader": Machine("reader", (Move("begin", "saved", ("reader.created",)),), {"saved": ()}),
    "network": Machine(
        "network",
        (),
        {
            status: tuple(Move("set_network", one, ("network.status_changed",)) for one in _STATUSES if one != status)
            for status in _STATUSES
        },
    ),
}  # fmt: skip


def _kind(name: str, **more: Any) -> Kind[Thing]:
    table = TableKey(f"shop_{name}", Thing, per_environment=True)
    shape, example = shapes.OF_KINDS[name]
    return Kind(name, table, _render, MACHINES[name], lambda: shape, lambda: example, **more)


def _order(name: str) -> Kind[Thing]:
    return _kind(name, family="order", parent="subscription_id")


KINDS = {
    **{name: _order(name) for name in ("purchase", "buyback", "gift", "trade", "preorder", "dispatch")},
    "offer": _kind("offer", named_by=("offer_id",), prefix="offer-", collection="/offers"),
    "subscription": _kind("subscription"),
    "shelf": _kind("shelf"),
    "parcel": _kind("parcel", parent="shelf_id"),
    "reader": _kind("reader", named_by=("reader_id", "recipient.reader_id")),
    "network": _kind("network", standing=lambda world, name: None),
}
EVENTS = (
    *(
        EventType(f"order.{name}", f"an order is {name}")
        for name in ("created", "awaiting_payment", "awaiting_parcel", "processing", "completed", "failed", "refunded")
    ),
    EventType("offer.expired", "nobody took an offer"),
    EventType("shelf.created", "a shelf was put up"),
    *(EventType(f"parcel.{name}", f"a parcel is {name}") for name in ("detected", "confirmed", "failed")),
    EventType("reader.created", "a reader was registered"),
    EventType("network.status_changed", "a network changed"),
)
ERRORS = tuple(
    ErrorCode(f"{name}", 422, "the order is refused")
    for name in ("payment_failed", "delivery_failed", "amount_too_low", "amount_too_high")
)

# --- actions ------------------------------------------------------------------------------------------------------


class Nothing(Body):
    pass


class Arrival(Body):
    amount: Amount | None = None


class ShelfArrival(Body):
    asset: str
    amount: Amount


class Failure(Body):
    failure_code: Literal["delivery_failed", "network_unavailable", "internal_error"] = "internal_error"


class Network(Body):
    network: Literal["south", "north", "east"]
    status: Literal["operational", "degraded", "down"]


class Rate(Body):
    asset: str | None = None
    currency: str | None = None
    source: Annotated[dict[str, str] | None, Field(alias="from")] = None
    to: dict[str, str] | None = None
    rate: Amount


class Balance(Body):
    symbol: str
    network: str
    amount: Amount


class Percent(Body):
    percent: float


BALANCES = TableKey("shop_balances", list[str])
NETWORKS = TableKey("shop_networks", str)
RATES = TableKey("shop_rates", str)


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
    if call.parameters.symbol == "NONE":
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
    call.world.store[RATES].put("INK", call.parameters.percent)
    raise invalid("percent", "too much")


_ORDERS = ("purchase", "buyback", "dispatch", "preorder", "gift", "trade")
ACTIONS = (
    Action("payment_arrives", "", _moves("payment_arrives"), ("purchase", "preorder"), lambda: Arrival),
    Action("payment_declined", "", _moves("payment_declined"), ("purchase", "preorder")),
    Action("parcel_arrives", "", _moves("parcel_arrives"), ("buyback",), lambda: Arrival),
    Action("parcel_arrives", "", _moves("parcel_arrives"), ("shelf",), lambda: ShelfArrival),
    Action("parcel_confirms", "", _moves("parcel_confirms"), ("parcel",)),
    Action("parcel_fails", "", _moves("parcel_fails"), ("parcel",)),
    Action("complete", "", _moves("complete"), _ORDERS),
    Action("fail", "", _moves("fail"), _ORDERS, lambda: Failure),
    Action("refund", "", _moves("refund"), _ORDERS),
    Action("set_network", "", _set_network, (), lambda: Network, initially=Initial("networks", "Networks", 3)),
    Action("set_rate", "", _set_rate, (), lambda: Rate, initially=Initial("rates", "Rates", 1)),
    Action("move_rates", "", _move_rates, (), lambda: Percent),
    Action("set_balance", "", _set_balance, (), lambda: Balance, initially=Initial("balances", "Balances", 2)),
)

# --- operations ---------------------------------------------------------------------------------------------------

_shop = OperationDecorator("Shop")


@_shop("POST /offers", "Ask for an offer", status=201, answer=lambda: shapes.Offer)
def make_offer(call: Call[shapes.NewOffer, None, None]) -> dict[str, object]:
    raise NotImplementedError


@_shop(
    "POST /offers/{id}/confirm",
    "Take an offer",
    status=201,
    uses="offer",
    answer=lambda: shapes.Taken,
)
def confirm_offer(call: Call[shapes.Confirmation, None, None]) -> dict[str, object]:
    raise NotImplementedError


@_shop("GET /offers/{id}", "One offer", answer=lambda: shapes.Offer)
def get_offer(call: Call[None, None, None]) -> dict[str, object]:
    raise NotImplementedError


@_shop("PUT /subscriptions/{id}", "Replace a subscription", answer=lambda: shapes.Subscription)
def put_subscription(call: Call[shapes.NewSubscription, None, None]) -> dict[str, object]:
    raise NotImplementedError


@_shop("GET /orders/{id}", "One order", answer=lambda: shapes.Taken)
def get_order(call: Call[None, None, None]) -> dict[str, object]:
    raise NotImplementedError


def network_status(world: World, environment: str, network: str) -> str:
    return world.store[NETWORKS].get(network) or "operational"


def _expire(world: World, timer: Timer) -> None:
    move(world, existing(world, Thing, timer.target), "expire")


NAMES = ("south", "north", "east")
OUTAGES = Outages(NAMES, {name: name for name in NAMES}, network_status, "network.status_changed")
ROOM = Room(
    "shop",
    operations=(make_offer, get_offer, confirm_offer, put_subscription, get_order),
    kinds=tuple(KINDS.values()),
    events=EVENTS,
    errors=ERRORS,
    actions=ACTIONS,
    timers=(TimerRow("offer.expiry", _expire, "an offer expires", ("expire",)),),
    tables=(BALANCES, NETWORKS, RATES),
)
PROVIDER = replace(library_with(ROOM), outages=OUTAGES)
