"""Links of a response: the operations that accept an id from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Link:
    """From an operation's success to another operation: path parameters, as runtime expressions."""

    source: str
    name: str
    target: str
    description: str
    parameters: Mapping[str, str] = field(default_factory=dict)

    def shown(self) -> dict[str, Any]:
        link: dict[str, Any] = {"operationId": self.target, "description": self.description}
        if self.parameters:
            link["parameters"] = dict(self.parameters)
        return link


_ID = "$response.body#/id"


def _get(source: str, target: str, name: str = "self", parameter: str = "id") -> Link:
    return Link(source, name, target, "The same resource as it is now.", {parameter: _ID})


def _on(source: str, name: str, target: str, description: str, value: str = _ID) -> Link:
    return Link(source, name, target, description, {"id": value})


LINKS: tuple[Link, ...] = (
    _get("create_quote", "get_quote"),
    _on("create_quote", "confirm", "confirm_quote", "Use the quote."),
    _on("get_quote", "confirm", "confirm_quote", "Use the quote while it is active."),
    _get("confirm_quote", "get_transaction"),
    Link(
        "confirm_quote",
        "order",
        "get_order",
        "The order of this transaction.",
        {"order_id": "$response.body#/order_id"},
    ),
    *(
        link
        for name in ("send", "swap", "buy", "withdraw")
        for link in (
            _get(name, "get_transaction"),
            Link(
                name, "order", "get_order", "The order of this transaction.", {"order_id": "$response.body#/order_id"}
            ),
        )
    ),
    Link(
        "get_transaction",
        "order",
        "get_order",
        "The order of this transaction.",
        {"order_id": "$response.body#/order_id"},
    ),
    Link(
        "list_transactions", "first", "get_transaction", "The first of the page.", {"id": "$response.body#/data/0/id"}
    ),
    Link(
        "list_orders", "first", "get_order", "The first of the page.", {"order_id": "$response.body#/data/0/order_id"}
    ),
    Link("list_fees", "first", "get_fee", "The first of the page.", {"id": "$response.body#/data/0/id"}),
    _get("create_beneficiary", "get_beneficiary"),
    _on("create_beneficiary", "delete", "delete_beneficiary", "Remove it."),
    _get("create_wallet", "get_wallet"),
    _on("create_wallet", "update", "update_wallet", "Change it."),
    _on("create_wallet", "deposits", "list_wallet_deposits", "What was deposited to it."),
    _on("create_wallet", "lightning", "list_lightning_entries", "Its Lightning entries."),
    _on("create_wallet", "add_lightning", "create_lightning_entry", "Add a Lightning entry (bitcoin wallets)."),
    Link(
        "create_lightning_entry",
        "disable",
        "disable_lightning_entry",
        "Disable it.",
        {"id": "$response.body#/wallet_id", "lightning_id": _ID},
    ),
    _get("create_recurring_payment", "get_recurring_payment"),
    _on("create_recurring_payment", "schedule", "set_recurring_schedule", "Give it a schedule."),
    _on("create_recurring_payment", "delete", "delete_recurring_payment", "End it."),
    _on("set_recurring_schedule", "review", "review_recurring_payment", "What its runs would cost."),
    _on("review_recurring_payment", "activate", "activate_recurring_payment", "Start its runs."),
    _on("activate_recurring_payment", "pause", "pause_recurring_payment", "Pause its runs."),
    _on("activate_recurring_payment", "transactions", "list_recurring_transactions", "What its runs made."),
    _on("pause_recurring_payment", "restart", "restart_recurring_payment", "Go on."),
    _get("create_webhook", "get_webhook"),
    _on("create_webhook", "update", "update_webhook", "Change it."),
    _on("create_webhook", "test", "test_webhook", "Send it a test event."),
    _on("create_webhook", "deliveries", "list_webhook_deliveries", "What was delivered to it."),
    _on("create_webhook", "delete", "delete_webhook", "Remove it."),
)


def links_of(operation: str) -> dict[str, Any]:
    return {link.name: link.shown() for link in LINKS if link.source == operation}
