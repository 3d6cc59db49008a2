"""What a scenario can name of the service: the objects of events with their fields, and the paths of calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from typing import Annotated, Literal, get_args, get_origin, get_type_hints

from simulator.resources import ORDER
from simulator.resources.balance import (
    BuyQuoteShape,
    BuyTransaction,
    SendTransaction,
    SwapQuoteShape,
    SwapTransaction,
    WithdrawQuoteShape,
    WithdrawTransaction,
)
from simulator.resources.beneficiaries import BeneficiaryShape
from simulator.resources.deposit_wallets import DepositShape, InvoiceObject, LightningAddressObject, WalletShape
from simulator.resources.profile import KycDetail
from simulator.resources.ramps import RampQuoteShape, RampTransaction
from simulator.resources.recurring import RecurringPaymentShape, RecurringRunObject
from simulator.resources.reference import NetworkObject
from simulator.resources.webhooks import WebhookEndpoint
from simulator.wire.operation import Operation

_RAMPS = (RampTransaction,)
_WALLET = (SendTransaction, BuyTransaction, WithdrawTransaction)
_QUOTES = (RampQuoteShape, SwapQuoteShape, BuyQuoteShape, WithdrawQuoteShape)

OBJECTS: Mapping[str, tuple[object, ...]] = {
    "transaction.created": _RAMPS,
    "transaction.awaiting_payment": _RAMPS,
    "transaction.awaiting_deposit": _RAMPS,
    "transaction.processing": (*_RAMPS, *_WALLET),
    "transaction.completed": (*_RAMPS, *_WALLET, SwapTransaction),
    "transaction.failed": (*_RAMPS, *_WALLET, SwapTransaction),
    "transaction.expired": _RAMPS,
    "transaction.refunded": (*_RAMPS, WithdrawTransaction),
    "wallet.created": (WalletShape, LightningAddressObject),
    "deposit.detected": (DepositShape,),
    "deposit.confirmed": (DepositShape,),
    "deposit.failed": (DepositShape,),
    "lightning.invoice_paid": (InvoiceObject,),
    "lightning.invoice_expired": (InvoiceObject,),
    "quote.expired": _QUOTES,
    "beneficiary.created": (BeneficiaryShape,),
    "beneficiary.deleted": (BeneficiaryShape,),
    "kyc.approved": (KycDetail,),
    "kyc.action_required": (KycDetail,),
    "kyc.rejected": (KycDetail,),
    "network.status_changed": (NetworkObject,),
    "webhook.test": (WebhookEndpoint,),
    "recurring_payment.activated": (RecurringPaymentShape,),
    "recurring_payment.run_upcoming": (RecurringRunObject,),
    "recurring_payment.run_succeeded": (RecurringRunObject,),
    "recurring_payment.run_failed": (RecurringRunObject,),
    "recurring_payment.paused": (RecurringPaymentShape,),
    "recurring_payment.completed": (RecurringPaymentShape,),
    "recurring_payment.restarted": (RecurringPaymentShape,),
    "recurring_payment.deleted": (RecurringPaymentShape,),
}
"""What `data.object` is for every event type."""


@cache
def fields_of(event: str) -> Mapping[str, frozenset[str] | None]:
    """The fields that `data.object` of an event may have, and the words that each may be (None: anything)."""
    fields: dict[str, frozenset[str] | None] = {}
    for shape in (member for one in OBJECTS.get(event, ()) for member in _members(one)):
        for name, hint in get_type_hints(shape, include_extras=True).items():
            words, known = _words(hint), fields.get(name, frozenset())
            fields[name] = None if words is None or known is None else known | words
    return fields


def _members(shape: object) -> list[object]:
    """The typed dictionaries of a union, however it is wrapped."""
    if get_origin(shape) is Annotated:
        return _members(get_args(shape)[0])
    arguments = get_args(shape)
    return [member for argument in arguments for member in _members(argument)] if arguments else [shape]


def _words(hint: object) -> frozenset[str] | None:
    """The words of a Literal, None for a type that has other values too."""
    while get_origin(hint) is not Literal and get_args(hint):
        if get_origin(hint) is not Annotated and len(get_args(hint)) != 1:
            return None
        hint = get_args(hint)[0]
    values = get_args(hint)
    return frozenset(values) if values and all(isinstance(value, str) for value in values) else None


@cache
def operations() -> tuple[Operation, ...]:
    """Every operation of the interface."""
    rooms = [import_module(f"simulator.resources.{name}").ROOM for name in ORDER]
    return tuple(row for room in rooms for row in room.operations)


@cache
def _calls() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Method and path of every operation."""
    return tuple((row.method, tuple(row.path.split("/"))) for row in operations())


def paths() -> list[str]:
    return list(dict.fromkeys("/".join(segments) for _, segments in _calls()))


def methods_at(path: str) -> set[str]:
    """The methods of the operations at a path below the base; a segment with `${…}` stands for any."""
    given = path.partition("?")[0].split("/")
    return {method for method, segments in _calls() if _fits(given, segments)}


def _fits(given: list[str], segments: Iterable[str]) -> bool:
    segments = list(segments)
    return len(given) == len(segments) and all(
        bool(one) if wanted.startswith("{") else one == wanted or "${" in one
        for one, wanted in zip(given, segments, strict=True)
    )


def is_path_glob(glob: str) -> bool:
    """Whether a glob fits any path of the interface."""
    parts = glob.split("/")
    for _, segments in _calls():
        pairs = zip(segments, parts, strict=False)
        likely = [part if own.startswith("{") and part else own for own, part in pairs] + list(segments[len(parts) :])
        if fnmatchcase("/".join(likely), glob) or fnmatchcase("/".join(segments), glob):
            return True
    return False
