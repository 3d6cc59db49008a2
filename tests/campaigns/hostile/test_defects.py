"""Known ways to crash, block, fill or read out a server. Each one must stay fixed."""

from __future__ import annotations

import asyncio
import gc
import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import orjson
import pytest

from simulator.compare.replay import compare
from simulator.engine.clients.asynchronous import AsgiClient
from simulator.engine.server.config import Config
from simulator.evidence.corpus.har import HarError, read_har
from simulator.host import create_app
from simulator.kernel.journal import Cause
from tests.campaigns.hostile.apart import Server
from tests.campaigns.hostile.conftest import own_server
from tests.campaigns.hostile.prober import Prober
from tests.campaigns.hostile.stopwatch import Stopwatch, resident_bytes
from tests.remote import TLS, Answer, Remote, new_client
from tests.service.http.busy import beneficiary, ok
from tests.service.http.test_clock_and_webhooks import Receiver, onramp, register
from tests.support import CELO

MEGABYTE = 1 << 20


@contextmanager
def health(server: Server) -> Iterator[Prober]:
    """Ask for the health all the while; `worst` is known afterwards."""
    prober = Prober(server.origin, server.pid, lambda seconds, present: None)
    prober.start()
    yield prober
    prober.stop()


def upload(world: Remote, text: str | bytes) -> Answer:
    return world.control("POST", "/scenarios", headers={"Content-Type": "application/yaml"}, content=text)


def activate(world: Remote, *names: str) -> Answer:
    return world.control("PUT", "/scenarios/active", {"names": list(names)})


def active(world: Remote) -> list[str]:
    return [row["name"] for row in world.control("GET", "/scenarios").body["data"] if row["active"]]


def readable(world: Remote, *paths: str) -> None:
    for path in (
        "/clock",
        "/timers",
        "/worlds",
        f"/worlds/{world.world['id']}",
        "/advice",
        "/coverage?world=*",
        *paths,
    ):
        answer = world.control("GET", path)
        assert answer.status == 200, (path, answer.body)


def connection(server: Server) -> socket.socket:
    found = socket.create_connection(("127.0.0.1", server.port), timeout=5)
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return found


ENDLESS = """
name: endless
rules:
  - {on: network.status_changed, where: {status: down}, do: [{action: set_network, network: celo, status: operational}]}
  - {on: network.status_changed, where: {status: operational}, do: [{action: set_network, network: celo, status: down}]}
"""


# --- time and scenarios -------------------------------------------------------------------------------------------


def test_a_scenario_that_answers_itself_is_stopped_and_named(world: Remote) -> None:
    ok(world.control("PATCH", "/settings", {"timers_per_instant": 200}))
    ok(upload(world, ENDLESS))
    ok(activate(world, "endless"))
    ok(world.act("set_network", network="celo", status="down"))
    assert active(world) == []
    assert world.control("GET", "/scenarios/endless").body["stopped"]
    readable(world)


def test_without_a_setting_ten_thousand_timers_of_an_instant_are_the_bound(world: Remote) -> None:
    assert world.control("GET", "/settings").body["timers_per_instant"] == 10_000


def test_a_timer_that_fails_harms_no_later_call(world: Remote) -> None:
    number = "123456789012345678901234567890"
    text = f"name: fails\ntimeline: [{{at: 1s, action: emit, type: kyc.approved, object: {{x: {number}}}}}]"
    kept = upload(world, text)
    assert kept.status in (201, 400)
    if kept.status == 201:
        ok(activate(world, "fails"))
        world.advance(by="2s")
        assert world.control("GET", "/scenarios/fails").body["failed"]
    ok(world.api("GET", "/wallet/assets"))
    readable(world)
    ok(world.control("PUT", "/clock", {"mode": "scaled", "rate": 1000}))
    ok(world.control("POST", "/reset"))
    ok(world.control("DELETE", f"/worlds/{world.world['id']}", headers={"X-Simulator-World": "default"}))


@pytest.mark.parametrize(
    "part",
    [
        "timeline: [{at: 2932531d, action: set_network, network: celo, status: down}]",
        "rules: [{on: kyc.approved, do: [{after: 2932531d, action: set_network, network: celo, status: down}]}]",
        "rules: [{on: kyc.approved, do: [{after: {between: [2932530d, 2932531d]}, action: move_rates, percent: 1}]}]",
    ],
)
def test_a_step_beyond_the_last_year_leaves_the_world_readable(world: Remote, part: str) -> None:
    kept = upload(world, f"name: far\n{part}")
    if kept.status == 201:
        assert activate(world, "far").status in (200, 400)
        assert world.act("emit", type="kyc.approved").status == 200
        readable(world, "/scenarios/far")
    else:
        assert kept.refusal[:2] == (400, "invalid_scenario")
    readable(world)


def test_a_delivery_delayed_beyond_the_last_year_leaves_the_world_readable(world: Remote) -> None:
    inbox = f"{world.origin}/_simulator/inbox/{world.world['id']}"
    ok(world.api("POST", "/webhooks", {"url": inbox, "events": ["*"]}))
    fault = world.control("POST", "/faults", {"webhook": {}, "deliver": {"delay": "2932531d"}})
    assert fault.status in (201, 400)
    ok(world.act("emit", type="kyc.approved"))
    readable(world, "/deliveries")


def test_a_running_clock_ends_with_the_last_year(default: Remote) -> None:
    clock = {"mode": "scaled", "now": "9998-12-31T23:59:00Z", "rate": 1_000_000}
    world = default.another(scenarios=[], clock=clock)
    began = time.monotonic()
    while time.monotonic() - began < 0.5:
        shown = ok(world.control("GET", "/clock"))
        assert shown["now"] < "9999"
    readable(world)


def endless_payment(world: Remote) -> str:
    """A recurring payment that runs every day and never ends: there is money enough."""
    ok(world.act("set_balance", symbol="USDC", network="STELLAR", amount="1000000000"))
    body = {
        "name": "Rent", "type": "withdraw", "source": {"symbol": "USDC", "network": "STELLAR"}, "amount": "20",
        "amount_currency": "USDC", "recipient": {"beneficiary_id": beneficiary(world)},
    }  # fmt: skip
    found = str(ok(world.api("POST", "/recurring-payments", body))["id"])
    path = f"/recurring-payments/{found}"
    ok(
        world.api(
            "PUT", f"{path}/schedule", {"frequency": "daily", "start_date": "2026-01-06", "end": {"type": "never"}}
        )
    )
    ok(world.api("GET", f"{path}/review"))
    ok(world.api("POST", f"{path}/activate"))
    return found


def test_an_advance_can_be_cancelled(default: Remote) -> None:
    world = default.another(scenarios=["autopilot"])
    payment = endless_payment(world)
    answers: list[httpx.Response] = []

    def advance() -> None:
        answers.append(httpx.post(
            f"{world.origin}/_simulator/clock/advance",
            json={"until": {"resource": payment, "status": "completed"}, "horizon": "9000d"},
            headers={"X-Simulator-World": world.world["id"]}, timeout=8, trust_env=False, verify=TLS,
        ))  # fmt: skip

    thread = threading.Thread(target=advance)
    thread.start()
    began, cancelled = time.monotonic(), None
    while time.monotonic() - began < 5:
        cancelled = world.control("DELETE", "/clock/advance")
        if cancelled.status == 200:
            break
    thread.join(10)
    assert cancelled is not None
    assert (cancelled.status, cancelled.body["cancelled"]) == (200, True)
    assert (answers[0].status_code, answers[0].json()["error"]["code"]) == (409, "advance_cancelled")
    ok(world.control("POST", "/reset"))


def test_a_condition_never_met_is_awaited_until_the_horizon(default: Remote) -> None:
    world = default.another(scenarios=["autopilot"])
    payment = endless_payment(world)
    how = {"until": {"resource": payment, "status": "completed"}, "horizon": "5d"}
    answer = world.control("POST", "/clock/advance", how)
    assert answer.refusal[:2] == (409, "not_reached")
    receipt = answer.body["error"]["receipt"]
    assert receipt["now"] <= "2026-01-10T08:00:00.000Z"
    assert receipt["fired"] >= 4


def test_an_advance_ends_with_its_client(default: Remote) -> None:
    world = default.another(scenarios=["autopilot"])
    payment = endless_payment(world)
    how = {"until": {"resource": payment, "status": "completed"}, "horizon": "900000d"}
    with pytest.raises(httpx.TimeoutException):
        world.control("POST", "/clock/advance", how, timeout=0.5)
    began, reset = time.monotonic(), None
    while time.monotonic() - began < 3:
        reset = world.control("POST", "/reset")
        if reset.status == 200:
            break
    assert reset is not None
    assert reset.status == 200


def test_the_next_timer_is_the_same_however_fast_a_receiver_is(default: Remote) -> None:
    def now(seconds: float) -> str:
        world = default.another(seed=1, scenarios=[])

        def answer(event: dict[str, Any]) -> int:
            threading.Event().wait(seconds)
            return 500

        with Receiver(answer).listening() as receiver:
            register(world, receiver.url, "transaction.created")
            onramp(world)
            while seconds == 0 and not world.control("GET", "/deliveries").body["data"]:
                pass  # the attempt is on its way
            return str(world.advance(to_next_timer=True)["now"])

    assert now(0.3) == now(0)


@pytest.mark.parametrize("path", ["/clock/advance", "/settle", "/snapshots"])
def test_a_receiver_that_waits_for_its_own_delivery_is_answered_at_once(world: Remote, path: str) -> None:
    seen: list[tuple[int, str, float]] = []

    def call_back(event: dict[str, Any]) -> int:
        began = time.monotonic()
        answer = httpx.post(
            f"{world.origin}/_simulator{path}", json={"by": "1s"} if "advance" in path else {}, timeout=15,
            trust_env=False, verify=TLS,
            headers={"X-Simulator-World": world.world["id"]},
        )  # fmt: skip
        seen.append((answer.status_code, answer.json().get("error", {}).get("code", ""), time.monotonic() - began))
        return 200

    with Receiver(call_back).listening() as receiver:
        register(world, receiver.url, "kyc.approved")
        ok(world.act("emit", type="kyc.approved"))
        ok(world.control("POST", "/settle", timeout=15))
    status, code, seconds = seen[0]
    assert (status, code) == (409, "clock_busy")
    assert seconds < 2
    assert [row["status"] for row in world.control("GET", "/deliveries").body["data"]] == ["succeeded"]


@pytest.mark.parametrize("head", [b"200 OK\r\nX: \xff\xfe", b"200 \xff\xfe", b"500 \xe9\r\nX: \xe9"])
def test_a_binary_response_of_a_receiver_can_be_shown(world: Remote, head: bytes) -> None:
    def serve(listener: socket.socket) -> None:
        for answer in (b"200 OK", head):
            link, _ = listener.accept()
            with link:
                while b"\r\n\r\n{" not in link.recv(65_536):
                    pass
                link.sendall(b"HTTP/1.1 " + answer + b"\r\nContent-Length: 2\r\n\r\n\xff\xff")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(8)
        thread = threading.Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        register(world, f"http://127.0.0.1:{listener.getsockname()[1]}/hook", "kyc.approved")
        ok(world.act("emit", type="kyc.approved"))
        ok(world.control("POST", "/settle", timeout=12))
        thread.join(10)
    readable(world, "/deliveries", "/state")


# --- texts that are hard to read ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        b"name: large\ndescription: " + b"x" * 300_000,
        b"name: large\nrules:\n" + b"  - {on: kyc.approved, do: []}\n" * 10_000,
    ],
)
def test_a_scenario_of_more_than_256_kilobytes_is_refused_at_once(world: Remote, text: bytes) -> None:
    watch = Stopwatch()
    answer = upload(world, text)
    assert answer.status == 400
    assert watch.seconds < 1


@pytest.mark.parametrize(
    "text",
    [
        b"name: long\nrules:\n" + b"  - {on: kyc.approved, do: []}\n" * 6_500,
        b"[" * 2_000,
        b"name: unknown\n" + b"".join(b"word%d: 1\n" % number for number in range(5_000)),
    ],
    ids=["long", "deep", "unknown"],
)
def test_reading_a_scenario_blocks_no_request(server: Server, world: Remote, text: bytes) -> None:
    with health(server) as prober:
        answer = upload(world, text)
        assert answer.status in (201, 400)
    assert prober.worst < 0.5


def test_making_a_recording_blocks_no_request(server: Server, world: Remote) -> None:
    body = {"name": "Wanjiru Otieno", "country": "KE", "fiat_currency": "KES", "type": "phone_number"}
    for number in range(500):
        phone = {"phone_number": f"+2547220{number:05d}", "provider": "mpesa"}
        world.api("POST", "/beneficiaries", {**body, "phone_number": phone})
    with health(server) as prober:
        watch = Stopwatch(server.pid)
        assert world.control("GET", "/recording").status == 200
        seconds = watch.seconds
    assert prober.worst < 0.5
    assert seconds < 2


def test_a_pattern_that_takes_forever_is_never_tried(world: Remote) -> None:
    rule = "{on: transaction.created, where: {request.reference: {matches: '^(a+)+$'}}, do: []}"
    kept = upload(world, f"name: bomb\nrules: [{rule}]")
    assert kept.status in (201, 400)
    if kept.status == 201:
        ok(activate(world, "bomb"))
    body = {
        "type": "onramp", "network": "celo", "asset": "CELO", "fiat_currency": "KES", "amount": "5000",
        "amount_currency": "KES",
        "method": "mobile_money",
    }  # fmt: skip
    quote = ok(world.api("POST", "/quotes", body))
    confirm = {"wallet_address": CELO, "payer": {"phone_number": "+254722000000"}, "reference": "a" * 34 + "!"}
    ok(world.api("POST", f"/quotes/{quote['id']}/confirm", confirm, timeout=4))


@pytest.mark.parametrize(
    "part",
    [
        "drive: [{action: {a: 1}}]",
        "rules: [{on: created, where: {a: {matches: 'a{99999999999}'}}, do: []}]",
        "rules: [{on: kyc.approved, times: 123456789012345678901234567890, do: []}]",
        "timeline: [{at: 1s, action: emit, type: kyc.approved, object: {x: 123456789012345678901234567890}}]",
        "%YAML 9.9\n---",
    ],
)
def test_an_odd_scenario_is_refused_or_can_be_shown(world: Remote, part: str) -> None:
    kept = upload(world, f"name: odd\n{part}")
    if kept.status == 201:
        ok(world.control("GET", "/scenarios/odd"))
    else:
        assert kept.refusal[:2] == (400, "invalid_scenario")


# --- state documents ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", ["faults", "advice", "scenario.log", "control.calls"])
@pytest.mark.parametrize(
    "row", [5, {}, {"match": 5}, {"id": None, "at": "x"}], ids=["number", "empty", "wrong", "null"]
)
def test_a_state_with_rows_that_cannot_be_shown_is_refused(world: Remote, table: str, row: Any) -> None:
    document = ok(world.control("GET", "/state"))
    document["tables"][table] = [["x", row]]
    answer = world.control("PUT", "/state", document)
    assert answer.status in (200, 400)
    for path in ("/faults", "/advice", "/scenarios", "/scenarios/autopilot", "/controls", "/requests", "/recording"):
        assert world.control("GET", path).status < 500, path
    world.tokens.clear()
    assert world.api("GET", "/wallet/assets").status == 200


def test_a_state_with_a_request_id_of_two_lines_is_refused(world: Remote) -> None:
    ok(world.api("POST", "/wallets", {"network": "celo"}, {"Idempotency-Key": "one"}))
    document = orjson.dumps(ok(world.control("GET", "/state")))
    stored = json.loads(document)["tables"]["idempotency"][0][1]
    request_id = next(text for text in json.dumps(stored).split('"') if text.startswith("req_"))
    answer = world.control("PUT", "/state", content=document.replace(request_id.encode(), b"req_a\\r\\nX: y"))
    assert answer.status == 400


def test_a_state_of_more_than_64_megabytes_is_refused(world: Remote) -> None:
    document = orjson.dumps(ok(world.control("GET", "/state")))
    answer = world.control("PUT", "/state", content=document + b" " * (65 * MEGABYTE))
    assert answer.status == 400


@pytest.mark.parametrize("rate", [1e-150, 1e-9, 0.1, 999_999.999])
def test_the_export_of_a_world_with_any_rate_can_be_read_back(world: Remote, rate: float) -> None:
    assert world.control("PUT", "/clock", {"rate": rate}).status in (200, 400)
    assert world.control("PUT", "/state", ok(world.control("GET", "/state"))).status == 200


# --- secrets ------------------------------------------------------------------------------------------------------


def misplaced(world: Remote) -> list[tuple[str, dict[str, Any]]]:
    keys = world.world["credentials"]["sandbox"]
    secret, token, pair = (
        keys["secret_key"],
        world.token(),
        {"public_key": keys["public_key"], "secret_key": keys["secret_key"]},
    )
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    auth = "/v1/auth/token"
    return [
        ("POST /v1/auth/tokens", {"json": pair}),
        (f"PUT {auth}", {"json": pair}),
        ("POST /auth/token", {"json": pair}),
        (f"POST {auth}", {"content": f"public_key={keys['public_key']}&secret_key={secret}", "headers": form}),
        (f"POST {auth}", {"content": json.dumps(pair)[:-1] + ",}"}),
        (f"POST {auth}", {"json": {"keys": pair}}),
        (f"POST {auth}", {"json": [pair]}),
        (f"POST {auth}", {"json": {"publicKey": keys["public_key"], "secretKey": secret}}),
        (f"GET /v1/wallet/assets?access_token={token}", {}),
        (f"GET /v1/wallet/assets?secret_key={secret}", {}),
        (f"GET /v1/wallets/{secret}", {}),
        ("GET /v1/wallet/assets", {"headers": {"Authorization": token}}),
        ("GET /v1/wallet/assets", {"headers": {"Authorization": f"Bearer:{token}"}}),
        ("GET /v1/wallet/assets", {"headers": {"X-Api-Key": secret}}),
        ("POST /v1/wallet/send", {"json": {"reference": keys["webhook_key"]},
        "headers": {"Authorization": f"Bearer {token}"}}),
    ]  # fmt: skip


@pytest.mark.parametrize("number", range(15))
def test_no_secret_shows_in_the_journal_wherever_it_was_put(default: Remote, world: Remote, number: int) -> None:
    line, more = misplaced(world)[number]
    method, path = line.split(" ")
    world.call(method, world.origin + path, **more)
    keys = world.world["credentials"]["sandbox"]
    for remote in (world, default):
        shown = remote.control("GET", "/requests").raw + remote.control("GET", "/recording").raw
        for secret in (keys["secret_key"], world.token(), keys["webhook_key"]):
            assert secret.encode() not in shown, line


# --- hosts and callers --------------------------------------------------------------------------------------------

MALFORMED = ("[", "[x]", "a[b", "[]", "]")
DISGUISED = (
    "127.0.0.1:8642.evil.com",
    "localhost/evil",
    "evil.com@127.0.0.1",
    "localhost#x",
    "localhost?x",
    "localhost:x",
)


@pytest.mark.parametrize("host", [*MALFORMED, *DISGUISED])
def test_a_host_that_is_more_or_less_than_a_loopback_name_is_refused(default: Remote, host: str) -> None:
    answer = default.control("GET", "/clock", headers={"Host": host})
    assert (answer.status, answer.code) == (403, "forbidden")


@pytest.mark.parametrize("path", ["/v1/rates", "/v1/auth/token", "/production/v1/wallet/assets", "/v1/nowhere"])
def test_on_loopback_the_interface_answers_loopback_hosts_only(default: Remote, path: str) -> None:
    for method in ("GET", "POST"):
        answer = default.call(method, default.origin + path, json={}, headers={"Host": "evil.com"})
        assert (answer.status, answer.code) == (403, "forbidden")


def test_a_webhook_cannot_steer_the_simulator(default: Remote) -> None:
    for path in ("/reset", "/clock/advance", "/settle"):
        answer = default.control("POST", path, {}, headers={"X-Signature": "00"})
        assert (answer.status, answer.code) == (403, "forbidden")
    before = len(default.control("GET", "/events").body["data"])
    refused = default.api("POST", "/webhooks", {"url": f"{default.origin}/_simulator/reset", "events": ["*"]})
    assert refused.status == 422
    assert len(default.control("GET", "/events").body["data"]) >= before
    inbox = f"{default.origin}/_simulator/inbox/steering"
    assert default.call("POST", inbox, json={}, headers={"X-Signature": "00"}).status == 200


def test_an_event_cannot_be_made_to_resend_itself(default: Remote) -> None:
    event = ok(default.act("emit", type="kyc.approved"))["events"][0]["id"]
    url = f"{default.origin}/_simulator/events/{event}/resend"
    assert default.api("POST", "/webhooks", {"url": url, "events": ["kyc.approved"]}).status == 422


# --- connections --------------------------------------------------------------------------------------------------


def test_a_scenario_that_breaks_off_is_not_kept(server: Server, world: Remote) -> None:
    text = b"name: half\ndescription: kept\n" + b"# " + b"x" * 5_000
    head = f"POST /_simulator/scenarios HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Simulator-World: {world.world['id']}\r\n"
    with connection(server) as link:
        link.sendall(head.encode() + b"Content-Length: %d\r\n\r\n" % len(text) + text[:2_000])
    names = [row["name"] for _ in range(5) for row in world.control("GET", "/scenarios").body["data"]]
    assert "half" not in names


def test_a_call_whose_body_breaks_off_does_nothing(server: Server, default: Remote) -> None:
    world = default.another(scenarios=[])
    payment = endless_payment(world)
    head = f"POST /v1/recurring-payments/{payment}/pause HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    head += f"Authorization: Bearer {world.token()}\r\n"
    with connection(server) as link:
        link.sendall(head.encode() + b"Content-Type: application/json\r\nContent-Length: 30\r\n\r\n")
    statuses = {world.api("GET", f"/recurring-payments/{payment}").body["status"] for _ in range(5)}
    assert statuses == {"active"}


@pytest.mark.parametrize("status", [204, 205, 304])
def test_an_answer_without_a_body_leaves_its_connection_clean(server: Server, world: Remote, status: int) -> None:
    token = world.token()
    fault = world.control("POST", "/faults", {"match": {}, "respond": {"status": status, "code": "x"}})
    assert fault.status in (201, 400)
    link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=4)
    link.request("GET", "/v1/wallet/assets", headers={"Authorization": f"Bearer {token}"})
    first = link.getresponse()
    assert first.status == (status if fault.status == 201 else 200)
    first.read()
    link.request("GET", "/_simulator/health")
    second = link.getresponse()
    assert (second.status, json.loads(second.read())["status"]) == (200, "ok")
    link.close()
    assert "Traceback" not in server.printed_since()


@pytest.mark.parametrize("status", [204, 205, 304])
def test_an_inbox_without_a_body_leaves_its_connection_clean(server: Server, default: Remote, status: int) -> None:
    taken = default.control("PUT", f"/inbox/clean{status}", {"respond": [status]})
    assert taken.status in (200, 400)
    link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=4)
    link.request("POST", f"/_simulator/inbox/clean{status}", b"{}")
    first = link.getresponse()
    assert first.status == (status if taken.status == 200 else 200)
    first.read()
    link.request("GET", "/_simulator/health")
    second = link.getresponse()
    assert (second.status, json.loads(second.read())["status"]) == (200, "ok")
    link.close()


def wait_for_ever(server: Server, count: int) -> list[socket.socket]:
    links = [connection(server) for _ in range(count)]
    for number, link in enumerate(links):
        path = f"/_simulator/events/wait?timeout=600&type=kyc.approved&object_id=x{number}"
        link.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    httpx.get(f"{server.origin}/_simulator/health", trust_env=False, verify=TLS).raise_for_status()
    return links


def test_a_server_ends_cleanly_while_clients_wait() -> None:
    with own_server() as server:
        links = wait_for_ever(server, 3)
        with httpx.stream("GET", f"{server.origin}/_simulator/stream", trust_env=False, verify=TLS) as stream:
            next(stream.iter_raw())
            began = time.monotonic()
            code = server.stop(10)
            seconds = time.monotonic() - began
        for link in links:
            link.close()
        assert "Traceback" not in server.printed()
        assert (code, seconds < 3) == (0, True)


def test_waits_end_with_their_clients() -> None:
    with own_server() as server:
        for link in wait_for_ever(server, 300):
            link.close()
        for _ in range(20):
            httpx.get(f"{server.origin}/_simulator/health", trust_env=False, verify=TLS).raise_for_status()
        began = time.monotonic()
        assert server.stop(10) == 0
        assert time.monotonic() - began < 2
        assert "Traceback" not in server.printed()


# --- growth -------------------------------------------------------------------------------------------------------


def grown(server: Server, work: Callable[[httpx.Client], None]) -> int:
    """How many megabytes the server holds more after some work."""
    with new_client(timeout=20) as client:
        work(client)
        before = resident_bytes(server.pid)
        for _ in range(9):
            work(client)
        return (resident_bytes(server.pid) - before) // MEGABYTE


def test_an_inbox_keeps_no_more_than_a_bounded_number_of_bytes() -> None:
    with own_server() as server:
        body = bytes(10 * MEGABYTE)

        def post(client: httpx.Client) -> None:
            client.post(f"{server.origin}/_simulator/inbox/large", content=body)

        assert grown(server, post) < 45


def test_the_journal_keeps_no_more_than_a_bounded_number_of_bytes() -> None:
    with own_server() as server:
        body = bytes(MEGABYTE - 1)

        def post(client: httpx.Client) -> None:
            for _ in range(12):
                client.post(f"{server.origin}/v1/wallet/send", content=body)

        assert grown(server, post) < 45


def test_without_the_control_token_no_body_is_read() -> None:
    async def ask() -> tuple[int, int]:
        application = create_app(Config(host="0.0.0.0", control_token="secret", clock="manual"))
        pieces, statuses = 0, []

        async def receive() -> dict[str, Any]:
            nonlocal pieces
            pieces += 1
            return {"type": "http.request", "body": bytes(65_536), "more_body": pieces < 200}

        async def send(message: Any) -> None:
            statuses.append(message.get("status"))

        scope = {
            "type": "http", "method": "POST", "path": "/_simulator/scenarios", "query_string": b"", "scheme": "http",
            "headers": [(b"host", b"x"), (b"content-length", b"200000000")],
        }  # fmt: skip
        await application(scope, receive, send)
        await application.runtime.close()
        return statuses[0], pieces

    status, pieces = asyncio.run(ask())
    assert status == 401
    assert pieces < 4


def test_nothing_is_left_of_a_world_that_was_deleted() -> None:
    async def come_and_go() -> tuple[int, int, int]:
        application = create_app(Config(clock="manual"))
        client = AsgiClient(application)
        simulator = application.runtime.simulator

        async def one(number: int) -> None:
            world = {"X-Simulator-World": f"w{number}"}
            made = await client.request("POST", "/_simulator/worlds", {"id": f"w{number}"})
            keys = made.body["credentials"]["sandbox"]
            pair = {name: keys[name] for name in ("public_key", "secret_key")}
            for _ in range(3):
                await client.request("POST", "/v1/auth/token", pair)
            document = {"name": f"s{number}", "description": "x" * 1000}
            await client.request("POST", "/_simulator/scenarios", document, world)
            await client.request("PUT", "/_simulator/scenarios/active", {"names": [f"s{number}"]}, world)
            await client.request("POST", "/_simulator/actions/verify_phone", {}, world)
            await client.request("POST", "/_simulator/clock/advance", {"by": "1h"}, world)
            await client.request("POST", "/_simulator/snapshots", {}, world)
            await client.request("DELETE", f"/_simulator/worlds/w{number}")

        def kept() -> tuple[int, int, int]:
            gc.collect()
            gone = {f"w{number}" for number in range(3)}
            tables = sum(1 for found in gc.get_objects() if isinstance(found, dict) and not gone.isdisjoint(found))
            names = {name for name in simulator.directory if simulator.world_of(name) is None}
            files = sum(
                1
                for found in gc.get_objects()
                if type(found).__name__ == "ScenarioFile" and found.name[:1] == "s" and found.name[1:].isdigit()
            )
            return len(names), files, tables

        for number in range(3):
            await one(number)
        await application.runtime.remembered()
        found = kept()
        await application.runtime.close()
        return found

    assert asyncio.run(come_and_go()) == (0, 0, 0)


# --- what is acknowledged -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["reset", "delete", "restore"])
def test_a_call_delayed_into_a_world_that_is_gone_is_refused(world: Remote, end: str) -> None:
    token = world.token()
    snapshot = ok(world.control("POST", "/snapshots", {}))["id"]
    ok(world.control("POST", "/faults", {"match": {"method": "POST"}, "delay": "700ms", "times": 1}))
    answers: list[httpx.Response] = []

    def create() -> None:
        headers = {"Authorization": f"Bearer {token}"}
        answers.append(
            httpx.post(
                f"{world.base()}/wallets",
                json={"network": "celo"},
                headers=headers,
                trust_env=False,
                verify=TLS,
                timeout=8,
            )
        )

    thread = threading.Thread(target=create)
    thread.start()
    began = time.monotonic()
    while not world.control("GET", "/faults").body["data"][0]["hits"] and time.monotonic() - began < 3:
        pass  # the fault has hit as soon as the call is held back
    if end == "reset":
        ok(world.control("POST", "/reset"))
    elif end == "delete":
        ok(world.control("DELETE", f"/worlds/{world.world['id']}", headers={"X-Simulator-World": "default"}))
    else:
        ok(world.control("POST", f"/snapshots/{snapshot}/restore"))
    thread.join(10)
    assert (answers[0].status_code, answers[0].json()["error"]["code"]) == (503, "service_unavailable")


@pytest.mark.parametrize("odd", ["zero byte", "unknown code"])
def test_a_recording_of_odd_calls_is_a_valid_scenario(world: Remote, odd: str) -> None:
    if odd == "zero byte":
        world.api("GET", "/wallets/%00")
        world.api("POST", "/quotes/a%00b/confirm", {"wallet_address": CELO})
    else:
        world.token()
        ok(world.control("POST", "/faults", {"match": {}, "respond": {"status": 418, "code": "teapot"}, "times": 1}))
        assert world.api("GET", "/wallet/assets").status == 418
    recording = world.control("GET", "/recording")
    assert recording.status == 200
    kept = upload(world, recording.raw)
    assert kept.status == 201, kept.body


@pytest.mark.parametrize("value", [5, None, ["a"], {"a": 1}, True])
@pytest.mark.parametrize("name", ["Content-Type", "Authorization", "Idempotency-Key"])
def test_a_recording_with_a_non_string_header_is_read_or_refused(name: str, value: Any) -> None:
    entry = {
        "startedDateTime": "2026-01-05T08:00:00Z",
        "request": {
            "method": "POST", "url": "https://x.test/v1/quotes", "headers": [{"name": name, "value": value}],
            "postData": {"text": "{}"},
        },
        "response": {"status": 401, "content": {"text": "{}"}},
    }  # fmt: skip
    try:
        entries = read_har(orjson.dumps({"log": {"entries": [entry]}}))
    except HarError:
        return
    assert asyncio.run(compare(entries)).replayed == 1


# --- pages --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", ["/dashboard", "/coverage.html", "/reference.html"])
def test_pages_tell_browsers_what_they_may_do(default: Remote, page: str) -> None:
    headers = default.control("GET", page).headers
    assert "frame-ancestors" in headers.get("content-security-policy", "")
    assert headers.get("x-content-type-options") == "nosniff"


def test_the_history_of_a_resource_costs_the_same_however_long_it_is() -> None:
    application = create_app(Config(clock="manual", scenarios=()))
    simulator = application.runtime.simulator

    def moves(count: int) -> float:
        watch = Stopwatch()
        for number in range(count):
            values = {"network": "celo", "status": ("down", "operational")[number % 2]}
            cause = Cause("action", "set_network")
            simulator.actions.perform(simulator.default, "set_network", None, values, "sandbox", cause)
        return watch.seconds

    moves(500)
    first = min(moves(200) for _ in range(5))
    moves(16_000)
    last = min(moves(200) for _ in range(5))
    assert last < 1.5 * first
