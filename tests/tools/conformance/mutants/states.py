"""Objects whose status is wrong, and illegal transitions."""

from __future__ import annotations

from typing import Any

from tests.tools.conformance.mutants.errors import code_of, last_good, refusal
from tests.tools.conformance.mutants.service import Answer, Call, Service, answer, service


@answer("An onramp is completed the moment it is confirmed.", "POST /quotes/{id}/confirm", found_by="ramp.created")
def onramp_born_completed(body: Any, call: Call) -> None:
    if body["type"] == "onramp":
        body["status"] = "completed"


@answer("A swap is completed and has a hash before it was carried out.", "POST /wallet/swap",
        found_by="state.created")  # fmt: skip
def swap_born_completed(body: Any, call: Call) -> None:
    body |= {"status": "completed", "tx_hash": "f" * 64}


@answer("A buy is processing before anybody has paid.", "POST /wallet/buy", found_by="state.created")
def buy_born_processing(body: Any, call: Call) -> None:
    body["status"] = "processing"


@answer("A recurring payment is active when it is made.", "POST /recurring-payments", found_by="state.created")
def recurring_born_active(body: Any, call: Call) -> None:
    body["status"] = "active"


@service("What was just made cannot be found.", "POST /beneficiaries", "GET /beneficiaries/{id}", "POST /quotes",
         "GET /quotes/{id}", found_by="get.after_create")  # fmt: skip
async def not_found_after_create(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    return refusal(404, "not_found", found) if call.method == "GET" and found.status == 200 else found


@answer("GET shows another reference than was given.", "GET /transactions/{id}", found_by="get.after_create")
def reference_lost(body: Any, call: Call) -> None:
    body["reference"] = None


@service("DELETE answers 204 and deletes nothing.", "DELETE /beneficiaries/{id}", "DELETE /webhooks/{id}",
         "DELETE /recurring-payments/{id}", found_by="delete.gone")  # fmt: skip
async def nothing_deleted(call: Call, ask: Service) -> Answer:
    found = await ask(call.but(method="GET"))
    return Answer(204, None, {"x-request-id": found.headers["x-request-id"]}) if found.status == 200 else found


@service("What is deleted stays in the list.", "GET /beneficiaries", "GET /beneficiaries/{id}",
         "DELETE /beneficiaries/{id}", found_by="delete.unlisted")  # fmt: skip
async def deleted_still_listed(call: Call, ask: Service) -> Answer:
    if call.method == "DELETE":
        shown = await ask(call.but(method="GET"))
        found = await ask(call)
        if found.status == 204:
            call.memory.setdefault("deleted", []).append(shown.body)
        return found
    found = await ask(call)
    if call.operation == "GET /beneficiaries" and found.status == 200:
        found.body["data"] = call.memory.get("deleted", []) + found.body["data"]
        found.body["pagination"]["total"] += len(call.memory.get("deleted", []))
    return found


@service("A Lightning address that was deleted is still active.", "GET /wallets/{id}", "GET /wallets/{id}/lightning",
         found_by="lightning.disabled")  # fmt: skip
async def lightning_not_disabled(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    for entry in (found.body or {}).get("data", (found.body or {}).get("lightning_addresses", [])):
        if entry["status"] == "disabled":
            entry["status"] = "active"
    return found


@service("A quote can be confirmed twice, and makes two transactions.", "POST /quotes", "POST /quotes/{id}/confirm",
         found_by="quote.used_refused")  # fmt: skip
async def confirmed_twice(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    if call.operation == "POST /quotes":
        if found.status == 201:
            call.memory[found.body["id"]] = call.body
    elif code_of(found) == "quote_already_used":
        fresh = await ask(call.to("POST", "/quotes", call.memory[call.id]))
        found = await ask(call.to("POST", f"/quotes/{fresh.body['id']}/confirm", call.body))
        found.body["quote_id"] = call.id
    return found


@service("A withdrawal's quote can be used twice.", "POST /wallet/withdraw",
         found_by="wallet_quote.used_refused")  # fmt: skip
async def withdrawn_twice(call: Call, ask: Service) -> Answer:
    return await last_good(call, ask, ("quote_already_used",))


@answer("A confirmed quote stays active.", "GET /quotes/{id}", found_by="quote.confirmed")
def confirmed_stays_active(body: Any, call: Call) -> None:
    if body["status"] == "confirmed":
        body["status"] = "active"


@service("A paused payment can be paused again.", "POST /recurring-payments/{id}/pause",
         found_by="recurring.illegal_move")  # fmt: skip
async def paused_twice(call: Call, ask: Service) -> Answer:
    return await last_good(call, ask, ("invalid_state",))


@service("An active payment can be restarted.", "POST /recurring-payments/{id}/restart",
         found_by="recurring.illegal_move")  # fmt: skip
async def restarted_while_active(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    return await ask(call.to("GET", f"/recurring-payments/{call.id}")) if code_of(found) == "invalid_state" else found


@service("A payment without a schedule can be activated.", "POST /recurring-payments/{id}/activate",
         found_by="recurring.illegal_move")  # fmt: skip
async def activated_without_schedule(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    if code_of(found) == "invalid_state":
        body = {"id": call.id, "status": "active", "next_run_at": "2026-01-06T06:00:00.000Z", "runs_completed": 0,
                "total_runs": None, "activated_at": "2026-01-05T08:00:00.000Z"}  # fmt: skip
        return Answer(200, body, {**found.headers, "content-type": "application/json"})
    return found


@answer("A paused payment still tells of a next run.", "POST /recurring-payments/{id}/pause",
        found_by="recurring.paused")  # fmt: skip
def next_run_while_paused(body: Any, call: Call) -> None:
    body["next_run_at"] = "2026-01-06T06:00:00.000Z"


@service("A transaction has no order.", "GET /orders/{order_id}", found_by="order.exists")
async def no_order(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    return refusal(404, "order_not_found", found) if found.status == 200 else found


@answer("An order does not know the asset of its transaction.", "GET /orders/{order_id}", found_by="order.transaction")
def order_of_another_asset(body: Any, call: Call) -> None:
    body["order_type"], body["asset"] = "deposit", "XLM"


@service("PATCH answers the change and keeps nothing.", "PATCH /wallets/{id}", "PATCH /profile",
         found_by="patch.kept")  # fmt: skip
async def patch_not_kept(call: Call, ask: Service) -> Answer:
    before = await ask(call.to("GET", call.path))
    found = await ask(call)
    if found.status == 200 and call.body:
        await ask(call.but(body={name: before.body[name] for name in call.body}))
    return found


@service("A disabled wallet still makes invoices.", "POST /wallets/{id}/lightning", found_by="errors.wallet_disabled")
async def disabled_wallet_takes(call: Call, ask: Service) -> Answer:
    return await last_good(call, ask, ("wallet_disabled",))


@service("Ids of transactions have the prefix of quotes.", "POST /wallet/send", "GET /transactions/{id}",
         found_by="shape.pattern")  # fmt: skip
async def prefix_of_another_kind(call: Call, ask: Service) -> Answer:
    if call.method == "GET":
        return await ask(call.but(path=call.path.replace("/qt_", "/txn_")))
    found = await ask(call)
    if found.status == 201:
        found.body["id"] = found.body["id"].replace("txn_", "qt_")
    return found


@answer("An onramp has its hash before anybody has paid.", "POST /quotes/{id}/confirm", found_by="transaction.no_hash")
def hash_too_early(body: Any, call: Call) -> None:
    if body["type"] == "onramp":
        body["tx_hash"] = "0x" + "a" * 64


@answer("What was refunded is shown as failed for ever.", "GET /transactions/{id}", found_by="ramp.refund")
def refund_not_shown(body: Any, call: Call) -> None:
    if body["status"] == "refunded":
        body["status"] = "failed"


@answer("All wallets on celo have one address.", "POST /wallets", "GET /wallets/{id}", "GET /wallets",
        found_by="wallet.unique_address")  # fmt: skip
def one_address_for_all(body: Any, call: Call) -> None:
    for row in body.get("data", [body]):
        if row["network"] == "celo":
            row["address"] = "0x52908400098527886E0F7030069857D2E4169EE7"


@answer("A wallet on stellar has no memo.", "POST /wallets", "GET /wallets/{id}", "GET /wallets",
        found_by="wallet.memo shape.required")  # fmt: skip
def stellar_without_memo(body: Any, call: Call) -> None:
    for row in body.get("data", [body]):
        row.pop("memo", None)


@answer("A deposit does not bear the reference of its wallet.", "GET /wallets/{id}/deposits", found_by="deposit.way")
def deposit_without_reference(body: Any, call: Call) -> None:
    for row in body["data"]:
        row["reference"] = None


@answer("A deposit is confirmed the moment it is seen.", "GET /wallets/{id}/deposits", found_by="deposit.detected")
def deposit_confirmed_at_once(body: Any, call: Call) -> None:
    for row in body["data"]:
        row["status"] = "confirmed" if row["status"] == "detected" else row["status"]


@answer("Runs are counted twice.", "GET /recurring-payments/{id}", found_by="recurring.run recurring.completes")
def runs_counted_twice(body: Any, call: Call) -> None:
    body["runs_completed"] *= 2


@answer("A payment that failed three times is still active.", "GET /recurring-payments/{id}",
        found_by="recurring.auto_pause")  # fmt: skip
def no_auto_pause(body: Any, call: Call) -> None:
    if body["status"] == "paused" and body["pause_reason"] == "repeated_failures":
        body["status"] = "active"


@answer("The reference of a run does not have the run's number.", "GET /recurring-payments/{id}/transactions",
        found_by="recurring.run")  # fmt: skip
def run_without_number(body: Any, call: Call) -> None:
    for row in body["data"]:
        row["reference"] = row["reference"] and row["reference"].rpartition("-")[0]


@answer("Every month is scheduled as every week.", "PUT /recurring-payments/{id}/schedule",
        found_by="recurring.schedule_shown")  # fmt: skip
def months_become_weeks(body: Any, call: Call) -> None:
    body["schedule"]["frequency"] = "weekly"


@answer("The sandbox says that it is production.", "GET /profile", found_by="environment.profile")
def profile_of_production(body: Any, call: Call) -> None:
    body["environment"] = "production"


@service("PATCH /profile passes over what cannot be changed.", "PATCH /profile", found_by="profile.fixed_refused")
async def fixed_fields_passed_over(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    return await ask(call.to("GET", "/profile")) if code_of(found) == "invalid_parameter" else found


@answer("A new phone number counts before it is verified.", "PATCH /profile", "GET /profile", found_by="profile.phone")
def phone_not_verified(body: Any, call: Call) -> None:
    call.memory |= call.body or {}
    body["phone_number"] = call.memory.get("phone_number", body["phone_number"])


@answer("An order has no legs.", "GET /orders/{order_id}", found_by="order.legs")
def order_without_legs(body: Any, call: Call) -> None:
    body["transactions"] = []


@answer("An order is pending for ever.", "GET /orders/{order_id}", found_by="order.status")
def order_stays_pending(body: Any, call: Call) -> None:
    body["status"] = "pending"


@service("Everything works while the network is down.", "POST /quotes", found_by="errors.network_unavailable")
async def network_down_unseen(call: Call, ask: Service) -> Answer:
    return await last_good(call, ask, ("network_unavailable",))


@service("An account that lost its approval can still move money.", found_by="auth.kyc")
async def kyc_not_asked(call: Call, ask: Service) -> Answer:
    return await last_good(call, ask, ("kyc_required",))


@answer("An internal transfer has a hash.", "POST /wallet/send", "GET /transactions/{id}",
        found_by="send.internal_free send.way")  # fmt: skip
def internal_transfer_with_hash(body: Any, call: Call) -> None:
    if body["type"] == "send" and body["status"] in ("processing", "completed") and body["tx_hash"] is None:
        body["tx_hash"] = "0x" + "b" * 64


@answer("Account numbers of beneficiaries are cut.", "POST /beneficiaries", "GET /beneficiaries/{id}",
        "GET /beneficiaries", found_by="beneficiary.details")  # fmt: skip
def account_number_cut(body: Any, call: Call) -> None:
    for row in body.get("data", [body]):
        if row["type"] == "bank_account":
            row["details"]["account_number"] = row["details"]["account_number"][:-2]


@service("A deleted recurring payment is only hidden, and goes on.", "DELETE /recurring-payments/{id}",
         "GET /recurring-payments/{id}", found_by="recurring.deleted")  # fmt: skip
async def deleted_payment_goes_on(call: Call, ask: Service) -> Answer:
    if call.method == "DELETE":
        found = await ask(call.but(method="GET"))
        call.memory[call.id] = True
        return Answer(204, None, {"x-request-id": found.headers["x-request-id"]}) if found.status == 200 else found
    found = await ask(call)
    return refusal(404, "not_found", found) if call.id in call.memory else found


@service("`network` of the network stats is ignored.", "GET /network/stats", found_by="network.stats")
async def stats_of_all_networks(call: Call, ask: Service) -> Answer:
    return await ask(call.but(query={}))


@service("A changed subscription is shown, and not kept.", "PATCH /webhooks/{id}", found_by="webhook.patched")
async def subscription_not_kept(call: Call, ask: Service) -> Answer:
    before = await ask(call.but(method="GET", body=None))
    found = await ask(call)
    if found.status == 200 and "events" in call.body:
        await ask(call.but(body={"events": before.body["events"]}))
    return found


@answer("A review says that the balance covers what it does not.", "GET /recurring-payments/{id}/review",
        found_by="recurring.review_warns")  # fmt: skip
def review_warns_of_nothing(body: Any, call: Call) -> None:
    body["warnings"] = []
    body["balance_check"]["covers_next_run"] = True


@answer("An invoice is not for the sats that were asked for.", "POST /wallets/{id}/lightning",
        "GET /wallets/{id}/lightning", found_by="lightning.entry")  # fmt: skip
def invoice_of_other_amount(body: Any, call: Call) -> None:
    for entry in body.get("data", [body]):
        if entry["type"] == "invoice":
            entry["amount_sats"] += 1


@answer("A swap receives another asset than was asked for.", "POST /wallet/swap/quote",
        found_by="swap.locked")  # fmt: skip
def swap_into_another_asset(body: Any, call: Call) -> None:
    body["to"]["symbol"] = "CELO"


@answer("A review shows the account of the recipient in full.", "GET /recurring-payments/{id}/review",
        found_by="recurring.review")  # fmt: skip
def account_not_masked(body: Any, call: Call) -> None:
    body["recipient"]["account"] = "+254712345678"


@answer("References are kept in lower case.", found_by="reference.kept")
def references_in_lower_case(body: Any, call: Call) -> None:
    for row in [body, *(body.get("data") or [])]:
        if isinstance(row, dict) and isinstance(row.get("reference"), str):
            row["reference"] = row["reference"].lower()


@answer("A name has no letters outside ASCII.", "POST /beneficiaries", "GET /beneficiaries/{id}", "GET /beneficiaries",
        found_by="text.kept")  # fmt: skip
def names_in_ascii(body: Any, call: Call) -> None:
    for row in body.get("data", [body]):
        row["name"] = row["name"].encode("ascii", "replace").decode()
