"""The action set_fee_product and the state table of fee products (decisions M2 and S25)."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from simulator.engine.records.records import find
from simulator.engine.rows.error import ControlError
from simulator.kernel.machine import IllegalMove
from simulator.providers.ramp.fees.records import FeeProduct
from simulator.providers.ramp.fees.states import FEE_PRODUCT, STATUSES
from tests.support import advance, event_types
from tests.unit.ramp.fees.support import change, fresh, listed, one

OFFRAMP = "fee_offramp_usdc_celo_kes"
ONRAMP = "fee_onramp_stellar_kes"


@pytest.mark.parametrize(("state", "target"), list(product(STATUSES, STATUSES)))
def test_every_transition_of_the_state_table_is_tested(state: str, target: str) -> None:
    world = fresh()
    change(world, OFFRAMP, status=state)
    done = change(world, OFFRAMP, status=target)
    assert done.resource is not None
    assert done.resource["status"] == target == one(world, OFFRAMP)["status"]
    assert event_types(world) == []


@pytest.mark.parametrize("state", STATUSES)
def test_no_other_transition_exists(state: str) -> None:
    for trigger, when in (("set_fee_product", "deleted"), ("publish", "active")):
        with pytest.raises(IllegalMove):
            FEE_PRODUCT.next(state, trigger, when)
    assert FEE_PRODUCT.allowed(state) == ("set_fee_product",)


@pytest.mark.parametrize(
    ("target", "field", "value", "shown"),
    [
        (OFFRAMP, "name", "Offramp for friends", None),
        (OFFRAMP, "percentage", "2", "2.00"),
        (OFFRAMP, "percentage", "0.125", None),
        (OFFRAMP, "fixed", "0.000001", None),
        (OFFRAMP, "min_fee", "0.5", "0.50"),
        (OFFRAMP, "max_fee", "12.5", "12.50"),
        (OFFRAMP, "max_fee", None, None),
        (OFFRAMP, "network_fee", None, None),
        (OFFRAMP, "network_fee", {"amount": "0.2", "currency": "USDC", "paid_by": "peerpesa"}, "as sent"),
        (OFFRAMP, "payment_method", "phone_number", None),
        (OFFRAMP, "payment_method", None, None),
        (OFFRAMP, "fiat_currency", "TZS", None),
        (OFFRAMP, "fee_currency", "USDC", None),
        (OFFRAMP, "status", "inactive", None),
        (ONRAMP, "asset", "XLM", None),
        (ONRAMP, "asset", None, None),
        (ONRAMP, "network", "celo", None),
        (ONRAMP, "network", None, None),
        (ONRAMP, "product", "buy", None),
    ],
)
def test_any_field_can_be_changed_and_nothing_else_changes(target: str, field: str, value: Any, shown: Any) -> None:
    world = fresh()
    before = one(world, target)
    advance(world, world.now_ms + 60_000)
    done = change(world, target, **{field: value})
    expected = {"amount": "0.20", "currency": "USDC", "paid_by": "peerpesa"} if shown == "as sent" else shown or value
    assert one(world, target) == done.resource == before | {field: expected, "updated_at": "2026-01-05T08:01:00.000Z"}


def test_members_of_limits_and_network_fee_that_are_not_named_stay() -> None:
    world = fresh()
    change(world, OFFRAMP, limits={"max_amount": "20"}, network_fee={"amount": "0.5"})
    row = one(world, OFFRAMP)
    assert row["limits"] == {"min_amount": "1.00", "max_amount": "20.00", "currency": "USDC"}
    assert row["network_fee"] == {"amount": "0.50", "currency": "CELO", "paid_by": "customer"}
    change(world, OFFRAMP, limits={"min_amount": "0"}, network_fee={"amount": "0"})
    assert one(world, OFFRAMP)["limits"]["min_amount"] == "0.00"
    assert one(world, OFFRAMP)["network_fee"]["amount"] == "0.00"
    change(world, "fee_buy_kes", network_fee={"amount": "3"})
    assert one(world, "fee_buy_kes")["network_fee"] == {"amount": "3.00", "currency": "KES", "paid_by": "customer"}


def test_the_currency_of_fee_and_limits_follows_that_of_the_amount() -> None:
    world = fresh()
    change(world, OFFRAMP, asset="CUSD")
    row = one(world, OFFRAMP)
    assert (row["asset"], row["fee_currency"], row["limits"]["currency"]) == ("CUSD", "CUSD", "CUSD")


@pytest.mark.parametrize(
    ("target", "values", "param"),
    [
        (OFFRAMP, {"product": "loan"}, "product"),
        (OFFRAMP, {"name": ""}, "name"),
        (OFFRAMP, {"name": 5}, "name"),
        (OFFRAMP, {"network": "bitcoin"}, "network"),
        (OFFRAMP, {"network": "stellar", "asset": "CUSD"}, "asset"),
        (OFFRAMP, {"asset": "DOGE"}, "asset"),
        (OFFRAMP, {"asset": None}, "asset"),
        (OFFRAMP, {"asset": "KES"}, "asset"),
        (ONRAMP, {"network": None, "asset": "DOGE"}, "asset"),
        (OFFRAMP, {"fiat_currency": "USD"}, "fiat_currency"),
        (ONRAMP, {"fiat_currency": None}, "fiat_currency"),
        ("fee_send_xlm_stellar", {"fiat_currency": "KES"}, "fiat_currency"),
        (OFFRAMP, {"payment_method": "mobile_money"}, "payment_method"),
        (OFFRAMP, {"fee_currency": "KES"}, "fee_currency"),
        (OFFRAMP, {"limits": {"currency": "KES"}}, "limits.currency"),
        (OFFRAMP, {"limits": {"min_amount": 5}}, "limits.min_amount"),
        (OFFRAMP, {"limits": {"min_amount": "5", "max_amount": "4"}}, "limits.max_amount"),
        (OFFRAMP, {"limits": {"least": "4"}}, "limits.least"),
        (OFFRAMP, {"limits": "5"}, "limits"),
        (OFFRAMP, {"limits": {"min_amount": "0.0000001"}}, "limits.min_amount"),
        (OFFRAMP, {"percentage": 1}, "percentage"),
        (OFFRAMP, {"percentage": "-1"}, "percentage"),
        (OFFRAMP, {"fixed": "0.0000001"}, "fixed"),
        (OFFRAMP, {"min_fee": "x"}, "min_fee"),
        (OFFRAMP, {"min_fee": "41"}, "max_fee"),
        (OFFRAMP, {"max_fee": "0.01"}, "max_fee"),
        (OFFRAMP, {"network_fee": {"amount": "1", "currency": "USD"}}, "network_fee.currency"),
        (OFFRAMP, {"network_fee": {"amount": "0.001", "currency": "KES"}}, "network_fee.amount"),
        (OFFRAMP, {"network_fee": {"paid_by": "nobody"}}, "network_fee.paid_by"),
        (OFFRAMP, {"status": "deleted"}, "status"),
        (OFFRAMP, {"colour": "red"}, "colour"),
        (OFFRAMP, {"id": "fee_mine"}, "id"),
    ],
)
def test_a_wrong_field_is_refused_by_name_and_nothing_changes(target: str, values: dict[str, Any], param: str) -> None:
    world = fresh()
    before = listed(world, status="all")
    with pytest.raises(ControlError) as refused:
        change(world, target, **values)
    assert (refused.value.status, refused.value.code, refused.value.param) == (400, "invalid_parameter", param)
    assert listed(world, status="all") == before


def test_products_change_in_their_own_environment_only() -> None:
    world = fresh()
    change(world, "fee_live_offramp_usdc_celo_kes", percentage="3.00")
    assert one(world, "fee_live_offramp_usdc_celo_kes", "production")["percentage"] == "3.00"
    assert one(world, OFFRAMP)["percentage"] == "0.80"


def test_an_unknown_target_is_not_found_and_none_at_all_is_missing() -> None:
    world = fresh()
    with pytest.raises(ControlError) as unknown:
        change(world, "fee_nothing", percentage="1")
    assert (unknown.value.status, unknown.value.code) == (404, "not_found")
    with pytest.raises(ControlError) as none:
        change(world, None, percentage="1")
    assert (none.value.status, none.value.code, none.value.param) == (400, "missing_parameter", "target")


def test_a_product_is_found_by_id_like_any_resource() -> None:
    world = fresh()
    assert isinstance(find(world, OFFRAMP), FeeProduct)
    change(world, OFFRAMP, percentage="3")
    product = find(world, OFFRAMP)
    assert isinstance(product, FeeProduct)
    assert product.percentage == 3
    assert find(world, "fee_nothing") is None
    assert [step.state for step in world.journal.history(OFFRAMP)] == ["active"]
