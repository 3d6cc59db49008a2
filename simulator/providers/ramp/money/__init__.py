"""The money table: one entry for each operation that prices, spends or transfers money, with its orders."""

from __future__ import annotations

from simulator.engine.rows.money import Money, MoneyRow, OrderKind

MONEY = Money(
    rows=(
        MoneyRow("create_quote", prices=True, uses_network=True),
        MoneyRow(
            "confirm_quote",
            makes=(
                OrderKind("onramp", "payer", "destination_amount", "asset", to="wallet_address"),
                OrderKind(
                    "offramp",
                    "transfer",
                    "destination_amount",
                    "fiat_currency",
                    to="beneficiary_id",
                    memo="deposit.memo",
                ),
            ),
        ),
        MoneyRow("estimate_send", prices=True),
        MoneyRow("send", makes=(OrderKind("send", "balance", "net_amount", "symbol", asked="destination"),)),
        MoneyRow("quote_swap", prices=True),
        MoneyRow("swap", makes=(OrderKind("swap", "balance", "to.amount", "to.symbol"),)),
        MoneyRow("quote_buy", prices=True),
        MoneyRow("buy", makes=(OrderKind("buy", "payer", "net_amount", "symbol"),)),
        MoneyRow("quote_withdraw", prices=True),
        MoneyRow(
            "withdraw",
            makes=(OrderKind("withdraw", "balance", "destination_amount", "fiat_currency", to="beneficiary_id"),),
        ),
        MoneyRow("create_recurring_payment", standing="recurring_payment"),
        MoneyRow("activate_recurring_payment", standing="recurring_payment", starts=True),
    ),
    reading="get_transaction",
    amounts=frozenset(
        {
            *("amount", "source_amount", "destination_amount", "net_amount", "fiat_amount", "crypto_amount"),
            *("total", "processing_fee", "app_fee", "network_fee", "minimum_received", "balance", "available", "held"),
            *("max", "used", "remaining", "min_amount", "max_amount", "min_fee", "max_fee", "fixed", "percentage_fee"),
            *("estimated_source_amount", "estimated_total_debit", "min_withdraw", "max_withdraw", "send_fees"),
            "deposit_fees",
        }
    ),
    in_events=frozenset(
        {
            *("id", "type", "status", "network", "asset", "fiat_currency", "source_amount", "destination_amount"),
            *("fee", "tx_hash", "reference", "failure_code"),
        }
    ),
)
"""`in_events` contains the fields that the section "Events" lists, and the failure code of a transaction."""
