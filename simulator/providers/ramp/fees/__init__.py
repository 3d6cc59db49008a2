"""Fee products, the fee calculator, the currency listing, and the pricing functions that other packages use (section
"Fees").
"""

from __future__ import annotations

from simulator.engine.rows.kind import Kind
from simulator.engine.rows.room import Room
from simulator.providers.ramp.fees import bodies, operations, shapes
from simulator.providers.ramp.fees.catalogue import base, find_product, product_of
from simulator.providers.ramp.fees.currencies import CURRENCY_CLAUSES, list_currencies
from simulator.providers.ramp.fees.operations import changed_product, check_new_fields, put_changed
from simulator.providers.ramp.fees.pricing import check_limits, formula, match, received, require_in_force, solve_source
from simulator.providers.ramp.fees.records import CHANGED_PRODUCTS, FEES, Fee, FeeProduct, no_fee
from simulator.providers.ramp.fees.shapes import AppFee, ProcessingFee, show_app_fee, show_processing_fee
from simulator.providers.ramp.fees.states import AMOUNT_TOO_LOW, ERRORS, FEE_PRODUCT

ROOM = Room(
    "fees",
    operations=(list_currencies, operations.list_fees, operations.get_fee, operations.calculate_fee),
    actions=operations.ACTIONS,
    kinds=(Kind("fee_product", CHANGED_PRODUCTS, shapes.render_product, FEE_PRODUCT, standing=find_product),),
    clauses=lambda: {**shapes.CLAUSES, **CURRENCY_CLAUSES},
    errors=ERRORS,
)
