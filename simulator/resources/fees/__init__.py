"""Fee products, the fee calculator, the currency listing, and what every money-moving room needs to price an operation.

Chapter "Fees" of the specification, decisions L5, M2, M9, M13, M15, R7, R9.
"""

from __future__ import annotations

from simulator.resources.fees.catalogue import find_product
from simulator.resources.fees.currencies import LIST_CURRENCIES, CurrencyRecord
from simulator.resources.fees.pricing import check_limits, formula, match, require_in_force, solve_source
from simulator.resources.fees.records import CHANGED_PRODUCTS, Fee, FeeProduct, no_fee
from simulator.resources.fees.routes import ACTIONS, OPERATIONS
from simulator.resources.fees.shapes import (
    CLAUSES,
    AppFee,
    ProcessingFee,
    render_product,
    show_app_fee,
    show_processing_fee,
)
from simulator.resources.fees.states import FEE_PRODUCT
from simulator.wire.assumptions import assume
from simulator.wire.records import Kind
from simulator.wire.room import Room

ROOM = Room(
    "fees",
    operations=(LIST_CURRENCIES, *OPERATIONS),
    actions=ACTIONS,
    kinds=(Kind("fee_product", CHANGED_PRODUCTS, render_product, FEE_PRODUCT, standing=find_product),),
    clauses={**CLAUSES, "Reference data": (CurrencyRecord,)},
)

MACHINES = (FEE_PRODUCT,)

ASSUMPTIONS = assume(
    "fee products and the calculator",
    "Call the real fee calculator with the same inputs and compare the breakdown.",
    ("fee-ids", "The two environments' fee products have different ids: fee_… and fee_live_…."),
    ("fee-moves", "A fee product may be made active or inactive at any time."),
    (
        "fee-amount-side",
        "The calculator's amount is on the source side, so its currency is the fiat currency for onramp and buy and "
        "the asset otherwise; another one is 422 unsupported_pair.",
    ),
    (
        "fee-precision",
        "Without a network, an asset has the precision of the first network of the currency listing that has it.",
    ),
    ("fee-ignored", "Fields that the product at hand has no use for (to_asset of a send) are not looked at."),
    (
        "fee-methods",
        "Only Zambian kwacha onramps and buys cost differently by payment method; there payment_method is required.",
    ),
    (
        "fee-send-limits",
        "The limits of sends, to other users too, are those of the send product in force, which the currency listing "
        "shows; while there is none, transfers have those of the internal_transfer product.",
    ),
    (
        "fee-executing",
        "A quote whose fee product was made inactive meanwhile cannot be confirmed or executed: 422 unsupported_pair. "
        "The quote stays active, and can be used when its product is active again.",
    ),
    (
        "fee-free-products",
        "A transfer to another user needs an active internal_transfer and deposit product of its asset, a send to a "
        "deposit wallet of one's own an active deposit product. Deposits from outside are credited all the same.",
    ),
    (
        "fee-filters",
        "Only the network filter also lists products with null; the others compare the field as shown; status takes a "
        "comma-separated list too.",
    ),
    (
        "fee-changes",
        "A changed product must stay consistent: its currencies are that of the amount, its bounds do not cross; its "
        "id and updated_at cannot be set; unknown fields are refused.",
    ),
    (
        "listing-price",
        "The price of a currency record is in US dollars, the common measure of all rates; moving the rates moves it, "
        "pinning a fiat rate does not.",
    ),
    (
        "listing-fees",
        "In a currency record send_fees and deposit_fees are amounts of the asset (send_fees is what the least send "
        "costs); swap_fees and buy_fees are percent, as slippage is, buy_fees those of the Kenyan shilling by mobile "
        "money. slippage is a number, as on the swap quote; the other figures are decimal strings, null while no "
        "product for them is in force.",
    ),
    (
        "listing-search",
        "The currency listing is searched by symbol, name and network; every record exists since the start of the "
        "world.",
    ),
    ("fee-unreachable", "An amount that no source amount can deliver is 422 amount_too_high."),
)

__all__ = [
    "ROOM",
    "AppFee",
    "Fee",
    "FeeProduct",
    "ProcessingFee",
    "check_limits",
    "formula",
    "match",
    "no_fee",
    "require_in_force",
    "show_app_fee",
    "show_processing_fee",
    "solve_source",
]
