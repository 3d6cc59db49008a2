"""The timeline of a world: the output of a failing test, and the control call behind it."""

from __future__ import annotations

from typing import Any

from simulator.testing import World, receiver
from tests.support import QUOTE
from tests.tools.testing.orders import onramp

DOWN = {"status": 503, "code": "service_unavailable"}


def entries(world: World, **query: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = world.control("GET", "/timeline", query=query)["data"]
    return found


def ids_in(world: World) -> dict[str, str]:
    """What ids are called in the expected texts."""
    quote, ramp = (world.control("GET", "/resources", query={"type": kind})["data"][0] for kind in ("quote", "onramp"))
    return {"quote": quote["id"], "ramp": ramp["id"]}


def test_the_timeline_shows_calls_and_their_effects(kit: World) -> None:
    with receiver(kit) as webhooks:
        kit.scenario("autopilot")
        webhooks.respond(500, times=1)
        with kit.fault("GET /profile", respond=DOWN, times=2) as fault:
            kit.client.get("/profile")
            ramp = onramp(kit)
            kit.advance(until={"resource": ramp, "status": "completed"})
            kit.advance("1h")
            told = kit.timeline()
    quote = next(row["response"]["id"] for row in kit.requests(path="/quotes"))
    rule = "a rule of the scenario autopilot, scenarios/autopilot.yaml"
    to = f"to {webhooks.url}"
    head, day, *lines = told.splitlines()
    assert head == f"World {kit.id}, seed 1, now 2026-01-05 09:00:45 UTC"
    assert day == "  2026-01-05"
    happened = lines[: lines.index("Active faults")]
    assert happened == [
        "  08:00:00.000  POST /v1/auth/token → 200",
        f"                POST /v1/webhooks → 201 {webhooks.endpoint_id} enabled",
        "                * activate names autopilot",
        f"                * create fault {fault.id} match (method GET, path /profile), "
        "respond (status 503, code service_unavailable), times 2",
        "                GET /v1/profile → 503 service_unavailable",
        f"                POST /v1/quotes → 201 {quote} active",
        f"                POST /v1/quotes/{quote}/confirm → 201 {ramp['id']} awaiting_payment",
        f"                    {quote} active → confirmed",
        f"                    {ramp['id']} (new) → awaiting_payment, "
        "emits transaction.created and transaction.awaiting_payment",
        f"                    webhook transaction.created {to} → 500, again at 2026-01-05T08:01:00.000Z",
        f"                    webhook transaction.awaiting_payment {to} → 200",
        f"                * advance until (resource {ramp['id']}, status completed) → 2026-01-05T08:00:45.000Z",
        f"  08:00:15.000      {ramp['id']} awaiting_payment → processing, emits transaction.processing ({rule}:9)",
        f"                    webhook transaction.processing {to} → 200",
        f"  08:00:45.000      {ramp['id']} processing → completed, emits transaction.completed ({rule}:12)",
        f"                    webhook transaction.completed {to} → 200",
        "                * advance by 1h → 2026-01-05T09:00:45.000Z",
        f"  08:01:00.000      webhook transaction.created {to}, attempt 2 → 200",
    ]
    faults, advice = lines[len(happened) :][:2], lines[len(happened) + 2 :]
    assert faults == ["Active faults", f"  {fault.id} on GET /profile: applied 1×, 1 left"]
    assert advice[:3] == [
        "Advice",
        "  warning: GET /profile returned 503 service_unavailable and was never retried.",
        "    Retry 429, 500 and 503 with exponential backoff and the same Idempotency-Key.",
    ]


def test_simultaneous_entries_are_ordered_by_cause(kit: World) -> None:
    """A manual clock stands still: neither time nor ids tell which of these came first."""
    first = onramp(kit)
    kit.act("payment_arrives", first)
    second = onramp(kit)
    kit.act("complete", first)
    kit.act("payment_declined", second)
    moves = [row["text"].partition(",")[0] for row in entries(kit) if row["what"] == "move" and row["id"][:3] == "txn"]
    assert moves == [
        f"{first['id']} (new) → awaiting_payment",
        f"{first['id']} awaiting_payment → processing",
        f"{second['id']} (new) → awaiting_payment",
        f"{first['id']} processing → completed",
        f"{second['id']} awaiting_payment → failed",
    ]
    texts = [row["text"] for row in entries(kit)]
    assert texts.index(f"complete {first['id']}") == texts.index(f"payment_declined {second['id']}") - 2


def test_calls_of_a_receiver_stand_inside_the_advance_that_led_to_them(kit: World) -> None:
    with receiver(kit) as webhooks:
        seen: list[int] = []
        webhooks.respond_with(lambda delivery: seen.append(kit.client.get("/profile").status_code))
        ramp = onramp(kit)
        kit.settle()
        kit.advance("30m")
        kit.client.get("/fees")
    lines = [row["text"] for row in entries(kit)]
    advance = next(index for index, text in enumerate(lines) if text.startswith("advance by 30m"))
    after = [text.partition(" → ")[0] for text in lines[advance + 1 :]]
    assert after[0].startswith(f"{ramp['id']} awaiting_payment")
    assert after.index("GET /v1/profile") < after.index("GET /v1/fees")
    assert seen == [200] * 3


def test_it_is_short_and_says_what_it_leaves_out(kit: World) -> None:
    for _ in range(60):
        kit.client.get("/profile")
    lines = kit.timeline().splitlines()
    assert lines[1] == "  … 21 earlier"
    assert sum("GET /v1/profile → 200" in line for line in lines) == 40
    assert len(entries(kit)) == 61
    assert [row["text"] for row in entries(kit, limit=1)] == ["GET /v1/profile → 200 active"]


def test_a_world_in_which_nothing_happened(kit: World) -> None:
    assert kit.timeline().splitlines()[1:] == ["  nothing happened"]


def test_the_day_is_shown_when_it_changes(kit: World) -> None:
    kit.client.get("/profile")
    kit.advance("2d")
    kit.client.get("/profile")
    days = [line for line in kit.timeline().splitlines() if line.startswith("  2026-")]
    assert days == ["  2026-01-05", "  2026-01-07"]


def test_refusals_replays_and_cut_connections(kit: World) -> None:
    key = {"Idempotency-Key": "one"}
    for _ in range(2):
        kit.client.post("/quotes", json=QUOTE, headers=key)
    kit.client.post("/quotes", json={**QUOTE, "amount": "much"})
    quote = next(row["response"]["id"] for row in kit.requests(path="/quotes"))
    texts = [row["text"] for row in entries(kit) if row["what"] == "call"]
    assert texts[1:] == [
        f"POST /v1/quotes → 201 {quote} active",
        f"POST /v1/quotes → 201 {quote} active (replayed)",
        "POST /v1/quotes → 400 invalid_parameter amount",
    ]


def test_events_that_no_move_emits_stand_by_themselves(kit: World) -> None:
    kit.act("emit", type="transaction.completed")
    assert [row["what"] for row in entries(kit)] == ["control", "event"]
    assert entries(kit)[1]["text"].startswith("transaction.completed about ")


def test_advice_is_the_gravest_first_and_not_endless(kit: World) -> None:
    for number in range(9):
        kit.client.get(f"/profile?unknown{number}=1")
    lines = kit.timeline().splitlines()
    advice = lines[lines.index("Advice") :]
    assert any(line.startswith("    and ") and line.endswith(" more like it") for line in advice)
    order = [line.split(":")[0].strip() for line in advice if line.startswith("  ") and line[2] != " "]
    gravity = ["error", "warning", "info"]
    assert order == sorted(order, key=gravity.index)


def test_no_secret_stands_in_it(kit: World) -> None:
    token = kit.token()
    with receiver(kit, path="/hooks") as webhooks:
        kit.client.patch(f"/webhooks/{webhooks.endpoint_id}", json={"url": f"{webhooks.url}?key=hidden"})
        kit.act("create_key", label="second")
        onramp(kit)
        kit.settle()
        told = kit.timeline()
    for secret in (token, kit.keys.secret_key, kit.keys.webhook_key, "hidden", "sk_test_"):
        assert secret not in told
