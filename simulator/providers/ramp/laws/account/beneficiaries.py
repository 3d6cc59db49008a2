"""Beneficiaries: their fields, and the requests that are refused."""

from __future__ import annotations

from simulator.conformance.bench import Bench
from simulator.conformance.laws import Refusal, promise, refusals
from simulator.providers.ramp.laws import stock

CREATE = "POST /beneficiaries"
_ALL = _PHONE, _BANK, _ADDRESS = stock.BENEFICIARY, stock.BANK_BENEFICIARY, stock.ADDRESS_BENEFICIARY


@promise("beneficiary.details", "Beneficiary: Details by type", "writes")
def details(bench: Bench) -> None:
    """A beneficiary contains the details for its type as they were sent, the bank's name, and an empty memo."""
    for body in _ALL:
        made = bench.done(CREATE, body)
        bench.echoes(made, body, "type", "name")
        for name, value in body[body["type"]].items():
            bench.equal(made, f"details.{name}", value)
        if body["type"] == "bank_account":
            bench.holds(bool(made.part("details").get("bank_name")), made, "no bank_name", "details.bank_name")
        if body["type"] == "wallet_address":
            bench.equal(made, "details.memo", "")


@promise("beneficiary.country", "Beneficiary: country, fiat_currency", "writes")
def country(bench: Bench) -> None:
    """Country and fiat currency are returned as sent. For a wallet address, both are null."""
    for body in _ALL:
        made = bench.done(CREATE, body)
        for name in ("country", "fiat_currency"):
            bench.equal(made, name, body.get(name))


@promise("beneficiary.past_kept", "DELETE /beneficiaries/{id}: past transactions unaffected", "writes")
def past_kept(bench: Bench) -> None:
    """A transaction still contains its beneficiary after the beneficiary was deleted."""
    made = stock.offramp(bench)
    bench.done("DELETE /beneficiaries/{id}", id=made.text("beneficiary_id"))
    later = bench.done("GET /transactions/{id}", id=made.text("id"))
    bench.same(later, made, "beneficiary_id", "status", "destination_amount")


@promise("beneficiary.deleted_unused", "Errors: not_found", "writes")
def deleted_unused(bench: Bench) -> None:
    """A payment to a deleted beneficiary is refused."""
    quote, details = stock.offramp_quote(bench), stock.offramp_details(bench)
    bench.done("DELETE /beneficiaries/{id}", id=str(details["beneficiary_id"]))
    refused = bench.call("POST /quotes/{id}/confirm", details, id=quote.text("id"))
    bench.refused(refused, 404, "not_found", after=(quote,))


invalid_phone_number = refusals(
    "errors.invalid_phone_number", "Errors: invalid_phone_number",
    "A phone number that is not valid in the country is refused with 422 invalid_phone_number.",
    *(Refusal("422 invalid_phone_number", CREATE, _PHONE, {"phone_number.phone_number": number})
      for number in ("+2547", "12", "+2348031234567")),
)  # fmt: skip
address = refusals(
    "beneficiary.address", "Beneficiaries: 422 invalid_wallet_address, unsupported_asset",
    "An address of another network, and an asset that is not on the network, are refused with 422.",
    Refusal("422 invalid_wallet_address", CREATE, _ADDRESS, {"wallet_address.wallet_address": "0x123"}),
    Refusal("422 unsupported_asset", CREATE, _ADDRESS, {"wallet_address.asset": "XLM"}),
)  # fmt: skip
pair = refusals(
    "beneficiary.pair", "Beneficiaries: 422 unsupported_pair",
    "A currency or provider that the country does not have is refused with 422 unsupported_pair.",
    Refusal("422 unsupported_pair", CREATE, _PHONE, {"fiat_currency": "NGN"}),
    Refusal("422 unsupported_pair", CREATE, _PHONE, {"phone_number.provider": "mtn"}),
)  # fmt: skip
unsupported_provider = refusals(
    "errors.unsupported_provider", "Errors: unsupported_provider",
    "An unknown provider is refused with 422 unsupported_provider.",
    Refusal("422 unsupported_provider", CREATE, _PHONE, {"phone_number.provider": "pigeon_post"}),
)  # fmt: skip
invalid_bank_account = refusals(
    "errors.invalid_bank_account", "Errors: invalid_bank_account",
    "An unknown bank code is refused with 422 invalid_bank_account.",
    Refusal("422 invalid_bank_account", CREATE, _BANK, {"bank_account.bank_code": "zz999"}),
)  # fmt: skip
unknown_type = refusals(
    "beneficiary.type", "Beneficiaries: 400 missing_parameter, 400 invalid_parameter",
    "An unknown type is refused with 400 invalid_parameter, a type without its details with 400 missing_parameter.",
    Refusal("400 invalid_parameter", CREATE, _PHONE, {"type": "cheque"}, param="type"),
    Refusal("400 missing_parameter", CREATE, _BANK, {"bank_account": None}, param="bank_account"),
)  # fmt: skip
