"""The account's own balance: send, swap, buy, withdraw, and GET /wallet/assets.

Chapters "Send", "Swap", "Buy" and "Withdraw" of the specification. Recurring payments run through the same code.
"""

from __future__ import annotations

from simulator.resources.balance import assets, settlement
from simulator.resources.balance.bodies import AddressDestination, AnyDestination, LightningDestination, UserDestination
from simulator.resources.balance.destinations import (
    TRANSFER_PRODUCTS,
    check_destination,
    find_user,
    parse_destination,
    resolve_destination,
)
from simulator.resources.balance.named import WITHDRAWABLE, named_asset, require_asset
from simulator.resources.balance.records import QUOTE_TABLES
from simulator.resources.balance.routes import OPERATIONS
from simulator.resources.balance.send import create_send
from simulator.resources.balance.shapes import (
    CLAUSES,
    BuyPaymentInstructions,
    BuyQuoteShape,
    BuyTransaction,
    SendTransaction,
    SwapQuoteShape,
    SwapTransaction,
    WithdrawQuoteShape,
    WithdrawTransaction,
    render_buy,
    render_buy_quote,
    render_send,
    render_swap,
    render_swap_quote,
    render_withdraw,
    render_withdraw_quote,
)
from simulator.resources.balance.states import BUY, SEND, SWAP, WITHDRAW
from simulator.resources.balance.withdraw import execute_withdraw, quote_withdraw
from simulator.resources.transactions import quote_kind, transaction_kind
from simulator.wire.assumptions import assume
from simulator.wire.room import Room

ROOM = Room(
    "balance",
    operations=OPERATIONS,
    actions=(*settlement.ACTIONS, *assets.ACTIONS),
    kinds=(
        quote_kind("swap_quote", QUOTE_TABLES["swap"], render_swap_quote, SwapQuoteShape, "sq_"),
        quote_kind("buy_quote", QUOTE_TABLES["buy"], render_buy_quote, BuyQuoteShape, "bq_"),
        quote_kind(
            "withdraw_quote",
            QUOTE_TABLES["withdraw"],
            render_withdraw_quote,
            WithdrawQuoteShape,
            "wq_",
            refers=("beneficiary_id",),
        ),
        transaction_kind("send", render_send, SEND, SendTransaction),
        transaction_kind("swap", render_swap, SWAP, SwapTransaction),
        transaction_kind("buy", render_buy, BUY, BuyTransaction),
        transaction_kind("withdraw", render_withdraw, WITHDRAW, WithdrawTransaction),
    ),
    setup=assets.set_up,
    clauses=CLAUSES,
)

ASSUMPTIONS = assume(
    "sends, swaps, buys and withdrawals",
    "Make the call in the real sandbox and compare its answer, its events and the balances.",
    ("lightning-network", "A Lightning destination on another network than BITCOIN: 422 unsupported_network."),
    (
        "lightning-form",
        "A bad invoice or Lightning address: 422 invalid_wallet_address, param destination.invoice or …",
    ),
    (
        "recipient-phone",
        "A recipient's phone_number that is no number is invalid_phone_number, an unknown one not_found.",
    ),
    (
        "tx-hash-kept",
        "`complete` takes a `tx_hash` whatever the transaction is, and keeps it where that gets one then (S16): not on "
        "purchases, withdrawals, offramps and payments over Lightning; a send keeps that of its broadcast by default.",
    ),
    ("custodial-memo", "No stellar address is known as custodial, so a memo is never demanded of a send."),
    (
        "own-wallet",
        "A send to an address of one's own is an ordinary send whose net amount arrives when it completes. On stellar "
        "the memo tells who receives; without one, or with an unknown one, the money leaves the world.",
    ),
    (
        "own-lightning",
        "A send to a Lightning entry of one's own that is disabled, or whose wallet is, is 409 invalid_state. While a "
        "send pays an invoice the action invoice_paid is illegal; one that ends before the send completes stays as it "
        "is, but the payment is credited.",
    ),
    ("swap-hash", "The tx_hash of a swap is one of the network that is swapped to."),
    ("no-hash", "A tx_hash given for a buy, a withdrawal or a Lightning send is ignored: they have none."),
    ("gone-beneficiary", "Executing a withdraw quote whose beneficiary was deleted meanwhile: 404 not_found."),
    ("execution-order", "Executing a quote: found, usable, balance, account limits, network up, slippage."),
    ("bank-payer", "A buy by bank transfer needs no payer; one that is given must have an account_name."),
    ("buy-reference", "The payment reference of a buy is its order number."),
    (
        "asset-address",
        "An asset's address and memo are those of the network's oldest active deposit wallet (null: none).",
    ),
    ("asset-default", "`default` of an asset is true when such a wallet exists."),
    (
        "asset-list",
        "GET /wallet/assets lists every asset on every network; it sorts by created_at, updated_at, amount.",
    ),
)

__all__ = [
    "ROOM",
    "TRANSFER_PRODUCTS",
    "WITHDRAWABLE",
    "AddressDestination",
    "AnyDestination",
    "BuyPaymentInstructions",
    "BuyTransaction",
    "LightningDestination",
    "SendTransaction",
    "SwapTransaction",
    "UserDestination",
    "WithdrawTransaction",
    "check_destination",
    "create_send",
    "execute_withdraw",
    "find_user",
    "named_asset",
    "parse_destination",
    "quote_withdraw",
    "require_asset",
    "resolve_destination",
]
