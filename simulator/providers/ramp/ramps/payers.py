"""Payers by bank transfer, and the account of the service that they pay to (decisions R3 and R5)."""

from __future__ import annotations

from typing import Protocol

from simulator.kernel.world import World
from simulator.providers.ramp.reference import BANKS, COUNTRY_OF, require_account_number, require_bank
from simulator.providers.ramp.transactions import PaymentInstructions


class BankPayer(Protocol):
    """Who pays by bank transfer, as a request body says it."""

    @property
    def account_number(self) -> str | None: ...

    @property
    def bank_code(self) -> str | None: ...


def check_payer(payer: BankPayer, fiat_code: str) -> None:
    """400 for the account number of a payer by bank transfer, where it is given."""
    if payer.account_number is not None:
        require_account_number(COUNTRY_OF[fiat_code], payer.account_number, "payer.account_number")


def require_payers_bank(payer: BankPayer, fiat_code: str) -> None:
    """422 invalid_bank_account for the bank of a payer by bank transfer, where it is given (decision R5)."""
    if payer.bank_code is not None:
        require_bank(COUNTRY_OF[fiat_code], payer.bank_code, "payer.bank_code")


def bank_instructions(world: World, fiat_code: str, reference: str) -> PaymentInstructions:
    """Where a bank transfer goes: an account of the service at the country's first bank (decision R5)."""
    bank = next(iter(BANKS[COUNTRY_OF[fiat_code]].values()))
    first = 10 ** (bank.min_digits - 1)
    return {
        "method": "bank_transfer",
        "account_number": str(first + world.streams.below(9 * first, "accounts")),
        "bank_name": bank.name,
        "reference": reference,
    }
