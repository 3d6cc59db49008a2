"""Recording a world and running the recording: statuses, events and states are the same."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from simulator.cli import main
from simulator.engine.clients.asynchronous import AsgiClient, HttpClient
from simulator.engine.scenario.files.library import ScenarioFile
from simulator.engine.scenario.files.loader import Loader
from simulator.engine.scenario.run.results import RunResult
from simulator.engine.scenario.run.runner import run
from simulator.engine.server.config import Config
from simulator.host import Simulator, create_app
from simulator.service import TOKEN_EXCHANGE
from tests.remote import Remote
from tests.service.control.test_trigger import offramp, onramp, quote, recurring, trigger
from tests.support import BENEFICIARY, CELO, KEYS, QUOTE


def recorded(world: Remote, **query: str) -> str:
    answer = world.control("GET", "/recording", params=query)
    assert answer.status == 200, answer.body
    assert answer.headers["content-type"].startswith("application/yaml")
    return answer.raw.decode()


def loaded(text: str) -> ScenarioFile:
    simulator = Simulator()
    return Loader(simulator.vocabulary).load(text, "recording.yaml", simulator.library)


def replayed(world: Remote, text: str, seed: int = 1) -> RunResult:
    async def play() -> RunResult:
        return await run(loaded(text), HttpClient(world.origin), TOKEN_EXCHANGE, seed=seed)

    result = asyncio.run(play())
    assert result.passed, result.readable() + "\n" + text
    return result


def test_nothing_done_is_an_empty_scenario_that_runs(world: Remote) -> None:
    text = recorded(world)
    assert text.startswith("# yaml-language-server: $schema=../contracts/scenario.schema.json\n")
    file = loaded(text)
    assert (file.name, file.scenario.drive, file.scenario.expect) == ("recording", [], [])
    replayed(world, text)


def test_recording_repeats_calls_actions_and_time_in_order(world: Remote) -> None:
    mine = offramp(world)
    world.advance(by="20s")
    world.act("deposit_arrives", mine["id"])
    world.advance(by="1m")
    world.advance(by="2m")
    world.act("fail", mine["id"], failure_code="payout_failed")
    world.act("refund", mine["id"])
    world.advance(by="5m")
    text = recorded(world, name="by-hand")
    drive = loaded(text).document["drive"]
    assert [next(iter(step)) for step in drive] == [
        "beneficiary",
        "quote",
        "offramp",
        "advance",
        "action",
        "advance",
        "advance",
        "action",
        "action",
        "advance",
    ]
    assert drive[2]["offramp"]["post"] == "/quotes/${quote.id}/confirm"
    assert drive[2]["offramp"]["body"]["beneficiary_id"] == "${beneficiary.id}"
    assert drive[4] == {"action": "deposit_arrives", "target": "${offramp.id}"}
    assert [step["advance"] for step in drive if "advance" in step] == ["20s", "1m", "2m", "5m"]
    expected = loaded(text).document["expect"]
    assert {"event": "transaction.refunded", "times": 1} in expected
    assert {"resource": "${offramp.id}", "where": {"status": "refunded"}} in expected
    assert mine["id"] not in text
    result = replayed(world, text)
    assert len(result.checks) == 1 + len(expected)


def test_weather_that_was_active_is_active_again(autopilot_world: Remote) -> None:
    onramp(autopilot_world)
    autopilot_world.advance(by="10m")
    text = recorded(autopilot_world)
    assert loaded(text).scenario.below == ["autopilot", "test-values"]
    assert {"event": "transaction.completed", "times": 1} in loaded(text).document["expect"]
    replayed(autopilot_world, text)


def test_refusals_keep_their_status_and_code(world: Remote) -> None:
    assert world.api("POST", "/quotes", {}).status == 400
    assert world.api("GET", "/transactions/txn_nothing").status == 404
    used = quote(world)
    body = {"wallet_address": CELO, "payer": {"phone_number": "+254722000000"}}
    for status in (201, 409):
        assert world.api("POST", f"/quotes/{used['id']}/confirm", body).status == status
    world.advance(by="1h")
    assert world.api("GET", "/profile").status == 401
    text = recorded(world)
    calls = [next(iter(step.values())) if len(step) == 1 else step for step in loaded(text).document["drive"]]
    calls = [call for call in calls if isinstance(call, dict)]
    assert [(call["status"], call.get("code")) for call in calls] == [
        (400, "missing_parameter"),
        (404, "not_found"),
        (201, None),
        (201, None),
        (409, "quote_already_used"),
        (401, "unauthorized"),
    ]
    replayed(world, text)


def test_objects_made_by_actions_are_referred_to(world: Remote) -> None:
    wallet = world.api("POST", "/wallets", {"network": "bitcoin", "lightning": True}).body
    deposit = world.act("deposit_arrives", wallet["id"], asset="BTC", amount="0.01").body["resource"]
    world.act("confirmation_arrives", deposit["id"], confirmations=2)
    world.act("lightning_payment_arrives", wallet["lightning_addresses"][0]["id"], amount_sats=700)
    text = recorded(world)
    drive = loaded(text).document["drive"]
    assert {"action": "confirmation_arrives", "target": "${deposit.id}", "confirmations": 2} in drive
    replayed(world, text)


def test_objects_without_a_response_are_found_by_position(world: Remote) -> None:
    wallet = world.api("POST", "/wallets", {"network": "bitcoin"}).body
    body = {"type": "invoice", "amount_sats": 500}
    invoice = world.api("POST", f"/wallets/{wallet['id']}/lightning", body).body
    world.act("invoice_paid", invoice["id"])
    deposits = world.control("GET", "/resources", params={"type": "deposit_transaction"}).body["data"]
    assert world.api("GET", f"/transactions/{deposits[0]['id']}").status == 200
    text = recorded(world)
    assert "/transactions/${found.data.0.id}" in text
    replayed(world, text)


def test_settings_faults_and_the_choice_of_weather_are_repeated(world: Remote) -> None:
    world.control("PATCH", "/settings", {"strict": True, "webhook_urls": "any"})
    world.control("PATCH", "/settings", {"webhook_timestamp": "simulated"})
    world.control("POST", "/faults", {"webhook": {}, "deliver": {"drop": True}})
    assert world.api("POST", "/beneficiaries", {**BENEFICIARY, "unknown": 1}).status == 400
    fault = {"match": {"method": "POST", "path": "/quotes"}, "respond": {"status": 503, "code": "service_unavailable"}}
    fault_id = world.control("POST", "/faults", fault).body["id"]
    assert world.api("POST", "/quotes", {}).status == 503
    world.control("DELETE", f"/faults/{fault_id}")
    world.control("PUT", "/scenarios/active", {"names": ["autopilot"]})
    onramp(world)
    world.advance(by="3m")
    text = recorded(world)
    assert "webhook_urls" not in text
    assert "drop: true" in text
    replayed(world, text)


def test_recording_notes_an_omitted_endpoint_fault(world: Remote) -> None:
    world.control("POST", "/faults", {"webhook": {"endpoint_id": "wh_1"}, "deliver": {"copies": 2}})
    world.control("POST", "/faults", {"webhook": {"event": "transaction.created"}, "deliver": {"copies": 3}})
    text = recorded(world)
    assert "# Not recorded: a fault of one endpoint's deliveries, because receivers are not part of a scenario" in text
    assert "copies: 2" not in text
    assert "copies: 3" in text
    replayed(world, text)


def test_an_uploaded_scenario_is_carried_along(world: Remote) -> None:
    rule = {"on": "transaction.awaiting_payment", "do": [{"after": "7s", "action": "payment_declined"}]}
    assert world.control("POST", "/scenarios", {"name": "declines", "rules": [rule]}).status == 201
    onramp(world)
    world.control("PUT", "/scenarios/active", {"names": ["declines"]})
    onramp(world)
    world.advance(by="1m")
    text = recorded(world)
    assert {"event": "transaction.failed", "times": 1} in loaded(text).document["expect"]
    replayed(world, text)


def test_document_includes_scenarios_of_the_server(world: Remote, tmp_path: Path) -> None:
    own = tmp_path / "declines.yaml"
    own.write_text("name: own\nrules:\n  - {on: transaction.awaiting_payment, do: [{action: payment_declined}]}\n")

    async def play() -> str:
        client = AsgiClient(create_app(Config(clock="manual", scenarios=("autopilot", str(own)))))
        token = (await client.request("POST", "/v1/auth/token", KEYS)).body["access_token"]
        headers = {"Authorization": f"Bearer {token}"}
        made = await client.request("POST", "/v1/quotes", QUOTE, headers)
        body = {"wallet_address": CELO, "payer": {"phone_number": "+254722000000"}}
        await client.request("POST", f"/v1/quotes/{made.body['id']}/confirm", body, headers)
        text: str = (await client.request("GET", "/_simulator/recording")).body
        return text

    text = asyncio.run(play())
    assert {"event": "transaction.failed", "times": 1} in loaded(text).document["expect"]
    replayed(world, text)


def test_headers_that_matter_are_kept(world: Remote) -> None:
    headers = {"Idempotency-Key": "first-try", "X-Simulator-Scenario": "payment-declined"}
    made = quote(world)
    body = {"wallet_address": CELO, "payer": {"phone_number": "+254722000000"}}
    for _ in range(2):
        assert world.api("POST", f"/quotes/{made['id']}/confirm", body, headers).status == 201
    world.advance(by="2m")
    text = recorded(world)
    steps = [next(iter(step.values())) for step in loaded(text).document["drive"]]
    assert next(step["headers"] for step in steps if isinstance(step, dict) and "headers" in step) == headers
    assert {"event": "transaction.failed", "times": 1} in loaded(text).document["expect"]
    replayed(world, text)


def test_a_triggered_event_is_triggered_again(world: Remote) -> None:
    for event in ("transaction.expired", "recurring_payment.run_failed", "kyc.rejected"):
        assert trigger(world, event).status == 200
    triggered = trigger(world, "quote.expired")
    assert triggered.status == 409
    text = recorded(world)
    assert text.count("/_simulator/trigger") == 3
    replayed(world, text)


def test_recorded_dates_are_relative_to_the_start(origin: str, http: Any) -> None:
    start = {"mode": "manual", "now": "2026-02-27T23:59:30.250Z"}
    world = Remote(origin, http).another(seed=3, clock=start, scenarios=["autopilot"], settings={"strict": True})
    mine = recurring(world, starts="2026-02-28")
    world.api("GET", f"/recurring-payments/{mine['id']}/review")
    world.api("POST", f"/recurring-payments/{mine['id']}/activate", {})
    world.advance(by="2d")
    text = recorded(world)
    assert {"event": "recurring_payment.run_succeeded", "times": 2} in loaded(text).document["expect"]
    assert loaded(text).document["drive"][0] == {"advance": "53d15h59m30s250ms"}
    replayed(world, text, seed=3)


def test_recording_notes_an_earlier_world_start(origin: str, http: Any) -> None:
    world = Remote(origin, http).another(seed=1, clock={"now": "2020-01-01T00:00:00Z"}, scenarios=["autopilot"])
    onramp(world)
    world.advance(by="5m")
    text = recorded(world)
    assert "# Not recorded: the start time" in text
    replayed(world, text)


def test_time_of_a_running_clock_is_recorded_to_the_millisecond(origin: str, http: Any) -> None:
    clock = {"mode": "scaled", "rate": 1000, "now": "2026-01-05T08:00:00Z"}
    world = Remote(origin, http).another(seed=1, clock=clock)
    mine = onramp(world)
    while world.api("GET", f"/transactions/{mine['id']}").body["status"] != "completed":
        pass
    replayed(world, recorded(world))


def test_both_environments_are_recorded(world: Remote) -> None:
    saved = world.api("POST", "/beneficiaries", BENEFICIARY, environment="production").body
    world.api("DELETE", f"/beneficiaries/{saved['id']}", environment="production")
    world.act("set_network", environment="production", network="celo", status="down")
    text = recorded(world)
    assert [
        step.get("environment") or step["beneficiary"]["environment"] for step in loaded(text).document["drive"]
    ] == ["production"] * 3
    replayed(world, text)


def test_secrets_and_receivers_never_appear(world: Remote, origin: str) -> None:
    url = f"{origin}/_simulator/inbox/hidden-token-abc"
    endpoint = world.api("POST", "/webhooks", {"url": url, "events": ["*"]}).body
    world.api("POST", f"/webhooks/{endpoint['id']}/test")
    pair = world.act("create_key", label="second").body["resource"]
    key = world.act("rotate_webhook_key").body["resource"]["webhook_key"]
    world.act("revoke_key", public_key=pair["public_key"])
    onramp(world)
    text = recorded(world)
    keys = world.world["credentials"]["sandbox"]
    for secret in (keys["secret_key"], keys["webhook_key"], key, pair["secret_key"], world.token(), "hidden-token-abc"):
        assert secret not in text
        assert secret not in str(world.control("GET", "/controls").body)
    assert "# Not recorded: calls of /webhooks" in text
    assert "webhook.test" not in text
    replayed(world, text)


def test_calls_of_another_key_pair_are_omitted(world: Remote) -> None:
    pair = world.act("create_key", permissions=["read"]).body["resource"]
    keys = {"public_key": pair["public_key"], "secret_key": pair["secret_key"]}
    world.tokens["sandbox"] = world.call("POST", f"{world.base()}/auth/token", json=keys).body["access_token"]
    assert world.api("POST", "/beneficiaries", BENEFICIARY).status == 403
    text = recorded(world)
    assert "# Not recorded: POST /beneficiaries (403)" in text
    replayed(world, text)


def test_polls_without_a_change_are_recorded_once(world: Remote) -> None:
    mine = onramp(world)
    for _ in range(5):
        world.api("GET", f"/transactions/{mine['id']}")
    world.act("payment_arrives", mine["id"])
    for _ in range(5):
        world.api("GET", f"/transactions/{mine['id']}")
    assert recorded(world).count("get: /transactions/${onramp.id}") == 2


def test_since_begins_later(world: Remote) -> None:
    onramp(world)
    world.advance(by="1h")
    world.tokens.clear()
    quote(world)
    text = recorded(world, since="2026-01-05T08:30:00Z")
    assert [next(iter(step)) for step in loaded(text).document["drive"]] == ["advance", "quote"]
    replayed(world, text)
    last = world.control("GET", "/controls").body["data"][-1]["id"]
    assert "/confirm" not in recorded(world, since=last)
    assert "/quotes" in recorded(world, since="2026-01-05T09:00:00.000Z")
    assert "/quotes" not in recorded(world, since="2026-01-05T09:00:00.000001Z")
    assert loaded(recorded(world, since="2027-01-01T00:00:00Z")).scenario.expect == []


@pytest.mark.parametrize(("query", "param"), [({"name": "../x"}, "name"), ({"since": "yesterday"}, "since")])
def test_a_wrong_name_or_beginning_is_refused(world: Remote, query: dict[str, str], param: str) -> None:
    assert world.control("GET", "/recording", params=query).refusal == (400, "invalid_parameter", param)


def test_unrepeatable_steps_are_reported(world: Remote) -> None:
    headers = {"Authorization": f"Bearer {world.token()}", "Content-Type": "application/json"}
    world.call("POST", f"{world.base()}/quotes", headers=headers, content=b"{not json")
    world.api("POST", "/beneficiaries", {**BENEFICIARY, "name": "${HOME}"})
    world.control("POST", "/faults", {"match": {"path": "/rates"}, "drop": True, "times": 1})
    with pytest.raises(Exception, match="disconnected"):
        world.api("GET", "/rates")
    text = recorded(world)
    notes = [line for line in text.splitlines() if line.startswith("# Not recorded")]
    assert len(notes) == 3


def test_a_recording_reports_dropped_journal_entries(world: Remote) -> None:
    for _ in range(4):
        world.act("set_kyc", status="approved")
        world.api("GET", "/rates")
    last = world.control("GET", "/controls").body["data"][-1]["id"]
    assert "dropped" not in recorded(world)
    world.control("PATCH", "/settings", {"journal_limit": 3})
    (note,) = (line for line in recorded(world).splitlines() if line.startswith("# Not recorded"))
    assert note.startswith("# Not recorded: the oldest 2 API requests and 2 control calls, which the journals have")
    assert "Not recorded" not in recorded(world, since=last)


def test_control_journal_keeps_the_order_and_omits_refused_calls(world: Remote) -> None:
    world.act("set_kyc", status="pending")
    world.act("set_kyc", status="nonsense")
    world.advance(by="5s")
    rows = world.control("GET", "/controls").body["data"]
    assert [(row["id"], row["name"], row["path"]) for row in rows] == [
        ("ctl_000001", "perform", "/actions/set_kyc"),
        ("ctl_000002", "advance", "/clock/advance"),
    ]
    assert (rows[1]["at"], rows[1]["ended_at"]) == ("2026-01-05T08:00:00.000Z", "2026-01-05T08:00:05.000Z")


def test_a_reset_starts_again(world: Remote) -> None:
    onramp(world)
    world.control("POST", "/reset")
    assert loaded(recorded(world)).scenario.drive == []


def test_recording_with_an_invalid_scenario_name_is_refused(world: Remote) -> None:
    for name in ("active", "a b", "/"):
        assert world.control("GET", "/recording", params={"name": name}).refusal == (400, "invalid_parameter", "name")


def test_recording_too_large_to_upload_says_so(world: Remote, tmp_path: Path) -> None:
    """A large recording is still a valid scenario file. A smaller one has no note."""
    long, said = {"note": "x" * 3_000}, b"# Too large to upload: POST /_simulator/scenarios takes 256 KB"
    for _ in range(5):
        world.api("POST", "/beneficiaries", long)
    assert said not in world.control("GET", "/recording").raw
    for _ in range(95):
        world.api("POST", "/beneficiaries", long)
    recording = world.control("GET", "/recording").raw
    assert said in recording.splitlines()[1]
    refused = world.control("POST", "/scenarios", content=recording, headers={"Content-Type": "application/yaml"})
    assert refused.status == 400
    (tmp_path / "recording.yaml").write_bytes(recording)
    assert CliRunner().invoke(main, ["scenario", "validate", str(tmp_path / "recording.yaml")]).exit_code == 0


def test_recording_of_too_many_values_says_so(world: Remote) -> None:
    for _ in range(4):
        world.api("POST", "/beneficiaries", {"note": [1] * 6_000})
    assert b"# Too large to upload" in world.control("GET", "/recording").raw
