"""The tour through what every operation can answer: gates, malformed calls, limits, faults, and every event."""

from __future__ import annotations

from typing import Any

from contracts.generator.route.balance import buy_body, send_body, swap_body
from contracts.generator.route.ramps import CONFIRM, onramp_quote
from contracts.generator.tour import Guide
from simulator.kernel.journal import Cause
from simulator.server.faults import add_fault
from simulator.wire.events import EVENT_TYPES
from simulator.wire.settings import Settings, change_settings


async def profile(guide: Guide) -> None:
    await guide.call("GET", "/profile", title="sandbox")
    await guide.call("GET", "/profile/kyc")
    await guide.call("GET", "/profile/limits")
    await guide.call("PATCH", "/profile", {"first_name": "Achieng", "phone_number": "+254733000000"}, title="change")
    await guide.call("PATCH", "/profile", {"email": "new@example.test"})
    await guide.call("PATCH", "/profile", {"phone_number": "12"})
    guide.act("verify_phone")
    for status in ("pending", "action_required", "rejected"):
        guide.act("set_kyc", status=status)
        await guide.call("GET", "/profile/kyc", title=status)
    await guide.call("POST", "/quotes", onramp_quote())
    for path, body in (
        ("/wallet/send", send_body()),
        ("/wallet/swap/quote", swap_body()),
        ("/wallet/buy/quote", buy_body()),
        ("/wallet/swap", {"quote_id": "sq_0000000000"}),
    ):
        await guide.call("POST", path, body)
    guide.act("set_kyc", status="approved")
    guide.act("set_profile", status="suspended")
    await guide.call("GET", "/profile")
    await guide.call("GET", "/fees")
    await guide.call("GET", "/wallets")
    await guide.call("PATCH", "/profile", {"first_name": "Achieng"})
    guide.act("set_profile", status="active")


async def universal(guide: Guide) -> None:
    """What every operation can answer."""
    await guide.call("POST", "/quotes", raw=b"{", title="no JSON")
    await guide.call("POST", "/quotes", raw=b"", title="no body")
    await guide.call("POST", "/quotes", raw=b"{}", headers={"content-type": "text/plain"}, title="no JSON type")
    await guide.call("POST", "/quotes", onramp_quote(), headers={"idempotency-key": "é"})
    await guide.call("POST", "/wallets", {"network": "celo"}, headers={"x-simulator-scenario": "nowhere"})
    await guide.call("DELETE", "/quotes", title="wrong method")
    await guide.call("HEAD", "/profile")
    await guide.call("GET", "/nowhere")
    _set(guide, rate_limit="1/60")
    await guide.call("GET", "/profile")
    await guide.call("GET", "/profile", title="too many")
    _set(guide, rate_limit=None, strict=True)
    await guide.call("GET", "/profile", query={"surprise": "1"})
    await guide.call("POST", "/quotes", {**onramp_quote(), "surprise": 1})
    await guide.call("GET", "/rates", query={"surprise": "1"})
    _set(guide, strict=False)
    for status, code in ((503, "service_unavailable"), (500, "internal_error")):
        with guide.world.change(_CAUSE):
            add_fault(
                guide.world,
                {
                    "match": {"path": "/profile"},
                    "respond": {"status": status, "code": code, "retry_after": 1},
                    "times": 1,
                },
            )
        await guide.call("GET", "/profile", title=code)


_CAUSE = Cause("action", "tour")


def _set(guide: Guide, **settings: Any) -> None:
    with guide.world.change(_CAUSE):
        change_settings(guide.world, Settings(**settings))


async def test_values(guide: Guide) -> None:
    """Refusals that the shipped scenario makes of certain phone numbers."""
    engine, world = guide.simulator.engine, guide.world
    with world.change(_CAUSE):
        engine.activate(world, ["test-values"])
    quote = await guide.call("POST", "/quotes", onramp_quote())
    declined = {"payer": {"phone_number": "+254722000009"}}
    await guide.call("POST", f"/quotes/{quote['id']}/confirm", {**CONFIRM, **declined})
    quote = await guide.call("POST", "/wallet/buy/quote", buy_body())
    await guide.call("POST", "/wallet/buy", {"quote_id": quote["id"], **declined})
    poor = {"payer": {"phone_number": "+254722000003"}}
    await guide.call("POST", "/wallet/buy", {"quote_id": quote["id"], **poor})
    with world.change(_CAUSE):
        engine.activate(world, [])


async def emitted(guide: Guide) -> None:
    """Every type of event once more, as the action emit makes it."""
    for event_type in EVENT_TYPES:
        guide.act("emit", type=event_type)
