"""`world.flow`: an order in one line."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from simulator.testing import SimulatorError, World

ONRAMP = ("awaiting_payment", "processing", "completed", "failed", "refunded", "expired")
OFFRAMP = ("awaiting_deposit", *ONRAMP[1:])
CURRENCIES = ("KES", "TZS", "NGN", "ZAR", "ZMW")


def test_a_flow_is_completed_by_default(kit: World) -> None:
    order = kit.flow("onramp")
    assert (order["type"], order["status"]) == ("onramp", "completed")
    assert kit.client.get(f"/transactions/{order['id']}").json() == order
    assert kit.event("transaction.completed", order)["data"]["object"]["id"] == order["id"]


@pytest.mark.parametrize(
    ("name", "status"), [("onramp", one) for one in ONRAMP] + [("offramp", one) for one in OFFRAMP]
)
def test_a_flow_reaches_each_status(kit: World, name: str, status: str) -> None:
    order = kit.flow(name, status)
    assert (order["type"], order["status"]) == (name, status)


@pytest.mark.parametrize("name", ["onramp", "offramp"])
def test_flow_causes_no_advice_about_idempotency_keys(kit: World, name: str) -> None:
    kit.flow(name, "awaiting_payment" if name == "onramp" else "awaiting_deposit")
    assert [finding["message"] for finding in kit.advice() if "Idempotency-Key" in finding["message"]] == []


@pytest.mark.parametrize("fiat", CURRENCIES)
@pytest.mark.parametrize("name", ["onramp", "offramp"])
def test_the_other_fields_match_the_fiat_currency(kit: World, name: str, fiat: str) -> None:
    order = kit.flow(name, fiat_currency=fiat)
    assert (order["status"], order["fiat_currency"]) == ("completed", fiat)


@pytest.mark.parametrize(
    "fields",
    [
        {"network": "stellar", "asset": "XLM", "amount": "200", "amount_currency": "XLM"},
        {"method": "bank_transfer"},
        {"reference": "order-7", "memo": "12", "network": "stellar"},
        {"payer": {"phone_number": "+254722000111"}},
    ],
)
def test_fields_replace_those_of_the_quote_and_of_the_confirmation(kit: World, fields: dict[str, Any]) -> None:
    order = kit.flow("onramp", "awaiting_payment", **fields)
    quote = kit.client.get(f"/quotes/{order['quote_id']}").json()
    for field in ("network", "asset", "method"):
        if field in fields:
            assert quote[field] == fields[field]
    if "amount" in fields:
        assert Decimal(order["destination_amount"]) == Decimal(fields["amount"])
    if "reference" in fields:
        assert order["reference"] == "order-7"


def test_a_saved_beneficiary_is_used(kit: World) -> None:
    first = kit.flow("offramp", "awaiting_deposit")
    again = kit.flow("offramp", "awaiting_deposit", beneficiary_id=first["beneficiary_id"])
    assert again["beneficiary_id"] == first["beneficiary_id"]
    assert len(kit.client.get("/beneficiaries").json()["data"]) == 1


def test_an_unknown_name_is_reported_with_known_names(kit: World) -> None:
    with pytest.raises(ValueError, match=r"'swop' is not a flow\. Use one of: 'onramp', 'offramp'\."):
        kit.flow("swop")
    with pytest.raises(ValueError, match=r"'done' is not a status of onramp\. Use one of: 'awaiting_payment'"):
        kit.flow("onramp", "done")
    with pytest.raises(TypeError, match=r"'beneficiary_id' is not a field of onramp\. Use: network,"):
        kit.flow("onramp", beneficiary_id="ben_1")
    assert kit.requests() == []


def test_a_refusal_of_the_api_is_raised_with_its_code(kit: World) -> None:
    with pytest.raises(SimulatorError) as caught:
        kit.flow("onramp", amount="1")
    assert caught.value.code == "amount_too_low"


def test_a_flow_works_in_process_too(world_in_process: World) -> None:
    assert world_in_process.flow("offramp", "refunded")["status"] == "refunded"
