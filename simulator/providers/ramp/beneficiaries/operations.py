"""The operations on beneficiaries: creating, reading, listing and deleting them (section "Beneficiaries"; decisions
H5, R1 to R4, R6).
"""

from __future__ import annotations

from collections.abc import Iterator

from simulator.engine.records.listing import CREATION_DATES, Filter, Listing, ListRequest, by_field
from simulator.engine.records.records import by_id, create, new_fields, page, remove
from simulator.engine.rows.operation import Call, OperationDecorator, Variants, specified
from simulator.engine.text.shapes import Page
from simulator.providers.ramp import reference
from simulator.providers.ramp.beneficiaries import bodies, records, shapes
from simulator.providers.ramp.beneficiaries.records import Beneficiary, Details
from simulator.providers.ramp.beneficiaries.states import MEANINGS, UNSUPPORTED_PROVIDER
from simulator.providers.ramp.shapes import COUNTRY_CODES, FIAT_CODES, SHORT, SHORT_NETWORKS, FiatCode

operation = OperationDecorator("Beneficiaries", group="beneficiaries")

_FIND = by_id(records.BENEFICIARIES, "beneficiary")
_ASSET_SPELLINGS = {"cUSD": "CUSD"}
"""Beneficiaries accept both names of the Celo dollar (decision H5)."""


def check_account_number(call: Call[bodies.AnyBeneficiary, None, None]) -> None:
    """Raise `ApiError` 400 if the account number has the wrong format for its country (decision R3)."""
    body = call.body
    if isinstance(body, bodies.CreateBankAccountBeneficiary):
        reference.require_account_number(body.country, body.bank_account.account_number, "bank_account.account_number")


@operation(
    "POST /beneficiaries",
    "Save a payout recipient or a wallet address",
    status=201,
    variants=Variants("type", lambda: bodies.BY_TYPE),
    check=check_account_number,
    errors=specified("unsupported_pair")
    | {"invalid_bank_account": "R3"}
    | specified("invalid_phone_number")
    | {"unsupported_provider": "R2"}
    | specified("unsupported_asset", "invalid_wallet_address"),
)
def create_beneficiary(call: Call[bodies.AnyBeneficiary, None, None]) -> shapes.BeneficiaryShape:
    """Saves a recipient for later payments. The recipient is a bank account or mobile money number for fiat, or a
    crypto address. The details go into the field with the same name as the type. All values are checked now. The
    currency and the provider must match the country, and the bank code, account number and phone number must be valid.
    For a crypto address, the asset and the address must match the network. The event beneficiary.created is sent. You
    can save the same recipient more than once.
    """
    body = call.body
    fiat = body if isinstance(body, bodies.CreateBankAccountBeneficiary | bodies.CreatePhoneNumberBeneficiary) else None
    record = Beneficiary(
        **new_fields(call.world, call.environment, "ben_", "ids.beneficiary"),
        type=body.type,
        name=body.name,
        country=None if fiat is None else fiat.country,
        fiat_currency=None if fiat is None else _fiat_of(fiat),
        details=_details(body, call.environment),
    )
    return shapes.render_beneficiary(call.world, create(call.world, record, "create"))


def _fiat_of(body: bodies.CreateBankAccountBeneficiary | bodies.CreatePhoneNumberBeneficiary) -> FiatCode:
    fiat = reference.COUNTRIES[body.country]
    if body.fiat_currency != fiat:
        raise reference.UNSUPPORTED_PAIR.error(
            f"{body.fiat_currency!r} is not supported in {body.country}.", "fiat_currency"
        )
    return fiat


def _details(body: bodies.AnyBeneficiary, environment: str) -> Details:
    if isinstance(body, bodies.CreateBankAccountBeneficiary):
        account = body.bank_account
        found = reference.require_bank(body.country, account.bank_code, "bank_account.bank_code")
        number, holder = account.account_number, account.account_name
        return {"bank_code": found.code, "bank_name": found.name, "account_number": number, "account_name": holder}
    if isinstance(body, bodies.CreatePhoneNumberBeneficiary):
        phone, country = body.phone_number, body.country
        if not reference.is_phone(phone.phone_number, country):
            message = f"{phone.phone_number!r} is not a phone number in {country} in international format."
            raise reference.INVALID_PHONE_NUMBER.error(message, "phone_number.phone_number")
        if phone.provider not in reference.PROVIDERS[country]:
            known = phone.provider in reference.PROVIDER_CODES
            message = f"The mobile money provider {phone.provider!r} is not supported in {country}."
            code = reference.UNSUPPORTED_PAIR if known else UNSUPPORTED_PROVIDER
            raise code.error(message, "phone_number.provider")
        return {"phone_number": phone.phone_number, "provider": phone.provider}
    assert isinstance(body, bodies.CreateWalletAddressBeneficiary)  # there are only three types
    wallet = body.wallet_address
    network, address = SHORT[wallet.network], wallet.wallet_address
    if reference.asset(_ASSET_SPELLINGS.get(wallet.asset, wallet.asset), network) is None:
        message = f"{wallet.asset!r} is not available on {wallet.network}."
        raise reference.UNSUPPORTED_ASSET.error(message, "wallet_address.asset")
    if not reference.is_address(network, address, environment):
        message = f"{address!r} is not an address on {wallet.network}."
        raise reference.INVALID_WALLET_ADDRESS.error(message, "wallet_address.wallet_address")
    return {"wallet_address": address, "network": wallet.network, "asset": wallet.asset, "memo": wallet.memo or ""}


@operation("DELETE /beneficiaries/{id}", "Remove a beneficiary; past transactions are unaffected", load=_FIND)
def delete_beneficiary(call: Call[None, None, Beneficiary]) -> None:
    """Deletes a beneficiary. It can no longer be paid, but past transactions still refer to it. Future runs of
    recurring payments to the beneficiary fail. The event beneficiary.deleted is sent.
    """
    remove(call.world, call.resource, "delete")


def searched(record: Beneficiary) -> Iterator[str]:
    """Yield the strings that `search` matches: name, phone number, account number, bank name, wallet address."""
    yield record.name
    details = record.details
    if "bank_name" in details:
        yield from (details["account_number"], details["bank_name"])
    elif "phone_number" in details:
        yield details["phone_number"]
    else:
        yield details["wallet_address"]


def _by_name(record: Beneficiary) -> str:
    return record.name.casefold()


def _on_network(record: Beneficiary) -> tuple[str | None]:
    network = record.details.get("network")
    return (network if isinstance(network, str) else None,)


LISTING = Listing[Beneficiary](
    filters=(
        by_field("type", records.TYPE_MEANINGS, many=True, description="Only beneficiaries of this type."),
        by_field("country", COUNTRY_CODES, description="Only accounts and numbers in this country."),
        by_field("fiat_currency", FIAT_CODES, description="Only beneficiaries with this payout currency."),
        Filter("network", _on_network, SHORT_NETWORKS, description="Only wallet addresses on this network."),
    ),
    search=searched,
    searched="name, phone number, account number, bank name and wallet address",
    sorts={**CREATION_DATES, "name": _by_name},
    statuses=MEANINGS,
    assumed_statuses="L2",
)


@operation(
    "GET /beneficiaries", "The saved beneficiaries, newest first", answer=lambda: shapes.BeneficiaryPage, query=LISTING
)
def list_beneficiaries(call: Call[None, ListRequest, None]) -> Page[shapes.BeneficiaryShape]:
    """Lists the saved beneficiaries, newest first by default. Deleted beneficiaries are not included."""
    return page(call, records.BENEFICIARIES, lambda world, record: shapes.render_beneficiary(world, record))


@operation("GET /beneficiaries/{id}", "One beneficiary", load=_FIND, shows="beneficiary")
def get_beneficiary(call: Call[None, None, Beneficiary]) -> shapes.BeneficiaryShape:
    """Returns one saved beneficiary. If the beneficiary was deleted, the request fails with not_found."""
    return shapes.render_beneficiary(call.world, call.resource)
