"""Lookup of the assets and fiat currencies in request bodies of wallet operations (decisions H5, M6, R1)."""

from __future__ import annotations

from simulator.kernel.money import Currency
from simulator.providers.ramp import reference
from simulator.providers.ramp.shapes import WALLET

WITHDRAWABLE = ("USDC", "USDT", "CUSD")


def require_asset(symbol: str, network: str, prefix: str = "") -> Currency:
    """Return the asset with the given symbol on a network, both spelled as in a request body. Raise `ApiError` 422
    unsupported_network or unsupported_asset. `prefix` is the path of the asset in the body, such as `from.`.
    """
    if network not in WALLET:
        names = ", ".join(WALLET)
        raise reference.UNSUPPORTED_NETWORK.error(f"{network!r} is not one of {names}.", f"{prefix}network")
    found = reference.asset(symbol, WALLET[network])
    if found is None:
        raise reference.UNSUPPORTED_ASSET.error(f"{symbol!r} is not available on {network}.", f"{prefix}symbol")
    return found


def named_asset(symbol: str, network: str) -> Currency | None:
    """Return the asset with the given symbol on a network, or None if it does not exist."""
    return reference.asset(symbol, WALLET.get(network, ""))


def require_fiat(code: str, method: str | None = None) -> Currency:
    """Return a fiat currency. Raise `ApiError` 422 unsupported_pair if it is unknown or does not have the method."""
    money = reference.fiat(code)
    if money is None:
        raise reference.UNSUPPORTED_PAIR.error(f"{code!r} is not a supported fiat currency.", "fiat_currency")
    if method is not None and not reference.has_method(code, method):
        raise reference.UNSUPPORTED_PAIR.error(f"{method} is not available for {code}.", "method")
    return money
