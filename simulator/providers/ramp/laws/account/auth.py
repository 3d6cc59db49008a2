"""Authentication: tokens, key pairs, environments, permissions and gates."""

from __future__ import annotations

import re
from collections.abc import Callable

from simulator.conformance.bench import Bench
from simulator.conformance.laws import guess, promise
from simulator.conformance.service import Answer
from simulator.contract.files import operation_ids
from simulator.engine.text.json import JsonObject
from simulator.providers.ramp.laws import stock

TOKEN = "POST /auth/token"
CHAPTER = "Authentication"
NOWHERE = "00000000000000000000"


def _exchange(bench: Bench, body: JsonObject) -> Answer:
    return bench.service.call(TOKEN, body, token="")


def _pair(bench: Bench) -> JsonObject:
    return {"public_key": bench.service.public_key, "secret_key": bench.service.secret_key}


@promise("token.answer", "Token response")
def token_answer(bench: Bench) -> None:
    """A key pair is exchanged for a Bearer token that is good for the seconds it tells."""
    answer = _exchange(bench, _pair(bench))
    if bench.accepted(answer, 200):
        bench.equal(answer, "token_type", "Bearer")
        seconds = answer.number("expires_in")
        bench.holds(seconds > 0, answer, f"expires_in is {seconds}", "expires_in")
        good = bench.call("GET /profile", token=answer.text("access_token"))
        bench.accepted(good, 200, after=(answer,))


@promise("token.missing_field", "POST /auth/token")
def missing_field(bench: Bench) -> None:
    """An exchange without one of the two keys is refused with 400 invalid_request."""
    pair = _pair(bench)
    for name in pair:
        left = {member: value for member, value in pair.items() if member != name}
        bench.refused(_exchange(bench, left), 400, "invalid_request")


@promise("auth.credentials", "Authentication: failure conditions at token exchange")
def credentials(bench: Bench) -> None:
    """A secret that is not the pair's, or a key that nobody has, gets 401."""
    pair = _pair(bench)
    prefix = str(pair["secret_key"])[: len("sk_test_")]
    public = str(pair["public_key"])[: len("pk_test_")]
    for body in ({**pair, "secret_key": f"{prefix}{NOWHERE}"}, {**pair, "public_key": f"{public}{NOWHERE}"}):
        bench.refused(_exchange(bench, body), 401)


@promise("auth.environment", "Authentication: environment mismatch")
def environment(bench: Bench) -> None:
    """A pair with the prefixes of the other environment gets 401."""
    pair = _pair(bench)
    swapped = {"_test_": "_live_", "_live_": "_test_"}
    other = {
        name: re.sub("_test_|_live_", lambda found: swapped[found[0]], str(key), count=1) for name, key in pair.items()
    }
    for body in (other, {**pair, "secret_key": other["secret_key"]}):
        bench.refused(_exchange(bench, body), 401)
    if bench.controlled:
        public, secret = bench.world.other_keys
        bench.refused(_exchange(bench, {"public_key": public, "secret_key": secret}), 401)


def _operations(bench: Bench) -> list[str]:
    """Every operation that needs a token; without writes only those that read."""
    return [name for name in operation_ids() if name != TOKEN and (bench.writes or name.startswith("GET "))]


def _bare(bench: Bench, operation: str, token: str) -> Answer:
    ids = dict.fromkeys(re.findall(r"\{([a-z_]+)\}", operation), NOWHERE)
    return bench.call(operation, None if operation.startswith(("GET", "DELETE")) else {}, token=token, path=ids)


@promise("auth.required", "Endpoints: Authorization on every call")
def required(bench: Bench) -> None:
    """Every operation but the token exchange answers 401 unauthorized without a token."""
    for operation in _operations(bench):
        bench.refused(_bare(bench, operation, ""), 401, "unauthorized")


@promise("auth.made_up", "Errors: unauthorized")
def made_up(bench: Bench) -> None:
    """A token that nobody gave out answers 401 unauthorized."""
    for operation in _operations(bench):
        bench.refused(_bare(bench, operation, "made-up"), 401, "unauthorized")


@promise("token.expires", "Authentication: expires_in", "writes", "control")
def expires(bench: Bench) -> None:
    """A token works until its expires_in seconds are over and answers 401 after them."""
    answer = _exchange(bench, _pair(bench))
    token, seconds = answer.text("access_token"), int(answer.number("expires_in"))
    bench.world.advance(f"{seconds - 2}s")
    bench.accepted(bench.call("GET /profile", token=token), 200, after=(answer,))
    bench.world.advance("3s")
    bench.refused(bench.call("GET /profile", token=token), 401, "unauthorized", after=(answer,))


@promise("token.rotation", "Authentication: Rotation", "writes", "control")
def rotation(bench: Bench) -> None:
    """Two pairs work side by side, and revoking one ends its tokens at once and leaves the other's."""
    made = bench.world.act("create_key", label="conform")["resource"]
    beside = bench.service.another(keys=(made["public_key"], made["secret_key"]))
    token, own = beside.sign_in(), bench.service.sign_in()
    beside.close()
    bench.accepted(bench.call("GET /profile", token=token), 200)
    bench.accepted(bench.call("GET /profile", token=own), 200)
    bench.world.act("revoke_key", public_key=made["public_key"])
    bench.refused(bench.call("GET /profile", token=token), 401, "unauthorized")
    bench.accepted(bench.call("GET /profile", token=own), 200)
    again = _exchange(bench, {"public_key": made["public_key"], "secret_key": made["secret_key"]})
    bench.refused(again, 401)


@guess("auth.permissions", "H18", "writes", "control")
def permissions(bench: Bench) -> None:
    """A key with the permission to read alone reads and may not write."""
    made = bench.world.act("create_key", label="conform", permissions=["read"])["resource"]
    token = _exchange(bench, {"public_key": made["public_key"], "secret_key": made["secret_key"]}).text("access_token")
    bench.accepted(bench.call("GET /transactions", token=token), 200)
    for operation, body in (
        ("POST /quotes", stock.ONRAMP), ("POST /beneficiaries", stock.BENEFICIARY), ("POST /wallet/send", stock.SEND),
        ("POST /wallets", {"network": "celo"}), ("PATCH /profile", {"first_name": "Amina"}),
    ):  # fmt: skip
        bench.refused(bench.call(operation, body, token=token), 403, "forbidden")
    bench.world.act("revoke_key", public_key=made["public_key"])


@promise("auth.kyc", "Errors: kyc_required", "writes", "control")
def kyc(bench: Bench) -> None:
    """An account that has not passed KYC may move no money: 403 kyc_required."""
    bench.world.act("set_kyc", status="action_required")
    try:
        for operation, body in (("POST /quotes", stock.ONRAMP), ("POST /wallet/send", stock.SEND)):
            bench.refused(bench.call(operation, body), 403, "kyc_required")
        bench.equal(bench.call("GET /profile/kyc"), "kyc_status", "action_required")
        bench.equal(bench.call("GET /profile"), "kyc_status", "action_required")
    finally:
        bench.world.act("set_kyc", status="approved")


CLOSED: tuple[tuple[str, JsonObject, JsonObject, tuple[tuple[str, JsonObject | None], ...]], ...] = (
    ("set_kyc", {"status": "action_required"}, {"status": "approved"},
     (("POST /quotes", stock.ONRAMP), ("POST /wallet/send", stock.SEND))),
    ("set_profile", {"status": "suspended"}, {"status": "active"},
     (("GET /transactions", None), ("POST /beneficiaries", stock.BENEFICIARY))),
)  # fmt: skip
"""What closes an account, what opens it again, and calls that are answered 403 meanwhile."""


@promise("auth.before_gates", CHAPTER, "writes", "control")
def before_gates(bench: Bench) -> None:
    """Who calls is asked first: without a good token it is 401, also where the account is answered 403."""
    for action, closing, opening, calls in CLOSED:
        bench.world.act(action, **closing)
        try:
            for operation, body in calls:
                for token in ("", "made-up"):
                    bench.refused(bench.call(operation, body, token=token), 401, "unauthorized")
        finally:
            bench.world.act(action, **opening)


@guess("auth.suspended", "H18", "writes", "control")
def suspended(bench: Bench) -> None:
    """A suspended profile is refused with 403 forbidden everywhere but in the profile itself."""
    bench.world.act("set_profile", status="suspended")
    try:
        bench.refused(bench.call("GET /transactions"), 403, "forbidden")
        bench.refused(bench.call("POST /quotes", stock.ONRAMP), 403, "forbidden")
        bench.equal(bench.call("GET /profile"), "status", "suspended")
    finally:
        bench.world.act("set_profile", status="active")


@promise("auth.production_access", "Errors: production_access_required", "writes", "environments")
def production_access(bench: Bench) -> None:
    """Live keys of an account without production access get 403 production_access_required."""
    public, secret = bench.world.other_keys
    live = bench.other_environment
    bench.world.act("set_production_access", granted=False)
    try:
        answer = live.call(TOKEN, {"public_key": public, "secret_key": secret}, token="")
        bench.refused(answer, 403, "production_access_required")
    finally:
        bench.world.act("set_production_access", granted=True)


@promise("environment.tokens", "General conventions: two environments", "writes", "environments")
def tokens_apart(bench: Bench) -> None:
    """A token of one environment does not work in the other."""
    live = bench.other_environment
    bench.refused(live.call("GET /profile", token=bench.service.sign_in()), 401, "unauthorized")
    bench.refused(bench.call("GET /profile", token=live.sign_in()), 401, "unauthorized")


MADE: tuple[tuple[Callable[[Bench], Answer], str], ...] = (
    (stock.onramp_quote, "GET /quotes/{id}"), (stock.beneficiary, "GET /beneficiaries/{id}"),
    (stock.onramp, "GET /transactions/{id}"), (stock.onramp, "GET /orders/{order_id}"),
    (stock.wallet, "GET /wallets/{id}"), (stock.recurring, "GET /recurring-payments/{id}"),
)  # fmt: skip
"""What is made in one environment and asked for in the other."""


@promise("environment.apart", "Errors: 404, resource does not exist in this environment", "writes", "environments")
def apart(bench: Bench) -> None:
    """What was made in one environment does not exist in the other, whichever of the two it is."""
    live = bench.in_other_environment()
    for here, there in ((bench, live), (live, bench)):
        for make, reading in MADE:
            made = make(here)
            ids = {"id": made.text("id"), "order_id": made.text("id")}
            bench.refused(there.call(reading, path=ids), 404, after=(made,))
        quote = stock.onramp_quote(here)
        used = there.call("POST /quotes/{id}/confirm", stock.onramp_details(), id=quote.text("id"))
        bench.refused(used, 404, "quote_not_found", after=(quote,))


@promise("environment.profile", "Profile: environment", "writes", "environments")
def profile_environment(bench: Bench) -> None:
    """The profile tells the environment of the key that asks."""
    bench.equal(bench.done("GET /profile"), "environment", "sandbox")
    bench.equal(bench.other_environment.call("GET /profile"), "environment", "production")


LAWS = (
    token_answer, missing_field, credentials, environment, required, made_up, expires, rotation, permissions, kyc,
    before_gates, suspended, production_access, tokens_apart, apart, profile_environment,
)  # fmt: skip
