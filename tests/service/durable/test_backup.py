"""A backup of a store in use, and a server that starts from it (tests/campaigns/trust/deploy/README.md)."""

from __future__ import annotations

import sqlite3
import subprocess
from pathlib import Path

import pytest

from tests.service.durable.crashing import document, kept
from tests.service.durable.postgres_server import require
from tests.service.durable.replicas import Replica, replicas
from tests.support import QUOTE


def test_a_copy_of_a_file_in_use_is_a_store(tmp_path: Path) -> None:
    file, copy = tmp_path / "worlds.db", tmp_path / "backup.db"
    with kept(file) as (world, _):
        made = world.api("POST", "/quotes", json=QUOTE)
        before = document(world)
        beside = sqlite3.connect(file)
        beside.execute(f"VACUUM INTO '{copy}'")
        beside.close()
        assert world.api("POST", "/quotes", json=QUOTE).status == 201
        after = document(world)
    with kept(copy) as (world, _):
        assert document(world) == before
        assert world.api("GET", f"/quotes/{made.body['id']}").body == made.body
    with kept(file) as (world, _):
        assert document(world)["tables"]["sequences"] == after["tables"]["sequences"], "the copying changed nothing"


def quote(replica: Replica, token: dict[str, str]) -> str:
    answer = replica.http.post("/v1/quotes", json=QUOTE, headers=token)
    assert answer.status_code == 201, answer.text
    made: str = answer.json()["id"]
    return made


@pytest.mark.farm
def test_a_dump_of_a_database_in_use_is_a_valid_store(database: str, tmp_path: Path) -> None:
    programs, dump = require(), tmp_path / "worlds.dump"
    fresh = f"{database}_restored"
    name = fresh.rpartition("/")[2]
    with replicas(database, 1) as (replica,):
        token = replica.sign_in()
        made = quote(replica, token)
        before = replica.http.get("/_simulator/state").json()
        dumped = ["--format=custom", "--schema=rampsim", f"--file={dump}", database]
        subprocess.run([programs / "pg_dump", *dumped], check=True)
        later = quote(replica, token)
        subprocess.run([programs / "psql", "-q", "-d", database, "-c", f"CREATE DATABASE {name}"], check=True)
        subprocess.run([programs / "pg_restore", f"--dbname={fresh}", dump], check=True)
        with replicas(fresh, 1) as (restored,):
            assert restored.http.get("/_simulator/state").json() == before
            assert restored.http.get(f"/v1/quotes/{made}", headers=token).status_code == 200
            assert restored.http.get(f"/v1/quotes/{later}", headers=token).status_code == 404
