"""Shapes and bodies of the shop, with an example of each kind."""

# No `from __future__ import annotations`: pydantic would compile every annotation of a body again.

from collections.abc import Mapping
from typing import Literal

from typing_extensions import TypedDict

from simulator.engine.text.fields import Amount, Body, Name, Text
from simulator.engine.text.shapes import AmountText, Count


class ReaderDetails(TypedDict):
    phone_number: str


class Reader(TypedDict):
    id: str
    type: Literal["reader"]
    status: Literal["saved"]
    details: ReaderDetails


class Label(TypedDict):
    memo: str | None
    address: str


class _Order(TypedDict):
    id: str
    network: str
    asset: str
    currency: str
    offer_id: str | None
    reader_id: str | None
    reference: str | None
    failure_code: str | None
    source_amount: AmountText
    rate: str


class Purchase(_Order):
    type: Literal["purchase"]
    status: Literal["awaiting_payment", "processing", "completed", "failed", "refunded"]


class Buyback(_Order):
    type: Literal["buyback"]
    status: Literal["awaiting_parcel", "processing", "completed", "failed", "refunded"]
    parcel: Label


Taken = Purchase | Buyback
"""The order that confirming an offer makes."""


class Preorder(_Order):
    type: Literal["preorder"]
    status: Literal["pending", "processing", "completed", "failed", "refunded"]


class Dispatch(_Order):
    type: Literal["dispatch"]
    status: Literal["processing", "completed", "failed", "refunded"]


class Gift(_Order):
    type: Literal["gift"]
    status: Literal["pending", "completed", "failed"]


class Trade(_Order):
    type: Literal["trade"]
    status: Literal["pending", "completed", "failed"]


class Cost(TypedDict):
    total: AmountText


class Offer(TypedDict):
    id: str
    type: Literal["purchase", "buyback", "preorder"]
    status: Literal["active", "expired", "used"]
    pages: Count
    cost: Cost
    expires_at: str


class Subscription(TypedDict):
    id: str
    type: Literal["subscription"]
    status: Literal["draft"]
    recipient: ReaderDetails


class Shelf(TypedDict):
    id: str
    type: Literal["shelf"]
    status: Literal["active"]


class Parcel(TypedDict):
    id: str
    type: Literal["parcel"]
    status: Literal["detected", "confirmed", "failed"]
    asset: str


class Network(TypedDict):
    network: str
    status: Literal["operational", "degraded", "down"]


class NewOffer(Body):
    type: Literal["purchase", "buyback"]
    network: Name
    asset: Name
    currency: Name
    amount: Amount
    amount_currency: Name
    method: Name


class Payer(Body):
    phone_number: Text


class Confirmation(Body):
    payer: Payer
    reference: Text | None = None


class NewSubscription(Body):
    recipient: Payer


_ORDER = {
    "id": "order-1", "network": "north", "asset": "INK", "currency": "COIN", "offer_id": "offer-1", "reader_id": None,
    "reference": None, "failure_code": None, "source_amount": "5.00", "rate": "1",
}  # fmt: skip


_OFFER = {
    "id": "offer-1", "type": "purchase", "status": "active", "pages": 9, "cost": {"total": "0.10"}, "expires_at": "@",
}  # fmt: skip


def _example(name: str, **more: object) -> Mapping[str, object]:
    return {**_ORDER, "type": name, **more}


OF_KINDS: Mapping[str, tuple[object, Mapping[str, object]]] = {
    "purchase": (Purchase, _example("purchase", status="awaiting_payment")),
    "buyback": (Buyback, _example("buyback", status="awaiting_parcel", parcel={"memo": None, "address": "1 High St"})),
    "preorder": (Preorder, _example("preorder", status="pending")),
    "dispatch": (Dispatch, _example("dispatch", status="processing")),
    "gift": (Gift, _example("gift", status="pending")),
    "trade": (Trade, _example("trade", status="pending")),
    "offer": (Offer, _OFFER),
    "subscription": (
        Subscription,
        {"id": "sub-1", "type": "subscription", "status": "draft", "recipient": {"phone_number": "+1"}},
    ),
    "shelf": (Shelf, {"id": "shelf-1", "type": "shelf", "status": "active"}),
    "parcel": (Parcel, {"id": "parcel-1", "type": "parcel", "status": "detected", "asset": "INK"}),
    "reader": (Reader, {"id": "reader-1", "type": "reader", "status": "saved", "details": {"phone_number": "+1"}}),
    "network": (Network, {"network": "north", "status": "down"}),
}  # fmt: skip
"""The shape and an example of each kind."""
