"""Sample request data that the service accepts, such as amounts and addresses, and the ledger's currencies."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from simulator.providers.ramp import reference
from simulator.providers.tooling import Compared, Samples

_AMOUNTS: Mapping[str, tuple[str, str, int]] = {
    "KES": ("1500", "5000", 2), "TZS": ("60000", "100000", 2), "NGN": ("40000", "70000", 2),
    "ZAR": ("400", "800", 2), "ZMW": ("500", "1200", 2),
    "USDC": ("10", "50", 6), "USDT": ("10", "50", 6), "CUSD": ("10", "50", 6),
    "XLM": ("200", "400", 7), "CELO": ("60", "80", 6), "BTC": ("0.0005", "0.001", 8),
}  # fmt: skip

_PHONES: Mapping[str, str] = {
    "KE": r"\+2547[0-2][0-9]{7}", "TZ": r"\+2557[45][0-9]{7}", "NG": r"\+234803[0-9]{7}",
    "ZA": r"\+278[234][0-9]{7}", "ZM": r"\+26097[0-9]{7}",
}  # fmt: skip
_PHONE_SAMPLES: Mapping[str, str] = {
    "KE": "+254712345678", "TZ": "+255742345678", "NG": "+2348031234567", "ZA": "+27821234567", "ZM": "+260971234567",
}  # fmt: skip

_CHOOSING = ("0001", "0002", "0003", "0009")
"""The last digits of a phone number that select an outcome as a test value."""
_REFUSED = "9999"
"""The last digits of an account number that the service rejects as a test value."""
_NUMBER = re.compile(r"\+?[0-9]{7,15}", re.ASCII)
_OPERATOR_DIGITS = 3
"""The first digits that a disguised phone number keeps. They follow the country code and identify an operator."""


def _currency_of(body: Mapping[str, Any]) -> str | None:
    side = body.get(body.get("amount_side") or "from")
    holder = side if isinstance(side, Mapping) else body
    named = body.get("amount_currency") or body.get("currency")
    if named == "fiat":
        named = body.get("fiat_currency")
    found = named if named in _AMOUNTS else holder.get("symbol")
    return found if found in _AMOUNTS else None


def _disguised(text: str, draw: Callable[[int], bytes]) -> str | None:
    if _NUMBER.fullmatch(text):
        return _disguised_number(text, draw)
    if reference.is_address("celo", text):
        address = f"0x{draw(20).hex()}"
        return address if text == text.lower() else reference.checksummed(address[2:])
    if reference.is_address("stellar", text):
        return reference.encode_stellar(draw(32))
    return reference.encode_segwit(0, draw(20)) if reference.is_address("bitcoin", text) else None


def _disguised_number(text: str, draw: Callable[[int], bytes]) -> str:
    sample = next((one for land, one in SAMPLES.phone_samples.items() if reference.is_phone(text, land)), "")
    kept = sample[: len("+254") + _OPERATOR_DIGITS] or ("+" if text.startswith("+") else "")
    special = (*_CHOOSING, _REFUSED)
    end = text[-4:] if text[-4:] in special else ""
    wanted = len(sample or text) - len(kept) - len(end)
    while True:
        digits = str(int.from_bytes(draw(16), "big"))[-wanted:]
        if end or digits[-4:] not in special:
            return kept + digits + end


SAMPLES = Samples(
    amounts=_AMOUNTS,
    currency_of=_currency_of,
    addresses={
        "stellar": (32, reference.encode_stellar),
        "celo": (20, lambda raw: reference.checksummed(raw.hex())),
        "bitcoin": (20, lambda raw: reference.encode_segwit(0, raw)),
    },
    address_names=("address", "wallet_address", "refund_address"),
    phones=_PHONES,
    phone_samples=_PHONE_SAMPLES,
    is_ordinary_phone=lambda text, country: reference.is_phone(text, country) and text[-4:] not in _CHOOSING,
    disguised=_disguised,
    zones=("Africa/Nairobi", "Africa/Dar_es_Salaam", "Africa/Lagos", "Africa/Johannesburg", "Africa/Lusaka", "UTC"),
)

COMPARED = Compared(
    states=("status", "kyc_status", "event"),
    drawn=("access_token", "tx_hash", "address", "memo", "lnurl", "payment_request", "message", "account_number"),
    spans=(("created_at", "expires_at"), ("created_at", "deposit_by")),
    market=("rate", "price"),
    identity=("type", "product", "symbol", "network", "asset", "fiat_currency", "payment_method", "fee_currency"),
    partial=("rates", "spread", "id_prefixes"),
)


def why_no_account(currency: str) -> str:
    """Return the reason why no ledger account can hold a currency, or "" if one can."""
    assets = [asset.key for asset in reference.ASSETS.values()]
    if currency in assets or currency in reference.FIATS:
        return ""
    return (
        f"No account holds {currency}: there are {', '.join(assets)}, and the fiat currencies "
        f"{', '.join(reference.FIATS)}. "
        'An asset is named with its network, as in world.balance("USDC", "CELO").'
    )
