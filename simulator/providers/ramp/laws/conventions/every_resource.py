"""Rules for fields that all resources share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime

from simulator.conformance.bench import shown
from simulator.conformance.laws import Checked, always_promise
from simulator.conformance.service import Answer

_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]00:?00)")


@always_promise("time.utc", "General conventions: ISO 8601 UTC")
def utc(answer: Answer) -> Checked:
    """Timestamps are in ISO 8601 format and in UTC."""
    for place, value in _moments("", answer.body):
        yield place, None if _UTC.fullmatch(value) else f"{place} is {shown(value)}, which is not in UTC"


@always_promise("time.order", "created_at, updated_at")
def order(answer: Answer) -> Checked:
    """updated_at and expires_at are not earlier than created_at."""
    made = answer.body.get("created_at")
    for name in ("updated_at", "expires_at"):
        later = answer.body.get(name)
        if isinstance(made, str) and isinstance(later, str):
            held = datetime.fromisoformat(made) <= datetime.fromisoformat(later)
            yield name, None if held else f"{name} is {later}, created_at {made}"


@always_promise("transaction.no_hash", "Ramp transaction, Wallet transaction: tx_hash")
def no_hash(answer: Answer) -> Checked:
    """A transaction that awaits a payment or is pending has no tx_hash."""
    # A transaction that awaits a deposit may have a tx_hash, because a detected, unconfirmed deposit is already on
    # the chain.
    waiting = answer.body.get("status") in ("awaiting_payment", "pending")
    if waiting and "tx_hash" in answer.body:
        found = answer.body["tx_hash"]
        yield "tx_hash", None if found is None else f"tx_hash is {shown(found)} while the transaction waits"


def _moments(place: str, value: object) -> Iterator[tuple[str, str]]:
    """Yield the dotted path and value of every string field named *_at or deposit_by."""
    if isinstance(value, Mapping):
        for name, member in value.items():
            inner = f"{place}.{name}" if place else name
            if isinstance(member, str) and (name.endswith("_at") or name == "deposit_by"):
                yield inner, member
            else:
                yield from _moments(inner, member)
    elif isinstance(value, list):
        for item in value:
            yield from _moments(f"{place}[]", item)
