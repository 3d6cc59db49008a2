"""GET /recurring-payments/{id}/review: estimates, the masked account, the next runs, the warnings."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from simulator.providers.ramp.recurring import rendering
from tests.support import STELLAR, act
from tests.unit.ramp.recurring.world import (
    DAILY,
    ITEM,
    ROOMS,
    active,
    call,
    fresh,
    go,
    save_beneficiary,
    scheduled,
    send_body,
    withdraw_body,
)

REVIEW = f"{ITEM}/review"


def review_of(world: Any, body: dict[str, Any], schedule: dict[str, Any] = DAILY) -> Any:
    payment_id = call(world, "POST", "/recurring-payments", body)["id"]
    call(world, "PUT", f"{ITEM}/schedule", schedule, id=payment_id)
    return call(world, "GET", REVIEW, id=payment_id)


def test_the_review_of_a_withdrawal_agrees_with_a_quote_of_the_same_instant() -> None:
    world = fresh()
    beneficiary_id = save_beneficiary(world)
    review = review_of(world, withdraw_body(beneficiary_id))
    quote = call(
        world,
        "POST",
        "/wallet/withdraw/quote",
        {
            "symbol": "USDC",
            "network": "STELLAR",
            "fiat_currency": "KES",
            "amount": "20",
            "amount_currency": "USDC",
            "beneficiary_id": beneficiary_id,
        },
    )
    fee = quote["fee"]
    assert review["recipient"] == {
        "beneficiary_id": beneficiary_id,
        "name": "Wanjiru Otieno",
        "type": "phone_number",
        "account": "*********0000",
    }
    assert review["per_run"] == {
        "amount": "20.00",
        "amount_currency": "USDC",
        "estimated_rate": quote["rate"],
        "estimated_source_amount": quote["source_amount"],
        "estimated_fee": {
            "total": fee["total"],
            "currency": "USDC",
            "processing_fee": fee["app_fee"],
            "network_fee": fee["network_fee"],
        },
        "estimated_total_debit": "20.00",
        "source_currency": "USDC",
    }
    assert review["schedule_summary"].startswith("Every day at 09:00")
    assert review["next_runs"] == [f"2026-01-0{day}T06:00:00.000Z" for day in (6, 7, 8)]
    assert review["total_runs"] is None
    assert review["balance_check"] == {"available": "1000.00", "covers_next_run": True}
    assert review["warnings"] == []
    assert list(review) == [
        "id",
        "name",
        "type",
        "recipient",
        "per_run",
        "schedule_summary",
        "next_runs",
        "total_runs",
        "balance_check",
        "warnings",
    ]


def test_an_amount_in_fiat_is_solved_backwards_as_a_quote_does() -> None:
    world = fresh()
    beneficiary_id = save_beneficiary(world)
    review = review_of(world, withdraw_body(beneficiary_id, amount="2500", amount_currency="KES"))
    quote = call(
        world,
        "POST",
        "/wallet/withdraw/quote",
        {
            "symbol": "USDC",
            "network": "STELLAR",
            "fiat_currency": "KES",
            "amount": "2500",
            "amount_currency": "KES",
            "beneficiary_id": beneficiary_id,
        },
    )
    assert review["per_run"]["amount"] == "2500.00"
    assert review["per_run"]["estimated_source_amount"] == quote["source_amount"]
    assert review["per_run"]["estimated_total_debit"] == quote["source_amount"]


def test_the_review_of_a_send_shows_the_fee_inside_the_amount() -> None:
    destination = {"type": "address", "address": STELLAR}
    review = review_of(fresh(), send_body(recipient={"destination": destination}))
    assert review["recipient"] == {
        "beneficiary_id": None,
        "name": None,
        "type": "address",
        "account": "*" * 52 + STELLAR[-4:],
    }
    assert review["per_run"]["estimated_total_debit"] == "20.00"
    assert Decimal(review["per_run"]["estimated_fee"]["total"]) > 0
    assert review["per_run"]["estimated_rate"] == "1"


def test_a_send_to_another_user_is_free() -> None:
    review = review_of(fresh(), send_body())
    assert review["per_run"]["estimated_fee"]["total"] == "0.00"
    assert review["recipient"]["account"] == "a****@example.test"


def test_the_warnings() -> None:
    world = fresh()
    act(world, ROOMS, "set_balance", symbol="USDC", network="STELLAR", amount="19.9999999")
    act(world, ROOMS, "set_limits", monthly="2000")
    review = review_of(world, withdraw_body(save_beneficiary(world)))
    assert review["warnings"] == ["insufficient_balance_for_next_run", "amount_exceeds_monthly_limit"]
    assert review["balance_check"] == {"available": "19.9999999", "covers_next_run": False}


def test_a_balance_of_exactly_the_debit_covers_the_next_run() -> None:
    world = fresh()
    act(world, ROOMS, "set_balance", symbol="USDC", network="STELLAR", amount="20")
    review = review_of(world, withdraw_body(save_beneficiary(world)))
    assert review["warnings"] == []
    assert review["balance_check"] == {"available": "20.00", "covers_next_run": True}


def test_limits_warn_but_do_not_refuse_the_review() -> None:
    world = fresh()
    review = review_of(world, withdraw_body(save_beneficiary(world), amount="900000"))
    assert review["warnings"] == ["insufficient_balance_for_next_run", "amount_exceeds_monthly_limit"]
    assert review_of(world, withdraw_body(save_beneficiary(world), amount="0.0000001"))["warnings"] == []
    assert review_of(world, send_body(amount="900000"))["warnings"] == ["insufficient_balance_for_next_run"]


@pytest.mark.parametrize(
    ("end", "count"),
    [({"type": "after_occurrences", "occurrences": 2}, 2), ({"type": "on_date", "date": "2026-01-06"}, 1)],
)
def test_only_the_runs_that_are_left_are_shown(end: dict[str, Any], count: int) -> None:
    world = fresh()
    review = review_of(world, send_body(), DAILY | {"end": end})
    assert len(review["next_runs"]) == count
    assert review["total_runs"] == count


def test_an_active_payment_shows_its_next_runs_and_a_completed_one_none() -> None:
    world = fresh()
    payment_id = active(world, DAILY | {"end": {"type": "after_occurrences", "occurrences": 2}})
    go(world, "2026-01-06T06:00:00Z")
    assert call(world, "GET", REVIEW, id=payment_id)["next_runs"] == ["2026-01-07T06:00:00.000Z"]
    go(world, "2026-01-07T06:00:00Z")
    assert call(world, "GET", REVIEW, id=payment_id)["next_runs"] == []


def test_review_works_after_the_beneficiary_is_deleted() -> None:
    world = fresh()
    saved = save_beneficiary(world)
    payment_id = call(world, "POST", "/recurring-payments", withdraw_body(saved))["id"]
    call(world, "PUT", f"{ITEM}/schedule", DAILY, id=payment_id)
    call(world, "DELETE", "/beneficiaries/{id}", id=saved)
    assert call(world, "GET", REVIEW, id=payment_id)["recipient"]["name"] == "Wanjiru Otieno"


def test_review_is_repeatable() -> None:
    world = fresh()
    payment_id = scheduled(world)
    assert call(world, "GET", REVIEW, id=payment_id) == call(world, "GET", REVIEW, id=payment_id)


def test_accounts_are_masked() -> None:
    assert rendering.mask("0123456789") == "******6789"
    assert rendering.mask("1234") == "****"
    assert rendering.mask("") == ""
    assert rendering.mask("juma@wallet.example") == "j***@wallet.example"
