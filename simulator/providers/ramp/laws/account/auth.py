"""Authentication: tokens, key pairs, environments, permissions, and restrictions on accounts."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from simulator.conformance.bench import Bench
from simulator.conformance.laws import changed, guess, promise
from simulator.conformance.service import Answer
from simulator.contract.files import operation_ids
from simulator.engine.text.json import JsonObject
from simulator.providers.ramp.laws import stock

TOKEN = "POST /auth/token"
NOWHERE = "00000000000000000000"


def _exchange(bench: Bench, body: JsonObject) -> Answer:
    return bench.service.call(TOKEN, body, token="")


def _pair(bench: Bench) -> dict[str, str]:
    return {"public_key": bench.service.public_key, "secret_key": bench.service.secret_key}


def _new_pair(bench: Bench, **more: Any) -> dict[str, str]:
    made = bench.world.act("create_key", label="conform", **more)["resource"]
    return {name: made[name] for name in ("public_key", "secret_key")}


def _reads(bench: Bench, token: str, *, after: tuple[Answer, ...] = ()) -> None:
    """Check that a token is valid."""
    bench.accepted(bench.call("GET /profile", token=token), 200, after=after)


def _unauthorized(bench: Bench, token: str, *, after: tuple[Answer, ...] = ()) -> None:
    bench.refused(bench.call("GET /profile", token=token), 401, "unauthorized", after=after)


@promise("token.answer", "Token response")
def token_answer(bench: Bench) -> None:
    """The token exchange returns a Bearer token and its lifetime in seconds."""
    answer = _exchange(bench, _pair(bench))
    if bench.accepted(answer, 200):
        bench.equal(answer, "token_type", "Bearer")
        seconds = answer.number("expires_in")
        bench.holds(seconds > 0, answer, f"expires_in is {seconds}", "expires_in")
        _reads(bench, answer.text("access_token"), after=(answer,))


@promise("token.missing_field", "POST /auth/token")
def missing_field(bench: Bench) -> None:
    """A token request that lacks one of the two keys is refused with 400 invalid_request."""
    pair = _pair(bench)
    for name in pair:
        bench.refused(_exchange(bench, changed(pair, name, None)), 400, "invalid_request")


@promise("auth.credentials", "Authentication: failure conditions at token exchange")
def credentials(bench: Bench) -> None:
    """A wrong secret or an unknown public key is refused with 401."""
    pair = _pair(bench)
    for name, prefix in (("secret_key", "sk_test_"), ("public_key", "pk_test_")):
        bench.refused(_exchange(bench, {**pair, name: f"{pair[name][: len(prefix)]}{NOWHERE}"}), 401)


@promise("auth.environment", "Authentication: environment mismatch")
def environment(bench: Bench) -> None:
    """A key with the prefix of the other environment (sandbox or production) is refused with 401."""
    pair = _pair(bench)
    mine, theirs = ("_test_", "_live_") if "_test_" in pair["public_key"] else ("_live_", "_test_")
    other = {name: key.replace(mine, theirs, 1) for name, key in pair.items()}
    for body in (other, {**pair, "secret_key": other["secret_key"]}):
        bench.refused(_exchange(bench, body), 401)
    if bench.controlled:
        bench.refused(_exchange(bench, bench.world.other_keys), 401)


def _judge_token(bench: Bench, token: str) -> None:
    """Check that all operations except the token exchange refuse a token. A read-only run checks only GET."""
    for operation in operation_ids():
        if operation != TOKEN and (bench.writes or operation.startswith("GET ")):
            ids = dict.fromkeys(re.findall(r"\{([a-z_]+)\}", operation), NOWHERE)
            body: JsonObject | None = None if operation.startswith(("GET", "DELETE")) else {}
            bench.refused(bench.call(operation, body, token=token, path=ids), 401, "unauthorized")


@promise("auth.required", "Endpoints: Authorization on every call")
def required(bench: Bench) -> None:
    """Every operation except the token exchange returns 401 unauthorized without a token."""
    _judge_token(bench, "")


@promise("auth.made_up", "Errors: unauthorized")
def made_up(bench: Bench) -> None:
    """Every operation returns 401 unauthorized for an unknown token."""
    _judge_token(bench, "made-up")


@promise("token.expires", "Authentication: expires_in", "writes", "control")
def expires(bench: Bench) -> None:
    """A token is valid for expires_in seconds. After that, requests with the token return 401."""
    answer = _exchange(bench, _pair(bench))
    token, seconds = answer.text("access_token"), int(answer.number("expires_in"))
    bench.world.advance(f"{seconds - 2}s")
    _reads(bench, token, after=(answer,))
    bench.world.advance("3s")
    _unauthorized(bench, token, after=(answer,))


@promise("token.rotation", "Authentication: Rotation", "writes", "control")
def rotation(bench: Bench) -> None:
    """Two key pairs work at the same time. Revoking one pair invalidates its tokens immediately, but not the tokens of
    the other pair.
    """
    pair = _new_pair(bench)
    beside = bench.service.another(keys=pair)
    token, own = beside.sign_in(), bench.service.sign_in()
    beside.close()
    _reads(bench, token)
    _reads(bench, own)
    bench.world.act("revoke_key", public_key=pair["public_key"])
    _unauthorized(bench, token)
    _reads(bench, own)
    bench.refused(_exchange(bench, pair), 401)


@guess("auth.permissions", "H18", "writes", "control")
def permissions(bench: Bench) -> None:
    """A key that has only the read permission can read but cannot write."""
    pair = _new_pair(bench, permissions=["read"])
    token = _exchange(bench, pair).text("access_token")
    bench.accepted(bench.call("GET /transactions", token=token), 200)
    for operation, body in (
        ("POST /quotes", stock.ONRAMP), ("POST /beneficiaries", stock.BENEFICIARY), ("POST /wallet/send", stock.SEND),
        ("POST /wallets", {"network": "celo"}), ("PATCH /profile", {"first_name": "Amina"}),
    ):  # fmt: skip
        bench.refused(bench.call(operation, body, token=token), 403, "forbidden")
    bench.world.act("revoke_key", public_key=pair["public_key"])


class Gate(NamedTuple):
    """An action that restricts an account or lifts the restriction, and calls that are refused in between."""

    action: str
    closing: JsonObject
    opening: JsonObject
    calls: tuple[tuple[str, JsonObject | None], ...]

    def closed(self, bench: Bench) -> AbstractContextManager[None]:
        return stock.meanwhile(bench.world, self.action, self.closing, self.opening)

    def judge(self, bench: Bench, status: int, code: str, token: str | None = None) -> None:
        for operation, body in self.calls:
            bench.refused(bench.call(operation, body, token=token), status, code)


KYC = Gate(
    "set_kyc", {"status": "action_required"}, {"status": "approved"},
    (("POST /quotes", stock.ONRAMP), ("POST /wallet/send", stock.SEND)),
)  # fmt: skip
SUSPENSION = Gate(
    "set_profile", {"status": "suspended"}, {"status": "active"},
    (("GET /transactions", None), ("POST /beneficiaries", stock.BENEFICIARY), ("POST /quotes", stock.ONRAMP)),
)  # fmt: skip


@promise("auth.kyc", "Errors: kyc_required", "writes", "control")
def kyc(bench: Bench) -> None:
    """If an account's KYC is not approved, requests that move money are refused with 403 kyc_required."""
    with KYC.closed(bench):
        KYC.judge(bench, 403, "kyc_required")
        bench.equal(bench.call("GET /profile/kyc"), "kyc_status", "action_required")
        bench.equal(bench.call("GET /profile"), "kyc_status", "action_required")


@promise("auth.before_gates", "Authentication", "writes", "control")
def before_gates(bench: Bench) -> None:
    """The token is checked first. Without a valid token, requests to a restricted account return 401, not 403."""
    for gate in (KYC, SUSPENSION):
        with gate.closed(bench):
            for token in ("", "made-up"):
                gate.judge(bench, 401, "unauthorized", token)


@guess("auth.suspended", "H18", "writes", "control")
def suspended(bench: Bench) -> None:
    """With a suspended profile, every call except reading the profile is refused with 403 forbidden."""
    with SUSPENSION.closed(bench):
        SUSPENSION.judge(bench, 403, "forbidden")
        bench.equal(bench.call("GET /profile"), "status", "suspended")


@promise("auth.production_access", "Errors: production_access_required", "writes", "environments")
def production_access(bench: Bench) -> None:
    """Without production access, an account's live keys are refused with 403 production_access_required."""
    with stock.meanwhile(bench.world, "set_production_access", {"granted": False}, {"granted": True}):
        answer = bench.other_environment.call(TOKEN, bench.world.other_keys, token="")
    bench.refused(answer, 403, "production_access_required")


@promise("environment.tokens", "General conventions: two environments", "writes", "environments")
def tokens_apart(bench: Bench) -> None:
    """A token for one environment does not work in the other."""
    live = bench.in_other_environment()
    _unauthorized(live, bench.service.sign_in())
    _unauthorized(bench, live.service.sign_in())


CREATED: tuple[tuple[Callable[[Bench], Answer], str], ...] = (
    (stock.onramp_quote, "GET /quotes/{id}"), (stock.beneficiary, "GET /beneficiaries/{id}"),
    (stock.onramp, "GET /transactions/{id}"), (stock.onramp, "GET /orders/{order_id}"),
    (stock.wallet, "GET /wallets/{id}"), (stock.recurring, "GET /recurring-payments/{id}"),
)  # fmt: skip
"""Functions that create a resource in one environment, with the operation that reads the resource in the other."""


@promise("environment.apart", "Errors: 404, resource does not exist in this environment", "writes", "environments")
def apart(bench: Bench) -> None:
    """A resource in one environment does not exist in the other. This applies in both directions."""
    live = bench.in_other_environment()
    for here, there in ((bench, live), (live, bench)):
        for create, reading in CREATED:
            made = create(here)
            ids = {"id": made.text("id"), "order_id": made.text("id")}
            bench.refused(there.call(reading, path=ids), 404, after=(made,))
        quote = stock.onramp_quote(here)
        used = there.call("POST /quotes/{id}/confirm", stock.onramp_details(), id=quote.text("id"))
        bench.refused(used, 404, "quote_not_found", after=(quote,))


@promise("environment.profile", "Profile: environment", "writes", "environments")
def profile_environment(bench: Bench) -> None:
    """The profile contains the environment of the caller's key."""
    bench.equal(bench.done("GET /profile"), "environment", "sandbox")
    bench.equal(bench.other_environment.call("GET /profile"), "environment", "production")
