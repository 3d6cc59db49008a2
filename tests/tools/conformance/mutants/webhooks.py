"""Webhooks with a wrong signature or wrong content, and webhooks that should not be sent."""

from __future__ import annotations

import base64
import hmac
import json
from dataclasses import replace
from typing import Any

from simulator.engine.webhooks import Outcome
from tests.tools.conformance.mutants.service import Answer, Call, Post, Sender, Service, answer, delivery, service

ENDPOINTS = ("POST /webhooks", "GET /webhooks", "GET /webhooks/{id}", "PATCH /webhooks/{id}")


@delivery("The signature is over the body as it was written anew.", found_by="webhook.signature")
async def signed_after_reserialising(post: Post, send: Sender) -> Outcome:
    pretty = replace(post, raw=json.dumps(post.event, indent=1).encode()).signed(post.headers["X-Timestamp"])
    return await send(replace(post, headers=pretty.headers))


@delivery("The signature leaves the timestamp out.", found_by="webhook.signature")
async def signed_without_timestamp(post: Post, send: Sender) -> Outcome:
    mac = hmac.digest(post.key.encode(), post.raw, "sha256").hex()
    return await send(replace(post, headers={**post.headers, "X-Signature": mac}))


@delivery("Deliveries are signed with the other environment's key.", found_by="webhook.signature")
async def signed_with_another_key(post: Post, send: Sender) -> Outcome:
    return await send(post.signed(post.headers["X-Timestamp"], key="whk_live_simulator"))


@delivery("X-Timestamp counts seconds.", found_by="webhook.timestamp")
async def timestamp_in_seconds(post: Post, send: Sender) -> Outcome:
    return await send(post.signed(post.headers["X-Timestamp"][:-3]))


@delivery("Deliveries have no signature.", found_by="webhook.signature")
async def not_signed(post: Post, send: Sender) -> Outcome:
    return await send(replace(post, headers={n: v for n, v in post.headers.items() if n != "X-Signature"}))


@delivery("Events of the sandbox say that they are live.", found_by="webhook.livemode")
async def sandbox_says_live(post: Post, send: Sender) -> Outcome:
    return await send(post.carrying({**post.event, "livemode": True}))


@delivery("The object of an event is as it was before.", found_by="webhook.object")
async def event_object_is_older(post: Post, send: Sender) -> Outcome:
    event = post.event
    thing = event["data"]["object"]
    if thing.get("status") not in ("processing", "completed", "expired"):
        return await send(post)
    older = {"processing": "awaiting_payment", "completed": "processing", "expired": "awaiting_payment"}
    thing["status"] = older[thing["status"]]
    return await send(post.carrying(event))


@delivery("The object of an event is its id alone.", found_by="webhook.object")
async def event_object_is_thin(post: Post, send: Sender) -> Outcome:
    event = post.event
    event["data"]["object"] = {"id": event["data"]["object"].get("id")}
    return await send(post.carrying(event))


@delivery("transaction.completed is never sent.", found_by="webhook.sent")
async def completion_not_sent(post: Post, send: Sender) -> Outcome:
    return Outcome(200) if post.event["type"] == "transaction.completed" else await send(post)


@delivery("What failed once is not tried again.", found_by="webhook.retry")
async def no_retries(post: Post, send: Sender) -> Outcome:
    mark = (post.url, post.event["id"])
    if mark in post.memory:
        return Outcome(200)
    post.memory[mark] = True
    return await send(post)


@delivery("Every attempt has an event id of its own.", found_by="webhook.same_event")
async def retry_with_another_id(post: Post, send: Sender) -> Outcome:
    event = post.event
    mark = (post.url, event["id"])
    post.memory[mark] = tried = post.memory.get(mark, 0) + 1
    if tried == 1:
        return await send(post)
    return await send(post.carrying({**event, "id": f"{event['id'][:-2]}{tried:02d}"}))


@delivery("All events have the same id.", found_by="webhook.unique_id")
async def one_id_for_all(post: Post, send: Sender) -> Outcome:
    return await send(post.carrying({**post.event, "id": "evt_00000000000000000000"}))


@service("A disabled endpoint still gets its events.", *ENDPOINTS, found_by="webhook.disabled")
async def disabled_still_receives(call: Call, ask: Service) -> Answer:
    if call.method == "PATCH" and isinstance(call.body, dict) and call.body.get("status") in ("enabled", "disabled"):
        call.memory[call.id] = call.body["status"]
        call = call.but(body={**call.body, "status": "enabled"})
    found = await ask(call)
    rows = found.body.get("data", [found.body]) if found.status < 300 else []
    for row in rows:
        row["status"] = call.memory.get(row["id"], row["status"])
    return found


@service("An endpoint gets all events, whatever it subscribes to.", *ENDPOINTS, found_by="webhook.subscribed")
async def everything_sent(call: Call, ask: Service) -> Answer:
    found = await ask(call.but(body={**call.body, "events": ["*"]}) if call.method == "POST" and call.body else call)
    if found.status == 201:
        call.memory[found.body["id"]] = call.body["events"]
    for row in found.body.get("data", [found.body]) if found.status < 300 else []:
        row["events"] = call.memory.get(row["id"], row["events"])
    return found


@service("Any URL is taken, whether it answers 200 or not.", "POST /webhooks", found_by="webhook.registration")
async def url_not_tested(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    if found.status == 422 and found.body["error"]["code"] == "invalid_webhook_url":
        body = {"id": "wh_00000000000000000000", "url": call.body["url"], "events": call.body["events"],
                "description": None, "status": "enabled", "created_at": "2026-01-05T08:00:00.000Z"}  # fmt: skip
        return Answer(201, body, {**found.headers})
    return found


@service("The test call answers, and sends nothing.", "POST /webhooks/{id}/test", found_by="webhook.test")
async def test_call_sends_nothing(call: Call, ask: Service) -> Answer:
    found = await ask(call.but(method="GET", path=f"/webhooks/{call.id}"))
    event = {"id": "evt_00000000000000000000", "type": "webhook.test", "created_at": found.body["created_at"],
             "livemode": False, "data": {"object": found.body}}  # fmt: skip
    return Answer(found.status, event, found.headers) if found.status == 200 else found


@delivery("The signature is base64.", found_by="webhook.signature")
async def signature_in_base64(post: Post, send: Sender) -> Outcome:
    coded = base64.b64encode(bytes.fromhex(post.headers["X-Signature"])).decode()
    return await send(replace(post, headers={**post.headers, "X-Signature": coded}))


@delivery("Retries go on after the receiver took the event.", found_by="webhook.retry")
async def taken_and_tried_again(post: Post, send: Sender) -> Outcome:
    outcome = await send(post)
    return replace(outcome, status=500) if outcome.succeeded and post.event["type"] != "webhook.test" else outcome


@delivery("An answer of 204 counts as a failure.", found_by="webhook.acknowledged")
async def only_200_counts(post: Post, send: Sender) -> Outcome:
    outcome = await send(post)
    return replace(outcome, status=500) if outcome.succeeded and outcome.status != 200 else outcome


@delivery("An answer of 500 counts as taken.", found_by="webhook.retry")
async def failure_counts_as_taken(post: Post, send: Sender) -> Outcome:
    outcome = await send(post)
    return replace(outcome, status=200) if post.event["type"] != "webhook.test" else outcome


@delivery("Events tell the moment of sending as that of their making.", found_by="event.created_at")
async def created_when_sent(post: Post, send: Sender) -> Outcome:
    return await send(post.carrying({**post.event, "created_at": "2031-01-01T00:00:00.000Z"}))


@delivery("The type of an event has another spelling.", found_by="event.envelope webhook.sent")
async def types_spelled_otherwise(post: Post, send: Sender) -> Outcome:
    return await send(post.carrying({**post.event, "type": post.event["type"].replace(".", "_")}))


@delivery("transaction.failed does not say why.", found_by="event.failure_code")
async def failure_without_reason(post: Post, send: Sender) -> Outcome:
    event = post.event
    if event["type"] != "transaction.failed":
        return await send(post)
    event["data"]["object"].pop("failure_code", None)
    return await send(post.carrying(event))


@delivery("Nobody is told that a quote or a ramp has expired.", found_by="event.expired")
async def expiry_not_told(post: Post, send: Sender) -> Outcome:
    return Outcome(200) if post.event["type"].endswith(".expired") else await send(post)


@delivery("Every event is told twice, the second time under another id.", found_by="event.once")
async def told_twice(post: Post, send: Sender) -> Outcome:
    outcome = await send(post)
    if post.event["type"] != "webhook.test":
        await send(post.carrying({**post.event, "id": f"{post.event['id'][:-2]}zz"}))
    return outcome


@answer("An endpoint that fails for days stays enabled.", "GET /webhooks/{id}", found_by="webhook.gives_up")
def never_disabled(body: Any, call: Call) -> None:
    body["status"] = "enabled"


@answer("The list of deliveries shows every attempt as taken.", "GET /webhooks/{id}/deliveries",
        found_by="webhook.deliveries")  # fmt: skip
def all_deliveries_taken(body: Any, call: Call) -> None:
    for row in body["data"]:
        row |= {"status": "succeeded", "response_status": 200}


@delivery("Letters outside ASCII are escaped in the body that is signed, and not in the body that is sent.",
          found_by="webhook.outside_ascii")  # fmt: skip
async def signed_over_escapes(post: Post, send: Sender) -> Outcome:
    escaped = json.dumps(post.event, separators=(",", ":")).encode()
    return await send(replace(post, headers=replace(post, raw=escaped).signed(post.headers["X-Timestamp"]).headers))


@delivery("Events show a name without its letters outside ASCII.", found_by="webhook.outside_ascii")
async def event_names_in_ascii(post: Post, send: Sender) -> Outcome:
    event = post.event
    thing = event["data"]["object"]
    if str(thing.get("name", "")).isascii():
        return await send(post)
    thing["name"] = thing["name"].encode("ascii", "replace").decode()
    return await send(post.carrying(event))


@delivery("A retry carries the X-Timestamp of the first attempt.", found_by="webhook.retry_timestamp")
async def retry_with_stale_timestamp(post: Post, send: Sender) -> Outcome:
    stamp = post.memory.setdefault((post.url, post.event["id"]), post.headers["X-Timestamp"])
    return await send(post if stamp == post.headers["X-Timestamp"] else post.signed(stamp))
