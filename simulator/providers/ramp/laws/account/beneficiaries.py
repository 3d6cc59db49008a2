"""Beneficiaries: what they show, and what is refused."""

from __future__ import annotations

from simulator.conformance.bench import Bench
from simulator.conformance.laws import promise
from simulator.engine.text.json import JsonObject
from simulator.providers.ramp.laws import stock

MAKE = "POST /beneficiaries"


@promise("beneficiary.details", "Beneficiary: Details by type", "writes")
def details(bench: Bench) -> None:
    """A beneficiary shows the details of its type as they were given, the bank's name and an empty memo."""
    for body in (stock.BENEFICIARY, stock.BANK_BENEFICIARY, stock.ADDRESS_BENEFICIARY):
        made = bench.done(MAKE, body)
        for name in ("type", "name"):
            bench.equal(made, name, body[name])
        given: JsonObject = body[body["type"]]
        for name, value in given.items():
            bench.equal(made, f"details.{name}", value)
        if body["type"] == "bank_account":
            bench.holds(bool(made.part("details").get("bank_name")), made, "no bank_name", "details.bank_name")
        if body["type"] == "wallet_address":
            bench.equal(made, "details.memo", "")


@promise("beneficiary.country", "Beneficiary: country, fiat_currency", "writes")
def country(bench: Bench) -> None:
    """Country and fiat currency are as given, and null for an address."""
    for body in (stock.BENEFICIARY, stock.BANK_BENEFICIARY, stock.ADDRESS_BENEFICIARY):
        made = bench.done(MAKE, body)
        for name in ("country", "fiat_currency"):
            bench.equal(made, name, body.get(name))


@promise("errors.invalid_phone_number", "Errors: invalid_phone_number", "writes")
def phone_numbers(bench: Bench) -> None:
    """A phone number that is none of the country is refused with 422 invalid_phone_number."""
    for number in ("+2547", "12", "+2348031234567"):
        bench.refuses(
            422,
            "invalid_phone_number",
            MAKE,
            {**stock.BENEFICIARY, "phone_number": {"phone_number": number, "provider": "mpesa"}},
        )


@promise("beneficiary.address", "Beneficiaries: 422 invalid_wallet_address, unsupported_asset", "writes")
def addresses(bench: Bench) -> None:
    """An address that is none of its network and an asset that is not on it are refused with 422."""
    bench.refuses(
        422,
        "invalid_wallet_address",
        MAKE,
        stock.changed(stock.ADDRESS_BENEFICIARY, "wallet_address.wallet_address", "0x123"),
    )
    bench.refuses(
        422, "unsupported_asset", MAKE, stock.changed(stock.ADDRESS_BENEFICIARY, "wallet_address.asset", "XLM")
    )


@promise("beneficiary.pair", "Beneficiaries: 422 unsupported_pair", "writes")
def pairs(bench: Bench) -> None:
    """A currency or a provider that the country does not have is refused with 422 unsupported_pair."""
    bench.refuses(422, "unsupported_pair", MAKE, {**stock.BENEFICIARY, "fiat_currency": "NGN"})
    bench.refuses(422, "unsupported_pair", MAKE, stock.changed(stock.BENEFICIARY, "phone_number.provider", "mtn"))


@promise("errors.unsupported_provider", "Errors: unsupported_provider", "writes")
def providers(bench: Bench) -> None:
    """A provider that there is not is refused with 422 unsupported_provider."""
    bench.refuses(
        422, "unsupported_provider", MAKE, stock.changed(stock.BENEFICIARY, "phone_number.provider", "pigeon_post")
    )


@promise("errors.invalid_bank_account", "Errors: invalid_bank_account", "writes")
def bank_accounts(bench: Bench) -> None:
    """A bank code that there is not is refused with 422 invalid_bank_account."""
    bench.refuses(
        422, "invalid_bank_account", MAKE, stock.changed(stock.BANK_BENEFICIARY, "bank_account.bank_code", "zz999")
    )


@promise("beneficiary.type", "Beneficiaries: 400 missing_parameter, 400 invalid_parameter", "writes")
def types(bench: Bench) -> None:
    """An unknown type is 400 invalid_parameter, a type without its details 400 missing_parameter."""
    bench.refuses(400, "invalid_parameter", MAKE, {**stock.BENEFICIARY, "type": "cheque"}, param="type")
    bench.refuses(
        400, "missing_parameter", MAKE, stock.without(stock.BANK_BENEFICIARY, "bank_account"), param="bank_account"
    )


@promise("beneficiary.past_kept", "DELETE /beneficiaries/{id}: past transactions unaffected", "writes")
def past_kept(bench: Bench) -> None:
    """A transaction still tells its beneficiary when that has been deleted."""
    made = stock.offramp(bench)
    bench.done("DELETE /beneficiaries/{id}", id=made.text("beneficiary_id"))
    later = bench.done("GET /transactions/{id}", id=made.text("id"))
    bench.same(later, made, "beneficiary_id", "status", "destination_amount")


@promise("beneficiary.deleted_unused", "Errors: not_found", "writes")
def deleted_unused(bench: Bench) -> None:
    """A beneficiary that was deleted cannot be paid any more."""
    quote, details = stock.offramp_quote(bench), stock.offramp_details(bench)
    bench.done("DELETE /beneficiaries/{id}", id=str(details["beneficiary_id"]))
    refused = bench.call("POST /quotes/{id}/confirm", details, id=quote.text("id"))
    bench.refused(refused, 404, "not_found", after=(quote,))


LAWS = (details, country, phone_numbers, addresses, pairs, providers, bank_accounts, types, past_kept, deleted_unused)
