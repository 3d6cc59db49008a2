"""An integrator and third parties that know the API. They make plausible calls with existing ids, so that deep states
are reached.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from random import Random
from typing import Any

from tests.campaigns.hostile.mutations import (
    HEADERS,
    METHODS,
    ODD,
    QUERIES,
    RAW_BODIES,
    TEXTS,
    doubled_key,
    dumps,
    mutated,
    mutated_bytes,
    mutated_text,
)
from tests.campaigns.hostile.server_under_test import Answer, Request, ServerUnderTest
from tests.shipped import observed_calls

BASES = {"sandbox": "/v1", "production": "/production/v1"}
_ID = re.compile(r"\b([a-z]{2,8})_[0-9a-z]{8,}\b")
_WHOLE_ID = re.compile(r"([a-z]{2,8})_[0-9a-z]{8,}")


@cache
def templates() -> dict[str, list[tuple[str, str, str, Any, bool]]]:
    """By operation the calls that the scenarios which ship make: method, path, query, body, whether it was taken."""
    found: dict[str, list[tuple[str, str, str, Any, bool]]] = defaultdict(list)
    for call in observed_calls():
        if call.operation != "create_token":
            path, _, query = call.path.partition("?")
            found[call.operation].append((call.method, path, query, call.body, call.status < 300))
    return dict(found)


WORLD_ACTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    *[
        ("set_network", {"network": network, "status": status})
        for network in ("stellar", "celo", "bitcoin")
        for status in ("operational", "operational", "degraded", "down")
    ],
    ("set_rate", {"asset": "USDC", "fiat_currency": "KES", "rate": "131.5"}),
    ("set_rate", {"asset": "USDC", "fiat_currency": "KES", "rate": "0.0001", "type": "onramp"}),
    ("set_rate", {"from": {"symbol": "USDC", "network": "STELLAR"}, "to": {"symbol": "XLM", "network": "STELLAR"},
    "rate": "8.25"}),
    ("move_rates", {"percent": 5}),
    ("move_rates", {"percent": -2.5}),
    ("set_kyc", {"status": "approved", "level": 3}),
    ("set_kyc", {"status": "action_required", "required_actions": []}),
    ("set_kyc", {"status": "approved"}),
    ("set_profile", {"status": "active"}),
    ("set_limits", {"daily": "900000"}),
    ("set_limits", {"per_transaction": "1"}),
    ("set_limits", {"per_transaction": "900000", "daily": "9000000", "monthly": "90000000"}),
    ("set_production_access", {"granted": True}),
    ("verify_phone", {}),
    ("create_key", {"label": "second", "permissions": ["read"]}),
    ("rotate_webhook_key", {}),
    ("set_balance", {"symbol": "USDC", "network": "STELLAR", "amount": "100000"}),
    ("set_balance", {"symbol": "USDC", "network": "CELO", "amount": "0"}),
    ("set_balance", {"symbol": "BTC", "network": "BITCOIN", "amount": "2"}),
    ("emit", {"type": "kyc.approved"}),
    ("emit", {"type": "transaction.completed"}),
    ("emit", {"type": "deposit.confirmed", "object": {"amount": "1"}}),
)  # fmt: skip
ID_ACTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("payment_arrives", {}), ("payment_arrives", {}), ("payment_arrives", {"amount": "1"}), ("payment_declined", {}),
    ("deposit_arrives", {}), ("deposit_arrives", {"amount": "5"}), ("deposit_arrives", {"asset": "USDC",
    "amount": "3"}),
    ("deposit_arrives", {"asset": "XLM", "amount": "7.5", "memo": "x"}), ("deposit_arrives", {"asset": "BTC",
    "amount": "0.001"}),
    ("deposit_confirms", {}), ("confirmation_arrives", {}), ("confirmation_arrives", {"confirmations": 6}),
    ("deposit_fails", {}),
    ("broadcast", {}), ("complete", {}), ("complete", {"tx_hash": "ab" * 32}), ("fail", {}), ("fail",
    {"failure_code": "payout_failed"}),
    ("refund", {}), ("invoice_paid", {}), ("lightning_payment_arrives", {"amount_sats": 2100}), ("set_fee_product",
    {"percentage": "1.75"}),
)  # fmt: skip
"""Actions on a resource; most do not fit the resource they are tried on."""


class Actor:
    """One world, what is known of it, and calls to it."""

    def __init__(self, subject: ServerUnderTest, rng: Random, world: str, strangers: list[str] | None = None) -> None:
        self.subject = subject
        self.rng = rng
        self.world = world
        self.info: dict[str, Any] = {}
        self.tokens: dict[str, str] = {}
        self.pool: dict[str, list[str]] = defaultdict(list)
        self.strangers = strangers if strangers is not None else []
        """Ids that belong to other worlds."""

    async def move_in(self, **body: Any) -> bool:
        """Make the world and sign in; False when that was not possible.

        A scenario that answers itself is stopped early: by the default it may work for more than the second that an
        answer may take, which is the work that was ordered.
        """
        settings = {"rate_limit": "1000000/1", "webhook_urls": "any", "timers_per_instant": 2_000}
        settings |= body.pop("settings", {})
        made = await self.subject.control(
            "default", "POST", "/worlds", {"id": self.world, "settings": settings, **body}
        )
        if made.status != 201:
            self.subject.fail(
                "no world",
                f"a world could not be made: {made.status} {made.code}",
                f"{body}",
                made.raw.decode("utf-8", "replace"),
            )
            return False
        return await self.look()

    async def look(self) -> bool:
        """Read the world's keys and get a new token."""
        shown = await self.subject.control("default", "GET", f"/worlds/{self.world}")
        if shown.status != 200:
            return False
        self.info = shown.body
        self.tokens.clear()
        for environment in BASES:
            await self.sign_in(environment)
        return True

    async def move_out(self) -> None:
        """End the world, unless it is to be there for the restart at the end."""
        if self.subject.keeps_worlds:
            return
        await self.subject.control("default", "DELETE", f"/worlds/{self.world}")

    async def sign_in(self, environment: str) -> None:
        if not self.info:
            return
        keys = self.info["credentials"][environment]
        body = dumps({name: keys[name] for name in ("public_key", "secret_key")})
        headers = [("host", "127.0.0.1"), ("content-type", "application/json")]
        got = await self.subject.ask(Request("POST", f"{BASES[environment]}/auth/token", "", headers, body))
        token = got.body.get("access_token") if isinstance(got.body, dict) else None
        self.tokens[environment] = token if isinstance(token, str) else "none"

    def harvest(self, answer: Answer) -> None:
        """Remember the ids that an answer shows, the newest last."""
        if not 200 <= answer.status < 300 or len(answer.raw) > 20_000:
            return
        for match in _ID.finditer(answer.raw.decode("utf-8", "replace")):
            prefix, found = match[1], match[0]
            if prefix in ("req", "tok", "sk", "pk", "whk", "evt", "dlv"):
                continue
            known = self.pool[prefix]
            if found in known[-12:]:
                continue
            known.append(found)
            del known[:-60]

    def known_id(self) -> str | None:
        kinds = [ids for ids in self.pool.values() if ids]
        return self.rng.choice(self.rng.choice(kinds)[-12:]) if kinds else None

    def _alive(self, text: str) -> str:
        """A text with its ids replaced by living ones of their kind."""

        def swap(match: re.Match[str]) -> str:
            chance = self.rng.random()
            if self.strangers and chance < 0.03:
                return self.rng.choice(self.strangers)
            ids = self.pool.get(match[1])
            if not ids or chance > 0.94:
                return match[0]
            return self.rng.choice(ids[-4:] if chance < 0.7 else ids)

        return _ID.sub(swap, text)

    def _enlivened(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self._enlivened(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self._enlivened(item) for item in value]
        return self._alive(value) if isinstance(value, str) and _WHOLE_ID.fullmatch(value) else value

    def plausible(self, operation: str | None = None, environment: str | None = None) -> tuple[Request, Any]:
        """A call that may well succeed, and its body before it became bytes."""
        rng, table = self.rng, templates()
        rows = table[operation or rng.choice(list(table))]
        good = [row for row in rows if row[4]]
        method, path, query, body, _ = rng.choice(good if good and rng.random() < 0.8 else rows)
        environment = environment or ("sandbox" if rng.random() < 0.85 else "production")
        body = self._enlivened(body)
        if isinstance(body, dict) and operation == "create_webhook" and isinstance(body.get("url"), str):
            body["url"] = f"{self.subject.origin}/_simulator/inbox/{self.world}"
        headers = [("host", "127.0.0.1"), ("authorization", f"Bearer {self.tokens.get(environment, 'none')}")]
        if body is not None:
            headers.append(("content-type", "application/json"))
        if method == "POST" and rng.random() < 0.15:
            headers.append(("idempotency-key", rng.choice(("same", "one", "two", "three", str(rng.random())))))
        request = Request(method, BASES[environment] + self._alive(path), self._alive(query), headers, b"")
        request.body = b"" if body is None else dumps(body)
        return request, body

    def broken(self) -> Request:
        """A plausible call with something odd about it."""
        rng = self.rng
        request, body = self.plausible()
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            way = rng.random()
            if way < 0.55 and body is not None:
                extra = tuple(filter(None, (self.known_id(), rng.choice(self.strangers) if self.strangers else None)))
                body = mutated(rng, body, rng.choice((1, 1, 2, 4)), extra)
                request.body = dumps(body)
            elif way < 0.62:
                request.body = rng.choice(RAW_BODIES)
                if rng.random() < 0.9:
                    request.headers = [h for h in request.headers if h[0] != "content-type"]
                    request.headers.append(("content-type", "application/json"))
            elif way < 0.65 and isinstance(body, dict):
                request.body = doubled_key(rng, body)
            elif way < 0.7:
                request.body = mutated_bytes(rng, request.body)
            elif way < 0.82:
                odd = rng.choice(HEADERS)
                if rng.random() < 0.7:
                    request.headers = [h for h in request.headers if h[0] != odd[0]]
                request.headers.append(odd)
            elif way < 0.92:
                odd_query = rng.choice(QUERIES) if rng.random() < 0.7 else mutated_text(rng, request.query or "page=1")
                request.query = odd_query if rng.random() < 0.5 else f"{request.query}&{odd_query}"
            elif way < 0.95:
                request.method = rng.choice(METHODS)
            else:
                request.path = self._broken_path(request.path)
        return request

    def _broken_path(self, path: str) -> str:
        rng = self.rng
        way = rng.randrange(6)
        if way == 0:
            parts = path.split("/")
            parts[rng.randrange(1, len(parts))] = rng.choice(TEXTS)[:300]
            return "/".join(parts)
        if way == 1:
            return path + "/"
        if way == 2:
            return path.replace(
                "/v1", rng.choice(("", "/v2", "/V1", "//v1", "/production/v1", "/production", "/v1/v1")), 1
            )
        if way == 3:
            return "/" + mutated_text(rng, path).lstrip("/")
        if way == 4 and self.strangers:
            return _ID.sub(lambda match: rng.choice(self.strangers), path)
        return path + rng.choice(("%2f..", "/..", "/\x00", "/é", "?x", ";a=b", "/" + "a" * 2000))

    async def call(self, request: Request) -> Answer:
        """Send a call, and get a new token if the token has expired."""
        answer = await self.subject.ask(request)
        self.harvest(answer)
        if answer.status == 401 and self.rng.random() < 0.3:
            for environment in BASES:
                await self.sign_in(environment)
        return answer

    async def live(self, calls: int) -> None:
        """Some plausible calls and actions, one after another."""
        for _ in range(calls):
            if self.rng.random() < 0.7:
                await self.call(self.plausible()[0])
            else:
                await self.act()

    async def deal(self) -> None:
        """From a quote to a payment, of a random sort."""
        rng = self.rng
        for pair in rng.choice((
            ("create_beneficiary", "create_quote", "confirm_quote"), ("create_quote", "confirm_quote"),
            ("quote_buy", "buy"), ("create_beneficiary", "quote_withdraw", "withdraw"), ("quote_swap", "swap"),
            ("send",), ("create_wallet", "create_lightning_entry"), ("create_webhook",),
            ("create_recurring_payment", "set_recurring_schedule", "review_recurring_payment",
            "activate_recurring_payment"),
        )):  # fmt: skip
            await self.call(self.plausible(pair, "sandbox")[0])
        for _ in range(rng.randrange(3)):
            await self.act()

    async def act(self) -> Answer:
        """Perform a random action of a third party."""
        rng, target = self.rng, self.known_id()
        if target is None or rng.random() < 0.35:
            name, parameters = rng.choice(WORLD_ACTIONS)
            body: Any = dict(parameters)
        else:
            name, parameters = rng.choice(ID_ACTIONS)
            body = {"target": target, **parameters}
            if rng.random() < 0.6:
                story = await self.subject.control(self.world, "GET", f"/resources/{target}")
                allowed = story.body.get("allowed") if isinstance(story.body, dict) else None
                if allowed:
                    name = rng.choice(allowed)
                    fitting = [values for action, values in ID_ACTIONS if action == name]
                    body = {"target": target, **(rng.choice(fitting) if fitting else {})}
        if rng.random() < 0.1:
            body = mutated(rng, body, 1, (self.known_id(), rng.choice(ODD)))
        answer = await self.subject.control(self.world, "POST", f"/actions/{name}", body)
        self.harvest(answer)
        return answer

    async def record(self) -> None:
        """Check that a recording of manual steps is a valid scenario."""
        subject, headers = self.subject, [("host", "127.0.0.1"), ("x-simulator-world", self.world)]
        shown = await subject.control(self.world, "GET", "/recording")
        if shown.status != 200:
            return
        kept = await subject.ask(Request("POST", "/_simulator/scenarios", "", headers, shown.raw))
        if kept.status == 400 and b"\n# Too large to upload: " in shown.raw:
            return
        if kept.status != 201:
            subject.fail(
                "recording", f"a recording is no valid scenario: {kept.status}", subject.place, kept.raw[:1500].decode()
            )

    async def pass_time(self) -> Answer:
        rng = self.rng
        span = rng.choice(("1ms", "10s", "45s", "5m", "31m", "3h", "1d", "9d", 0, 1.5))
        how: dict[str, Any] = {"by": span} if rng.random() < 0.9 else {"to_next_timer": True}
        return await self.subject.control(self.world, "POST", "/clock/advance", how)
