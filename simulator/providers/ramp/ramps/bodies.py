"""The bodies of ramp quotes and their confirmation, and the parameters of the actions on ramps."""

from typing import Annotated, TypeAlias

from simulator.engine.text.fields import Amount, Body, Code, FreeText, Name, Text
from simulator.engine.text.shapes import Assumed, OneOf
from simulator.providers.ramp.ramps.shapes import FailureCode
from simulator.providers.ramp.reference import RAMP_ASSET_CODES
from simulator.providers.ramp.shapes import FIAT_CODES, Direction, Method, RampNetwork


class QuoteBody(Body):
    """What a ramp is to move, and which side `amount` counts."""

    type: Direction
    """Which way the money goes: `onramp` for fiat into crypto, `offramp` for crypto into fiat."""
    network: RampNetwork
    """The network on which the crypto is delivered (onramp) or deposited (offramp)."""
    asset: Annotated[Code, OneOf(RAMP_ASSET_CODES)]
    """The asset to buy or sell; it must be available on the network."""
    fiat_currency: Annotated[Code, OneOf(FIAT_CODES)]
    """The fiat currency to pay in (onramp) or to be paid out (offramp)."""
    amount: Amount
    """How much, in `amount_currency`; the service works out the other side."""
    amount_currency: Annotated[Text, OneOf({**RAMP_ASSET_CODES, **FIAT_CODES})]
    """Which side `amount` counts: the code of the asset, or that of the fiat currency."""
    method: Method
    """How the fiat moves; mobile money is not available for every currency."""


class MobileMoneyPayer(Body):
    """Who pays the fiat of an onramp by mobile money."""

    phone_number: Code
    """The phone that is asked to pay, in international format; a number of the fiat currency's country."""
    account_name: Annotated[Name | None, Assumed("R5")] = None
    """The payer's name."""
    account_number: Annotated[FreeText | None, Assumed("R5")] = None
    """Not used with mobile money."""
    bank_code: Annotated[FreeText | None, Assumed("R5")] = None
    """Not used with mobile money."""


class BankTransferPayer(Body):
    """Who pays the fiat of an onramp by bank transfer."""

    account_name: Name
    """The name on the account that pays."""
    account_number: FreeText | None = None
    """The account that pays, in the form of the fiat currency's country."""
    bank_code: FreeText | None = None
    """The bank of that account, by its code in the country."""
    phone_number: Annotated[FreeText | None, Assumed("R5")] = None
    """Not used with bank transfers."""


class ConfirmOnramp(Body):
    """What an onramp still needs: where the crypto goes, and who pays."""

    wallet_address: Code
    """Where to deliver the crypto: an address on the quote's network."""
    memo: FreeText | None = None
    """Stellar only: the memo to send with the delivery."""
    payer: MobileMoneyPayer | BankTransferPayer
    """Who pays the fiat; the quote's method decides what must be known."""
    reference: Name | None = None
    """Your own name for the transaction; it is shown on it and can be searched for."""


class ConfirmOnrampMobileMoney(ConfirmOnramp):
    """The confirmation of an onramp whose quote is by mobile money."""

    payer: MobileMoneyPayer
    """Who pays the fiat, by phone."""


class ConfirmOnrampBankTransfer(ConfirmOnramp):
    """The confirmation of an onramp whose quote is by bank transfer."""

    payer: BankTransferPayer
    """Who pays the fiat, from a bank account."""


class ConfirmOfframp(Body):
    """What an offramp still needs: who is paid out, and where the crypto goes back to when that fails."""

    beneficiary_id: Code
    """Who receives the fiat: a saved beneficiary whose currency and method match the quote."""
    refund_address: Code
    """Where the deposit goes back to when the payout fails: an address on the quote's network."""
    reference: Name | None = None
    """Your own name for the transaction; it is shown on it and can be searched for."""


Confirmation: TypeAlias = ConfirmOnramp | ConfirmOfframp


class PaymentParameters(Body):
    amount: Amount | None = None
    """How much of the fiat arrives; all that is asked for when absent. Less makes the transaction fail."""


class RampDepositParameters(Body):
    amount: Amount | None = None
    """How much of the asset arrives; `deposit.amount` when absent. Less makes the transaction fail."""
    asset: Text | None = None
    """The asset that arrives, where it is not the right one: then nothing is matched."""
    memo: FreeText | None = None
    """The memo that comes with it, where it is not the right one: then nothing is matched."""
    tx_hash: Text | None = None
    """The hash of the on-chain transaction; one is made up when absent."""


class TxHashParameters(Body):
    tx_hash: Text | None = None
    """The hash of the on-chain transaction; one is made up when absent."""


class FailureParameters(Body):
    failure_code: FailureCode = "internal_error"
    """Why it fails, as the transaction then shows it."""
