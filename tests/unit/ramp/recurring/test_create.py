"""POST /recurring-payments: its responses, and all refusals."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.engine.rows.error import ApiError
from tests.support import STELLAR, UNUSUAL_PHONES
from tests.unit.ramp.recurring.world import call, events, fresh, save_beneficiary, send_body, withdraw_body

PATH = "/recurring-payments"


def test_a_withdrawal_begins_as_a_draft_without_a_schedule() -> None:
    world = fresh()
    beneficiary_id = save_beneficiary(world)
    made = call(world, "POST", PATH, withdraw_body(beneficiary_id, description="Flat 4"))
    assert made.pop("id").startswith("rp_")
    assert made == {
        "name": "Rent",
        "type": "withdraw",
        "status": "draft",
        "source": {"symbol": "USDC", "network": "STELLAR"},
        "amount": "20.00",
        "amount_currency": "USDC",
        "recipient": {"beneficiary_id": beneficiary_id},
        "description": "Flat 4",
        "reference": "rent",
        "schedule": None,
        "created_at": "2026-01-05T08:00:00.000Z",
        "next_run_at": None,
        "runs_completed": 0,
        "total_runs": None,
        "activated_at": None,
        "paused_at": None,
        "pause_reason": None,
    }
    assert events(world) == []


def test_the_amount_may_be_in_the_beneficiarys_fiat() -> None:
    world = fresh()
    made = call(world, "POST", PATH, withdraw_body(save_beneficiary(world), amount="2500.5", amount_currency="KES"))
    assert (made["amount"], made["amount_currency"]) == ("2500.50", "KES")


def test_a_send_shows_its_destination_as_it_was_given() -> None:
    destination = {"type": "address", "address": STELLAR, "memo": "7"}
    made = call(fresh(), "POST", PATH, send_body(recipient={"destination": destination}))
    assert made["recipient"] == {"destination": destination}
    assert (made["description"], made["reference"]) == (None, None)


@pytest.mark.parametrize(
    "destination",
    [
        {"type": "platform_user", "phone_number": "+254712000111"},
        {"type": "lightning", "lightning_address": "juma@wallet.example"},
    ],
)
def test_a_send_may_go_to_a_user_or_over_lightning(destination: dict[str, Any]) -> None:
    source = {"symbol": "BTC", "network": "BITCOIN"}
    body = send_body(source=source, amount="0.001", amount_currency="BTC", recipient={"destination": destination})
    assert call(fresh(), "POST", PATH, body)["status"] == "draft"


@pytest.mark.parametrize(
    ("changes", "code", "param"),
    [
        ({"name": None}, "missing_parameter", "name"),
        ({"type": None}, "missing_parameter", "type"),
        ({"source": None}, "missing_parameter", "source"),
        ({"source": {"symbol": "USDC"}}, "missing_parameter", "source.network"),
        ({"amount": None}, "missing_parameter", "amount"),
        ({"amount_currency": None}, "missing_parameter", "amount_currency"),
        ({"recipient": None}, "missing_parameter", "recipient"),
        ({"recipient": {}}, "missing_parameter", "recipient.beneficiary_id"),
        ({"type": "swap"}, "invalid_parameter", "type"),
        ({"type": ["withdraw"]}, "invalid_parameter", "type"),
        ({"amount": 20}, "invalid_parameter", "amount"),
        ({"amount": "20.12345678"}, "invalid_parameter", "amount"),
        ({"amount": "2500.501", "amount_currency": "KES"}, "invalid_parameter", "amount"),
        ({"amount_currency": "EUR"}, "invalid_parameter", "amount_currency"),
        ({"amount_currency": "usdc"}, "invalid_parameter", "amount_currency"),
        ({"recipient": {"beneficiary_id": "ben_nobody"}}, "not_found", "beneficiary_id"),
        ({"source": {"symbol": "USDC", "network": "stellar"}}, "unsupported_network", "source.network"),
        (
            {"source": {"symbol": "USDT", "network": "STELLAR"}, "amount_currency": "KES"},
            "unsupported_asset",
            "source.symbol",
        ),
        (
            {"source": {"symbol": "XLM", "network": "STELLAR"}, "amount_currency": "XLM"},
            "unsupported_asset",
            "source.symbol",
        ),
        ({"amount_currency": "NGN"}, "beneficiary_mismatch", "amount_currency"),
        ({"amount": "0"}, "amount_too_low", "amount"),
    ],
)
def test_a_withdrawal_is_refused(changes: dict[str, Any], code: str, param: str) -> None:
    world = fresh()
    body = withdraw_body(save_beneficiary(world)) | changes
    with pytest.raises(ApiError) as refused:
        call(world, "POST", PATH, body)
    assert (refused.value.code, refused.value.param) == (code, param)
    assert call(world, "GET", PATH)["data"] == []


@pytest.mark.parametrize(
    ("changes", "code", "param"),
    [
        ({"recipient": {}}, "missing_parameter", "recipient.destination"),
        ({"recipient": "amina"}, "invalid_parameter", "recipient"),
        ({"recipient": {"destination": {}}}, "missing_parameter", "recipient.destination.type"),
        ({"recipient": {"destination": {"type": "post"}}}, "invalid_parameter", "recipient.destination.type"),
        ({"recipient": {"destination": {"type": "address"}}}, "missing_parameter", "recipient.destination.address"),
        (
            {"recipient": {"destination": {"type": "address", "address": "GNOT"}}},
            "invalid_wallet_address",
            "recipient.destination.address",
        ),
        ({"recipient": {"destination": {"type": "platform_user"}}}, "missing_parameter", "recipient.destination"),
        (
            {"recipient": {"destination": {"type": "platform_user", "email": "a@b.test", "user_id": "1"}}},
            "invalid_parameter",
            "recipient.destination",
        ),
        (
            {"recipient": {"destination": {"type": "platform_user", "email": "nobody@example.test"}}},
            "not_found",
            "recipient.destination.email",
        ),
        (
            {
                "recipient": {"destination": {"type": "platform_user", "email": "nobody@example.test"}},
                "source": {"symbol": "USDC", "network": "nowhere"},
            },
            "not_found",
            "recipient.destination.email",
        ),
        *(
            (
                {"recipient": {"destination": {"type": "platform_user", "phone_number": spelled}}},
                "invalid_phone_number",
                "recipient.destination.phone_number",
            )
            for spelled in UNUSUAL_PHONES
        ),
        ({"amount_currency": "KES"}, "invalid_parameter", "amount_currency"),
        ({"amount": "0.00"}, "amount_too_low", "amount"),
        ({"source": {"symbol": "USDC", "network": "BTC"}}, "unsupported_network", "source.network"),
    ],
)
def test_a_send_is_refused(changes: dict[str, Any], code: str, param: str) -> None:
    with pytest.raises(ApiError) as refused:
        call(fresh(), "POST", PATH, send_body(**changes))
    assert (refused.value.code, refused.value.param) == (code, param)


def test_a_saved_wallet_address_receives_no_withdrawal() -> None:
    world = fresh()
    saved = call(
        world,
        "POST",
        "/beneficiaries",
        {
            "type": "wallet_address",
            "name": "Cold wallet",
            "wallet_address": {"wallet_address": STELLAR, "network": "stellar", "asset": "USDC"},
        },
    )
    with pytest.raises(ApiError) as refused:
        call(world, "POST", PATH, withdraw_body(saved["id"]))
    assert (refused.value.code, refused.value.param) == ("beneficiary_mismatch", "beneficiary_id")


def test_a_deleted_beneficiary_is_not_found() -> None:
    world = fresh()
    beneficiary_id = save_beneficiary(world)
    call(world, "DELETE", "/beneficiaries/{id}", id=beneficiary_id)
    with pytest.raises(ApiError) as refused:
        call(world, "POST", PATH, withdraw_body(beneficiary_id))
    assert (refused.value.code, refused.value.param) == ("not_found", "beneficiary_id")


@pytest.mark.parametrize(
    "destination",
    [
        {"type": "platform_user", "email": "a@b.test", "user_id": "1"},
        {"type": "address", "address": "GNOT"},
    ],
)
def test_create_bad_destination_message_names_the_param(destination: dict[str, str]) -> None:
    with pytest.raises(ApiError) as refused:
        call(fresh(), "POST", PATH, send_body() | {"recipient": {"destination": destination}})
    assert f"`{refused.value.param}`" in refused.value.message
