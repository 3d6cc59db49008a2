"""Wrong services: each has one mistake, which its rule finds."""

from __future__ import annotations

import asyncio
import hmac
import json
from typing import Any

import httpx
import pytest

from contracts.generator.mutants import RECORD, section
from simulator.conformance.shapes import RULES
from simulator.providers.ramp.laws import RULEBOOK
from tests.tools.conformance.mutants import MUTANTS, Tally
from tests.tools.conformance.mutants.__main__ import row_of
from tests.tools.conformance.mutants.running import FLOOR, judge, wrong_service

KEYS = {"public_key": "pk_test_simulator", "secret_key": "sk_test_simulator"}
QUOTE = {
    "type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES", "amount": "5000",
    "amount_currency": "KES", "method": "mobile_money",
}  # fmt: skip


class Client(httpx.AsyncClient):
    """A client with a token."""

    async def api(self, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        if "authorization" not in self.headers:
            token = await self.post("/v1/auth/token", json=KEYS)
            self.headers["authorization"] = f"Bearer {token.json()['access_token']}"
        return await self.request(method, f"/v1{path}", json=body, headers=headers)


def play(name: str | None, flow: Any) -> Tally:
    """Play a flow with a mutant or the unchanged simulator. Return the changes of the mutant."""

    async def playing() -> Tally:
        mutant = MUTANTS[name] if name else None
        async with wrong_service(mutant) as (origin, tally), Client(base_url=origin, trust_env=False) as client:
            await flow(client)
        return tally

    return asyncio.run(playing())


def test_every_mutant_is_described() -> None:
    assert len(MUTANTS) >= 30
    for mutant in MUTANTS.values():
        assert mutant.wrong.endswith(".")
        assert mutant.found_by
        assert (mutant.service is None) != (mutant.sender is None)


def test_rules_that_find_mutants_exist() -> None:
    rules = {rule.name for rule in RULEBOOK.rules} | {rule.name for rule in RULES.values()} | {FLOOR}
    assert {name for mutant in MUTANTS.values() for name in mutant.found_by} <= rules


def test_the_record_has_all_mutants() -> None:
    rows = json.loads(RECORD.read_text())
    assert [(row["name"], row["wrong"]) for row in rows] == [(name, row.wrong) for name, row in MUTANTS.items()]
    assert all(row["rule"] in MUTANTS[row["name"]].found_by for row in rows)
    assert f"{len(MUTANTS)} of {len(MUTANTS)} are found" in section()


@pytest.mark.judges
def test_the_simulator_passes_all_laws() -> None:
    assert judge("").trouble == ""


@pytest.mark.judges
@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_service_is_found_as_recorded(name: str) -> None:
    verdict = judge(name)
    assert verdict.trouble == ""
    assert row_of(verdict) == next(row for row in json.loads(RECORD.read_text()) if row["name"] == name)


@pytest.mark.parametrize("name", ["quote-without-expires-at", "quote-lives-longer", "timestamps-with-offset"])
def test_a_mutant_changes_only_its_fields(name: str) -> None:
    async def flow(client: Client) -> None:
        right = (await client.api("POST", "/fees/calculate", {"product": "deposit"})).content
        quote = (await client.api("POST", "/quotes", QUOTE)).json()
        kept.append((right, quote))

    kept: list[Any] = []
    assert play(None, flow).hits == 0
    assert play(name, flow).hits > 0
    assert kept[0][1] != kept[1][1]
    assert kept[0][0] == kept[1][0]
    changed = {member for member in kept[0][1] if kept[1][1].get(member) != kept[0][1][member]}
    assert changed <= {"expires_at", "created_at"}


def test_a_mutant_changes_only_its_operations() -> None:
    async def flow(client: Client) -> None:
        await client.api("GET", "/rates?type=onramp&network=celo&asset=USDC&fiat_currency=KES")
        await client.api("GET", "/wallets?size=5")

    assert play("rate-inverted", flow).hits == 1
    assert play("deposit-deadline-later", flow).hits == 0


def test_a_mutant_may_call_the_service_twice() -> None:
    async def flow(client: Client) -> None:
        quote = (await client.api("POST", "/quotes", QUOTE)).json()["id"]
        body = {"wallet_address": "0x52908400098527886E0F7030069857D2E4169EE7",
                "payer": {"phone_number": "+254712345678"}}  # fmt: skip
        answers = [await client.api("POST", f"/quotes/{quote}/confirm", body) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [201, 201]
        assert len({answer.json()["id"] for answer in answers}) == 2
        assert {answer.json()["quote_id"] for answer in answers} == {quote}

    assert play("confirmed-twice", flow).hits == 1


def test_a_changed_delivery_is_signed_validly() -> None:
    async def flow(client: Client) -> None:
        inbox = str(client.base_url.join("/_simulator/inbox/here"))
        made = await client.api("POST", "/webhooks", {"url": inbox, "events": ["*"]})
        assert made.status_code == 201, made.text
        await client.api("POST", "/quotes", QUOTE)
        await client.api("POST", f"/webhooks/{made.json()['id']}/test")
        await client.post("/_simulator/settle")
        for row in (await client.get("/_simulator/inbox/here")).json()["data"]:
            headers = {name.lower(): value for name, value in row["headers"].items()}
            raw = row["body"] if isinstance(row["body"], str) else json.dumps(row["body"])
            mac = hmac.digest(b"whk_test_simulator", f"{headers['x-timestamp']}.{raw}".encode(), "sha256").hex()
            assert headers["x-signature"] == mac
            assert json.loads(raw)["livemode"] is True

    assert play("sandbox-says-live", flow).hits == 2
