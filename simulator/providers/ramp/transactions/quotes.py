"""Quotes of all kinds. A quote locks the rate and the fees for 30 minutes and can be used once (table "Ramp quote";
decisions S1, S2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from simulator.engine.records.records import NewFields, create, existing, move, new_fields
from simulator.engine.rows.error import ENGINE_ERRORS
from simulator.engine.rows.kind import Arrival, Kind, Record
from simulator.engine.text.json import Shown
from simulator.engine.worlds.settings import assumes
from simulator.kernel.agenda import Timer
from simulator.kernel.clock import MINUTE_MS
from simulator.kernel.dataclass import dataclass
from simulator.kernel.fields import Milliseconds
from simulator.kernel.machine import Machine, Move
from simulator.kernel.store import TableKey
from simulator.kernel.world import World
from simulator.providers.ramp.transactions.records import TRANSACTIONS, Transaction
from simulator.providers.ramp.transactions.states import QUOTE_ALREADY_USED, QUOTE_EXPIRED, QUOTE_NOT_FOUND

QUOTE_LIFETIME_MS = 30 * MINUTE_MS
EXPIRY = "quote.expiry"

QUOTE = Machine(
    "quote",
    initial=(Move("create", "active"),),
    rows={
        "active": (Move("confirm", "confirmed"), Move("expire", "expired", ("quote.expired",))),
        "confirmed": (),
        "expired": (),
    },
)

QUOTE_MEANINGS = {
    "active": "It can be used.",
    "confirmed": "It was used, and a transaction was created.",
    "expired": "It was not used within its 30 minutes.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote(Record):
    """A locked price. It can be used before `expires_at_ms` (decision S1)."""

    expires_at_ms: Milliseconds


Q = TypeVar("Q", bound=Quote)


class NewQuoteFields(NewFields):
    """The fields that every new quote receives."""

    status: str
    expires_at_ms: int


def new_quote_fields(world: World, environment: str, prefix: str) -> NewQuoteFields:
    """Return the fields in `NewQuoteFields` for a quote that is created now."""
    fields = new_fields(world, environment, prefix, "ids.quote")
    return {**fields, "status": "active", "expires_at_ms": fields["created_at_ms"] + QUOTE_LIFETIME_MS}


def end_ms(world: World, expires_at_ms: int) -> int:
    """Return the first moment at which a quote can no longer be used, or an invoice no longer be paid (S1)."""
    return expires_at_ms + assumes(world, "S1", "usable_at_expires_at")


def open_quote(world: World, quote: Q) -> Q:
    """Create a quote and schedule its expiry."""
    quote = create(world, quote, "create")
    world.agenda.plan(end_ms(world, quote.expires_at_ms), EXPIRY, quote.id)
    return quote


def find_quote(world: World, environment: str, table: TableKey[Q], quote_id: str, param: str | None = None) -> Q:
    """Return the quote of one kind with the given id. Raise `ApiError` 404 quote_not_found if there is none."""
    quote = world.store[table.of(environment)].get(quote_id)
    if quote is None:
        in_body = param is not None and assumes(world, "S2", "wallet_quotes_are_not_found")
        code = ENGINE_ERRORS["not_found"] if in_body else QUOTE_NOT_FOUND
        raise code.error(f"There is no quote with the id {quote_id!r}.", param)
    return quote


def require_usable(quote: Quote, param: str | None = None) -> None:
    """Raise `ApiError` 409 quote_already_used or 422 quote_expired if the quote is not active."""
    if quote.status == "confirmed":
        raise QUOTE_ALREADY_USED.error("The quote was already used. Create a new one.", param)
    if quote.status == "expired":
        raise QUOTE_EXPIRED.error("The quote is older than 30 minutes. Create a new one.", param)


def use_quote(world: World, quote: Q) -> Q:
    """Mark a quote as used and cancel its expiry."""
    world.agenda.cancel(EXPIRY, quote.id)
    return move(world, quote, "confirm")


def expire_quote(world: World, timer: Timer) -> None:
    """Expire a quote that was not used within 30 minutes."""
    quote = existing(world, Quote, timer.target)
    announced = quote.kind == "ramp_quote" or not assumes(world, "S2", "only_ramp_quotes_are_told")
    move(world, quote, "expire", announced=announced)


def transaction_kind(
    name: str,
    render: Callable[[World, Transaction], Shown],
    machine: Machine,
    shape: Callable[[], object],
    *,
    listed_as: tuple[str, ...] = (),
    example: Callable[[], Mapping[str, object]] = dict,
    receives: Callable[[World, Transaction, Arrival], bool] | None = None,
) -> Kind:
    """Return the resource kind for one type of transaction."""
    return Kind(
        name,
        TRANSACTIONS,
        render,
        machine,
        shape,
        example,
        family="transaction",
        listed_as=listed_as,
        prefix="txn_",
        refers=("quote_id", "beneficiary_id", "deposit_id", "recurring_payment_id"),
        parent="recurring_payment_id",
        receives=receives,
    )


def quote_kind(
    name: str,
    table: TableKey[Q],
    render: Callable[[World, Q], Shown],
    shape: Callable[[], object],
    prefix: str,
    *,
    short: str = "",
    refers: tuple[str, ...] = (),
    example: Callable[[], Mapping[str, object]] = dict,
) -> Kind:
    """Return the resource kind for one type of quote."""
    return Kind(
        name,
        table,
        render,
        QUOTE,
        shape,
        example,
        family="quote",
        prefix=prefix,
        short=short,
        refers=refers,
        named_by=("quote_id",),
    )
