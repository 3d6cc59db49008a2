"""Responses with a wrong shape, which a check of shapes alone would find."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tests.tools.conformance.mutants.service import Answer, Call, Service, answer, service

CREATING_QUOTES = ("POST /wallet/swap/quote", "POST /wallet/buy/quote", "POST /wallet/withdraw/quote")
TRANSACTIONS = ("POST /quotes/{id}/confirm", "GET /transactions/{id}")


def everywhere(body: Any, change: Callable[[Any], Any]) -> Any:
    """The body with every scalar changed."""
    if isinstance(body, dict):
        return {name: everywhere(value, change) for name, value in body.items()}
    if isinstance(body, list):
        return [everywhere(value, change) for value in body]
    return change(body)


@answer("A ramp quote has no `expires_at`.", "POST /quotes", "GET /quotes/{id}", found_by="shape.required")
def quote_without_expires_at(body: Any, call: Call) -> None:
    del body["expires_at"]


@answer("An offramp's transaction has no `deposit`.", *TRANSACTIONS, found_by="shape.required")
def offramp_without_deposit(body: Any, call: Call) -> None:
    body.pop("deposit", None)


@answer("An offramp's transaction has the payer's instructions too.", *TRANSACTIONS, found_by="ramp.variant")
def offramp_with_payment_instructions(body: Any, call: Call) -> None:
    if body["type"] == "offramp":
        body["payment_instructions"] = {"method": "bank_transfer"}


@answer("The account's limits are numbers instead of strings.", "GET /profile/limits", found_by="shape.type")
def limits_as_numbers(body: Any, call: Call) -> None:
    for limit in body["limits"].values():
        limit.update({name: float(value) for name, value in limit.items()})


@answer("Amounts of a ramp quote are JSON numbers.", "POST /quotes", "GET /quotes/{id}", found_by="shape.type")
def amounts_as_numbers(body: Any, call: Call) -> None:
    for name in ("source_amount", "destination_amount", "rate"):
        body[name] = float(body[name])


@answer("An order's amounts are strings.", "GET /orders/{order_id}", found_by="shape.type")
def order_amounts_as_text(body: Any, call: Call) -> None:
    for name in ("amount", "total_amount", "total_fees"):
        body[name] = str(body[name])


@answer("The items of a list have a field that nobody knows.", "GET /beneficiaries", found_by="shape.assumed_closed")
def unknown_field_in_a_list(body: Any, call: Call) -> None:
    for item in body["data"]:
        item["internal_id"] = 7


@answer("A beneficiary's details are named as those of another type.", "POST /beneficiaries", "GET /beneficiaries/{id}",
        found_by="shape.required shape.assumed_closed")  # fmt: skip
def details_of_another_type(body: Any, call: Call) -> None:
    if body["type"] == "phone_number":
        body["details"] = {"bank_code": "058", "bank_name": "GTBank", "account_number": "0123456789",
                           "account_name": body["name"]}  # fmt: skip


@answer("A deposit wallet on celo has a memo.", "POST /wallets", "GET /wallets/{id}", found_by="wallet.memo")
def memo_on_celo(body: Any, call: Call) -> None:
    if body["network"] == "celo":
        body |= {"memo": "4711", "memo_type": "id"}


@answer("Timestamps are local time with an offset.", found_by="time.utc")
def timestamps_with_offset(body: Any, call: Call) -> None:
    def local(value: Any) -> Any:
        if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", value):
            return value.replace("Z", "+03:00")
        return value

    changed = everywhere(body, local)
    body.clear()
    body.update(changed)


@answer("A wallet quote has a status that no such quote has.", *CREATING_QUOTES, found_by="shape.assumed_closed")
def wallet_quote_with_status(body: Any, call: Call) -> None:
    body["status"] = "active"


@service("What creates a ramp quote answers 200.", "POST /quotes", found_by="shape.assumed_status")
async def created_with_200(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    found.status = 200 if found.status == 201 else found.status
    return found


@service("Answers have no X-Request-Id.", found_by="shape.assumed_header")
async def no_request_id(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    found.headers.pop("x-request-id", None)
    return found


@service("Refusals come as HTML.", found_by="shape.content_type")
async def errors_as_html(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    if found.status >= 400:
        found.headers["content-type"] = "text/html"
    return found
