"""Fee products, the fee calculator, and what every money-moving room needs to price an operation.

Chapter "Fees" of the specification, decisions L5, M2, M9, M13, R9.
"""

from __future__ import annotations

from simulator.resources.fees.catalogue import find_product, product_of, products
from simulator.resources.fees.pricing import (
    Breakdown,
    Priced,
    breakdown,
    check_limits,
    formula,
    match,
    price,
    solve_source,
)
from simulator.resources.fees.records import FREE, TABLE, Fee, FeeProduct, Limits, NetworkFee
from simulator.resources.fees.routes import OPERATIONS, TRIGGERS
from simulator.resources.fees.shapes import AppFee, ProcessingFee, render_product, show_app_fee, show_processing_fee
from simulator.resources.fees.states import FEE_PRODUCT
from simulator.wire.records import Kind
from simulator.wire.room import Room

ROOM = Room(
    "fees",
    operations=OPERATIONS,
    triggers=TRIGGERS,
    kinds=(Kind("fee_product", TABLE, render_product, FEE_PRODUCT, standing=find_product),),
)

ASSUMPTIONS = (("fee-ids", "The two environments' fee products have different ids: fee_… and fee_live_…."),)

__all__ = [
    "ASSUMPTIONS",
    "FEE_PRODUCT",
    "FREE",
    "ROOM",
    "AppFee",
    "Breakdown",
    "Fee",
    "FeeProduct",
    "Limits",
    "NetworkFee",
    "Priced",
    "ProcessingFee",
    "breakdown",
    "check_limits",
    "formula",
    "match",
    "price",
    "product_of",
    "products",
    "show_app_fee",
    "show_processing_fee",
    "solve_source",
]
