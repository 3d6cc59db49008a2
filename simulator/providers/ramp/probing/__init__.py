"""The probes of the ramp service: the steps to run, and functions that interpret the responses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

from simulator.engine.text.json import JsonObject, Shown
from simulator.evidence.provided import Probing
from simulator.providers.ramp import facts
from simulator.providers.ramp.facts import reading, recorded

_Read: TypeAlias = Callable[[str], Any]
_Act: TypeAlias = Callable[[str, str, Shown], bool]
_FOLDER = Path(__file__).parent
_CENT = Decimal("0.01")
_DECIMAL = re.compile(r"\d{1,18}(\.\d{1,18})?")
_USED_TODAY = ("limits", "daily", "used")
_BEYOND = Decimal(500)
"""The amount by which a request exceeds the balance. It is small, so that the request fails because of the balance and
not because of a limit.
"""


def _amount(body: Any, *path: str) -> Decimal | None:
    for name in path:
        body = body.get(name) if isinstance(body, dict) else None
    if isinstance(body, int | float) and not isinstance(body, bool):
        body = str(body)
    return Decimal(body) if isinstance(body, str) and _DECIMAL.fullmatch(body) else None


def _rounding(bodies: Shown) -> str | None:
    """Return the direction in which offramp quotes round the fiat amount: `down`, `up`, `both`, or None if unclear.

    Only an exact amount more than half a cent above a whole cent shows the direction. For any other amount, rounding
    down and rounding to the nearest cent give the same result.
    """
    found = set()
    for body in bodies.values():
        source, rate = _amount(body, "source_amount"), _amount(body, "rate")
        fee, delivered = _amount(body, "fee", "total"), _amount(body, "destination_amount")
        if source is None or rate is None or fee is None or delivered is None or body.get("type") != "offramp":
            continue
        exact = (source - fee) * rate
        if exact % _CENT > _CENT / 2 and abs(exact - delivered) < _CENT:
            found.add("up" if delivered > exact else "down")
    return "both" if len(found) > 1 else next(iter(found), None)


def _held_only(bodies: Shown) -> str | None:
    """Return `everything` if assets with a zero balance are listed, `held` if they are omitted, or None if unclear."""
    listed, held = _rows_of(bodies.get("currencies")), _rows_of(bodies.get("assets"))
    if not listed or held is None:
        return None
    if any(_amount(row, "balance") == 0 for row in held.values()):
        return "everything"
    return "held" if held.keys() < listed.keys() else None


def _given_back(bodies: Shown) -> str | None:
    """Compare the used daily limit before and after a failed transaction. Return `yes` if the amounts are equal, or
    `no` if the second amount is higher. Return None if the second amount is lower or belongs to a new day.
    """
    first, last = bodies.get("limits"), bodies.get("limits'")
    before, after = _amount(first, *_USED_TODAY), _amount(last, *_USED_TODAY)
    if first is None or last is None or before is None or after is None or after < before:
        return None
    if first.get("resets_at") != last.get("resets_at"):
        return None
    return "yes" if after == before else "no"


def _available(bodies: Shown, step: str) -> Decimal | None:
    return _amount((_rows_of(bodies.get(step)) or {}).get(("USDC", "CELO")), "available")


def _held_after_failure(bodies: Shown) -> str | None:
    """Return `held` if the amount of a failed withdrawal is unavailable, or `released` if it is available again.

    The second balance is read while the withdrawal has the status `failed`. Return None if the balance differs by
    another amount, because another transaction has changed it.
    """
    before, after = _available(bodies, "assets"), _available(bodies, "assets'")
    amount = _amount(bodies.get("failing"), "amount")
    if before is None or after is None or not amount or "still_failed" not in bodies:
        return None
    return {before: "released", before - amount: "held"}.get(after)


def _refunded(bodies: Shown) -> str | None:
    """Return which part of a failed withdrawal is refunded: `everything`, or `all but the fee`."""
    before, after = _available(bodies, "assets"), _available(bodies, "assets'")
    fee = _amount(bodies.get("failing"), "fee", "total")
    if before is None or after is None or not fee or "refund_seen" not in bodies:
        return None
    return {before: "everything", before - fee: "all but the fee"}.get(after)


def _degraded(bodies: Shown) -> str | None:
    """Return `yes` if the service refuses a quote on a degraded network, or `no` if it creates the quote. Return None
    if the network was not degraded both before and after the request.
    """
    for step in ("stats", "stats'"):
        rows = _listed(bodies.get(step), "networks") or []
        if not any(row.get("network") == "stellar" and row.get("status") == "degraded" for row in rows):
            return None
    quote = bodies.get("stellar_quote")
    error = quote.get("error") if isinstance(quote, dict) else None
    if isinstance(error, dict):
        return "yes" if error.get("code") == "network_unavailable" else None
    return "no" if isinstance(quote, dict) and isinstance(quote.get("id"), str) else None


def _declined(bodies: Shown) -> str | None:
    """Return `fails` if a transaction fails as soon as its payment is declined, otherwise None."""
    shown = bodies.get("declined_seen")
    found = (shown.get("status"), shown.get("failure_code")) if isinstance(shown, dict) else None
    return "fails" if found == ("failed", "payment_failed") else None


def _failed_runs(bodies: Shown) -> str | None:
    """Return `yes` if a failed run counts towards the occurrences of its schedule, `no` if not, or None if unclear."""
    planned, shown, runs = (bodies.get(step) for step in ("costly_active", "costly_shown", "costly_runs"))
    if not (isinstance(planned, dict) and isinstance(shown, dict)) or _rows_of(runs) != {}:
        return None
    if shown.get("status") == "completed":
        return "yes"
    first, following = planned.get("next_run_at"), shown.get("next_run_at")
    has_passed = isinstance(first, str) and isinstance(following, str) and following > first
    return "no" if shown.get("status") == "active" and has_passed else None


def _run_suffix(bodies: Shown) -> str | None:
    """Return the separator between the reference and the run number: `hyphen`, `underscore`, or `another`."""
    payment, rows = bodies.get("recurring"), _listed(bodies.get("runs"))
    if not isinstance(payment, dict) or not rows:
        return None
    given, shown = str(payment.get("reference")), str(rows[-1].get("reference"))
    return {f"{given}-1": "hyphen", f"{given}_1": "underscore"}.get(shown, "another")


def _listed(body: object, name: str = "data") -> list[Shown] | None:
    """Return the objects in a list, bare or in the field `name` of an object, or None if there is no list."""
    rows = body.get(name) if isinstance(body, dict) else body
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else None


def _rows_of(body: object) -> dict[tuple[str, str], Shown] | None:
    rows = _listed(body)
    return None if rows is None else {(str(row.get("symbol")), str(row.get("network"))): row for row in rows}


def _surroundings(read: _Read) -> dict[str, str]:
    """Return the account value `beyond`, which steps of probes refer to: more CUSD than the account owns."""
    held = (_rows_of(read("/wallet/assets")) or {}).get(("CUSD", "CELO"))
    return {"beyond": str((_amount(held, "balance") or Decimal(0)) + _BEYOND)}


def _unknown_values(account: Shown, create: Callable[[str, object], Any]) -> dict[str, str]:
    if "user_id" not in account:
        return {}
    destination = {"type": "platform_user", "user_id": account["user_id"]}
    wanted = {"symbol": "USDC", "network": "CELO", "amount": "20", "destination": destination}
    body = create("/wallet/send/estimate", wanted)
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return {}
    is_unknown = error.get("code") == "not_found" or str(error.get("param")).startswith("destination")
    return {"user_id": str(error.get("code"))} if is_unknown else {}


def _actions(*wanted: tuple[str, Shown]) -> Callable[[_Read, _Act], None]:
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
    formulas={
        "rounding of fiat": _rounding,
        "listed balances": _held_only,
        "limits given back": _given_back,
        "payment_declined": _declined,
        "held_after_failure": _held_after_failure,
        "refunded": _refunded,
        "degraded_refused": _degraded,
        "failed_runs_count": _failed_runs,
        "run_suffix": _run_suffix,
    },
    landmarks=(("/wallet/assets", "symbol"), ("/profile", "user_id"), ("/currencies", "symbol")),
    unknown_values=_unknown_values,
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
    clock=("quote", "created_at"),
    read_facts=lambda read, create, known: reading.read_facts(read, create, known),
    recorded_facts=lambda calls, report: recorded.recorded_facts((recorded.Seen(*one) for one in calls), report),
    fit_facts=lambda found: facts.fit(found),
    malformed_fact=lambda found: facts.wrong_fact(found),
    histories=(
        ("quote", "onramp", "swap_quote", "swap", "send", "wallet", "payee", "endpoint"),
        ("payee", "withdraw_quote", "withdrawal", "transfer", "wallet", "bitcoin_wallet", "balance_filled"),
    ),
)
