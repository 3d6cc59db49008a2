"""The operations under /wallet: send, swap, buy, withdraw, their quotes and estimates, and the balances."""

from __future__ import annotations

from simulator.engine.rows.handlers import body_by
from simulator.engine.rows.operation import Call, Operation
from simulator.providers.ramp.balance import bodies, shapes
from simulator.providers.ramp.balance.assets import ASSET_LIST, list_assets
from simulator.providers.ramp.balance.movements import buy, send, swap, withdraw
from simulator.providers.ramp.balance.quotes import claim

SEND_TAG, SWAP_TAG, BUY_TAG, WITHDRAW_TAG = "Send", "Swap", "Buy", "Withdraw"


def _buy_body(call: Call) -> type[bodies.UseQuote]:
    quote = buy.buy_quote(call)
    if quote is None:
        return bodies.BuyAnyhow
    return bodies.BuyByMobileMoney if quote.method == "mobile_money" else bodies.BuyByBankTransfer


_ASSET = ("unsupported_network", "unsupported_asset")
_AMOUNT = ("amount_too_low", "amount_too_high")
_QUOTE = ("quote_not_found", "quote_already_used", "quote_expired", "unsupported_pair", "network_unavailable")
_ESTIMATE = (
    "not_found",
    *_ASSET,
    "unsupported_pair",
    "invalid_wallet_address",
    "invalid_phone_number",
    "invoice_expired",
    *_AMOUNT,
)

_TO_SEND = {
    "not_found": "S23",
    "unsupported_network": "H5",
    "unsupported_asset": "H5",
    "unsupported_pair": "M15",
    "invalid_wallet_address": "S9",
    "invalid_phone_number": "recipient-phone",
    "invoice_expired": "S14",
    "amount_too_low": "M13",
    "amount_too_high": "M13",
}
"""The specification does not show what a send is refused with."""

OPERATIONS = (
    Operation(
        "POST",
        "/wallet/send/estimate",
        "estimate_send",
        SEND_TAG,
        "The exact fee of a send",
        send.estimate_send,
        lambda: shapes.SendEstimate,
        bodies=lambda: (bodies.EstimateToAddress, bodies.EstimateToUser, bodies.EstimateToLightning),
        body_for=body_by("destination.type", lambda: bodies.ESTIMATES, lambda: bodies.EstimateBody),
        check=send.check_send,
        group="wallet",
        reads=True,
        errors=_ESTIMATE,
        guessed=_TO_SEND,
        description=(
            "Tells the exact fee of a send and what the recipient would get, without moving or locking "
            "anything. Asset, network, destination and the asset's limits are checked as for the send itself; "
            "the balance is not, and the network need not be up. A send to another user of the service costs "
            "nothing."
        ),
    ),
    Operation(
        "POST",
        "/wallet/send",
        "send",
        SEND_TAG,
        "Send to an address, over Lightning, or to another user",
        send.send,
        lambda: shapes.SendTransaction,
        status=201,
        bodies=lambda: (bodies.SendToAddress, bodies.SendToUser, bodies.SendToLightning),
        body_for=body_by("destination.type", lambda: bodies.SENDS, lambda: bodies.SendBody),
        check=send.check_send,
        group="wallet",
        money=True,
        errors=(*_ESTIMATE, "insufficient_balance", "network_unavailable", "invalid_state", "wallet_disabled"),
        guessed={
            **_TO_SEND,
            "insufficient_balance": "M12",
            "network_unavailable": "S22",
            "wallet_disabled": "S13",
        },
        description=(
            "Takes `amount` out of the balance and sends it to an address, over Lightning, or to another user "
            "of the service. To an address or over Lightning the amount is held until the send ends: `pending` "
            "until it is broadcast, then `processing`, then `completed`; it cannot be undone. To another user "
            "it is free, needs no network and completes at once. Paying an invoice, `amount` must be the "
            "invoice's and the fee comes on top. Refused when the balance is too low, the amount is outside the "
            "asset's limits, the destination is not valid for the network, the network is down, or the wallet "
            "behind an invoice or a Lightning address of this service is disabled."
        ),
        statuses=("pending", "processing"),
    ),
    Operation(
        "POST",
        "/wallet/swap/quote",
        "quote_swap",
        SWAP_TAG,
        "Lock the rate and fees of a swap for 30 minutes",
        swap.quote_swap,
        lambda: shapes.SwapQuoteShape,
        status=201,
        body=lambda: bodies.SwapQuoteBody,
        check=swap.check_swap_quote,
        group="wallet",
        money=True,
        errors=(*_ASSET, "unsupported_pair", *_AMOUNT, "insufficient_balance", "network_unavailable"),
        guessed={"unsupported_pair": "M15"},
        description=(
            "Locks the rate and the fees of a swap of one asset of the balance into another for 30 minutes. The "
            "amount is on the side that `amount_side` names; the other side is worked out. Refused when the "
            "balance does not cover what is given, the amount is outside the limits of the fee product, or a "
            "network is down. Nothing is held until the quote is executed."
        ),
    ),
    Operation(
        "POST",
        "/wallet/swap",
        "swap",
        SWAP_TAG,
        "Execute a swap quote",
        swap.swap,
        lambda: shapes.SwapTransaction,
        status=201,
        body=lambda: bodies.UseQuote,
        claim=claim("swap"),
        group="wallet",
        money=True,
        errors=(*_QUOTE, "insufficient_balance", "slippage_exceeded"),
        guessed={"quote_not_found": "S2", "quote_already_used": "S2", "unsupported_pair": "M15"},
        description=(
            "Executes an active swap quote: `from.amount` is held at once and `to.amount` is credited when the "
            "swap completes. A quote is good for one execution within its 30 minutes. Refused with "
            "slippage_exceeded when the rate has since moved beyond the quote's tolerance; then a fresh quote "
            "is needed."
        ),
        statuses=("pending",),
    ),
    Operation(
        "POST",
        "/wallet/buy/quote",
        "quote_buy",
        BUY_TAG,
        "Lock the rate and fees of a purchase for 30 minutes",
        buy.quote_buy,
        lambda: shapes.BuyQuoteShape,
        status=201,
        body=lambda: bodies.BuyQuoteBody,
        check=buy.check_buy_quote,
        group="wallet",
        money=True,
        errors=(*_ASSET, "unsupported_pair", *_AMOUNT, "network_unavailable"),
        guessed={"unsupported_pair": "H5"},
        description=(
            "Locks the rate and the fee of a purchase for 30 minutes: fiat that is paid in becomes crypto in "
            "the balance. The amount is the fiat to pay or the crypto to get, as `amount_currency` says. "
            "Refused when the currency does not take the method, the amount is outside the limits of the fee "
            "product or of the account, or the network is down."
        ),
    ),
    Operation(
        "POST",
        "/wallet/buy",
        "buy",
        BUY_TAG,
        "Buy: fiat into the balance",
        buy.buy,
        lambda: shapes.BuyTransaction,
        status=201,
        bodies=lambda: (bodies.BuyByMobileMoney, bodies.BuyByBankTransfer),
        body_for=_buy_body,
        check=buy.check_buy,
        claim=claim("buy"),
        group="wallet",
        money=True,
        errors=(
            *_QUOTE,
            "invalid_phone_number",
            "invalid_bank_account",
            "amount_too_high",
            "insufficient_balance",
            "payment_failed",
        ),
        guessed={
            "quote_not_found": "S2",
            "quote_already_used": "S2",
            "unsupported_pair": "M15",
            "invalid_phone_number": "R4",
            "invalid_bank_account": "R5",
            "payment_failed": "S3",
        },
        description=(
            "Executes an active buy quote and tells how to pay. By mobile money the payer's phone gets a "
            "prompt; by bank transfer the payer sends the fiat to the account in `payment_instructions` with "
            "its reference. The balance is credited once the payment has arrived; until then the purchase stays "
            "`pending`. It counts towards the limits of the account."
        ),
        statuses=("pending",),
    ),
    Operation(
        "POST",
        "/wallet/withdraw/quote",
        "quote_withdraw",
        WITHDRAW_TAG,
        "Lock the rate and fees of a payout for 30 minutes",
        withdraw.post_withdraw_quote,
        lambda: shapes.WithdrawQuoteShape,
        status=201,
        body=lambda: bodies.WithdrawQuoteBody,
        check=withdraw.check_withdraw_quote,
        group="wallet",
        money=True,
        errors=("not_found", *_ASSET, "unsupported_pair", "beneficiary_mismatch", *_AMOUNT, "network_unavailable"),
        guessed={
            "not_found": "S23",
            "unsupported_network": "H5",
            "unsupported_asset": "M6",
            "unsupported_pair": "H5",
            "amount_too_low": "M13",
            "amount_too_high": "M13",
            "network_unavailable": "S22",
        },
        description=(
            "Locks the rate and the fee of a payout for 30 minutes: a stablecoin of the balance becomes fiat at "
            "a saved beneficiary. The amount is what is debited or what the beneficiary receives, as "
            "`amount_currency` says. Refused when the beneficiary is not paid in that currency, the amount is "
            "outside the limits of the fee product or of the account, or the network is down. The balance is "
            "looked at when the quote is executed."
        ),
    ),
    Operation(
        "POST",
        "/wallet/withdraw",
        "withdraw",
        WITHDRAW_TAG,
        "Withdraw: balance to a beneficiary's fiat",
        withdraw.withdraw,
        lambda: shapes.WithdrawTransaction,
        status=201,
        body=lambda: bodies.UseQuote,
        claim=claim("withdraw"),
        group="wallet",
        money=True,
        errors=(*_QUOTE, "not_found", "insufficient_balance", "amount_too_high"),
        guessed={
            "quote_not_found": "S2",
            "quote_already_used": "S2",
            "unsupported_pair": "M15",
            "network_unavailable": "S22",
            "not_found": "gone-beneficiary",
            "amount_too_high": "M14",
        },
        description=(
            "Executes an active withdraw quote: `source_amount` is held and the payout begins. The answer only "
            "says that it was accepted; the event transaction.completed says that the beneficiary has the fiat, "
            "and a payout that fails is held until it is refunded. It counts towards the limits of GET "
            "/profile/limits. The reference is for the caller alone. Refused when the balance is too low or a "
            "limit is reached."
        ),
        statuses=("processing",),
    ),
    Operation(
        "GET",
        "/wallet/assets",
        "list_assets",
        "Reference data",
        "The balance of every asset",
        list_assets,
        lambda: shapes.AssetBalanceList,
        query=ASSET_LIST,
        group="wallet",
        reads=True,
        description=(
            "Lists what the account has of every asset on every network, those of which it has nothing too: in "
            "all, what can be spent, and what is held for operations that have not ended. Each record names the "
            "address (and memo) that deposits go to."
        ),
    ),
)
