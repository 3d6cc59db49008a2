"""What beneficiaries do: saving a recipient after every check, showing, listing and deleting.

Chapter "Beneficiaries" of the specification; decisions H5, R1 to R4 and R6.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from simulator.resources.beneficiaries.records import Beneficiary, beneficiaries
from simulator.resources.beneficiaries.shapes import render_beneficiary
from simulator.resources.reference import (
    COUNTRIES,
    PROVIDER_CODES,
    asset,
    is_address,
    is_phone,
    provider,
    require_account_number,
    require_bank,
)
from simulator.wire.errors import ApiError, not_found
from simulator.wire.json import JsonObject
from simulator.wire.listing import page_of
from simulator.wire.operation import Call
from simulator.wire.records import create, new_fields, remove
from simulator.wire.spelling import SHORT

_ASSET_SPELLINGS = {"cUSD": "CUSD"}
"""Beneficiaries know the Celo dollar by both names (decision H5)."""


def load_beneficiary(call: Call) -> Beneficiary:
    """The beneficiary that the path names; 404 not_found, also when it is deleted."""
    identifier = call.path["id"]
    found = beneficiaries(call.world, call.environment).get(identifier)
    if found is None:
        raise not_found("beneficiary", identifier)
    return found


def check_account_number(call: Call) -> None:
    """400 for an account number that has not the shape of its country (decision R3)."""
    body = call.body
    if body.type != "bank_account":
        return
    require_account_number(body.country, body.bank_account.account_number, "bank_account.account_number")


def save_beneficiary(call: Call) -> JsonObject:
    """POST /beneficiaries."""
    body = call.body
    details = _DETAILS[body.type](body, call.environment)
    fiat = body.type != "wallet_address"
    record = Beneficiary(
        **new_fields(call.world, call.environment, "ben_", "ids.beneficiary"),
        type=body.type,
        name=body.name,
        country=body.country if fiat else None,
        fiat_currency=body.fiat_currency if fiat else None,
        details=details,
    )
    return render_beneficiary(call.world, create(call.world, record, "create"))


def _require_fiat(body: Any) -> None:
    if body.fiat_currency != COUNTRIES[body.country]:
        raise ApiError(
            "unsupported_pair", f"{body.fiat_currency!r} is not supported in {body.country}.", "fiat_currency"
        )


def _bank_account(body: Any, environment: str) -> JsonObject:
    _require_fiat(body)
    given = body.bank_account
    found = require_bank(body.country, given.bank_code, "bank_account.bank_code")
    return {
        "bank_code": found.code,
        "bank_name": found.name,
        "account_number": given.account_number,
        "account_name": given.account_name,
    }


def _phone_number(body: Any, environment: str) -> JsonObject:
    _require_fiat(body)
    given = body.phone_number
    if not is_phone(given.phone_number, body.country):
        raise ApiError(
            "invalid_phone_number",
            f"{given.phone_number!r} is not a phone number of {body.country} in international format.",
            "phone_number.phone_number",
        )
    if provider(body.country, given.provider) is None:
        known = given.provider in PROVIDER_CODES
        raise ApiError(
            "unsupported_pair" if known else "unsupported_provider",
            f"The mobile money provider {given.provider!r} is not supported in {body.country}.",
            "phone_number.provider",
        )
    return {"phone_number": given.phone_number, "provider": given.provider}


def _wallet_address(body: Any, environment: str) -> JsonObject:
    given = body.wallet_address
    network = SHORT[given.network]
    if asset(_ASSET_SPELLINGS.get(given.asset, given.asset), network) is None:
        raise ApiError(
            "unsupported_asset", f"{given.asset!r} is not available on {given.network}.", "wallet_address.asset"
        )
    if not is_address(network, given.wallet_address, environment):
        raise ApiError(
            "invalid_wallet_address",
            f"{given.wallet_address!r} is not an address on {given.network}.",
            "wallet_address.wallet_address",
        )
    return {
        "wallet_address": given.wallet_address,
        "network": given.network,
        "asset": given.asset,
        "memo": given.memo or "",
    }


_DETAILS = {"bank_account": _bank_account, "phone_number": _phone_number, "wallet_address": _wallet_address}


def show_beneficiary(call: Call) -> JsonObject:
    """GET /beneficiaries/{id}."""
    return render_beneficiary(call.world, call.resource)


def list_beneficiaries(call: Call) -> JsonObject:
    """GET /beneficiaries: deleted ones are not listed (decision L6)."""
    table = beneficiaries(call.world, call.environment)
    return page_of(call.query, table, lambda record: render_beneficiary(call.world, record))


def delete_beneficiary(call: Call) -> None:
    """DELETE /beneficiaries/{id}: past transactions keep it."""
    remove(call.world, call.resource, "delete")


def searched(record: Beneficiary) -> Iterator[str]:
    """The texts that `search` looks at: name, phone number, account number, bank name, wallet address."""
    yield record.name
    for member in ("phone_number", "account_number", "bank_name", "wallet_address"):
        if member in record.details:
            yield record.details[member]
