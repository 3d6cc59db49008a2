"""The memory that a world needs for a ramp, for a recurring run, and for calls that create nothing.

It is computed by visiting all objects that the world references, so the number is the same in every run.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Awaitable, Callable
from types import FunctionType, ModuleType
from typing import Any, TypeAlias

from simulator import Config, create_app
from simulator.engine.clients.asynchronous import AsgiClient
from simulator.engine.records.requests import requests_of
from simulator.engine.worlds.setting_model import Settings
from simulator.engine.worlds.settings import shown
from simulator.kernel.world import World
from tests.support import KEYS, QUOTE

PAYEE = {
    "payer": {"phone_number": "+254712345678"},
    "wallet_address": "0x52908400098527886E0F7030069857D2E4169EE7",
    "reference": "an order of mine",
}
KEPT = 40
"""How many calls the journals keep here, so that they are soon full."""
MONDAYS = {"frequency": "weekly", "day_of_week": "monday", "start_date": "2026-01-05", "end": {"type": "never"}}


def bytes_kept(world: World) -> int:
    """The size of all rows of a world and of its journal of calls, what they share counted once."""
    left: list[Any] = [*(table.rows for table in world.store._tables.values()), requests_of(world).entries]
    seen, size = set(map(id, left)), 0
    while left:
        one = left.pop()
        size += sys.getsizeof(one)
        for inner in gc.get_referents(one):
            if id(inner) not in seen and not isinstance(inner, type | ModuleType | FunctionType):
                seen.add(id(inner))
                left.append(inner)
    return size


class Session:
    """One integrator in a server of its own, without scenarios."""

    def __init__(self, client: AsgiClient, world: World) -> None:
        self._client, self.world = client, world
        self._token = ""

    async def api(self, method: str, path: str, body: object = None, **headers: str) -> Any:
        if not self._token:
            token = await self._client.request("POST", "/v1/auth/token", KEYS)
            self._token = token.body["access_token"]
        sent = {"Authorization": f"Bearer {self._token}", **headers}
        return (await self._client.request(method, f"/v1{path}", body, sent)).body

    async def control(self, method: str, path: str, body: object = None) -> Any:
        self._token = "" if path == "/clock/advance" else self._token
        return (await self._client.request(method, f"/_simulator{path}", body)).body


Play: TypeAlias = Callable[[Session, int], Awaitable[None]]


def growth(play: Play, first: int, last: int) -> float:
    """The bytes that each of the plays from the first to the last leaves."""

    async def playing() -> float:
        app = create_app(Config(clock="manual", scenarios=(), settings=shown(Settings(journal_limit=KEPT))))
        async with app.router.lifespan_context(app):
            session = Session(AsgiClient(app), app.runtime.simulator.default)
            limits = dict.fromkeys(("per_transaction", "daily", "monthly"), "9" * 12)
            await session.control("POST", "/actions/set_limits", limits)
            sizes = []
            for number in range(last):
                if number == first:
                    sizes.append(bytes_kept(session.world))
                await play(session, number)
            return (bytes_kept(session.world) - sizes[0]) / (last - first)

    return asyncio.run(playing())


async def ramp(session: Session, number: int) -> None:
    quote = await session.api("POST", "/quotes", {**QUOTE, "amount": f"{5000 + number}"})
    made = await session.api("POST", f"/quotes/{quote['id']}/confirm", PAYEE)
    await session.control("POST", "/actions/payment_arrives", {"target": made["id"]})
    done = await session.control("POST", "/actions/complete", {"target": made["id"]})
    assert done["resource"]["status"] == "completed"


async def week(session: Session, number: int) -> None:
    """Twenty runs of recurring payments; those are made at first."""
    for each in range(20 if number == 0 else 0):
        payment = {
            "name": f"Savings {each}", "type": "send", "source": {"symbol": "USDC", "network": "CELO"},
            "amount": "1.00", "amount_currency": "USDC", "reference": f"till-{each}",
            "recipient": {"destination": {"type": "platform_user", "email": "amina@example.test"}},
        }  # fmt: skip
        path = f"/recurring-payments/{(await session.api('POST', '/recurring-payments', payment))['id']}"
        await session.api("PUT", f"{path}/schedule", MONDAYS)
        await session.api("GET", f"{path}/review")
        await session.api("POST", f"{path}/activate")
    before = session.world.journal.event_count
    await session.control("POST", "/clock/advance", {"by": "7d"})
    assert session.world.journal.event_count - before >= 20 * 2


async def nothing(session: Session, number: int) -> None:
    """Calls that make nothing, each with a text that was never sent before."""
    own = f"{number:020}"
    for path in ("/transactions", f"/quotes/qt_{own}", f"/nowhere/{own}", f"/orders?search={own}"):
        await session.api("GET", path, **{"X-Own": own})
    await session.api("POST", "/quotes", {own: own})
    await session.api("POST", "/quotes", QUOTE, **{"Idempotency-Key": "always the same"})
    await session.api("POST", "/auth/token", {"public_key": f"pk_test_{own}", "secret_key": "sk_test_none"})
    await session.control("POST", "/actions/set_kyc", {"status": "approved", "level": 2})
    await session.control("POST", f"/actions/{own}", {"target": own})
    await session.control("GET", f"/resources/{own}")


def test_a_completed_ramp_keeps_little() -> None:
    assert growth(ramp, 80, 240) < 7_000


def test_a_run_of_a_recurring_payment_keeps_little() -> None:
    assert growth(week, 20, 30) / 20 < 5_000


def test_calls_that_make_nothing_leave_nothing_once_the_journals_are_full() -> None:
    assert abs(growth(nothing, 60, 160)) < 100
