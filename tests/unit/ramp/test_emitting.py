"""The action emit: every event of the catalogue with a realistic object."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import TypeAdapter
from typing_extensions import get_type_hints

from simulator.engine.records.records import create, move, new_fields, present
from simulator.engine.rows.error import ControlError
from simulator.engine.rows.kind import Kind, Record
from simulator.engine.rows.room import Room
from simulator.engine.text.json import loads
from simulator.engine.webhooks.shapes import WebhookEndpoint
from simulator.host import Simulator, vocabulary
from simulator.kernel.dataclass import dataclass
from simulator.kernel.journal import Cause
from simulator.kernel.machine import Machine, Move
from simulator.kernel.store import TableKey
from simulator.kernel.world import World
from simulator.providers.ramp.beneficiaries.shapes import PhoneNumberBeneficiary
from simulator.providers.ramp.deposit_wallets.shapes import CeloWallet, InvoiceObject, OnChainDeposit
from simulator.providers.ramp.profile.shapes import KycDetail
from simulator.providers.ramp.provider import ROOMS
from simulator.providers.ramp.ramps.shapes import OfframpTransaction, OnrampTransaction, RampQuoteShape
from simulator.providers.ramp.recurring.shapes import RecurringWithdrawal, RecurringWithdrawalRun
from simulator.providers.ramp.reference.shapes import NetworkObject
from tests.support import act, advance, find_operation, invoke, make_world
from tests.unit.engine.webhooks.support import drain, register

SHAPES: dict[str, Any] = {
    "wallet": CeloWallet,
    "deposit": OnChainDeposit,
    "lightning_entry": InvoiceObject,
    "quote": RampQuoteShape,
    "beneficiary": PhoneNumberBeneficiary,
    "kyc": KycDetail,
    "network": NetworkObject,
    "webhook": WebhookEndpoint,
    "recurring_payment": RecurringWithdrawal,
}
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


RAMPS: dict[str, Any] = {"onramp": OnrampTransaction, "offramp": OfframpTransaction}


def shape_of(event_type: str, shown: Mapping[str, Any]) -> Any:
    if event_type.startswith("recurring_payment.run_"):
        return RecurringWithdrawalRun
    if vocabulary().events[event_type].object == "transaction":
        return RAMPS[shown["type"]]
    return SHAPES[vocabulary().events[event_type].object]


@pytest.mark.parametrize("event_type", list(vocabulary().events))
def test_every_type_can_be_emitted_and_is_delivered(event_type: str) -> None:
    world = make_world(*ROOMS)
    register(world, environment="sandbox")
    done = act(world, ROOMS, "emit", type=event_type)
    (event,) = done.events
    envelope = loads(event.raw)
    assert (envelope["type"], envelope["data"]["object"]) == (event_type, done.resource)
    assert event.object_id
    assert len(drain(world)) == 1


@pytest.mark.parametrize("event_type", list(vocabulary().events))
def test_every_example_has_the_complete_shape_of_its_resource(event_type: str) -> None:
    shown = act(make_world(*ROOMS), ROOMS, "emit", type=event_type).resource
    assert shown is not None
    shape = shape_of(event_type, shown)
    TypeAdapter(shape).validate_python(shown)
    assert set(shown) <= set(get_type_hints(shape))
    for name, value in shown.items():
        if name.endswith("_at") and value is not None:
            assert TIMESTAMP.fullmatch(value), name


def test_every_event_type_has_a_kind_with_an_example() -> None:
    told = Simulator().vocabulary.subjects
    assert list(told) == list(vocabulary().events)
    for event, subjects in told.items():
        kinds = [subject.kind.name for subject in subjects if subject.kind.example()]
        assert (vocabulary().events[event].example_of or subjects[0].kind.name) in kinds, event


def test_moments_are_counted_from_now() -> None:
    shown = act(make_world(*ROOMS), ROOMS, "emit", type="quote.expired").resource
    assert shown is not None
    assert (shown["created_at"], shown["expires_at"]) == ("2026-01-05T07:30:00.000Z", "2026-01-05T08:00:00.000Z")


def test_the_given_object_is_laid_over() -> None:
    world = make_world(*ROOMS)
    mine = {"id": "txn_mine", "failure_code": "internal_error", "extra": [1]}
    done = act(world, ROOMS, "emit", type="transaction.failed", object=mine)
    shown = {**present(done.resource)}
    assert shown | mine == shown
    assert shown["type"] == "offramp"
    assert done.events[0].object_id == "txn_mine"


def awaiting_payment(world: World) -> dict[str, Any]:
    """An onramp that nobody has paid."""
    wanted = {"type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES", "amount": "5000",
              "amount_currency": "KES", "method": "mobile_money"}  # fmt: skip
    quote = invoke(world, find_operation(ROOMS, "POST", "/quotes"), wanted)
    payer = {"wallet_address": "0x52908400098527886E0F7030069857D2E4169EE7", "reference": "buy-1400e4bc7aad",
             "payer": {"phone_number": "+254722000000"}}  # fmt: skip
    confirm = find_operation(ROOMS, "POST", "/quotes/{id}/confirm")
    shown: dict[str, Any] = invoke(world, confirm, payer, id=quote["id"])
    return shown


def test_an_event_about_a_resource_shows_it_in_the_status_it_leaves() -> None:
    world = make_world(*ROOMS)
    ramp = awaiting_payment(world)
    advance(world, world.now_ms + 60_000)
    done = act(world, ROOMS, "emit", type="transaction.completed", about=ramp["id"], object={"tx_hash": "0x1"})
    told = {"status": "completed", "tx_hash": "0x1", "updated_at": "2026-01-05T08:01:00.000Z"}
    assert done.resource == ramp | told
    assert done.events[0].object_id == ramp["id"]
    assert act(world, ROOMS, "emit", type="transaction.awaiting_payment", about=ramp["id"]).resource == ramp


@pytest.mark.parametrize(
    ("about", "status", "code"), [("txn_none", 404, "not_found"), ("wh_1", 400, "invalid_parameter")]
)
def test_an_event_about_nothing_that_fits_is_refused(about: str, status: int, code: str) -> None:
    world = make_world(*ROOMS)
    endpoint, before = register(world, environment="sandbox"), world.journal.event_count
    with pytest.raises(ControlError) as caught:
        act(world, ROOMS, "emit", type="transaction.completed", about=about.replace("wh_1", endpoint))
    assert (caught.value.status, caught.value.code, caught.value.param) == (status, code, "about")
    assert world.journal.event_count == before


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, (400, "missing_parameter", "type")),
        ({"type": "money.arrived"}, (400, "invalid_parameter", "type")),
        ({"type": 5}, (400, "invalid_parameter", "type")),
        ({"type": "kyc.approved", "object": [1]}, (400, "invalid_parameter", "object")),
    ],
)
def test_bad_parameters_are_refused(parameters: dict[str, Any], expected: tuple[int, str, str]) -> None:
    world = make_world(*ROOMS)
    with pytest.raises(ControlError) as caught:
        act(world, ROOMS, "emit", **parameters)
    assert (caught.value.status, caught.value.code, caught.value.param) == expected
    assert world.journal.event_count == 0


def test_production_events_are_live() -> None:
    """Decision S25: `emit` makes one event, in its environment, also where a change would make one in both."""
    done = act(make_world(*ROOMS), ROOMS, "emit", environment="production", type="kyc.approved")
    assert [loads(event.raw)["livemode"] for event in done.events] == [True]


def test_kyc_events_show_the_accounts_own_kyc() -> None:
    done = act(make_world(*ROOMS), ROOMS, "emit", type="kyc.action_required")
    assert done.resource is not None
    assert done.resource["kyc_status"] == "action_required"
    assert done.resource["required_actions"]
    assert done.resource["level"] == 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Toy(Record):
    """A stand-in for resources of other rooms."""

    name: str

    @property
    def kind(self) -> str:
        return self.name


MACHINE = Machine(
    "toy",
    (Move("begin", "active"),),
    {
        "active": (
            Move("finish", "completed", ("transaction.completed",)),
            Move("fail", "failed", ("transaction.failed",)),
        ),
        "completed": (),
        "failed": (),
    },
)
TOY_ROWS = TableKey("toys", Toy, per_environment=True)
TOYS = Room(
    "toys",
    kinds=tuple(
        Kind(name, TOY_ROWS, lambda world, toy: {"id": toy.id, "type": toy.name, "status": toy.status}, MACHINE)
        for name in ("toy_send", "toy_onramp", "toy_invoice")
    ),
)


def toy(world: World, name: str, *moves: str) -> str:
    with world.change(Cause("action", "test")):
        record = create(world, Toy(**new_fields(world, "sandbox", "toy_", "ids.toy"), name=name), "begin")
        for trigger in moves:
            record = move(world, record, trigger)
    return record.id


def emitted(world: World, event_type: str, environment: str = "sandbox") -> dict[str, Any]:
    resource = act(world, (*ROOMS, TOYS), "emit", environment=environment, type=event_type).resource
    return {**present(resource)}


def test_the_newest_resource_in_the_right_status_is_taken_as_it_is_or_an_example() -> None:
    world = make_world(*ROOMS, TOYS)
    done = toy(world, "toy_send", "finish")
    toy(world, "toy_send")
    toy(world, "toy_invoice")
    assert emitted(world, "transaction.completed") == {"id": done, "type": "toy_send", "status": "completed"}
    failed = emitted(world, "transaction.failed")
    assert (failed["type"], failed["status"], failed["failure_code"]) == ("offramp", "failed", "payout_failed")
    assert not failed["id"].startswith("toy_")
    assert emitted(world, "transaction.awaiting_payment")["id"].startswith("txn_")
    assert emitted(world, "transaction.completed", "production")["id"].startswith("txn_")


def test_webhook_test_takes_the_newest_endpoint() -> None:
    world = make_world(*ROOMS)
    register(world, environment="sandbox")
    newest = register(world, events=("kyc.approved",), environment="sandbox")
    assert emitted(world, "webhook.test")["id"] == newest
    assert len(drain(world)) == 1
