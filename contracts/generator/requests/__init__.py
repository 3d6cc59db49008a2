"""Request bodies as tight as the service is: which assets lie on which network, which fiat takes which method.

The rooms' models say which fields there are and what is malformed. What is well-formed and still refused because it
does not go together (decision H5: 422) is left out here by writing down the variants that do, made from the reference
tables, so that a body which fits its schema is mostly acceptable. What an amount must lie between is not in it.
"""

from __future__ import annotations

from collections.abc import Mapping

from contracts.generator.requests import account, balance, fees, ramps, recurring
from contracts.generator.requests.words import Builder

BODIES: Mapping[str, Builder] = {
    "create_token": account.token,
    "create_quote": ramps.ramp_quote,
    "confirm_quote": ramps.confirm,
    "create_beneficiary": account.beneficiary,
    "calculate_fee": fees.calculate,
    "create_wallet": ramps.wallet,
    "estimate_send": balance.send("EstimateToAddress"),
    "send": balance.send("SendToAddress"),
    "quote_swap": balance.swap_quote,
    "swap": balance.use_quote("sq_", "Execute a swap quote"),
    "quote_buy": balance.buy_quote,
    "buy": balance.buy,
    "quote_withdraw": balance.withdraw_quote,
    "withdraw": balance.use_quote("wq_", "Execute a withdraw quote"),
    "create_recurring_payment": recurring.recurring,
    "set_recurring_schedule": recurring.schedule,
    "restart_recurring_payment": recurring.restart,
    "create_lightning_entry": ramps.lightning_entry,
    "create_webhook": account.webhook("NewWebhook"),
    "update_webhook": account.webhook("WebhookChange"),
    "update_profile": account.profile,
}
"""The operations whose bodies are written down as variants, by name; all others are as their models say."""
