"""Request bodies of ramp quotes and confirmations, and the parameters of the actions on ramps."""

from decimal import Decimal
from typing import Annotated, TypeAlias

from pydantic import AfterValidator

from simulator.engine.text.fields import Amount, Body, Code, FreeText, Name, Text
from simulator.engine.text.shapes import Assumed, OneOf
from simulator.providers.ramp.ramps.shapes import FailureCode
from simulator.providers.ramp.reference import FIATS, NETWORKS, RAMP_ASSET_CODES, is_tx_hash
from simulator.providers.ramp.shapes import FIAT_CODES, Direction, Method, RampNetwork


class QuoteBody(Body):
    """The terms of a ramp. `amount` is either the amount to pay or the amount to receive."""

    type: Direction
    """The direction. An `onramp` turns fiat into crypto, and an `offramp` turns crypto into fiat."""
    network: RampNetwork
    """The network on which the crypto is delivered (onramp) or deposited (offramp)."""
    asset: Annotated[Code, OneOf(RAMP_ASSET_CODES)]
    """The asset to buy or sell. It must be available on the network."""
    fiat_currency: Annotated[Code, OneOf(FIAT_CODES)]
    """The fiat currency in which the payer pays (onramp) or the beneficiary is paid (offramp)."""
    amount: Amount
    """The amount in `amount_currency`, as a decimal string. The service calculates the other side."""
    amount_currency: Annotated[Text, OneOf({**RAMP_ASSET_CODES, **FIAT_CODES})]
    """The currency of `amount`: the code of the asset or of the fiat currency."""
    method: Method
    """The payment method for the fiat. Some currencies do not support mobile money."""


class MobileMoneyPayer(Body):
    """The payer of an onramp by mobile money."""

    phone_number: Code
    """The phone number that receives the payment prompt. It must be in international format and belong to the fiat
    currency's country.
    """
    account_name: Annotated[Name | None, Assumed("R5")] = None
    """The payer's name."""
    account_number: Annotated[FreeText | None, Assumed("R5")] = None
    """Not used with mobile money."""
    bank_code: Annotated[FreeText | None, Assumed("R5")] = None
    """Not used with mobile money."""


class BankTransferPayer(Body):
    """The payer of an onramp by bank transfer."""

    account_name: Name
    """The name on the payer's account."""
    account_number: FreeText | None = None
    """The payer's account number, in the format of the fiat currency's country."""
    bank_code: FreeText | None = None
    """The code of the payer's bank."""
    phone_number: Annotated[FreeText | None, Assumed("R5")] = None
    """Not used with bank transfers."""


class ConfirmOnramp(Body):
    """The receiving address and the payer of an onramp."""

    wallet_address: Code
    """The address on the quote's network to which the crypto is delivered."""
    memo: FreeText | None = None
    """The memo to send with the delivery. Only used on stellar."""
    payer: MobileMoneyPayer | BankTransferPayer
    """The payer of the fiat. The quote's payment method determines which fields are required."""
    reference: Name | None = None
    """Your own reference. It is stored with the transaction, and searches in lists find it."""


class ConfirmOnrampMobileMoney(ConfirmOnramp):
    """The request to confirm an onramp that is paid by mobile money."""

    payer: MobileMoneyPayer
    """The payer, identified by phone number."""


class ConfirmOnrampBankTransfer(ConfirmOnramp):
    """The request to confirm an onramp that is paid by bank transfer."""

    payer: BankTransferPayer
    """The payer, identified by bank account."""


class ConfirmOfframp(Body):
    """The payout recipient and the refund address of an offramp."""

    beneficiary_id: Code
    """The payout recipient. It must be a saved beneficiary whose currency and payment method match the quote."""
    refund_address: Code
    """The address on the quote's network to which the deposit is returned if the payout fails."""
    reference: Name | None = None
    """Your own reference. It is stored with the transaction, and searches in lists find it."""


Confirmation: TypeAlias = ConfirmOnramp | ConfirmOfframp


def _paid(amount: str) -> str:
    if not Decimal(amount) or not any(fiat.accepts(amount) for fiat in FIATS.values()):
        raise ValueError("it must be more than zero, with at most 2 decimals")
    return amount


def _more_than_zero(amount: str) -> str:
    if not Decimal(amount):
        raise ValueError("it must be more than zero")
    return amount


def _hash_of_any_network(tx_hash: str) -> str:
    if not any(is_tx_hash(network, tx_hash) for network in NETWORKS):
        raise ValueError("it is not a transaction hash on any network")
    return tx_hash


PositiveAmount = Annotated[Amount, AfterValidator(_more_than_zero)]
TxHash = Annotated[Text, AfterValidator(_hash_of_any_network)]


class PaymentParameters(Body):
    amount: Annotated[Amount, AfterValidator(_paid)] | None = None
    """The amount of fiat that arrives. The default is the full amount. If it is lower, the transaction fails."""


class RampDepositParameters(Body):
    amount: PositiveAmount | None = None
    """The amount of the asset that arrives.

    The default is `deposit.amount`. If it is lower, the transaction fails.
    """
    asset: Text | None = None
    """The asset that arrives. The default is the expected asset. A deposit of any other asset is not matched to the
    offramp.
    """
    memo: FreeText | None = None
    """The memo of the deposit. The default is the expected memo. A deposit with any other memo is not matched to the
    offramp.
    """
    tx_hash: TxHash | None = None
    """The hash of the on-chain transaction. By default, a new hash is generated."""


class TxHashParameters(Body):
    tx_hash: TxHash | None = None
    """The hash of the on-chain transaction. By default, a new hash is generated."""


class FailureParameters(Body):
    failure_code: FailureCode = "internal_error"
    """The failure code to record on the transaction."""
