"""The operations of beneficiaries: POST, GET and DELETE /beneficiaries."""

from __future__ import annotations

from simulator.engine.records.listing import CREATION_DATES, Filter, Listing, by_field
from simulator.engine.rows.handlers import body_by, by_id, listed, shown
from simulator.engine.rows.operation import Operation
from simulator.providers.ramp.beneficiaries import actions, bodies, shapes
from simulator.providers.ramp.beneficiaries.records import BENEFICIARIES, TYPE_MEANINGS, Beneficiary
from simulator.providers.ramp.beneficiaries.states import MEANINGS
from simulator.providers.ramp.shapes import COUNTRY_CODES, FIAT_CODES, SHORT_NETWORKS

TAG = "Beneficiaries"


def _by_name(record: Beneficiary) -> str:
    return record.name.casefold()


def _on_network(record: Beneficiary) -> tuple[str | None]:
    network = record.details.get("network")
    return (network if isinstance(network, str) else None,)


LISTING = Listing[Beneficiary](
    filters=(
        by_field("type", TYPE_MEANINGS, many=True, description="Only those of this type."),
        by_field("country", COUNTRY_CODES, description="Only accounts and numbers in this country."),
        by_field("fiat_currency", FIAT_CODES, description="Only those that are paid in this currency."),
        Filter(
            "network",
            _on_network,
            SHORT_NETWORKS,
            description="Only wallet addresses on this network.",
        ),
    ),
    search=actions.searched,
    searched="name, phone number, account number, bank name and wallet address",
    sorts={**CREATION_DATES, "name": _by_name},
    statuses=MEANINGS,
    assumed_statuses="L2",
)

_FIND = by_id(BENEFICIARIES, "beneficiary")

OPERATIONS = (
    Operation(
        "POST",
        "/beneficiaries",
        "create_beneficiary",
        TAG,
        "Save a payout recipient or a wallet address",
        actions.save_beneficiary,
        lambda: shapes.BeneficiaryShape,
        status=201,
        body=lambda: bodies.AnyBeneficiary,
        bodies=lambda: tuple(bodies.BY_TYPE.values()),
        body_for=body_by("type", lambda: bodies.BY_TYPE, lambda: bodies.AnyBeneficiary),
        check=actions.check_account_number,
        group="beneficiaries",
        errors=(
            "unsupported_pair",
            "invalid_bank_account",
            "invalid_phone_number",
            "unsupported_provider",
            "unsupported_asset",
            "invalid_wallet_address",
        ),
        guessed={"invalid_bank_account": "R3", "unsupported_provider": "R2"},
        description=(
            "Saves who can be paid later: a bank account or mobile money number for fiat, or a crypto address. "
            "The details stand in the member named after the type. Everything is checked when it is saved: "
            "currency and provider against the country, bank code and account number, the phone number, the "
            "asset and the address against the network. Sends the event beneficiary.created. The same recipient "
            "may be saved more than once."
        ),
    ),
    Operation(
        "GET",
        "/beneficiaries",
        "list_beneficiaries",
        TAG,
        "The saved beneficiaries, newest first",
        listed(BENEFICIARIES, lambda world, record: shapes.render_beneficiary(world, record)),
        lambda: shapes.BeneficiaryPage,
        query=LISTING,
        group="beneficiaries",
        reads=True,
        description="Lists the saved beneficiaries, newest first unless sorted otherwise; deleted ones are not shown.",
    ),
    Operation(
        "GET",
        "/beneficiaries/{id}",
        "get_beneficiary",
        TAG,
        "One beneficiary",
        shown(lambda world, record: shapes.render_beneficiary(world, record)),
        lambda: shapes.BeneficiaryShape,
        load=_FIND,
        group="beneficiaries",
        reads=True,
        errors=("not_found",),
        description="Shows one saved beneficiary. A deleted one is not found.",
    ),
    Operation(
        "DELETE",
        "/beneficiaries/{id}",
        "delete_beneficiary",
        TAG,
        "Remove a beneficiary; past transactions are unaffected",
        actions.delete_beneficiary,
        status=204,
        load=_FIND,
        group="beneficiaries",
        errors=("not_found",),
        description=(
            "Removes a beneficiary: it can be paid no more. Past transactions keep it, and runs of recurring "
            "payments that would pay it fail. Sends the event beneficiary.deleted."
        ),
    ),
)
