"""Beneficiaries: what they show, and what is refused."""

from __future__ import annotations

from simulator.conformance.bench import Bench, law
from simulator.engine.text.json import JsonObject
from simulator.providers.ramp.laws import stock

MAKE = "POST /beneficiaries"


@law("beneficiary.details", "writes", clause="Beneficiary: Details by type")
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


@law("beneficiary.country", "writes", clause="Beneficiary: country, fiat_currency")
def country(bench: Bench) -> None:
    """Country and fiat currency are as given, and null for an address."""
    for body in (stock.BENEFICIARY, stock.BANK_BENEFICIARY, stock.ADDRESS_BENEFICIARY):
        made = bench.done(MAKE, body)
        for name in ("country", "fiat_currency"):
            bench.equal(made, name, body.get(name))


@law("errors.invalid_phone_number", "writes", clause="Errors: invalid_phone_number")
def phone_number(bench: Bench) -> None:
    """A phone number that is none of the country is refused with 422 invalid_phone_number."""
    for number in ("+2547", "12", "+2348031234567"):
        phone = {"phone_number": number, "provider": "mpesa"}
        answer = bench.call(MAKE, {**stock.BENEFICIARY, "phone_number": phone})
        bench.refused(answer, 422, "invalid_phone_number")


@law("beneficiary.address", "writes", clause="Beneficiaries: 422 invalid_wallet_address, unsupported_asset")
def address(bench: Bench) -> None:
    """An address that is none of its network and an asset that is not on it are refused with 422."""
    given: JsonObject = stock.ADDRESS_BENEFICIARY["wallet_address"]
    wrong = {**given, "wallet_address": "0x123"}
    answer = bench.call(MAKE, {**stock.ADDRESS_BENEFICIARY, "wallet_address": wrong})
    bench.refused(answer, 422, "invalid_wallet_address")
    other = {**given, "asset": "XLM"}
    answer = bench.call(MAKE, {**stock.ADDRESS_BENEFICIARY, "wallet_address": other})
    bench.refused(answer, 422, "unsupported_asset")


@law("beneficiary.pair", "writes", clause="Beneficiaries: 422 unsupported_pair")
def pair(bench: Bench) -> None:
    """A currency or a provider that the country does not have is refused with 422 unsupported_pair."""
    bench.refused(bench.call(MAKE, {**stock.BENEFICIARY, "fiat_currency": "NGN"}), 422, "unsupported_pair")
    phone = {**stock.BENEFICIARY["phone_number"], "provider": "mtn"}
    bench.refused(bench.call(MAKE, {**stock.BENEFICIARY, "phone_number": phone}), 422, "unsupported_pair")


@law("errors.unsupported_provider", "writes", clause="Errors: unsupported_provider")
def provider(bench: Bench) -> None:
    """A provider that there is not is refused with 422 unsupported_provider."""
    phone = {**stock.BENEFICIARY["phone_number"], "provider": "pigeon_post"}
    bench.refused(bench.call(MAKE, {**stock.BENEFICIARY, "phone_number": phone}), 422, "unsupported_provider")


@law("errors.invalid_bank_account", "writes", clause="Errors: invalid_bank_account")
def bank_account(bench: Bench) -> None:
    """A bank code that there is not is refused with 422 invalid_bank_account."""
    account = {**stock.BANK_BENEFICIARY["bank_account"], "bank_code": "zz999"}
    bench.refused(bench.call(MAKE, {**stock.BANK_BENEFICIARY, "bank_account": account}), 422, "invalid_bank_account")


@law("beneficiary.type", "writes", clause="Beneficiaries: 400 missing_parameter, 400 invalid_parameter")
def unknown_type(bench: Bench) -> None:
    """An unknown type is 400 invalid_parameter, a type without its details 400 missing_parameter."""
    bench.refused(bench.call(MAKE, {**stock.BENEFICIARY, "type": "cheque"}), 400, "invalid_parameter", param="type")
    left = {name: value for name, value in stock.BANK_BENEFICIARY.items() if name != "bank_account"}
    bench.refused(bench.call(MAKE, left), 400, "missing_parameter", param="bank_account")


@law("beneficiary.past_kept", "writes", clause="DELETE /beneficiaries/{id}: past transactions unaffected")
def past_kept(bench: Bench) -> None:
    """A transaction still tells its beneficiary when that has been deleted."""
    made = stock.offramp(bench)
    bench.done("DELETE /beneficiaries/{id}", id=made.text("beneficiary_id"))
    later = bench.done("GET /transactions/{id}", id=made.text("id"))
    bench.same(later, made, "beneficiary_id", "status", "destination_amount")


@law("beneficiary.deleted_unused", "writes", clause="Errors: not_found")
def deleted_unused(bench: Bench) -> None:
    """A beneficiary that was deleted cannot be paid any more."""
    quote, details = stock.offramp_quote(bench), stock.offramp_details(bench)
    bench.done("DELETE /beneficiaries/{id}", id=str(details["beneficiary_id"]))
    refused = bench.call("POST /quotes/{id}/confirm", details, id=quote.text("id"))
    bench.refused(refused, 404, "not_found", after=(quote,))
