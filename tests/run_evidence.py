"""Evidence of a run without faults that has a site for every fault class."""

from __future__ import annotations

from typing import Any

from simulator.exploration.runs.tasks import Document

_SPENDS = {"symbol": "USDC", "network": "CELO"}


def call(operation: str, path: str, **more: Any) -> Document:
    """Return a call in the form of `evidence`."""
    usual = {"method": "POST", "status": 201, "token": operation != "create_token", "keyed": True, "of_kit": False}
    return {
        "world": "1",
        "operation": operation,
        "path": path,
        **usual,
        "network": "celo",
        "spends": None,
        "cause": "",
        **more,
    }


def delivery(event: str, **more: Any) -> Document:
    """Return a delivery in the form of `evidence`."""
    return {"world": "1", "type": event, "by_call": True, "has_later_end": True, **more}


def transaction(kind: str, **more: Any) -> Document:
    """Return a transaction in the form of `evidence`."""
    usual = {"world": "1", "id": f"txn_{kind}", "type": kind, "status": "completed", "shown": {"status": "completed"}}
    money = {"amount": "5", "currency": "USDC", "holds": False, "due": "5.00", "asset": "USDC", "memo": None}
    return {**usual, **money, "reference": "A-1", "destination": "somewhere", **more}


EVERYTHING: Document = {
    "calls": [
        call("create_token", "/auth/token", keyed=False),
        call("create_quote", "/quotes"),
        call("confirm_quote", "/quotes/qt_1/confirm"),
        call("send", "/wallet/send", spends=_SPENDS),
        call("create_recurring_payment", "/recurring-payments", spends=_SPENDS),
        call("activate_recurring_payment", "/recurring-payments/rp_1/activate"),
    ],
    "deliveries": [delivery("transaction.processing"), delivery("transaction.completed", has_later_end=False)],
    "transactions": [transaction("onramp"), transaction("offramp"), transaction("buy")],
    "standing": [],
    "timeline": [],
    "app": True,
    "lines": [
        {"scene": scene, "what": f"shop.py:7 in {scene}", "within": scene, "file": "shop.py", "line": 7, "visit": 1}
        for scene in ("handler", "call")
    ],
    "holds": [
        {
            "what": "shop.py:7 in send",
            "group": "send",
            "event": "",
            "within": "call",
            "scene": 1,
            "file": "shop.py",
            "line": 7,
            "visit": 1,
            "until": "deliveries",
        }
    ],
}
