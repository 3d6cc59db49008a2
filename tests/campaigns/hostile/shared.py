"""Two replicas on a separate PostgreSQL, with tokens for two teams, as a company would run them."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import asyncpg

from tests.campaigns.hostile.apart import Apart, Server
from tests.campaigns.hostile.findings import Findings
from tests.campaigns.hostile.progress import Progress
from tests.service.durable.postgres_server import postgres

ADMIN, TEAM_A, TEAM_B = "all-of-it-0123456789", "a-secret-0123456789", "b-secret-0123456789"
_TOKENS = [
    {"name": "admin", "token": ADMIN, "worlds": "*"},
    {"name": "team-a", "token": TEAM_A, "worlds": "team-a-", "most_worlds": 3},
    {"name": "team-b", "token": TEAM_B, "worlds": "team-b-"},
]
_WORLDS = "SELECT id, epoch FROM worlds WHERE id <> 'default' ORDER BY id"
_HELD = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"


class Shared(Apart):
    """`server` is the first replica, `other` the second."""

    token = ADMIN

    def __init__(self, findings: Findings, progress: Progress) -> None:
        self._is_ending = False
        self._stack = ExitStack()
        home = Path(self._stack.enter_context(TemporaryDirectory(prefix="rampsim-hostile-")))
        self._tokens = home / "tokens.json"
        self._tokens.write_text(json.dumps({"tokens": _TOKENS}))
        self.database = self._stack.enter_context(postgres("fsync=off"))
        super().__init__(findings, progress)
        self.other = self.started()
        self._stack.callback(lambda: self.other.forget())

    def started(self) -> Server:
        """A further replica."""
        return Server("--control-tokens", str(self._tokens), store=self.database)

    @property
    def origins(self) -> tuple[str, str]:
        return self.server.origin, self.other.origin

    async def written(self) -> dict[str, Any]:
        """State that strangers could have changed: the worlds, their keys, and the number of held locks.

        The world `default` is claimed by the first call of the API, whoever makes it.
        """
        connection = await asyncpg.connect(self.database)
        try:
            return {
                "worlds": [tuple(row) for row in await connection.fetch(_WORLDS)],
                "keys": [tuple(row) for row in await connection.fetch("SELECT * FROM credentials ORDER BY 1")],
                "locks": await connection.fetchval(_HELD),
            }
        finally:
            await connection.close()

    def judge(self, call: str) -> None:
        super().judge(call)
        text = self.other.printed_since()
        if "Traceback" in text:
            self.fail("traceback", text.strip().splitlines()[-1][:160], call, text)
        if not self.other.alive and not self._is_ending:
            self.fail("death", f"a replica ended with {self.other.process.returncode}", call, text)
            self.other.forget()
            self.other = self.started()

    async def restart(self) -> None:
        """Both replicas end; then the first starts again and is compared."""
        self._is_ending = True
        self.other.stop()
        await super().restart()

    def forget(self) -> None:
        super().forget()
        self._stack.close()
