"""The ramp's data for probes: the steps, and what only this service can say about an account."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

from simulator.evidence.provided import Probing

_Read: TypeAlias = Callable[[str], Any]
_Act: TypeAlias = Callable[[str, str, Mapping[str, Any]], bool]
_FOLDER = Path(__file__).parent
_BEYOND = Decimal(500)
"""The amount by which a request exceeds the balance, so that it is refused because of the balance and not of a limit.
"""


def _delivered(numbers: Mapping[str, Decimal]) -> tuple[Decimal, Decimal] | None:
    """Compare a delivered amount with the exact quotient."""
    wanted = (".source_amount", ".fee.total", ".rate", ".destination_amount")
    if not all(path in numbers for path in wanted):
        return None
    source, fee, rate, delivered = (numbers[path] for path in wanted)
    return (delivered, (source - fee) / rate) if rate else None


def _surroundings(read: _Read) -> dict[str, str]:
    """Return an amount of CUSD beyond the balance of the account."""
    listed = read("/wallet/assets")
    rows = listed.get("data", []) if isinstance(listed, dict) else listed
    held = Decimal(0)
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and (row.get("symbol"), row.get("network")) == ("CUSD", "CELO"):
            held = Decimal(str(row.get("balance", "0")))
    return {"beyond": str(held + _BEYOND)}


def _actions(*wanted: tuple[str, Mapping[str, Any]]) -> Callable[[_Read, _Act], None]:
    def change(read: _Read, act: _Act) -> None:
        for action, parameters in wanted:
            act(action, "", parameters)

    return change


def _other_fees(read: _Read, act: _Act) -> None:
    for row in read("/fees?limit=100")["data"]:
        act("set_fee_product", row["id"], {"percentage": "2.75"})


PROBING = Probing(
    steps=_FOLDER / "steps.yaml",
    flows=_FOLDER / "flows.yaml",
    probes=_FOLDER.parent / "probes.json",
    spends=("nothing", "quote", "resource", "money"),
    free=("nothing", "quote"),
    formulas={"delivered : exact": _delivered},
    surroundings=_surroundings,
    other_data=(
        _actions(("move_rates", {"percent": 7})),
        _actions(("move_rates", {"percent": -9})),
        _actions(
            ("set_rate", {"asset": "USDC", "fiat_currency": "KES", "type": "onramp", "rate": "131.77"}),
            ("set_rate", {"asset": "USDC", "fiat_currency": "KES", "type": "offramp", "rate": "127.31"}),
        ),
        _actions(("set_limits", {"per_transaction": "600000", "daily": "1500000"})),
        _actions(
            ("set_balance", {"symbol": "USDC", "network": "CELO", "amount": "777.5"}),
            ("set_balance", {"symbol": "CUSD", "network": "CELO", "amount": "512"}),
            ("set_balance", {"symbol": "BTC", "network": "BITCOIN", "amount": "0"}),
        ),
        _other_fees,
    ),
    histories=(
        ("quote", "onramp", "swap_quote", "swap", "send", "wallet", "payee", "endpoint"),
        ("payee", "withdraw_quote", "withdrawal", "transfer", "wallet", "bitcoin_wallet", "balance_filled"),
    ),
)
