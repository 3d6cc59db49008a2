"""No view shows a secret, regardless of the field that contains it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from simulator.engine.server.config import Config
from simulator.providers.ramp.provider import ROOMS
from tests.remote import Remote, new_client, running

CONTROL_TOKEN = "open-sesame-open-sesame"
VIEWS = (
    "/requests",
    "/events",
    "/deliveries",
    "/controls",
    "/recording",
    "/advice",
    "/coverage",
    "/coverage.html",
    "/resources",
    "/scenarios",
    "/faults",
    "/emails",
    "/timers",
    "/inbox/secrets",
)
OPERATIONS = [(row.method, row.path) for room in ROOMS for row in room.operations]


@pytest.fixture(scope="module")
def guarded() -> Iterator[str]:
    """A server that is bound beyond loopback, so that it has a control token to keep."""
    with running(Config(host="0.0.0.0", clock="manual", control_token=CONTROL_TOKEN)) as (address, _):
        yield address


@pytest.fixture
def world(guarded: str) -> Iterator[Remote]:
    with new_client(headers={"X-Operator": "none"}) as client:
        remote = Remote(guarded, client)
        made = remote.call(
            "POST",
            f"{guarded}/_simulator/worlds",
            json={"seed": 1, "scenarios": []},
            headers={"Authorization": f"Bearer {CONTROL_TOKEN}"},
        )
        remote.world = made.body
        yield remote


def control(world: Remote, method: str, path: str, **more: Any) -> httpx.Response:
    headers = {"Authorization": f"Bearer {CONTROL_TOKEN}", "X-Simulator-World": world.world["id"]}
    return world.http.request(
        method, f"{world.origin}/_simulator{path}", headers=headers | more.pop("headers", {}), **more
    )


def secrets_of(world: Remote) -> list[str]:
    sandbox, production = (world.world["credentials"][name] for name in ("sandbox", "production"))
    return [sandbox["secret_key"], production["secret_key"], sandbox["webhook_key"], world.token(), CONTROL_TOKEN]


def assert_unseen(world: Remote, secrets: list[str]) -> None:
    """No view of the world, nor of the default one, shows any of these."""
    for name in (world.world["id"], "default"):
        for view in VIEWS:
            answer = control(world, "GET", view, headers={"X-Simulator-World": name})
            shown = [secret for secret in secrets if secret in answer.text]
            assert (view, shown) == (view, [])


def percent(text: str) -> str:
    return "".join(f"%{ord(character):02x}" for character in text)


def mistakes(secret: str, base: str, token: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Ways of putting a secret where it does not belong: method, URL, and what else the request has."""
    bearer = {"Authorization": f"Bearer {token}"}
    kind = {"Content-Type": "application/json"}
    body = json.dumps({"secret_key": secret, "public_key": "pk_test_x"}).encode()
    escaped = "".join(f"\\u{ord(character):04x}" for character in secret)
    yield "POST", f"{base}/auth/tokens", {"content": body, "headers": kind}
    yield "PUT", f"{base}/auth/token", {"content": body, "headers": kind}
    yield "POST", base.rpartition("/v1")[0] + "/auth/token", {"content": body, "headers": kind}
    yield "POST", f"{base}/auth/token", {"data": {"secret_key": secret, "other": secret}}
    yield "POST", f"{base}/auth/token", {"content": body[:-1] + b",}", "headers": kind}
    yield "POST", f"{base}/auth/token", {"json": {"keys": {"secret_key": secret, "deep": [[secret]]}}}
    yield "POST", f"{base}/auth/token", {"json": [secret]}
    yield "POST", f"{base}/auth/token", {"json": {"secretKey": secret, "publicKey": secret, "public_key": secret}}
    yield "POST", f"{base}/auth/token", {"json": {secret: "as a name"}}
    yield "POST", f"{base}/auth/token", {"content": f'{{"secret_key": "{escaped}"}}'.encode(), "headers": kind}
    yield "POST", f"{base}/auth/token", {"content": b"\xff\xfe" + secret.encode("utf-16-le")}
    yield "GET", f"{base}/profile?access_token={secret}&x={secret}&{secret}=1", {}
    yield "GET", f"{base}/profile?x={percent(secret)}&y={percent(percent(secret))}", {"headers": bearer}
    yield "GET", f"{base}/transactions/{secret}", {"headers": bearer}
    yield "GET", f"{base}/transactions/{percent(secret)}", {"headers": bearer}
    yield "GET", f"{base}/{secret}", {}
    for value in (
        secret,
        f"Bearer:{secret}",
        f"Bearer {secret}",
        f"bearer  {secret}",
        f"Basic {secret}",
        f"A B {secret}",
    ):
        yield "GET", f"{base}/profile", {"headers": {"Authorization": value}}
    for name in ("Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "Api-Key", "X-Token", "X-Note", secret):
        yield "GET", f"{base}/profile", {"headers": {**bearer, name: secret}}
    yield "POST", f"{base}/quotes", {"json": {"reference": secret}, "headers": {**bearer, "Idempotency-Key": secret}}


@pytest.mark.parametrize("which", range(5), ids=["sandbox", "production", "webhook", "token", "control"])
def test_a_secret_put_in_the_wrong_place_is_masked(world: Remote, which: int) -> None:
    secrets = secrets_of(world)
    for method, url, more in mistakes(secrets[which], world.base(), world.token()):
        world.http.request(method, url, **more)
    assert_unseen(world, secrets)


def test_a_secret_in_any_field_of_any_operation_is_masked(world: Remote) -> None:
    secrets = secrets_of(world)
    everywhere = {"secrets": secrets, "details": {str(place): one for place, one in enumerate(secrets)}}
    fields = dict.fromkeys(
        ("reference", "label", "name", "description", "url", "reason", "email", "amount", "quote_id", "currency"),
        " ".join(secrets),
    )
    for method, path in OPERATIONS:
        url = world.base() + "/".join(secrets[0] if part.startswith("{") else part for part in path.split("/"))
        more: dict[str, Any] = {} if method in ("GET", "DELETE") else {"json": {**fields, **everywhere}}
        for sent in ({"Authorization": f"Bearer {world.token()}"}, {}):
            world.http.request(method, f"{url}?search={secrets[3]}&x={secrets[4]}", headers=sent, **more)
    assert_unseen(world, secrets)


def test_a_secret_that_was_kept_is_masked_wherever_it_is_shown(world: Remote) -> None:
    secrets = secrets_of(world)
    text = " ".join(secrets)
    inbox = f"{world.origin}/_simulator/inbox/secrets"
    world.http.post(inbox, content=text, headers={"X-Note": text, "X-Simulator-World": world.world["id"]})
    world.api("POST", "/webhooks", {"url": inbox, "events": ["beneficiary.created"]})
    kept = world.api(
        "POST",
        "/beneficiaries",
        {
            "type": "phone_number",
            "name": secrets[0],
            "country": "KE",
            "fiat_currency": "KES",
            "phone_number": {"phone_number": "+254722000000", "provider": "mpesa"},
        },
    )
    wallet = world.api("POST", "/wallets", {"network": "stellar", "label": secrets[1], "reference": text})
    assert (kept.status, wallet.status) == (201, 201)
    control(world, "POST", "/settle")
    control(world, "POST", "/scenarios", content=f"name: leaky\ndescription: {text}\n")
    control(world, "POST", "/actions/emit", json={"type": "kyc.approved", "object": {"note": text}})
    control(world, "POST", "/actions/create_key", json={"label": text})
    control(world, "POST", "/actions/nothing", json={"label": text})
    control(world, "POST", "/faults", json={"match": {"path": f"/{text}"}, "delay": "0s"})
    assert_unseen(world, secrets)
    resource = f"/resources/{wallet.body['id']}"
    for path in (resource, "/scenarios/leaky", f"/scenarios/{secrets[2]}", f"/events/{secrets[3]}"):
        assert [one for one in secrets if one in control(world, "GET", path).text] == []


def test_a_key_is_shown_to_its_owner_only(world: Remote) -> None:
    made = control(world, "POST", "/actions/create_key", json={}).json()["resource"]
    assert made["secret_key"].startswith("sk_test_")
    assert control(world, "POST", "/actions/rotate_webhook_key", json={}).json()["resource"]["webhook_key"] != "***"
    shown = control(world, "GET", f"/worlds/{world.world['id']}").json()
    assert shown["credentials"]["sandbox"]["secret_key"] == world.world["credentials"]["sandbox"]["secret_key"]
    assert made["secret_key"] in control(world, "GET", "/state").text
    assert made["secret_key"] not in control(world, "GET", "/resources").text


def test_the_stream_shows_no_secret(world: Remote) -> None:
    secrets = secrets_of(world)
    headers = {"Authorization": f"Bearer {CONTROL_TOKEN}", "X-Simulator-World": world.world["id"]}
    text = ""
    with world.http.stream("GET", f"{world.origin}/_simulator/stream", headers=headers) as stream:
        lines = stream.iter_lines()
        next(lines)
        with new_client() as other:
            beside = Remote(world.origin, other, world.world, world.tokens)
            for secret in secrets:
                beside.api("GET", f"/transactions/{secret}?search={secret}")
                beside.api("POST", "/wallets", {"network": "stellar", "label": secret, "reference": secret})
            beside.api("GET", "/profile?x=the-end")
        for line in lines:
            text += line
            if "the-end" in line:
                break
    assert [secret for secret in secrets if secret in text] == []


def test_a_recording_with_masked_values_can_be_played(world: Remote) -> None:
    secrets = secrets_of(world)
    world.api("POST", "/wallets", {"network": "stellar", "label": secrets[0], "reference": f"{secrets[3]}: x"})
    recorded = control(world, "GET", "/recording")
    assert recorded.status_code == 200
    assert [secret for secret in secrets if secret in recorded.text] == []
    assert control(world, "POST", "/scenarios", content=recorded.content).status_code == 201
