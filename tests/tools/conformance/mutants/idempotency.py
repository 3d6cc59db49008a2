"""Idempotency keys that do not prevent duplicates."""

from __future__ import annotations

from uuid import uuid4

from tests.tools.conformance.mutants.errors import refusal
from tests.tools.conformance.mutants.service import Answer, Call, Service, service

KEY = "idempotency-key"


@service("An Idempotency-Key is accepted, and nothing is replayed.", found_by="idempotency.replay")
async def nothing_replayed(call: Call, ask: Service) -> Answer:
    if call.method == "POST" and KEY in call.headers:
        return await ask(call.but(headers={**call.headers, KEY: str(uuid4())}))
    return await ask(call)


@service("The header Idempotency-Key is dropped on the way.", found_by="idempotency.replay")
async def key_dropped(call: Call, ask: Service) -> Answer:
    return await ask(call.but(headers={name: value for name, value in call.headers.items() if name != KEY}))


@service("A replay has an id of its own.", found_by="idempotency.replay")
async def replay_with_another_id(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    if found.headers.get("idempotent-replayed") and found.status == 201 and "id" in found.body:
        found.body["id"] = found.body["id"][:-4] + "zzzz"
    return found


@service("Another body under a used key gets the answer to the first.", found_by="idempotency.conflict")
async def conflict_unseen(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    mark = (call.headers.get("authorization"), call.path, call.headers.get(KEY))
    if found.status == 409 and found.body["error"]["code"] == "idempotency_conflict" and mark in call.memory:
        first: Answer = call.memory[mark]
        return Answer(first.status, first.body, {**first.headers})
    if found.status == 201:
        call.memory[mark] = found
    return found


@service("A key's conflict is answered 422.", found_by="idempotency.conflict")
async def conflict_as_422(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    if found.status == 409 and found.body["error"]["code"] == "idempotency_conflict":
        found.status = 422
    return found


@service("A key is not shared between operations: elsewhere it is a new one.", found_by="idempotency.other_operation")
async def key_per_operation(call: Call, ask: Service) -> Answer:
    if call.method == "POST" and KEY in call.headers:
        key = f"{call.path.replace('/', '-')}{call.headers[KEY]}"[-255:]
        return await ask(call.but(headers={**call.headers, KEY: key}))
    return await ask(call)


@service("Keys that differ in case are the same.", found_by="idempotency.case")
async def keys_in_lower_case(call: Call, ask: Service) -> Answer:
    key = call.headers.get(KEY)
    return await ask(call.but(headers={**call.headers, KEY: key.lower()}) if key else call)


@service("A retry is refused once the quote has expired, whatever the key.",
         found_by="idempotency.quote_expired")  # fmt: skip
async def expiry_before_replay(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    if call.method != "POST":
        return found
    if found.status == 201 and call.path.endswith(("/quote", "/quotes")):
        call.memory[found.body["id"]] = (call.path, call.body, found.body["expires_at"])
    elif found.headers.get("idempotent-replayed"):
        used = call.id if call.path.endswith("/confirm") else (call.body or {}).get("quote_id")
        if used in call.memory:
            path, body, expires_at = call.memory[used]
            now = await ask(call.to("POST", path, body))
            if now.status == 201 and now.body["created_at"] >= expires_at:
                return refusal(422, "quote_expired", found)
    return found
