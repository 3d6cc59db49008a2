"""Beneficiaries: what they show, and what is refused."""

from __future__ import annotations

from simulator.conformance.bench import Bench
from simulator.conformance.laws import Law
from simulator.conformance.refusals import Refusal, refusals
from simulator.engine.text.json import JsonObject
from simulator.providers.ramp.laws import stock

MAKE = "POST /beneficiaries"


def details(bench: Bench) -> None:
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


def country(bench: Bench) -> None:
    for body in (stock.BENEFICIARY, stock.BANK_BENEFICIARY, stock.ADDRESS_BENEFICIARY):
        made = bench.done(MAKE, body)
        for name in ("country", "fiat_currency"):
            bench.equal(made, name, body.get(name))


PHONE_NUMBERS = refusals(*(
    Refusal(
        MAKE, 422, "invalid_phone_number", body=stock.BENEFICIARY,
        changed={"phone_number": {"phone_number": number, "provider": "mpesa"}},
    )
    for number in ("+2547", "12", "+2348031234567")
))  # fmt: skip


ADDRESSES = refusals(
    Refusal(
        MAKE, 422, "invalid_wallet_address", body=stock.ADDRESS_BENEFICIARY,
        changed={"wallet_address.wallet_address": "0x123"},
    ),
    Refusal(
        MAKE, 422, "unsupported_asset", body=stock.ADDRESS_BENEFICIARY, changed={"wallet_address.asset": "XLM"},
    ),
)  # fmt: skip


PAIRS = refusals(
    Refusal(MAKE, 422, "unsupported_pair", body=stock.BENEFICIARY, changed={"fiat_currency": "NGN"}),
    Refusal(MAKE, 422, "unsupported_pair", body=stock.BENEFICIARY, changed={"phone_number.provider": "mtn"}),
)


PROVIDERS = refusals(
    Refusal(
        MAKE, 422, "unsupported_provider", body=stock.BENEFICIARY, changed={"phone_number.provider": "pigeon_post"},
    ),
)  # fmt: skip


BANK_ACCOUNTS = refusals(
    Refusal(
        MAKE, 422, "invalid_bank_account", body=stock.BANK_BENEFICIARY, changed={"bank_account.bank_code": "zz999"},
    ),
)  # fmt: skip


TYPES = refusals(
    Refusal(MAKE, 400, "invalid_parameter", "type", stock.BENEFICIARY, {"type": "cheque"}),
    Refusal(MAKE, 400, "missing_parameter", "bank_account", stock.BANK_BENEFICIARY, without="bank_account"),
)


def past_kept(bench: Bench) -> None:
    made = stock.offramp(bench)
    bench.done("DELETE /beneficiaries/{id}", id=made.text("beneficiary_id"))
    later = bench.done("GET /transactions/{id}", id=made.text("id"))
    bench.same(later, made, "beneficiary_id", "status", "destination_amount")


def deleted_unused(bench: Bench) -> None:
    quote, details = stock.offramp_quote(bench), stock.offramp_details(bench)
    bench.done("DELETE /beneficiaries/{id}", id=str(details["beneficiary_id"]))
    refused = bench.call("POST /quotes/{id}/confirm", details, id=quote.text("id"))
    bench.refused(refused, 404, "not_found", after=(quote,))


LAWS: tuple[Law, ...] = (
    Law(
        "beneficiary.details",
        "A beneficiary shows the details of its type as they were given, the bank's name and an empty memo.",
        details, clause="Beneficiary: Details by type", needs=("writes",),
    ),
    Law(
        "beneficiary.country", "Country and fiat currency are as given, and null for an address.",
        country, clause="Beneficiary: country, fiat_currency", needs=("writes",),
    ),
    Law(
        "errors.invalid_phone_number",
        "A phone number that is none of the country is refused with 422 invalid_phone_number.",
        PHONE_NUMBERS, clause="Errors: invalid_phone_number", needs=("writes",),
    ),
    Law(
        "beneficiary.address",
        "An address that is none of its network and an asset that is not on it are refused with 422.",
        ADDRESSES, clause="Beneficiaries: 422 invalid_wallet_address, unsupported_asset", needs=("writes",),
    ),
    Law(
        "beneficiary.pair",
        "A currency or a provider that the country does not have is refused with 422 unsupported_pair.",
        PAIRS, clause="Beneficiaries: 422 unsupported_pair", needs=("writes",),
    ),
    Law(
        "errors.unsupported_provider", "A provider that there is not is refused with 422 unsupported_provider.",
        PROVIDERS, clause="Errors: unsupported_provider", needs=("writes",),
    ),
    Law(
        "errors.invalid_bank_account", "A bank code that there is not is refused with 422 invalid_bank_account.",
        BANK_ACCOUNTS, clause="Errors: invalid_bank_account", needs=("writes",),
    ),
    Law(
        "beneficiary.type",
        "An unknown type is 400 invalid_parameter, a type without its details 400 missing_parameter.",
        TYPES, clause="Beneficiaries: 400 missing_parameter, 400 invalid_parameter", needs=("writes",),
    ),
    Law(
        "beneficiary.past_kept", "A transaction still tells its beneficiary when that has been deleted.",
        past_kept, clause="DELETE /beneficiaries/{id}: past transactions unaffected", needs=("writes",),
    ),
    Law(
        "beneficiary.deleted_unused", "A beneficiary that was deleted cannot be paid any more.",
        deleted_unused, clause="Errors: not_found", needs=("writes",),
    ),
)  # fmt: skip
