"""The operations under /wallet: send, swap, buy, withdraw, their quotes and estimates, and the balances."""

from __future__ import annotations

from simulator.resources.balance import buy, send, swap, withdraw
from simulator.resources.balance.assets import ASSET_LIST, list_assets
from simulator.resources.balance.bodies import (
    BuyAnyhow,
    BuyByBankTransfer,
    BuyByMobileMoney,
    BuyQuoteBody,
    EstimateBody,
    EstimateToAddress,
    EstimateToLightning,
    EstimateToUser,
    SendBody,
    SendToAddress,
    SendToLightning,
    SendToUser,
    SwapQuoteBody,
    UseQuote,
    WithdrawQuoteBody,
)
from simulator.resources.balance.quotes import claim
from simulator.resources.balance.shapes import (
    AssetBalanceList,
    BuyQuoteShape,
    BuyTransaction,
    SendEstimate,
    SendTransaction,
    SwapQuoteShape,
    SwapTransaction,
    WithdrawQuoteShape,
    WithdrawTransaction,
)
from simulator.wire.handlers import body_by
from simulator.wire.operation import Call, Operation

SEND_TAG, SWAP_TAG, BUY_TAG, WITHDRAW_TAG = "Send", "Swap", "Buy", "Withdraw"


_ESTIMATES: dict[str, type[EstimateBody]] = {
    "address": EstimateToAddress,
    "platform_user": EstimateToUser,
    "lightning": EstimateToLightning,
}
_SENDS: dict[str, type[SendBody]] = {
    "address": SendToAddress,
    "platform_user": SendToUser,
    "lightning": SendToLightning,
}


def _buy_body(call: Call) -> type[UseQuote]:
    quote = buy.buy_quote(call)
    if quote is None:
        return BuyAnyhow
    return BuyByMobileMoney if quote.method == "mobile_money" else BuyByBankTransfer


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

OPERATIONS = (
    Operation(
        "POST",
        "/wallet/send/estimate",
        "estimate_send",
        SEND_TAG,
        "The exact fee of a send",
        send.estimate_send,
        SendEstimate,
        bodies=(EstimateToAddress, EstimateToUser, EstimateToLightning),
        body_for=body_by("destination.type", _ESTIMATES, EstimateBody),
        check=send.check_send,
        group="wallet",
        reads=True,
        errors=_ESTIMATE,
    ),
    Operation(
        "POST",
        "/wallet/send",
        "send",
        SEND_TAG,
        "Send to an address, over Lightning, or to another user",
        send.send,
        SendTransaction,
        status=201,
        bodies=(SendToAddress, SendToUser, SendToLightning),
        body_for=body_by("destination.type", _SENDS, SendBody),
        check=send.check_send,
        group="wallet",
        money=True,
        errors=(*_ESTIMATE, "insufficient_balance", "network_unavailable", "invalid_state"),
    ),
    Operation(
        "POST",
        "/wallet/swap/quote",
        "quote_swap",
        SWAP_TAG,
        "Lock the rate and fees of a swap for 30 minutes",
        swap.quote_swap,
        SwapQuoteShape,
        status=201,
        body=SwapQuoteBody,
        check=swap.check_swap_quote,
        group="wallet",
        money=True,
        errors=(*_ASSET, "unsupported_pair", *_AMOUNT, "insufficient_balance", "network_unavailable"),
    ),
    Operation(
        "POST",
        "/wallet/swap",
        "swap",
        SWAP_TAG,
        "Execute a swap quote",
        swap.swap,
        SwapTransaction,
        status=201,
        body=UseQuote,
        claim=claim("swap"),
        group="wallet",
        money=True,
        errors=(*_QUOTE, "insufficient_balance", "slippage_exceeded"),
    ),
    Operation(
        "POST",
        "/wallet/buy/quote",
        "quote_buy",
        BUY_TAG,
        "Lock the rate and fees of a purchase for 30 minutes",
        buy.quote_buy,
        BuyQuoteShape,
        status=201,
        body=BuyQuoteBody,
        check=buy.check_buy_quote,
        group="wallet",
        money=True,
        errors=(*_ASSET, "unsupported_pair", *_AMOUNT, "network_unavailable"),
    ),
    Operation(
        "POST",
        "/wallet/buy",
        "buy",
        BUY_TAG,
        "Buy: fiat into the balance",
        buy.buy,
        BuyTransaction,
        status=201,
        bodies=(BuyByMobileMoney, BuyByBankTransfer),
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
    ),
    Operation(
        "POST",
        "/wallet/withdraw/quote",
        "quote_withdraw",
        WITHDRAW_TAG,
        "Lock the rate and fees of a payout for 30 minutes",
        withdraw.post_withdraw_quote,
        WithdrawQuoteShape,
        status=201,
        body=WithdrawQuoteBody,
        check=withdraw.check_withdraw_quote,
        group="wallet",
        money=True,
        errors=("not_found", *_ASSET, "unsupported_pair", "beneficiary_mismatch", *_AMOUNT, "network_unavailable"),
    ),
    Operation(
        "POST",
        "/wallet/withdraw",
        "withdraw",
        WITHDRAW_TAG,
        "Withdraw: balance to a beneficiary's fiat",
        withdraw.withdraw,
        WithdrawTransaction,
        status=201,
        body=UseQuote,
        claim=claim("withdraw"),
        group="wallet",
        money=True,
        errors=(*_QUOTE, "not_found", "insufficient_balance", "amount_too_high"),
    ),
    Operation(
        "GET",
        "/wallet/assets",
        "list_assets",
        "Reference data",
        "The balance of every asset",
        list_assets,
        AssetBalanceList,
        query=ASSET_LIST,
        group="wallet",
        reads=True,
    ),
)
