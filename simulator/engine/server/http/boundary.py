"""The outermost middleware: it handles errors and shutdown, and delays responses until changes are saved."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from simulator.engine.rows.error import ApiError, ControlError
from simulator.engine.server import storage
from simulator.engine.server.endpoint import DEFECT
from simulator.engine.server.http.messages import CUT, NoCut, drop, write_raw
from simulator.engine.server.runtime import Runtime
from simulator.engine.text.json import dumps

_STOPPING = ApiError("service_unavailable", "The simulator is stopping.")
_EVENT_STREAM = (b"content-type", b"text/event-stream; charset=utf-8")


class CallsUnderWay:
    """The asyncio tasks of all calls in progress. A server that stops cancels these tasks."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.tasks: set[asyncio.Task[object]] = set()
        self.are_ending = False

    def end(self) -> None:
        self.are_ending = True
        for task in tuple(self.tasks):
            task.cancel()


class ErrorBoundary:
    """Middleware that converts every exception to an error response. With durable storage, it delays each response,
    except event streams, until everything that the response reports is saved.
    """

    def __init__(
        self, app: ASGIApp, calls: CallsUnderWay, *, settles: bool = True, generation: int | None = None
    ) -> None:
        self._app = app
        self._calls = calls
        self._settles = settles
        """False if another boundary inside this one already waits for storage."""
        self._generation = generation
        """The generation of the stored worlds when the call started. None if the call starts inside this boundary."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, calls = False, self._calls
        persistence = calls.runtime.persistence if self._settles else None
        if persistence is not None and storage.is_of_the_server(scope["path"]):
            persistence = None
        generation = self._generation
        if persistence is not None and generation is None:
            generation = persistence.generation

        async def sending(message: MutableMapping[str, Any]) -> None:
            nonlocal begun
            if persistence is not None and not begun and _EVENT_STREAM not in message.get("headers", ()):
                await _settled(persistence, generation)
            begun = True
            await send(message)

        task: asyncio.Task[object] | None = asyncio.current_task()
        is_outermost = task is not None and task not in calls.tasks
        if task is not None:
            calls.tasks.add(task)
        try:
            if calls.are_ending:
                raise asyncio.CancelledError
            if persistence is not None and persistence.refusal is not None:
                raise storage.Unavailable(persistence.refusal)
            await self._app(scope, receive, sending)
        except ClientDisconnect:
            pass
        except asyncio.CancelledError:
            if not calls.are_ending:
                raise
            await _end(scope, send, _STOPPING, begun=begun)
        except NoCut:
            raise
        except storage.Unavailable as error:
            await _end(scope, send, storage.unavailable(scope["path"], str(error)), begun=begun)
        except Exception:
            calls.runtime.log_defect()
            await _end(scope, send, ApiError("internal_error", DEFECT), begun=begun)
        finally:
            if task is not None and is_outermost:
                calls.tasks.discard(task)


async def _settled(persistence: storage.Persistence, generation: int | None) -> None:
    """Wait until all changes so far are saved. Raise `Unavailable` if they cannot be saved or were discarded."""
    if (unsettled := persistence.unsettled()) is not None:
        await asyncio.shield(unsettled)
    if persistence.generation != generation:
        raise storage.Unavailable("the changes of this call were discarded, because they could not be saved")


async def _end(scope: Scope, send: Send, error: ApiError | ControlError, *, begun: bool) -> None:
    """Send an error response. If another response has started, drop the connection instead, because the client would
    treat the started response as complete.
    """
    if not begun:
        headers = [(b"connection", b"close")]
        headers += [(name.lower().encode(), value.encode()) for name, value in storage.headers_of(error).items()]
        await write_raw(scope, send, error.status, dumps(error.envelope()), "application/json", headers)
    elif CUT in scope.get("extensions", {}):
        drop(scope)
