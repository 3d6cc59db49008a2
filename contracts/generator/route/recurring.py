"""The tour through recurring payments and the history of everything."""

from __future__ import annotations

from typing import Any

from contracts.generator.route.places import CELO
from contracts.generator.tour import Guide


async def recurring(guide: Guide, saved: dict[str, Any]) -> None:
    source = {"symbol": "USDC", "network": "CELO"}
    rent = {
        "name": "Rent",
        "type": "withdraw",
        "source": source,
        "amount": "20",
        "amount_currency": "USDC",
        "recipient": {"beneficiary_id": saved["phone_number"]["id"]},
        "reference": "rent",
    }
    allowance = {
        "name": "Allowance",
        "type": "send",
        "source": source,
        "amount": "10",
        "amount_currency": "USDC",
        "recipient": {"destination": {"type": "platform_user", "email": "amina@example.test"}},
        "description": "Every day",
    }
    first = await guide.call("POST", "/recurring-payments", rent, title="withdraw")
    second = await guide.call("POST", "/recurring-payments", allowance, title="send")
    to_address = {"destination": {"type": "address", "address": CELO}}
    await guide.call("POST", "/recurring-payments", {**allowance, "recipient": to_address}, title="send to an address")
    for body in (
        {**rent, "name": None},
        {**rent, "type": "buy"},
        {**rent, "amount": "0"},
        {**rent, "source": {"symbol": "USDC", "network": "celo"}},
        {**rent, "source": {"symbol": "BTC", "network": "BITCOIN"}, "amount_currency": "BTC", "amount": "0.001"},
        {**rent, "recipient": {"beneficiary_id": "ben_0000000000"}},
        {**rent, "recipient": {"beneficiary_id": saved["wallet_address"]["id"]}},
        {**allowance, "recipient": {"destination": {"type": "address", "address": "0x1"}}},
        {**allowance, "recipient": {"destination": {"type": "platform_user", "phone_number": "12"}}},
    ):
        await guide.call("POST", "/recurring-payments", body)
    guide.act("set_network", network="celo", status="down")
    await guide.call("POST", "/recurring-payments", rent)
    guide.act("set_network", network="celo", status="operational")
    path, other = (f"/recurring-payments/{payment['id']}" for payment in (first, second))
    await guide.call("GET", f"{path}/review")
    day = "2026-01-06"
    monthly = {"frequency": "monthly", "day_of_month": 31, "start_date": day, "time": "08:30", "end": {"type": "never"}}
    weekly = {
        "frequency": "weekly",
        "day_of_week": "monday",
        "start_date": day,
        "end": {"type": "on_date", "date": "2026-03-01"},
    }
    daily = {
        "frequency": "daily",
        "start_date": day,
        "timezone": "UTC",
        "end": {"type": "after_occurrences", "occurrences": 6},
    }
    for schedule in (monthly, weekly):
        await guide.call("PUT", f"{path}/schedule", schedule, title=str(schedule["frequency"]))
    await guide.call("PUT", f"{other}/schedule", daily, title="daily")
    await guide.call("PUT", f"{path}/schedule", {**daily, "end": {"type": "on_date"}})
    await guide.call("PUT", f"{path}/schedule", {**daily, "time": "25:00"})
    await guide.call("PUT", "/recurring-payments/rp_0000000000/schedule", daily)
    await guide.call("POST", f"{path}/activate")
    for place in (path, other):
        await guide.call("GET", f"{place}/review", title="withdraw" if place == path else "send")
        await guide.call("POST", f"{place}/activate")
    await guide.call("PUT", f"{path}/schedule", daily)
    await guide.call("POST", f"{path}/restart")
    await guide.advance("2d")
    await guide.call("GET", f"{other}/transactions")
    await guide.call("GET", f"{other}/transactions", query={"status": "lost"})
    await guide.call("GET", other, title="active")
    await guide.call("POST", f"{path}/pause", {"reason": "Holiday"}, title="pause")
    await guide.call("POST", f"{path}/pause", {"reason": 7})
    await guide.call("POST", f"{path}/pause")
    await guide.call("POST", f"{path}/restart", {"start_date": "2020-01-01"})
    await guide.call("POST", f"{path}/restart", {}, title="restart")
    guide.act("set_balance", symbol="USDC", network="CELO", amount="0")
    await guide.advance("3d")
    await guide.call("GET", other, title="paused after three failures")
    guide.act("set_balance", symbol="USDC", network="CELO", amount="1000")
    await guide.call("POST", f"{other}/restart")
    await guide.advance("4d")
    await guide.call("GET", other, title="completed")
    await guide.call("GET", "/recurring-payments")
    await guide.call("GET", "/recurring-payments", query={"type": "send", "sort_by": "amount"})
    await guide.call("GET", "/recurring-payments", query={"status": "lost"})
    await guide.call("GET", "/recurring-payments", query={"start_date": "2026-02-01", "end_date": "2026-01-01"})
    for tail in ("", "/review", "/transactions"):
        await guide.call("GET", f"/recurring-payments/rp_0000000000{tail}")
    for tail in ("/activate", "/pause", "/restart"):
        await guide.call("POST", f"/recurring-payments/rp_0000000000{tail}")
    await guide.call("DELETE", path)
    await guide.call("DELETE", path)


async def history(guide: Guide) -> None:
    await guide.call("GET", "/transactions", query={"size": "100"}, title="everything")
    await guide.call("GET", "/orders", query={"size": "100"})
    for query in (
        {"type": "onramp,offramp", "status": "completed", "size": "2"},
        {"min_amount": "10", "max_amount": "100", "currency": "USDC", "sort_by": "amount", "sort_order": "asc"},
        {"type": "gift"},
        {"start_date": "2026-02-01", "end_date": "2026-01-01"},
    ):
        await guide.call("GET", "/transactions", query=query)
    for query in (
        {"status": "successful,pending", "order_type": "swap", "size": "2"},
        {"status": "completed"},
        {"start_date": "2026-02-01", "end_date": "2026-01-01"},
    ):
        await guide.call("GET", "/orders", query=query)
    deposits = await guide.call("GET", "/transactions", query={"type": "deposit"})
    await guide.call("GET", f"/transactions/{deposits['data'][0]['id']}", title="deposit")
    await guide.call("GET", f"/orders/{deposits['data'][0]['order_id']}", title="deposit")
    await guide.call("GET", "/transactions/txn_0000000000")
    await guide.call("GET", "/orders/ORD-99999999")
