"""Explore with a service other than the ramp: calls of the toy library `tests/toy` fail, and its test is judged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from simulator import host
from simulator.exploration.exploring import Hosts, Settings, explore
from simulator.testing.links.http_link import HttpLink
from simulator.testing.servers.server import Server
from tests.served_library import running_library
from tests.tools.exploration.suite import ALONE, PYTEST
from tests.toy import PROVIDER

SUITE = """
import httpx

def test_a_reader_borrows_a_book_and_brings_it_back(world):
    secret = {"Authorization": f"Bearer {world.keys.secret_key}"}
    with httpx.Client(base_url=world.keys.base_url, headers=secret) as api:
        book = api.post("/books", json={"title": "Emma"}).raise_for_status().json()
        loan = api.post("/loans", json={"book_id": book["id"]}).raise_for_status().json()
        world.act("bring_back", loan["id"])
        assert api.get(f"/loans/{loan['id']}").raise_for_status().json()["status"] == "returned"
"""


@contextmanager
def serve() -> Iterator[Server]:
    with running_library() as origin, Server(HttpLink(origin)) as server:
        yield server


def test_its_calls_fail_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "PROVIDER", PROVIDER)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", ALONE["PYTEST_DISABLE_PLUGIN_AUTOLOAD"])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test_reader.py").write_text(SUITE)
    faults = ("refused-500", "answer-extra-field")
    found = explore(Settings((*PYTEST, "."), faults=faults, workers=1, hosts=Hosts(serve)))
    outcomes = {(one.run.fault, one.run.site): one.outcome for one in found.judged}
    sites = ("POST /books #1", "POST /loans #1", "GET /loans/{id} #1")
    assert outcomes == {
        **{("refused-500", site): "failed" for site in sites},
        **{("answer-extra-field", site): "passed" for site in sites},
    }
    assert found.findings == []
