"""What the bodies of wallet operations name: assets by symbol and network, fiat currencies.

Decisions H5, M6 and R1.
"""

from __future__ import annotations

from simulator.kernel.money import Currency
from simulator.providers.ramp.reference import (
    UNSUPPORTED_ASSET,
    UNSUPPORTED_NETWORK,
    UNSUPPORTED_PAIR,
    asset,
    fiat,
    has_method,
)
from simulator.providers.ramp.spelling import WALLET

WITHDRAWABLE = ("USDC", "USDT", "CUSD")


def require_asset(symbol: str, network: str, prefix: str = "") -> Currency:
    """The asset named in a body by the wallet operations' spelling; 422 unsupported_network, unsupported_asset."""
    if network not in WALLET:
        names = ", ".join(WALLET)
        raise UNSUPPORTED_NETWORK.error(f"{network!r} is not one of {names}.", f"{prefix}network")
    found = asset(symbol, WALLET[network])
    if found is None:
        raise UNSUPPORTED_ASSET.error(f"{symbol!r} is not available on {network}.", f"{prefix}symbol")
    return found


def named_asset(symbol: str, network: str) -> Currency | None:
    """The asset named in a body, or None: what a check of malformed values needs."""
    return asset(symbol, WALLET.get(network, ""))


def require_fiat(code: str, method: str | None = None) -> Currency:
    """A fiat currency, and that it can be paid by a method; 422 unsupported_pair."""
    money = fiat(code)
    if money is None:
        raise UNSUPPORTED_PAIR.error(f"{code!r} is not a supported fiat currency.", "fiat_currency")
    if method is not None and not has_method(code, method):
        raise UNSUPPORTED_PAIR.error(f"{method} is not available for {code}.", "method")
    return money
