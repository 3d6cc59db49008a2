"""Unreadable worlds are quarantined, and the server continues with the others."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from simulator.cli import main
from simulator.engine.server.config import Config
from simulator.engine.text.json import loads
from tests.contract_judge import ContractJudge
from tests.places import ROOT
from tests.remote import Remote, new_client, running
from tests.service.durable.crashing import kept, seen
from tests.support import KEYS, QUOTE


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "worlds.db"


def spoil(path: Path, world: str) -> None:
    """Damage a world in a store."""
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        asked = "UPDATE parts SET content = CAST('{\"table\": 5}' AS BLOB) WHERE number = 1 AND base = "
        store.execute(f"{asked}(SELECT base FROM worlds WHERE id = ?)", (world,))


def of(world: Remote, world_id: str) -> dict[str, Any]:
    """Return the headers of a control request to a world."""
    return {"headers": {"X-Simulator-World": world_id}}


def with_odd(path: Path, odd: str) -> None:
    """Return a store with the worlds default, odd and sound, one of which is unreadable."""
    with kept(path) as (world, _):
        sound, other = world.another(id="sound"), world.another(id="odd")
        for one in (world, sound, other):
            one.api("POST", "/quotes", QUOTE)
        assert other.control("POST", "/snapshots", {}).status == 201
    spoil(path, odd)


def test_an_unreadable_world_does_not_affect_the_others(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with_odd(path, "odd")
    with kept(path) as (world, _):
        assert "the world odd is quarantined" in caplog.text
        assert len(seen(world, "sound").control("GET", "/resources", params={"type": "quote"}).body["data"]) == 1
        listed = world.control("GET", "/worlds").body
        assert [one["id"] for one in listed["data"]] == ["default", "sound"]
        assert [one["id"] for one in listed["unreadable"]] == ["odd"]
        assert "damaged" in listed["unreadable"][0]["why"]
        assert [one["id"] for one in world.control("GET", "/usage").body["data"]] == ["default", "sound", "odd"]


def test_unreadable_world_answers_503_with_the_reason(path: Path) -> None:
    with kept(path) as (world, _):
        other = world.another(id="odd")
        token, keys = other.token(), other.world["credentials"]["sandbox"]
    spoil(path, "odd")
    with kept(path) as (world, _):
        for method, part in (("GET", "/clock"), ("GET", "/worlds/odd"), ("POST", "/reset"), ("POST", "/snapshots")):
            answer = world.call(method, f"{world.origin}/_simulator{part}", json={}, **of(world, "odd"))
            assert answer.status == 503, (part, answer.body)
            assert answer.body["error"]["code"] == "world_unreadable"
            assert "/worlds/odd/raw" in answer.body["error"]["message"]
        headers = {"Authorization": f"Bearer {token}"}
        answer = world.call("GET", f"{world.base()}/profile", headers=headers)
        assert (answer.status, answer.body["error"]["code"]) == (503, "service_unavailable")
        assert "'odd' cannot be read" in answer.body["error"]["message"]
        body = {name: keys[name] for name in ("public_key", "secret_key")}
        assert world.call("POST", f"{world.base()}/auth/token", json=body).status in (401, 503)
        assert world.api("GET", "/profile").status == 200


def test_unreadable_world_is_exported_and_ended(path: Path) -> None:
    with_odd(path, "odd")
    with kept(path) as (world, _):
        answer = world.control("GET", "/worlds/odd/raw")
        raw = answer.body
        judge = ContractJudge({**loads((ROOT / "contracts" / "control.json").read_bytes()), "webhooks": {}})
        assert judge.answer("GET", "/_simulator/worlds/odd/raw", 200, dict(answer.headers), raw) == []
        assert raw["unreadable"]
        assert [piece["whole"] for piece in raw["pieces"]].count(False) == 1
        assert {piece["part"].partition(" ")[0] for piece in raw["pieces"]} == {"base", "entry", "snapshot"}
        assert world.control("POST", "/worlds", {"id": "odd"}).status == 409
        assert world.control("DELETE", "/worlds/odd").status == 204
        assert world.control("GET", "/worlds/odd").status == 404
        assert world.control("GET", "/worlds/odd/raw").status == 404
    with kept(path) as (world, _):
        assert [one["id"] for one in world.control("GET", "/worlds").body["data"]] == ["default", "sound"]
    with closing(sqlite3.connect(path)) as store:
        assert store.execute("SELECT count(*) FROM snapshots").fetchone() == (0,)


@pytest.mark.parametrize("how", ["replace", "document"])
def test_unreadable_world_is_replaced(path: Path, how: str) -> None:
    with_odd(path, "odd")
    with kept(path) as (world, _):
        if how == "replace":
            assert world.control("POST", "/worlds", {"id": "odd", "replace": True}).status == 201
        else:
            fresh = world.another(id="fresh")
            document = fresh.control("GET", "/state").body
            world.call("DELETE", f"{world.origin}/_simulator/worlds/fresh")
            answer = world.call("PUT", f"{world.origin}/_simulator/state", json=document, **of(world, "odd"))
            assert answer.status == 200, answer.body
        assert seen(world, "odd").api("POST", "/quotes", QUOTE).status == 201
    with kept(path) as (world, _):
        odd = seen(world, "odd")
        assert len(odd.control("GET", "/resources", params={"type": "quote"}).body["data"]) == 1
        assert odd.control("GET", "/snapshots").body["data"] == []


@pytest.mark.parametrize("how", ["reset", "delete", "replace"])
def test_an_unreadable_default_is_refused_until_recreated(path: Path, how: str) -> None:
    with_odd(path, "default")
    with kept_without_default(path) as world:
        assert world.call("GET", f"{world.origin}/v1/profile").status == 503
        assert world.call("POST", f"{world.origin}/v1/auth/token", json=KEYS).status == 503
        assert world.control("GET", "/clock").status == 503
        assert world.control("GET", "/health").status == 200
        assert seen(world, "sound").api("GET", "/profile").status == 200
        if how == "reset":
            assert world.control("POST", "/reset").body["id"] == "default"
        elif how == "delete":
            assert world.control("DELETE", "/worlds/default").status == 204
        else:
            assert world.control("POST", "/worlds", {"id": "default", "replace": True}).status == 201
        assert seen(world).api("POST", "/quotes", QUOTE).status == 201
    with kept(path) as (world, _):
        assert len(world.control("GET", "/resources", params={"type": "quote"}).body["data"]) == 1


@contextmanager
def kept_without_default(path: Path) -> Iterator[Remote]:
    config = Config(clock="manual", store=f"sqlite:///{path}", scenarios=())
    with running(config) as (origin, _), new_client() as client:
        yield Remote(origin, client)


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words), catch_exceptions=False)


def test_worlds_list_names_an_unreadable_world(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with_odd(path, "odd")
    caplog.set_level(logging.CRITICAL)
    with kept(path) as (world, _):
        told = run("worlds", "list", "--url", world.origin)
        assert any("unreadable: " in line and "odd" in line for line in told.output.splitlines()), told.output
        assert '"odd"' in run("worlds", "raw", "odd", "--url", world.origin).output
        assert run("worlds", "end", "odd", "--url", world.origin).exit_code == 0
