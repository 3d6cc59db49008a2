"""Connections to PostgreSQL, and the one that owns: a session that PostgreSQL ends when it is silent for too long."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

import asyncpg

from simulator.engine.durable.backend import StoreError, StoreFailed, StoreFull

LEASE_SECONDS = 3.0
"""After so much silence PostgreSQL ends the owning session, and its locks with it."""
_BEATS = 3
"""How often it is heard of in that time."""
_MARK = "SELECT set_config('rampsim.session', gen_random_uuid()::text, false)"
_EXPECTED = (
    OSError,
    TimeoutError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.ClientConfigurationError,
)
_log = logging.getLogger(__name__)
SESSION = "SELECT current_setting('rampsim.session', true)"


class OwnershipLost(StoreError):
    """The owning session has ended, or another replica owns what was to be written here."""


async def connect(url: str, lease_seconds: float, **settings: str) -> asyncpg.Connection[asyncpg.Record]:
    """A connection; `StoreError` is for `translated`."""
    milliseconds = str(round(lease_seconds * 1000))
    try:
        return await asyncpg.connect(
            url,
            timeout=max(lease_seconds, 1),
            command_timeout=lease_seconds * 2,
            server_settings={
                "application_name": "rampsim",
                "search_path": "rampsim",
                "idle_in_transaction_session_timeout": milliseconds,
                "tcp_user_timeout": milliseconds,
                "client_connection_check_interval": "1000",
                **settings,
            },
        )
    except asyncpg.ClientConfigurationError:
        raise
    except ValueError:  # its message may show part of the password
        raise StoreFailed(
            "the URL cannot be read: write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with / : @ ? # and % in the "
            "password as %2F %3A %40 %3F %23 and %25"
        ) from None


class OwningSession:
    """The one session of a replica that holds locks and commits. `ended` is called when it has ended by itself.

    After anything that goes wrong on it, it is over: what it held is gone; what it was told to do is done, or is not.
    """

    def __init__(self, url: str, lease_seconds: float, ended: Callable[[], None]) -> None:
        self._url, self._lease_seconds, self._told_of_end = url, lease_seconds, ended
        self._mark = ""
        self._connection: asyncpg.Connection[asyncpg.Record] | None = None
        self._turn = asyncio.Lock()
        self._beating: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Begin anew, with nothing held."""
        silence = str(round(self._lease_seconds * 1000))
        connection = await connect(self._url, self._lease_seconds, idle_session_timeout=silence)
        self._mark = await connection.fetchval(_MARK)
        self._connection = connection
        connection.add_termination_listener(self._has_ended)
        self._beating = asyncio.get_running_loop().create_task(self._beat(connection))

    async def close(self) -> None:
        """Let go of all that is held."""
        if self._beating is not None:
            self._beating.cancel()
            self._beating = None
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                await connection.close(timeout=1)

    @asynccontextmanager
    async def use(self) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
        """The connection, for one at a time; OwnershipLost where there is none any more."""
        async with self._turn:
            connection = self._connection
            if connection is None:
                raise OwnershipLost("the connection to PostgreSQL was lost")
            try:
                with translated():
                    yield connection
            except BaseException:
                self._has_ended(connection)
                raise

    def compare(self, mark: str | None) -> None:
        """OwnershipLost where PostgreSQL's answer came from another session: a pooler has put one in its place."""
        if mark != self._mark:
            raise OwnershipLost("the session of PostgreSQL was exchanged; connect to it without a pooler")

    async def confirm(self) -> None:
        """Return when it is certain that what is held has been held up to now; OwnershipLost."""
        async with self.use() as connection:
            self.compare(await connection.fetchval(SESSION))

    async def _beat(self, connection: asyncpg.Connection[asyncpg.Record]) -> None:
        """Be heard of, and notice soon when nothing comes back."""
        with suppress(StoreError, TimeoutError):
            while True:
                await asyncio.sleep(self._lease_seconds / _BEATS)
                if self._turn.locked():  # it is heard of anyway, and each of its statements has a limit
                    continue
                await asyncio.wait_for(self.confirm(), self._lease_seconds)
        self._has_ended(connection)

    def _has_ended(self, ended: asyncpg.Connection[asyncpg.Record]) -> None:
        if ended is not self._connection:
            return
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()
            self._told_of_end()


@contextmanager
def translated() -> Iterator[None]:
    """Translate what the driver raises to the exceptions of a store.

    A connection that ends while something is under way raises nearly anything: an `AttributeError` of the driver as
    well as its `InternalClientError`. Callers would have to answer 500 to these.
    """
    try:
        yield
    except StoreError:
        raise
    except asyncpg.PostgresError as error:
        raise _told(error) from error
    except _EXPECTED as error:
        raise OwnershipLost(f"PostgreSQL cannot be reached ({error or type(error).__name__})") from error
    except Exception as error:
        _log.warning("an unexpected failure of the connection to PostgreSQL", exc_info=error)
        raise OwnershipLost(f"the connection to PostgreSQL has failed ({error or type(error).__name__})") from error


def _told(error: asyncpg.PostgresError) -> StoreError:
    state = error.sqlstate or ""
    if state == "53100":
        return StoreFull(f"PostgreSQL has no room left ({error}): make room on its disk")
    if state == "RS001" or state.startswith(("08", "57")):
        return OwnershipLost(f"PostgreSQL has ended what this server owned ({error})")
    if state.startswith("28") or state in ("3D000", "42501"):
        return StoreFailed(
            f"PostgreSQL refuses the connection ({error}): look at user, password and database in the URL, and at the "
            "rights of that user"
        )
    return StoreFailed(f"PostgreSQL cannot read or write ({error})")
