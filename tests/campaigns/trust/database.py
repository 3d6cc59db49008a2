"""A PostgreSQL server that logs which replica owned which world at what time, and that can be restarted as after a
crash.
"""

from __future__ import annotations

import asyncio
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import asyncpg

from tests.campaigns.benchmarks.machine import cpu_seconds
from tests.campaigns.trust.servers import free_port
from tests.service.durable.postgres_server import require

LOCKS = 1918987632
"""The class of advisory locks that are of worlds."""
_PATIENCE_SECONDS = 60
_HISTORY = f"""
CREATE SCHEMA harness;
CREATE TABLE harness.owners (
    n bigserial PRIMARY KEY, at timestamptz DEFAULT clock_timestamp(), world text, epoch bigint, owner text, pid integer
);
CREATE INDEX ON harness.owners (world, epoch, n);
CREATE TABLE harness.commits (
    n bigserial PRIMARY KEY, at timestamptz DEFAULT clock_timestamp(), world text, number bigint, epoch bigint,
    pid integer, owner_pid integer, has_lock boolean
);
CREATE FUNCTION harness.hear() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.epoch <> OLD.epoch THEN
        INSERT INTO harness.owners (world, epoch, owner, pid) VALUES (NEW.id, NEW.epoch, NEW.owner, pg_backend_pid());
    END IF;
    IF NEW.number <> OLD.number OR NEW.base IS DISTINCT FROM OLD.base THEN
        INSERT INTO harness.commits (world, number, epoch, pid, owner_pid, has_lock) VALUES (
            NEW.id, NEW.number, NEW.epoch, pg_backend_pid(),
            (SELECT pid FROM harness.owners WHERE world = NEW.id AND epoch = NEW.epoch ORDER BY n DESC LIMIT 1),
            EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = {LOCKS}
                    AND objid = NEW.place::oid AND pid = pg_backend_pid() AND granted)
        );
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER hear AFTER UPDATE ON rampsim.worlds FOR EACH ROW EXECUTE FUNCTION harness.hear();
"""


class Database:
    """It keeps everything safe, as in production: `fsync` is on."""

    def __init__(self, *settings: str) -> None:
        self._programs = require()
        self._user = "postgres" if os.geteuid() == 0 else None
        self._home = Path(tempfile.mkdtemp(prefix="rampsim-trust-"))
        self.port = free_port()
        self.url = f"postgresql://rampsim@127.0.0.1:{self.port}/postgres"
        self._settings = [
            "listen_addresses=127.0.0.1",
            f"port={self.port}",
            "unix_socket_directories=",
            "max_connections=100",
            *settings,
        ]

    def start(self) -> None:
        if self._user is not None:
            os.chown(self._home, pwd.getpwnam(self._user).pw_uid, -1)
        made = ["-U", "rampsim", "-A", "trust", "-E", "UTF8", "--no-locale"]
        self._do("initdb", "-D", str(self._home / "data"), *made)
        self._control("start")

    def restart(self) -> None:
        """Restart as after a crash: sessions end without notice, and the log is recovered."""
        self._control("restart", "-m", "immediate")

    def stop(self) -> None:
        self._control("stop", "-m", "fast")
        shutil.rmtree(self._home, ignore_errors=True)

    @property
    def cpu(self) -> float:
        """Processor seconds of all its processes that live."""
        first = (self._home / "data" / "postmaster.pid").read_text().split()[0]
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        return sum(cpu_seconds(int(pid)) for pid in (first, *children))

    def dump(self) -> bytes:
        """Return the output of `pg_dump`."""
        return self._do("pg_dump", self.url, "--schema", "rampsim")

    def _control(self, verb: str, *more: str) -> None:
        options = " ".join(f"-c {setting}" for setting in self._settings)
        place = ["-D", str(self._home / "data"), "-w", "-t", "60", "-l", str(self._home / "log")]
        self._do("pg_ctl", verb, *place, *(["-o", options] if verb != "stop" else []), *more)

    def _do(self, program: str, *words: str) -> bytes:
        command = [str(self._programs / program), *words]
        # Not by pipes: the server that pg_ctl starts would keep them open.
        with tempfile.TemporaryFile() as told:
            done = subprocess.run(command, user=self._user, cwd=self._home, stdout=told, stderr=told)
            told.seek(0)
            said = told.read()
        if done.returncode:
            raise AssertionError(f"{program} {' '.join(words)}: {said.decode(errors='replace')}")
        return said

    # What it has written down

    async def keep_history(self) -> None:
        """From now on; the tables of replicas have to be there."""
        await self.run(_HISTORY)

    async def run(self, query: str, *values: Any) -> list[Any]:
        """Rows; again where it has just been restarted."""
        end = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                connection = await asyncpg.connect(self.url, timeout=10)
                try:
                    if not values and not query.startswith("SELECT"):
                        await connection.execute(query)
                        return []
                    return list(await connection.fetch(query, *values))
                finally:
                    await connection.close(timeout=5)
            except (OSError, asyncpg.PostgresConnectionError, asyncpg.CannotConnectNowError, TimeoutError):
                if time.monotonic() > end:
                    raise
                await asyncio.sleep(0.1)

    async def owners(self) -> dict[str, str]:
        """The address of who has it, by world."""
        rows = await self.run("SELECT id, owner FROM rampsim.worlds WHERE owner IS NOT NULL AND base IS NOT NULL")
        return {row["id"]: row["owner"] for row in rows}

    async def owned_twice(self) -> list[str]:
        """Commits by a session that had neither the epoch in force nor the lock."""
        rows = await self.run(
            "SELECT * FROM harness.commits WHERE pid IS DISTINCT FROM owner_pid OR NOT has_lock ORDER BY n LIMIT 20"
        )
        return [str(dict(row)) for row in rows]

    async def terminate(self, ports: set[int]) -> None:
        """End the sessions of connections that come from these ports."""
        await self.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE client_port = ANY($1::integer[])", list(ports)
        )
