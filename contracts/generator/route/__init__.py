"""The route of the tour: every operation at least once, every kind of answer, and the refusals worth an example."""

from __future__ import annotations

from contracts.generator.route import account, balance, ramps, recurring, universal
from contracts.generator.tour import Guide

__all__ = ["whole_interface"]


async def whole_interface(guide: Guide) -> None:
    await account.authentication(guide)
    await account.webhooks(guide)
    await account.reference_data(guide)
    await account.fees(guide)
    saved = await account.beneficiaries(guide)
    await ramps.onramps(guide)
    await ramps.offramps(guide, saved)
    await ramps.wallets(guide)
    await balance.sends(guide)
    await balance.swaps(guide)
    await balance.buys(guide)
    await balance.withdrawals(guide, saved)
    await recurring.recurring(guide, saved)
    await recurring.history(guide)
    await universal.profile(guide)
    await universal.universal(guide)
    await universal.test_values(guide)
    await universal.emitted(guide)
    await account.removals(guide, saved)
