"""Missing or wrong refusals, and missing access checks."""

from __future__ import annotations

from collections.abc import Container

from tests.tools.conformance.mutants.service import Answer, Call, Service, service


def code_of(found: Answer) -> str | None:
    return found.body["error"]["code"] if found.status >= 400 and found.body else None


def refusal(status: int, code: str, found: Answer) -> Answer:
    """A refusal with the headers of another answer."""
    identity = found.headers.get("x-request-id", "")
    error = {"code": code, "message": "It is refused.", "request_id": identity}
    return Answer(status, {"error": error}, {"content-type": "application/json", "x-request-id": identity})


async def last_good(call: Call, ask: Service, codes: Container[str | None]) -> Answer:
    """What the operation answered when it last accepted, in the place of a refusal with one of the codes."""
    found = await ask(call)
    if 200 <= found.status < 300:
        call.memory[call.operation] = found
    elif code_of(found) in codes and call.operation in call.memory:
        kept: Answer = call.memory[call.operation]
        return Answer(kept.status, kept.body, {**kept.headers})
    return found


@service("No quote is ever made: each is answered 422.", "POST /quotes", found_by="floor")
async def every_quote_refused(call: Call, ask: Service) -> Answer:
    return refusal(422, "unsupported_pair", await ask(call))


@service(
    "Invalid bodies are accepted.",
    "POST /quotes",
    "POST /beneficiaries",
    "POST /wallets",
    "POST /wallet/send",
    found_by="errors.missing",
)
async def invalid_bodies_accepted(call: Call, ask: Service) -> Answer:
    return await last_good(call, ask, ("missing_parameter", "invalid_parameter", "invalid_request"))


@service("Calls need no token.", found_by="auth.required")
async def no_authentication(call: Call, ask: Service) -> Answer:
    bearer = call.headers.get("authorization")
    if bearer and "bearer" not in call.memory:
        found = await ask(call)
        if found.status < 300:
            call.memory["bearer"] = bearer
        return found
    if not bearer and "bearer" in call.memory and call.operation != "POST /auth/token":
        return await ask(call.but(headers={**call.headers, "authorization": call.memory["bearer"]}))
    return await ask(call)


@service("What is not there is answered with another code.", found_by="errors.not_found")
async def wrong_code_of_404(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    if found.status == 404 and found.body:
        found.body["error"]["code"] = "missing"
    return found


@service("A quote that is not there is `not_found`.", found_by="quote.not_found")
async def quote_not_found_unnamed(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    if code_of(found) == "quote_not_found":
        found.body["error"]["code"] = "not_found"
    return found


@service("Errors have no code.", found_by="errors.envelope")
async def errors_without_code(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    if found.status >= 400 and found.body:
        del found.body["error"]["code"]
    return found


@service("A missing field is answered 422.", found_by="errors.missing")
async def missing_field_as_422(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    if code_of(found) == "missing_parameter":
        found.status = 422
    return found


@service("Refusals do not name the parameter.", found_by="errors.param")
async def param_not_named(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    if found.status >= 400 and found.body:
        found.body["error"].pop("param", None)
    return found


@service("A call without a token is 403.", found_by="auth.required")
async def unauthorized_as_403(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    if found.status == 401:
        found.status = 403
    return found


@service("A wrong secret gets a token.", "POST /auth/token", found_by="auth.credentials")
async def any_secret_taken(call: Call, ask: Service) -> Answer:
    return await last_good(call, ask, ("invalid_credentials",))


@service("Keys of one environment work in the other.", "POST /auth/token", found_by="auth.environment")
async def environments_mixed(call: Call, ask: Service) -> Answer:
    return await last_good(call, ask, ("environment_mismatch",))


@service("Permissions of a key are not looked at.", found_by="auth.permissions")
async def permissions_ignored(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    bearer = call.headers.get("authorization")
    if code_of(found) == "forbidden" and "bearer" in call.memory:
        return await ask(call.but(headers={**call.headers, "authorization": call.memory["bearer"]}))
    if bearer and found.status < 300:
        call.memory.setdefault("bearer", bearer)
    return found


@service("The production base shows what was made in the sandbox.", found_by="environment.apart")
async def environments_share_objects(call: Call, ask: Service) -> Answer:
    bearer = call.headers.get("authorization")
    found = await ask(call)
    if call.base == "/v1" and bearer and found.status < 300:
        call.memory["bearer"] = bearer
    elif call.base != "/v1" and call.method == "GET" and found.status == 404 and "bearer" in call.memory:
        return await ask(call.but(base="/v1", headers={**call.headers, "authorization": call.memory["bearer"]}))
    return found


@service(
    "Any amount is quoted, however small or large.",
    "POST /quotes",
    found_by="errors.amount_too_low errors.amount_too_high",
)
async def limits_of_amounts_ignored(call: Call, ask: Service) -> Answer:
    return await last_good(call, ask, ("amount_too_low", "amount_too_high"))


@service("Pairs that do not exist are quoted.", "POST /quotes", found_by="errors.unsupported_pair")
async def any_pair_quoted(call: Call, ask: Service) -> Answer:
    return await last_good(call, ask, ("unsupported_pair",))


@service(
    "Money goes to addresses that are none.",
    "POST /quotes/{id}/confirm",
    "POST /wallet/send",
    found_by="errors.invalid_wallet_address",
)
async def bad_addresses_taken(call: Call, ask: Service) -> Answer:
    return await last_good(call, ask, ("invalid_wallet_address",))


@service(
    "An offramp pays out to a beneficiary of another currency.",
    "POST /quotes/{id}/confirm",
    found_by="errors.beneficiary_mismatch",
)
async def beneficiary_mismatch_unseen(call: Call, ask: Service) -> Answer:
    return await last_good(call, ask, ("beneficiary_mismatch",))


@service(
    "Webhooks can be subscribed to events that do not exist.", "POST /webhooks", found_by="errors.unsupported_event"
)
async def unknown_events_taken(call: Call, ask: Service) -> Answer:
    return await last_good(call, ask, ("unsupported_event",))


@service("An end before the beginning is taken.", found_by="errors.date_range")
async def dates_the_wrong_way_round(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    if code_of(found) == "invalid_date_range":
        return await ask(call.but(query={name: value for name, value in call.query.items() if "date" not in name}))
    return found


@service("An unknown `sort_by` is passed over.", found_by="errors.sort_by")
async def unknown_sort_taken(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    if code_of(found) == "invalid_parameter" and found.body["error"].get("param") == "sort_by":
        return await ask(call.but(query={name: value for name, value in call.query.items() if name != "sort_by"}))
    return found


@service("Phone numbers that are none are taken.", "POST /beneficiaries", found_by="errors.invalid_phone_number")
async def any_phone_taken(call: Call, ask: Service) -> Answer:
    return await last_good(call, ask, ("invalid_phone_number",))


@service("Banks that there are not are taken.", "POST /beneficiaries", found_by="errors.invalid_bank_account")
async def any_bank_taken(call: Call, ask: Service) -> Answer:
    return await last_good(call, ask, ("invalid_bank_account",))


@service(
    "A beneficiary's address need not be one of its network.", "POST /beneficiaries", found_by="beneficiary.address"
)
async def beneficiary_of_any_address(call: Call, ask: Service) -> Answer:
    return await last_good(call, ask, ("invalid_wallet_address", "unsupported_asset"))


@service("The fee calculator calculates beyond the limits of a product.", "POST /fees/calculate", found_by="fee.limits")
async def fees_beyond_limits(call: Call, ask: Service) -> Answer:
    return await last_good(call, ask, ("amount_too_low", "amount_too_high"))


@service("Rates are told of pairs that there are not.", "GET /rates", found_by="rate.unsupported_pair")
async def rates_of_any_pair(call: Call, ask: Service) -> Answer:
    return await last_good(call, ask, ("unsupported_pair",))


@service(
    "A limit of the account can be gone beyond.",
    "POST /wallet/withdraw/quote",
    "POST /wallet/withdraw",
    "POST /quotes",
    found_by="limits.enforced",
)
async def account_limits_ignored(call: Call, ask: Service) -> Answer:
    return await last_good(call, ask, ("amount_too_high",))


@service("A swap is carried out at any rate.", "POST /wallet/swap", found_by="swap.slippage")
async def slippage_ignored(call: Call, ask: Service) -> Answer:
    return await last_good(call, ask, ("slippage_exceeded",))


@service("An invoice needs no amount.", "POST /wallets/{id}/lightning", found_by="invoice.required")
async def invoice_without_amount(call: Call, ask: Service) -> Answer:
    return await last_good(call, ask, ("missing_parameter", "invalid_parameter"))


@service("A payer need not be named.", "POST /quotes/{id}/confirm", found_by="confirm.missing")
async def payer_not_needed(call: Call, ask: Service) -> Answer:
    return await last_good(call, ask, ("missing_parameter",))


@service(
    "A deleted beneficiary can still be paid.",
    "POST /quotes/{id}/confirm",
    "POST /wallet/withdraw/quote",
    "POST /recurring-payments",
    found_by="beneficiary.deleted_unused",
)
async def deleted_beneficiary_paid(call: Call, ask: Service) -> Answer:
    return await last_good(call, ask, ("not_found",))


@service("A revoked pair's tokens go on.", found_by="token.rotation")
async def revoked_tokens_go_on(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    bearer = call.headers.get("authorization")
    if found.status < 300 and bearer:
        call.memory[bearer] = True
        call.memory.setdefault("bearer", bearer)
    elif found.status == 401 and bearer in call.memory:
        return await ask(call.but(headers={**call.headers, "authorization": call.memory["bearer"]}))
    return found


@service("Nobody is told how long to wait after too many calls.", found_by="errors.rate_limited")
async def no_retry_after(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    found.headers.pop("retry-after", None)
    return found


@service("The sandbox shows what was made in production.", found_by="environment.apart")
async def sandbox_shows_production(call: Call, ask: Service) -> Answer:
    bearer = call.headers.get("authorization")
    found = await ask(call)
    if call.base != "/v1" and bearer and found.status < 300:
        call.memory["bearer"] = bearer
    elif call.base == "/v1" and call.method == "GET" and found.status == 404 and "bearer" in call.memory:
        headers = {**call.headers, "authorization": call.memory["bearer"]}
        live = await ask(call.but(base="/production/v1", headers=headers))
        return live if live.status == 200 else found
    return found


@service("Whether the account may do it is asked before who is calling: 403 comes before 401.",
         found_by="auth.before_gates")  # fmt: skip
async def forbidden_before_unauthorized(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    bearer = call.headers.get("authorization")
    if found.status < 300 and bearer:
        call.memory["bearer"] = bearer
    if found.status != 401 or "bearer" not in call.memory or call.operation == "POST /auth/token":
        return found
    known = {**call.headers, "authorization": call.memory["bearer"]}
    profile = (await ask(call.to("GET", "/profile").but(headers=known))).body
    if profile.get("status") == "suspended":
        return refusal(403, "forbidden", found)
    return refusal(403, "kyc_required", found) if profile.get("kyc_status") == "action_required" else found
