"""Calls in progress while their world ends are not acknowledged."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.remote import ENDINGS, Remote, end_world, new_client
from tests.support import eventually

WALLET = {"network": "stellar", "label": "late"}


@pytest.mark.parametrize("how", ENDINGS)
@pytest.mark.parametrize("key", [{}, {"Idempotency-Key": "late"}], ids=["once", "with a key"])
def test_delayed_call_in_a_deleted_world_is_not_acknowledged(world: Remote, how: str, key: dict[str, str]) -> None:
    world.token()
    assert world.control("POST", "/snapshots", {}).status == 201
    fault = {"match": {"path": "/wallets", "method": "POST"}, "delay": "700ms", "times": 1}
    assert world.control("POST", "/faults", fault).status == 201
    with ThreadPoolExecutor(1) as pool, new_client() as client:
        beside = Remote(world.origin, client, world.world, world.tokens)
        late = pool.submit(beside.api, "POST", "/wallets", WALLET, key)
        eventually(lambda: world.control("GET", "/faults").body["data"][0]["hits"] == 1)
        end_world(world, how)
        answer = late.result()
    assert answer.refusal == (503, "service_unavailable", None)
    if how != "delete":
        kinds = [row["kind"] for row in world.control("GET", "/resources").body["data"]]
        assert "deposit_wallet" not in kinds
        assert "wallet" not in kinds


def test_registration_in_a_world_reset_meanwhile_is_refused(world: Remote) -> None:
    world.token()
    with socket.create_server(("127.0.0.1", 0)) as receiver, ThreadPoolExecutor(2) as pool:
        url = f"http://127.0.0.1:{receiver.getsockname()[1]}/hook"
        with new_client() as one, new_client(timeout=30) as two:
            key = {"Idempotency-Key": "hook"}
            body = {"url": url, "events": ["*"]}
            clients = [Remote(world.origin, client, world.world, world.tokens) for client in (one, two)]
            first, retry = (pool.submit(client.api, "POST", "/webhooks", body, key) for client in clients)
            connection, _ = receiver.accept()
            connection.recv(65536)
            assert world.control("POST", "/reset").status == 200
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            answers = [first.result(), retry.result()]
            connection.close()
    assert [answer.status for answer in answers if answer.status == 201] == []
    assert {answer.status for answer in answers} <= {503, 401}
    assert 503 in {answer.status for answer in answers}
