"""Request bodies as tight as the service is: which assets lie on which network, which fiat takes which method.

The rooms' models say which fields there are and what is malformed. What is well-formed and still refused because it
does not go together (decision H5: 422) is left out here by writing down the variants that do, made from the reference
tables, so that a body which fits its schema is mostly acceptable. What an amount must lie between is not in it.
"""

from __future__ import annotations

from collections.abc import Mapping

from contracts.generator.requests import account, balance, fees, ramps, recurring
from contracts.generator.requests.variants import Variant, body, body_by_type
from contracts.generator.schemas import Components, Schema

VARIANTS: Mapping[str, tuple[Variant, ...]] = {
    "create_token": tuple(account.token()),
    "create_quote": tuple(ramps.ramp_quote()),
    "confirm_quote": tuple(ramps.confirm()),
    "create_beneficiary": tuple(account.beneficiary()),
    "calculate_fee": tuple(fees.calculate()),
    "create_wallet": tuple(ramps.wallet()),
    "estimate_send": tuple(balance.send("EstimateToAddress")),
    "send": tuple(balance.send("SendToAddress")),
    "quote_swap": tuple(balance.swap_quote()),
    "swap": tuple(balance.use_quote("sq_", "Execute a swap quote")),
    "quote_buy": tuple(balance.buy_quote()),
    "buy": tuple(balance.buy()),
    "quote_withdraw": tuple(balance.withdraw_quote()),
    "withdraw": tuple(balance.use_quote("wq_", "Execute a withdraw quote")),
    "create_recurring_payment": tuple(recurring.recurring()),
    "set_recurring_schedule": tuple(recurring.schedule()),
    "restart_recurring_payment": tuple(recurring.restart()),
    "create_lightning_entry": tuple(ramps.lightning_entry()),
    "create_webhook": tuple(account.webhook("NewWebhook")),
    "update_webhook": tuple(account.webhook("WebhookChange")),
    "update_profile": tuple(account.profile()),
}
"""By operation the variants that its body is written down as; all other bodies are as their models say."""


def variants_of(operation: str, components: Components) -> Schema | None:
    """The body of an operation by its variants; None where its models say all."""
    variants = VARIANTS.get(operation)
    if variants is None:
        return None
    return (body_by_type if operation == "create_beneficiary" else body)(components, variants)
