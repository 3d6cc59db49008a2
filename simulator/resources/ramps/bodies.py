"""The bodies of ramp quotes and their confirmation, and the parameters of the actions on ramps."""

from __future__ import annotations

from typing import TypeAlias

from simulator.resources.ramps.shapes import FailureCode
from simulator.wire.fields import Amount, Body, Code, FreeText, Name, Text
from simulator.wire.shapes import Direction, Method, RampNetwork


class QuoteBody(Body):
    type: Direction
    network: RampNetwork
    asset: Code
    fiat_currency: Code
    amount: Amount
    amount_currency: Text
    method: Method


class MobileMoneyPayer(Body):
    phone_number: Code
    account_name: Name | None = None
    account_number: FreeText | None = None
    bank_code: FreeText | None = None


class BankTransferPayer(Body):
    account_name: Name
    account_number: FreeText | None = None
    bank_code: FreeText | None = None
    phone_number: FreeText | None = None


class ConfirmOnramp(Body):
    wallet_address: Code
    memo: FreeText | None = None
    payer: MobileMoneyPayer | BankTransferPayer
    reference: Name | None = None


class ConfirmOnrampMobileMoney(ConfirmOnramp):
    payer: MobileMoneyPayer


class ConfirmOnrampBankTransfer(ConfirmOnramp):
    payer: BankTransferPayer


class ConfirmOfframp(Body):
    beneficiary_id: Code
    refund_address: Code
    reference: Name | None = None


Confirmation: TypeAlias = ConfirmOnramp | ConfirmOfframp


class PaymentParameters(Body):
    amount: Amount | None = None


class RampDepositParameters(Body):
    amount: Amount | None = None
    asset: Text | None = None
    memo: FreeText | None = None
    tx_hash: Text | None = None


class TxHashParameters(Body):
    tx_hash: Text | None = None


class FailureParameters(Body):
    failure_code: FailureCode = "internal_error"
