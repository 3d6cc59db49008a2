"""Operations on the account's own balance: send, swap, buy, withdraw, and GET /wallet/assets (sections "Send", "Swap",
"Buy" and "Withdraw").
"""

from __future__ import annotations

from simulator.engine.rows.room import Room
from simulator.providers.ramp.balance import assets, bodies, rendering, settlement, shapes
from simulator.providers.ramp.balance.destinations import (
    TRANSFER_PRODUCTS,
    check_destination,
    find_user,
    parse_destination,
    resolve_destination,
)
from simulator.providers.ramp.balance.movements import buy, send, swap, withdraw
from simulator.providers.ramp.balance.movements.send import create_send, price_send_to
from simulator.providers.ramp.balance.movements.withdraw import (
    Payout,
    estimate_withdraw,
    execute_withdraw,
    make_withdraw_quote,
)
from simulator.providers.ramp.balance.named import WITHDRAWABLE, named_asset, require_asset
from simulator.providers.ramp.balance.records import QUOTE_TABLES, Tags
from simulator.providers.ramp.balance.states import BUY, ERRORS, SEND, SWAP, WITHDRAW
from simulator.providers.ramp.transactions import quote_kind, transaction_kind

ROOM = Room(
    "balance",
    operations=(
        send.estimate_send,
        send.send,
        swap.quote_swap,
        swap.swap,
        buy.quote_buy,
        buy.buy,
        withdraw.quote_withdraw,
        withdraw.withdraw,
        assets.list_assets,
    ),
    actions=(*settlement.ACTIONS, *assets.ACTIONS),
    kinds=(
        quote_kind(
            "swap_quote", QUOTE_TABLES["swap"], rendering.render_swap_quote, lambda: shapes.SwapQuoteShape, "sq_"
        ),
        quote_kind("buy_quote", QUOTE_TABLES["buy"], rendering.render_buy_quote, lambda: shapes.BuyQuoteShape, "bq_"),
        quote_kind(
            "withdraw_quote",
            QUOTE_TABLES["withdraw"],
            rendering.render_withdraw_quote,
            lambda: shapes.WithdrawQuoteShape,
            "wq_",
            refers=("beneficiary_id",),
        ),
        transaction_kind("send", rendering.render_send, SEND, lambda: shapes.SendTransaction),
        transaction_kind("swap", rendering.render_swap, SWAP, lambda: shapes.SwapTransaction),
        transaction_kind("buy", rendering.render_buy, BUY, lambda: shapes.BuyTransaction),
        transaction_kind("withdraw", rendering.render_withdraw, WITHDRAW, lambda: shapes.WithdrawTransaction),
    ),
    setup=assets.set_up,
    clauses=lambda: shapes.CLAUSES,
    errors=ERRORS,
)
