"""Response models for wallet quotes, wallet transactions, estimates and balances (decisions H8, L3, M2, R8)."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias

from pydantic import Field
from typing_extensions import TypedDict

from simulator.engine.text.shapes import (
    AmountText,
    Assumed,
    Clauses,
    Number,
    OneOf,
    Prefix,
    RateText,
    Timestamp,
    page_shape,
)
from simulator.providers.ramp import shapes
from simulator.providers.ramp.balance.named import WITHDRAWABLE
from simulator.providers.ramp.balance.states import BUY_MEANINGS, SEND_MEANINGS, SWAP_MEANINGS, WITHDRAW_MEANINGS
from simulator.providers.ramp.fees import AppFee
from simulator.providers.ramp.ramps import FailureText
from simulator.providers.ramp.shapes import AssetText, FiatText, Method, OrderNumber, PhoneText, WalletNetwork

StablecoinText = Annotated[str, OneOf({code: shapes.ASSET_CODES[code] for code in WITHDRAWABLE}), Assumed("M6", "enum")]


class SwapAmountShape(TypedDict):
    """One side of a swap: an amount of an asset on a network."""

    symbol: AssetText
    """The asset of this side."""
    network: WalletNetwork
    """The network of the asset, in upper case."""
    amount: AmountText
    """The amount, in `symbol`.

    On the side `from`, this is the total deducted, including the fee. On the side `to`, it is the amount received.
    """


_Paid = Annotated[
    SwapAmountShape, Field(description="The asset that is paid. Its amount is deducted, including the fee.")
]
_Quoted = Annotated[SwapAmountShape, Field(description="The asset that is received. Its amount is credited.")]
_Received = Annotated[SwapAmountShape, Field(description="The asset that is received when the swap is completed.")]
_SwapQuoteSides = TypedDict("_SwapQuoteSides", {"from": _Paid, "to": _Quoted})
_SwapTransactionSides = TypedDict("_SwapTransactionSides", {"from": _Paid, "to": _Received})


class SwapQuoteShape(_SwapQuoteSides):
    """The rate and the fees of a swap, locked for 30 minutes."""

    id: Annotated[str, Prefix("sq_")]
    """The id of the quote. Pass it as `quote_id` to POST /wallet/swap."""
    rate: RateText
    """The locked rate: units of the asset `to` per unit of the asset `from`."""
    minimum_received: AmountText
    """The minimum amount of the asset `to`. If the swap would deliver less at execution, the request is rejected."""
    fee: AppFee
    """The cost of the swap, in the asset `from`. `from.amount` includes it."""
    slippage: Number
    """The slippage tolerance, in percent. For example, 0.5 means half a percent."""
    expires_at: Timestamp
    """The expiry time, 30 minutes after `created_at`."""
    created_at: Timestamp
    """The creation time of the quote."""


class BuyQuoteShape(TypedDict):
    """The rate and the fee of a purchase, locked for 30 minutes."""

    id: Annotated[str, Prefix("bq_")]
    """The id of the quote. Pass it as `quote_id` to POST /wallet/buy."""
    symbol: AssetText
    """The asset that is bought."""
    network: WalletNetwork
    """The network of the asset, in upper case."""
    fiat_currency: FiatText
    """The currency of the payment."""
    fiat_amount: AmountText
    """The total that the payer pays, in `fiat_currency`, including the fee."""
    crypto_amount: AmountText
    """The amount credited to the balance after the fee, in `symbol`."""
    rate: RateText
    """The locked rate: `fiat_currency` per unit of `symbol`."""
    fee: AppFee
    """The cost of the purchase, in `fiat_currency`. `fiat_amount` includes it."""
    method: Method
    """The payment method for the fiat."""
    expires_at: Timestamp
    """The expiry time, 30 minutes after `created_at`."""
    created_at: Timestamp
    """The creation time of the quote."""


class WithdrawQuoteShape(TypedDict):
    """The rate and the fee of a payout, locked for 30 minutes."""

    id: Annotated[str, Prefix("wq_"), Assumed("S2", "pattern")]
    """The id of the quote. Pass it as `quote_id` to POST /wallet/withdraw."""
    symbol: StablecoinText
    """The stablecoin that is debited."""
    network: WalletNetwork
    """The network of the stablecoin, in upper case."""
    fiat_currency: FiatText
    """The currency that the beneficiary receives."""
    rate: RateText
    """The locked rate: `fiat_currency` per unit of `symbol`."""
    source_amount: AmountText
    """The total debited from the balance, in `symbol`, including the fee."""
    destination_amount: AmountText
    """The amount that the beneficiary receives after the fee, in `fiat_currency`."""
    fee: AppFee
    """The cost of the payout, in `symbol`. `source_amount` includes it."""
    expires_at: Timestamp
    """The expiry time, 30 minutes after `created_at`."""
    created_at: Timestamp
    """The creation time of the quote."""


class SendEstimate(TypedDict):
    """The cost of a send. No rate is locked and no money is transferred."""

    symbol: AssetText
    """The asset to send."""
    network: WalletNetwork
    """The network to send on, in upper case."""
    amount: AmountText
    """The requested amount, in `symbol`."""
    fee: AppFee
    """The cost of the send, in `symbol`. A send to another user of the service costs nothing."""
    net_amount: Annotated[AmountText, Assumed("M7", "meaning")]
    """The amount that the recipient would receive, in `symbol`.

    This is `amount` minus the fee. For an invoice, it is the full `amount`.
    """


class _Common(TypedDict):
    id: Annotated[str, Prefix("txn_")]
    """The id of the transaction, for GET /transactions/{id} and GET /orders/{order_id}."""
    order_id: Annotated[OrderNumber, Assumed("L3")]
    """The public number of its order, for GET /orders/{order_id}."""
    fee: AppFee
    """The cost of the operation."""
    reference: str | None
    """Your own reference, or null if none was given."""
    failure_code: NotRequired[FailureText]
    """The reason for the failure. Present once the transaction has failed, even if it was refunded later."""
    created_at: Timestamp
    """The creation time."""
    updated_at: Timestamp
    """The time of the last status change."""


class SendTransaction(_Common):
    """A send from the balance: to an address, over Lightning, or to another user."""

    type: Literal["send"]
    status: Annotated[str, OneOf(SEND_MEANINGS), Assumed("S5", "enum")]
    """The status of the send."""
    symbol: AssetText
    """The asset that is sent."""
    network: WalletNetwork
    """The network of the send, in upper case."""
    amount: AmountText
    """The amount sent, in `symbol`, before the fee is deducted. For an invoice, the fee is added to this amount."""
    net_amount: Annotated[AmountText, Assumed("M7", "meaning")]
    """The amount that the recipient receives, in `symbol`: `amount` minus the fee, or the full amount of an invoice."""
    tx_hash: Annotated[str | None, Assumed("S16", "meaning")]
    """The hash of the on-chain transaction.

    Null before the broadcast, over Lightning, and for a transfer to another user.
    """


class SwapTransaction(_Common, _SwapTransactionSides):
    """A swap that exchanges one asset of the balance for another."""

    type: Literal["swap"]
    status: Annotated[str, OneOf(SWAP_MEANINGS), Assumed("S8", "enum")]
    """The status of the swap."""
    amount: Annotated[AmountText, Assumed("M8", "required")]
    """The total deducted, including the fee. Equal to `from.amount`."""
    net_amount: Annotated[AmountText, Assumed("M8", "required")]
    """The amount converted: `from.amount` minus the fee, in the asset `from`."""
    tx_hash: str | None
    """The hash of the on-chain transaction, or null until the swap is completed."""


class _Instructions(TypedDict):
    reference: str
    """The reference that the payer must include with the payment. It links the payment to the purchase."""


class BuyMobileMoneyInstructions(_Instructions):
    """Instructions for paying for a purchase by mobile money."""

    method: Literal["mobile_money"]
    phone_number: PhoneText
    """The phone number that receives the payment prompt."""


class BuyBankTransferInstructions(_Instructions):
    """Instructions for paying for a purchase by bank transfer."""

    method: Literal["bank_transfer"]
    account_number: str
    """The bank account to pay to."""
    bank_name: str
    """The bank of that account."""


BuyPaymentInstructions: TypeAlias = BuyMobileMoneyInstructions | BuyBankTransferInstructions


class BuyTransaction(_Common):
    """A purchase. The payer pays fiat, and crypto is credited to the balance."""

    type: Literal["buy"]
    status: Annotated[str, OneOf(BUY_MEANINGS), Assumed("S5", "enum")]
    """The status of the purchase."""
    symbol: AssetText
    """The asset that is bought."""
    network: WalletNetwork
    """The network of the asset, in upper case."""
    amount: AmountText
    """The amount bought, in `symbol`. It is credited in full, because the fee is paid in fiat."""
    net_amount: AmountText
    """The amount credited, in `symbol`. Equal to `amount`."""
    tx_hash: str | None
    """Always null, because a purchase credits the balance without an on-chain transaction."""
    payment_instructions: BuyPaymentInstructions
    """The payment instructions for the payer."""


class WithdrawTransaction(_Common):
    """A payout that turns crypto of the balance into fiat for a beneficiary."""

    type: Literal["withdraw"]
    status: Annotated[str, OneOf(WITHDRAW_MEANINGS), Assumed("S10", "enum")]
    """The status of the payout."""
    symbol: StablecoinText
    """The stablecoin that is debited."""
    network: WalletNetwork
    """The network of the stablecoin, in upper case."""
    amount: AmountText
    """The total debited from the balance, in `symbol`, including the fee."""
    net_amount: AmountText
    """The amount converted to fiat, in `symbol`: `amount` minus the fee."""
    tx_hash: str | None
    """Always null, because a payout has no on-chain transaction."""
    beneficiary_id: Annotated[str, Prefix("ben_")]
    """The id of the beneficiary that receives the payout. See GET /beneficiaries/{id}."""
    fiat_currency: FiatText
    """The currency that the beneficiary receives."""
    destination_amount: AmountText
    """The exact amount that the beneficiary receives, in `fiat_currency`."""


class AssetBalanceShape(TypedDict):
    """The account's balance of an asset on a network."""

    symbol: Annotated[AssetText, Assumed("R8")]
    """The asset."""
    network: Annotated[WalletNetwork, Assumed("R8")]
    """The network of the asset, in upper case. An asset on two networks has two balances."""
    balance: Annotated[AmountText, Assumed("R8")]
    """The total balance, in `symbol`: `available` plus `held`."""
    available: Annotated[AmountText, Assumed("R8")]
    """The amount that can be spent now, in `symbol`."""
    held: Annotated[AmountText, Assumed("R8")]
    """The amount held for sends, swaps and payouts in progress, in `symbol`."""
    address: Annotated[str | None, Assumed("R8")]
    """The deposit address, taken from the account's oldest active wallet on the network. Null if there is no such
    wallet.
    """
    memo: Annotated[str | None, Assumed("R8")]
    """On stellar, the memo that every deposit to `address` needs. Null on other networks, and if there is no wallet."""
    default: Annotated[bool, Assumed("R8")]
    """True if the account has a wallet that receives this asset."""
    updated_at: Annotated[Timestamp, Assumed("R8")]
    """The time at which `available` or `held` last changed."""


AssetBalanceList = page_shape(
    "AssetBalanceList",
    AssetBalanceShape,
    "balances",
    "The balances of this page: every asset on every network, zero balances included.",
    Assumed("L6"),
)

CLAUSES: Clauses = {
    "Wallet transaction": (
        SendTransaction,
        SwapTransaction,
        BuyTransaction,
        WithdrawTransaction,
        BuyMobileMoneyInstructions,
        BuyBankTransferInstructions,
        SwapAmountShape,
    ),
    "Swap quote": (SwapQuoteShape,),
    "Buy quote": (BuyQuoteShape,),
    "Withdraw quote": (WithdrawQuoteShape,),
    "Send": (SendEstimate,),
}
