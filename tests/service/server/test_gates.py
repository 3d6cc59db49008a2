"""Access to operations (decision H18): each operation under each gate and each permission, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from simulator.providers.ramp.provider import ROOMS
from tests.remote import Remote

OPERATIONS = [(row.method, row.path) for room in ROOMS for row in room.operations if row.path != "/auth/token"]
MONEY = {
    *("/quotes", "/quotes/{id}/confirm", "/wallet/buy", "/wallet/buy/quote", "/wallet/send", "/wallet/swap"),
    *("/wallet/swap/quote", "/wallet/withdraw", "/wallet/withdraw/quote"),
    *("/recurring-payments", "/recurring-payments/{id}/activate"),
}
GROUPS = {
    "ramps": "quotes",
    "wallet": "wallet",
    "wallets": "wallets",
    "beneficiaries": "beneficiaries",
    "recurring": "recurring-payments",
    "profile": "profile",
    "webhooks": "webhooks",
}
"""The first segment of the paths of each permission."""
FREE = {"currencies", "fees", "network", "rates"}


def codes(world: Remote) -> Iterator[tuple[str, str, str]]:
    """Every operation called with nothing in it, and the code that it is refused with ("" when it is not)."""
    for method, path in OPERATIONS:
        url = path.replace("{id}", "x").replace("{lightning_id}", "x").replace("{order_id}", "x")
        answer = world.api(method, url, json={} if method in ("POST", "PUT", "PATCH") else None)
        yield method, path, answer.code if answer.status >= 400 else ""


def test_operations_that_move_money_need_kyc(world: Remote) -> None:
    """Decision H18: but neither an estimate nor the fee calculator does."""
    world.act("set_kyc", status="rejected")
    refused = {(method, path) for method, path, code in codes(world) if code == "kyc_required"}
    assert refused == {("POST", path) for path in MONEY}


@pytest.mark.parametrize("status", ["suspended", "closed"])
def test_an_account_that_is_not_active_may_only_read_its_profile(world: Remote, status: str) -> None:
    """Decision H18: 403 `forbidden` everywhere but at the token exchange and `GET /profile*`."""
    world.act("set_profile", status=status)
    allowed = {(method, path) for method, path, code in codes(world) if code != "forbidden"}
    assert allowed == {("GET", "/profile"), ("GET", "/profile/kyc"), ("GET", "/profile/limits")}


@pytest.mark.parametrize("permission", ["read", *GROUPS])
def test_a_permission_opens_its_group_and_nothing_else(world: Remote, permission: str) -> None:
    """Decision H18: `read` is every GET and the two estimates; reference data and fees are free to all."""
    pair = world.act("create_key", permissions=[permission]).body["resource"]
    keys = {name: pair[name] for name in ("public_key", "secret_key")}
    world.tokens["sandbox"] = world.call("POST", f"{world.base()}/auth/token", json=keys).body["access_token"]
    allowed = {(method, path) for method, path, code in codes(world) if code != "forbidden"}

    def may(method: str, path: str) -> bool:
        segment = path.split("/")[1]
        if permission == "read":
            return segment in FREE or method == "GET" or path == "/wallet/send/estimate"
        return segment in FREE or segment == GROUPS[permission]

    assert allowed == {(method, path) for method, path in OPERATIONS if may(method, path)}
