"""Connections to PostgreSQL. PostgreSQL closes the owning session, which holds the locks, after seconds of silence."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TypeAlias

import asyncpg

from simulator.engine.durable.backend import StoreError

LEASE_SECONDS = 3.0
"""The time without queries after which PostgreSQL closes the owning session and releases its locks."""
_BEATS = 3
"""The number of queries that an idle session sends within this time, so that it is not closed."""
_MARK = "SELECT set_config('rampsim.session', gen_random_uuid()::text, false)"
_EXPECTED = (OSError, asyncpg.InterfaceError, asyncpg.InternalClientError, asyncpg.ClientConfigurationError)
_log = logging.getLogger(__name__)
Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"
SESSION = "SELECT current_setting('rampsim.session', true)"


class OwnershipLost(StoreError):
    """The owning session has ended, or another replica owns the world to be written."""


async def connect(url: str, lease_seconds: float, **settings: str) -> Connection:
    """Open a connection. Call this function inside `with translated()`."""
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
    except ValueError:  # The message may contain a part of the password.
        raise StoreError(
            "the URL is not valid: write postgresql://USER:PASSWORD@HOST:PORT/DATABASE. In the password, write "
            "/ : @ ? # and % as %2F %3A %40 %3F %23 and %25"
        ) from None


class OwningSession:
    """The database session in which a replica holds locks and commits writes. `ended` is called if it ends
    unexpectedly.

    Any error ends the session and releases its locks, because it is unknown whether the last statement was executed.
    """

    def __init__(self, url: str, lease_seconds: float, ended: Callable[[], None]) -> None:
        self._url, self._lease_seconds, self._on_end = url, lease_seconds, ended
        self._mark = ""
        self._connection: Connection | None = None
        self._turn = asyncio.Lock()
        self._beating: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Open a new session. The new session does not hold any locks."""
        silence = str(round(self._lease_seconds * 1000))
        connection = await connect(self._url, self._lease_seconds, idle_session_timeout=silence)
        self._mark = await connection.fetchval(_MARK)
        self._connection = connection
        connection.add_termination_listener(self._has_ended)
        self._beating = asyncio.get_running_loop().create_task(self._beat(connection))

    async def close(self) -> None:
        """Close the session, which releases its locks."""
        if self._beating is not None:
            self._beating.cancel()
            self._beating = None
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                await connection.close(timeout=1)

    @asynccontextmanager
    async def use(self) -> AsyncIterator[Connection]:
        """Reserve the connection for one caller. Raise `OwnershipLost` if the session has ended."""
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
        """Raise `OwnershipLost` if `mark`, which a query returned, is from another session of a connection pooler."""
        if mark != self._mark:
            raise OwnershipLost("the PostgreSQL session changed; connect without a connection pooler")

    async def confirm(self) -> None:
        """Raise `OwnershipLost` if this session, which holds the locks, has ended."""
        async with self.use() as connection:
            self.compare(await connection.fetchval(SESSION))

    async def _beat(self, connection: Connection) -> None:
        """Send a query at intervals. PostgreSQL then keeps the session open, and a lost session is noticed sooner."""
        with suppress(StoreError, TimeoutError):
            while True:
                await asyncio.sleep(self._lease_seconds / _BEATS)
                if self._turn.locked():  # A statement is in progress. Each statement has a time limit.
                    continue
                await asyncio.wait_for(self.confirm(), self._lease_seconds)
        self._has_ended(connection)

    def _has_ended(self, ended: Connection) -> None:
        if ended is not self._connection:
            return
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()
            self._on_end()


@contextmanager
def translated() -> Iterator[None]:
    """Convert exceptions from the database driver to `StoreError`.

    A connection that ends during a statement can raise almost any exception, even an `AttributeError` in the driver.
    Without the `except Exception` clause, a request would fail with status 500 and without a reason.
    """
    try:
        yield
    except StoreError:
        raise
    except asyncpg.PostgresError as error:
        raise _store_error(error) from error
    except _EXPECTED as error:
        raise OwnershipLost(f"PostgreSQL cannot be reached ({error or type(error).__name__})") from error
    except Exception as error:
        _log.warning("an unexpected failure of the connection to PostgreSQL", exc_info=error)
        raise OwnershipLost(f"the connection to PostgreSQL has failed ({error or type(error).__name__})") from error


def _store_error(error: asyncpg.PostgresError) -> StoreError:
    state = error.sqlstate or ""
    if state == "53100":
        return StoreError(f"PostgreSQL has no space left ({error}): free space on its disk")
    if state == "RS001" or state.startswith(("08", "57")):
        return OwnershipLost(f"PostgreSQL has ended the session of this server ({error})")
    if state.startswith("28") or state in ("3D000", "42501"):
        return StoreError(
            f"PostgreSQL refuses the connection ({error}): check user, password and database in the URL, and the "
            "privileges of that user"
        )
    return StoreError(f"PostgreSQL cannot read or write ({error})")
