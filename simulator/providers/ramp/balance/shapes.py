"""How wallet quotes, wallet transactions, estimates and balances are shown.

Tables "Wallet transaction", "Swap quote", "Buy quote", "Withdraw quote" of the specification; decisions H8, L3, M2, R8.
"""

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
from simulator.providers.ramp.balance.named import WITHDRAWABLE
from simulator.providers.ramp.balance.states import BUY_MEANINGS, SEND_MEANINGS, SWAP_MEANINGS, WITHDRAW_MEANINGS
from simulator.providers.ramp.fees import AppFee
from simulator.providers.ramp.ramps import FailureText
from simulator.providers.ramp.shapes import (
    ASSET_CODES,
    AssetText,
    FiatText,
    Method,
    OrderNumber,
    PhoneText,
    WalletNetwork,
)

StablecoinText = Annotated[str, OneOf({code: ASSET_CODES[code] for code in WITHDRAWABLE}), Assumed("M6", "enum")]


class SwapAmountShape(TypedDict):
    """One side of a swap: how much of which asset on which network."""

    symbol: AssetText
    """The asset of this side."""
    network: WalletNetwork
    """The network it lies on, in capitals."""
    amount: AmountText
    """How much of `symbol`: on the side `from` what is deducted, fee included, on the side `to` what is received."""


_SwapQuoteSides = TypedDict(
    "_SwapQuoteSides",
    {
        "from": Annotated[SwapAmountShape, Field(description="What is given: its amount is deducted, fee included.")],
        "to": Annotated[SwapAmountShape, Field(description="What is received: its amount is credited.")],
    },
)


class SwapQuoteShape(_SwapQuoteSides):
    """The rate and the fees of a swap, locked for 30 minutes."""

    id: Annotated[str, Prefix("sq_")]
    """Pass it as `quote_id` to POST /wallet/swap."""
    rate: RateText
    """Locked rate: units of the asset `to` for one unit of the asset `from`."""
    minimum_received: AmountText
    """The worst case in the asset `to`: when less would come out at execution, the swap is refused."""
    fee: AppFee
    """What the swap costs, in the asset `from`; part of `from.amount`."""
    slippage: Number
    """The tolerance used, in percent: 0.5 is half a percent."""
    expires_at: Timestamp
    """Until when the quote can be executed: 30 minutes after `created_at`."""
    created_at: Timestamp
    """When the quote was made."""


class BuyQuoteShape(TypedDict):
    """The rate and the fee of a purchase, locked for 30 minutes."""

    id: Annotated[str, Prefix("bq_")]
    """Pass it as `quote_id` to POST /wallet/buy."""
    symbol: AssetText
    """The asset that is bought."""
    network: WalletNetwork
    """The network it lies on, in capitals."""
    fiat_currency: FiatText
    """The currency that is paid in."""
    fiat_amount: AmountText
    """What the payer pays in all, fee included, in `fiat_currency`."""
    crypto_amount: AmountText
    """What the balance is credited with, in `symbol`, after the fee."""
    rate: RateText
    """Locked rate: `fiat_currency` for one unit of `symbol`."""
    fee: AppFee
    """What the purchase costs, in `fiat_currency`; part of `fiat_amount`."""
    method: Method
    """How the fiat is paid."""
    expires_at: Timestamp
    """Until when the quote can be executed: 30 minutes after `created_at`."""
    created_at: Timestamp
    """When the quote was made."""


class WithdrawQuoteShape(TypedDict):
    """The rate and the fee of a payout, locked for 30 minutes."""

    id: Annotated[str, Prefix("wq_"), Assumed("S2", "pattern")]
    """Pass it as `quote_id` to POST /wallet/withdraw."""
    symbol: StablecoinText
    """The stablecoin that is paid with."""
    network: WalletNetwork
    """The network it lies on, in capitals."""
    fiat_currency: FiatText
    """The currency that the beneficiary is paid in."""
    rate: RateText
    """Locked rate: `fiat_currency` for one unit of `symbol`."""
    source_amount: AmountText
    """What is debited from the balance in all, fee included, in `symbol`."""
    destination_amount: AmountText
    """What the beneficiary receives, after the fee, in `fiat_currency`."""
    fee: AppFee
    """What the payout costs, in `symbol`; part of `source_amount`."""
    expires_at: Timestamp
    """Until when the quote can be executed: 30 minutes after `created_at`."""
    created_at: Timestamp
    """When the quote was made."""


class SendEstimate(TypedDict):
    """What a send would cost; nothing is locked or moved."""

    symbol: AssetText
    """The asset that would be sent."""
    network: WalletNetwork
    """The network it would go over, in capitals."""
    amount: AmountText
    """What would be sent, in `symbol`, as asked for."""
    fee: AppFee
    """What the send would cost, in `symbol`; all zero to another user of the service."""
    net_amount: Annotated[AmountText, Assumed("M7", "meaning")]
    """What the recipient would get, in `symbol`: `amount` without the fee; of an invoice all of it."""


class _Common(TypedDict):
    id: Annotated[str, Prefix("txn_")]
    """Names the transaction in GET /transactions/{id}, and its order in GET /orders/{order_id}."""
    order_id: Annotated[OrderNumber, Assumed("L3")]
    """The public number of the order that was made with it, for GET /orders/{order_id}."""
    fee: AppFee
    """What the operation costs."""
    reference: str | None
    """The caller's own reference; null when none was given."""
    failure_code: NotRequired[FailureText]
    """Why it failed. There once it has failed, also after a refund."""
    created_at: Timestamp
    """When it was made."""
    updated_at: Timestamp
    """When its status last changed."""


class SendTransaction(_Common):
    """A send from the balance: to an address, over Lightning, or to another user."""

    type: Literal["send"]
    status: Annotated[str, OneOf(SEND_MEANINGS), Assumed("S5", "enum")]
    """How far the send has come."""
    symbol: AssetText
    """The asset that is sent."""
    network: WalletNetwork
    """The network it goes over, in capitals."""
    amount: AmountText
    """What is sent, in `symbol`, before the fee; what is debited, except that an invoice's fee comes on top."""
    net_amount: Annotated[AmountText, Assumed("M7", "meaning")]
    """What the recipient gets, in `symbol`: `amount` without the fee; of an invoice all of it."""
    tx_hash: Annotated[str | None, Assumed("S16", "meaning")]
    """The transaction on the chain. Null until it is broadcast, to another user of the service and over Lightning."""


_SwapTransactionSides = TypedDict(
    "_SwapTransactionSides",
    {
        "from": Annotated[SwapAmountShape, Field(description="What is given: its amount is deducted, fee included.")],
        "to": Annotated[SwapAmountShape, Field(description="What is received once the swap is completed.")],
    },
)


class SwapTransaction(_Common, _SwapTransactionSides):
    """A swap of one asset of the balance into another."""

    type: Literal["swap"]
    status: Annotated[str, OneOf(SWAP_MEANINGS), Assumed("S8", "enum")]
    """How far the swap has come."""
    amount: Annotated[AmountText, Assumed("M8", "required")]
    """What is deducted, fee included: the same as `from.amount`."""
    net_amount: Annotated[AmountText, Assumed("M8", "required")]
    """What is converted: `from.amount` without the fee, in the asset `from`."""
    tx_hash: str | None
    """The transaction on the chain; null until the swap is completed."""


class _Instructions(TypedDict):
    reference: str
    """What the payer must give with the payment, so that it is matched with the purchase."""


class BuyMobileMoneyInstructions(_Instructions):
    """How a purchase is paid by mobile money."""

    method: Literal["mobile_money"]
    phone_number: PhoneText
    """The phone that gets the prompt to pay."""


class BuyBankTransferInstructions(_Instructions):
    """How a purchase is paid by bank transfer."""

    method: Literal["bank_transfer"]
    account_number: str
    """The account to pay to."""
    bank_name: str
    """The bank that has this account."""


BuyPaymentInstructions: TypeAlias = BuyMobileMoneyInstructions | BuyBankTransferInstructions


class BuyTransaction(_Common):
    """A purchase: fiat is paid in, crypto is credited to the balance."""

    type: Literal["buy"]
    status: Annotated[str, OneOf(BUY_MEANINGS), Assumed("S5", "enum")]
    """How far the purchase has come."""
    symbol: AssetText
    """The asset that is bought."""
    network: WalletNetwork
    """The network it lies on, in capitals."""
    amount: AmountText
    """What is bought, in `symbol`: exactly what is credited, since the fee is paid in fiat."""
    net_amount: AmountText
    """What is credited, in `symbol`: the same as `amount`."""
    tx_hash: str | None
    """Null: a purchase credits the balance without a transaction on a chain."""
    payment_instructions: BuyPaymentInstructions
    """How the fiat is to be paid."""


class WithdrawTransaction(_Common):
    """A payout: crypto of the balance becomes fiat at a beneficiary."""

    type: Literal["withdraw"]
    status: Annotated[str, OneOf(WITHDRAW_MEANINGS), Assumed("S10", "enum")]
    """How far the payout has come."""
    symbol: StablecoinText
    """The stablecoin that is paid with."""
    network: WalletNetwork
    """The network it lies on, in capitals."""
    amount: AmountText
    """What is debited from the balance in all, fee included, in `symbol`."""
    net_amount: AmountText
    """What is converted to fiat, in `symbol`: `amount` without the fee."""
    tx_hash: str | None
    """Null: the fiat is paid without a transaction on a chain."""
    beneficiary_id: Annotated[str, Prefix("ben_")]
    """Who is paid; see GET /beneficiaries/{id}."""
    fiat_currency: FiatText
    """The currency that the beneficiary is paid in."""
    destination_amount: AmountText
    """Exactly what the beneficiary is paid, in `fiat_currency`."""


class AssetBalanceShape(TypedDict):
    """What the account has of one asset on one network."""

    symbol: Annotated[AssetText, Assumed("R8")]
    """The asset."""
    network: Annotated[WalletNetwork, Assumed("R8")]
    """The network it lies on, in capitals: an asset on two networks has two balances."""
    balance: Annotated[AmountText, Assumed("R8")]
    """All there is of it, in `symbol`: `available` and `held` together."""
    available: Annotated[AmountText, Assumed("R8")]
    """What can be spent now, in `symbol`."""
    held: Annotated[AmountText, Assumed("R8")]
    """What is set aside, in `symbol`, for sends, swaps and payouts that have not ended yet."""
    address: Annotated[str | None, Assumed("R8")]
    """Where deposits to it go: the address of the account's oldest active wallet on the network; null without one."""
    memo: Annotated[str | None, Assumed("R8")]
    """On stellar the memo that must go with every deposit to `address`; null elsewhere, and without a wallet."""
    default: Annotated[bool, Assumed("R8")]
    """Whether there is a wallet that receives this asset."""
    updated_at: Annotated[Timestamp, Assumed("R8")]
    """When `available` or `held` last changed."""


AssetBalanceList = page_shape(
    "AssetBalanceList",
    AssetBalanceShape,
    "balances",
    "The balances of this page: every asset on every network, those that are zero too.",
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
