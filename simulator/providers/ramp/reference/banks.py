"""Banks and their account numbers, wherever a request names one (decision R3)."""

from __future__ import annotations

from simulator.engine.rows.error import invalid
from simulator.providers.ramp.reference.records import BANKS, Bank, bank, is_account_number
from simulator.providers.ramp.reference.states import INVALID_BANK_ACCOUNT


def require_bank(country: str, code: str, param: str) -> Bank:
    """The bank of that code in a country; ApiError 422 invalid_bank_account."""
    found = bank(country, code)
    if found is None:
        raise INVALID_BANK_ACCOUNT.error(f"There is no bank with the code {code!r} in {country}.", param)
    return found


def require_account_number(country: str, text: str, param: str) -> None:
    """ApiError 400 for an account number that has not the shape of its country."""
    any_bank = next(iter(BANKS[country].values()))
    if is_account_number(any_bank, text):
        return
    digits = f"{any_bank.min_digits} to {any_bank.max_digits}"
    if any_bank.min_digits == any_bank.max_digits:
        digits = str(any_bank.min_digits)
    raise invalid(param, f"account numbers in {country} have {digits} digits")
