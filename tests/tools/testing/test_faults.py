"""Injected faults in a test: active immediately, for a block or permanently."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from simulator.testing import SimulatorError, World, receiver
from tests.tools.testing.orders import onramp

DOWN = {"status": 503, "code": "service_unavailable"}


def test_a_fault_acts_for_the_length_of_a_block(kit: World) -> None:
    with kit.fault("GET /profile", respond=DOWN) as fault:
        assert kit.client.get("/profile").status_code == 503
        assert kit.client.get("/fees").status_code != 503
        assert fault.hits == 1
    assert kit.client.get("/profile").status_code == 200
    assert kit.control("GET", "/faults")["data"] == []
    assert fault.hits == 1


def test_a_fault_goes_although_its_block_fails(kit: World) -> None:
    with pytest.raises(httpx.RemoteProtocolError), kit.fault("/profile", drop=True):
        kit.client.get("/profile")
    assert kit.client.get("/profile").status_code == 200


def test_a_fault_stays_until_it_is_removed(kit: World) -> None:
    fault = kit.fault("/profile", respond=DOWN, times=1)
    assert [kit.client.get("/profile").status_code for _ in range(2)] == [503, 200]
    assert fault.hits == 1
    fault.remove()
    fault.remove()
    assert fault.id in repr(fault)


@pytest.mark.parametrize(
    ("match", "method", "path"),
    [
        ("POST /quotes", "POST", "/quotes"),
        ("post /quotes/*", "POST", "/quotes/*"),
        ("/quotes", None, "/quotes"),
        ("DELETE", "DELETE", None),
        ({"method": "GET"}, "GET", None),
    ],
)
def test_what_a_fault_is_of(kit: World, match: Any, method: str | None, path: str | None) -> None:
    shown = kit.fault(match, drop=True).info["match"]
    assert (shown.get("method"), shown.get("path")) == (method, path)


@pytest.mark.parametrize("match", ["", "POST quotes", "POST PUT /quotes", "/quotes /fees"])
def test_what_names_no_calls_is_refused_before_it_is_sent(kit: World, match: str) -> None:
    with pytest.raises(ValueError, match="does not describe calls"):
        kit.fault(match, drop=True)


def test_faults_of_deliveries(kit: World) -> None:
    with receiver(kit) as webhooks, kit.fault(webhook={"event": "transaction.created"}, deliver={"copies": 2}) as twice:
        onramp(kit)
        kit.settle()
        assert len(webhooks.events("transaction.created")) == 2
        assert len(webhooks.events("transaction.awaiting_payment")) == 1
        assert twice.hits == 1


def test_problems_of_a_fault_are_reported(kit: World) -> None:
    with pytest.raises(SimulatorError, match="respnod") as caught:
        kit.fault("GET /profile", respnod=DOWN)
    assert caught.value.code == "invalid_parameter"
    with pytest.raises(SimulatorError) as caught:
        kit.fault("GET /profile", respond={"status": "often", "code": "x"})
    assert caught.value.param == "respond.status"


def test_a_fault_that_may_never_be_hit_says_so(kit: World) -> None:
    assert "no key pair" in kit.fault({"public_key": "pk_test_nobody"}, drop=True).warnings[0]
    assert kit.fault("GET /profile", drop=True).warnings == ()


def test_a_fault_deleted_with_its_world_is_not_an_error(kit: World) -> None:
    with kit.fault("GET /profile", drop=True) as fault:
        kit.reset()
        with pytest.raises(SimulatorError, match="is no longer active"):
            _ = fault.hits
    assert fault.hits == 0


def test_fault_by_its_preset_forges_deliveries(kit: World) -> None:
    with receiver(kit) as webhooks:
        fault = kit.fault("webhook-forged", webhook={"event": "beneficiary.created"}, times=1)
        for _ in range(2):
            kit.act("emit", type="beneficiary.created")
        kit.settle()
        assert [delivery.genuine for delivery in webhooks.received] == [False, True]
    assert (fault.info["deliver"], fault.info["webhook"]) == (
        {"corrupt_signature": True},
        {"event": "beneficiary.created"},
    )


def test_fault_by_its_preset_takes_members_that_change_it(kit: World) -> None:
    with kit.fault("refused-503", match="GET /profile", times=1, respond={"code": "later"}):
        answers = [kit.client.get(path) for path in ("/fees", "/profile", "/profile")]
    assert [answer.status_code == 503 for answer in answers] == [False, True, False]
    assert answers[1].json()["error"]["code"] == "later"


@pytest.mark.parametrize(("name", "meant"), [("webhook-forgd", "webhook-forged"), ("quotes", "refused-429")])
def test_fault_by_an_unknown_preset_names_those_that_exist(kit: World, name: str, meant: str) -> None:
    with pytest.raises(SimulatorError, match=f"no preset '{name}'.*{meant}.*POST /quotes") as refused:
        kit.fault(name)
    assert refused.value.param == "preset"
    assert kit.control("GET", "/faults")["data"] == []


def test_fault_with_calls_given_twice_is_refused(kit: World) -> None:
    with pytest.raises(ValueError, match="described twice"):
        kit.fault("/quotes", match="/profile", drop=True)
