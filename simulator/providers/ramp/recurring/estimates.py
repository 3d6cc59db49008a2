"""The estimated cost of one run, for the review of a recurring payment (section "Review object"; decisions M2, M6, M7,
M14). The rate is not locked, and an exceeded limit is a warning, not an error.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal, TypeAlias

from simulator.engine.records.records import existing, present
from simulator.kernel.dataclass import dataclass
from simulator.kernel.ledger import available
from simulator.kernel.money import ZERO, add, multiply, subtract
from simulator.kernel.world import World
from simulator.providers.ramp.balance import TRANSFER_PRODUCTS
from simulator.providers.ramp.beneficiaries import Beneficiary
from simulator.providers.ramp.fees import Fee, formula, match, no_fee, solve_source
from simulator.providers.ramp.profile import would_exceed_monthly
from simulator.providers.ramp.recurring.records import RecurringPayment
from simulator.providers.ramp.reference import FIATS, ramp_rate
from simulator.providers.ramp.transactions import holder

ReviewWarning = Literal["insufficient_balance_for_next_run", "amount_exceeds_monthly_limit"]
WARNING_MEANINGS = {
    "insufficient_balance_for_next_run": "The available balance does not cover one run.",
    "amount_exceeds_monthly_limit": "One run would exceed the remaining monthly limit of the account.",
}


@dataclass(frozen=True, slots=True)
class Estimate:
    """The current cost of a run. Amounts are in the source currency."""

    rate: Decimal
    """The rate, as fiat per unit of the source. It is 1 for a send."""
    source_amount: Decimal
    """The amount of the payment, without fees that are charged on top."""
    debit: Decimal
    """The total that would be debited from the balance."""
    fee: Fee
    available: Decimal
    warnings: tuple[ReviewWarning, ...]


def estimate(world: World, payment: RecurringPayment) -> Estimate:
    """Return the estimated cost of one run. Raise `ApiError` 422 unsupported_pair if no fee product matches."""
    rate, source_amount, debit, fee, delivered = (
        _estimate_withdraw(world, payment) if payment.type == "withdraw" else _estimate_send(world, payment)
    )
    balance = world.ledger.balance(available(holder(payment.environment)), payment.source.key)
    warnings: list[ReviewWarning] = []
    if balance < debit:
        warnings.append("insufficient_balance_for_next_run")
    if delivered is not None and would_exceed_monthly(world, payment.environment, *delivered):
        warnings.append("amount_exceeds_monthly_limit")
    return Estimate(rate, source_amount, debit, fee, balance, tuple(warnings))


_Figures: TypeAlias = "tuple[Decimal, Decimal, Decimal, Fee, tuple[Decimal, str] | None]"
"""The rate, source amount, total debit, fee, and the delivered fiat (amount and code, or None for a send)."""


def _estimate_withdraw(world: World, payment: RecurringPayment) -> _Figures:
    saved = existing(world, Beneficiary, present(payment.beneficiary_id))
    environment, source, money = payment.environment, payment.source, FIATS[present(saved.fiat_currency)]
    rate = ramp_rate(world, environment, "offramp", source.code, money.code)

    product = match(world, environment, "withdraw", source, fiat_currency=money.code, payment_method=saved.method)
    fee_of = formula(world, environment, product, source)

    def delivers(paid: Decimal) -> Decimal:
        return money.round_down(multiply(max(subtract(paid, fee_of(paid).total), ZERO), rate))

    in_fiat = payment.amount_currency == money.code
    paid = solve_source(source, payment.amount, delivers) if in_fiat else payment.amount
    delivered = payment.amount if in_fiat else delivers(paid)
    return rate, paid, paid, fee_of(paid), (delivered, money.code)


def _estimate_send(world: World, payment: RecurringPayment) -> _Figures:
    destination, source, amount = present(payment.destination), payment.source, payment.amount
    if destination["type"] == "platform_user":
        for name in TRANSFER_PRODUCTS:
            match(world, payment.environment, name, source)
        return Decimal(1), amount, amount, no_fee(source), None
    product = match(world, payment.environment, "send", source)
    fee = formula(world, payment.environment, product, source)(amount)
    on_top = "invoice" in destination
    return Decimal(1), amount, add(amount, fee.total) if on_top else amount, fee, None
