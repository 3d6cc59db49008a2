"""The fast path: a call that is complete in memory runs inline, without an ASGI task.

Most calls never wait for anything. An ASGI task, its messages and the middleware around them cost a read a sixth of its
processor time and a create a tenth, so the connection runs such a call itself and writes the response in one piece.
Every other call goes the ASGI road, which is also where a call continues if it turns out to wait.

Both roads admit a call by the same `Handler.admit`. A check that is added there holds on both.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from functools import partial
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.rows.error import ApiError
from simulator.engine.server import storage
from simulator.engine.server.http.boundary import CallsUnderWay, ErrorBoundary
from simulator.engine.server.http.messages import Outgoing, enter_world, headers_of, read_body, write
from simulator.engine.server.running.chunks import Content

T = TypeVar("T")


class EagerCoroutine(Generic[T]):
    """A coroutine that has run to its first wait, or to its end, outside of any task. Await it for its result.

    Python 3.12 has `asyncio.eager_task_factory` for this. Until its first wait the coroutine must not use the current
    task: there is none.
    """

    __slots__ = ("_coroutine", "_error", "_waits_for", "is_done", "result")

    result: T
    """The return value. Set only if `is_done`."""

    def __init__(self, coroutine: Coroutine[Any, Any, T]) -> None:
        self.is_done = False
        self._error: Exception | None = None
        self._coroutine = coroutine
        try:
            self._waits_for = coroutine.send(None)
        except StopIteration as end:
            self.result, self.is_done = end.value, True
        except Exception as error:
            self._error = error

    def __await__(self) -> Generator[Any, Any, T]:
        if self._error is not None:
            raise self._error
        while not self.is_done:
            # No task has seen the first future that the coroutine waits for, so the current task gets it here. Results,
            # errors and cancellation of each wait belong to the coroutine, so all three are passed on.
            try:
                answer = yield self._waits_for
            except BaseException as error:
                go_on = partial(self._coroutine.throw, error)
            else:
                go_on = partial(self._coroutine.send, answer)
            try:
                self._waits_for = go_on()
            except StopIteration as end:
                self.result, self.is_done = end.value, True
        return self.result


Answer: TypeAlias = "Callable[[bytes, bool], Coroutine[Any, Any, Outgoing[Content] | Response]]"
"""Answers an admitted call, given its body and True if nothing of the body was cut off."""


class InlineCall:
    """One admitted call. `begin` runs it up to its first wait; `finish` completes it as an ASGI application."""

    __slots__ = ("_answer", "_gone", "_running", "max_bytes")

    def __init__(self, answer: Answer, max_bytes: int, gone: asyncio.Future[None] | None = None) -> None:
        self._answer = answer
        self._gone = gone
        """Set when the client leaves while the call waits. None for a call that ends in its own time."""
        self.max_bytes = max_bytes
        """The longest body that is read."""

    def begin(self, body: bytes, is_whole: bool = True) -> Outgoing[Content] | None:
        """Run the call. Return its response, or None if it has to wait or sends a response that is not in memory."""
        is_whole = is_whole and len(body) <= self.max_bytes
        running = self._running = EagerCoroutine(self._answer(body[: self.max_bytes], is_whole))
        return running.result if running.is_done and isinstance(running.result, Outgoing) else None

    async def finish(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Wait for the response and send it."""
        if self._running.is_done or self._gone is None:
            answer = await self._running
        else:
            watch = asyncio.create_task(_watch(self._gone, receive))
            try:
                answer = await self._running
            finally:
                watch.cancel()
                with suppress(asyncio.CancelledError):
                    await watch
        if isinstance(answer, Outgoing):
            await write(scope, receive, send, answer)
        else:
            await answer(scope, receive, send)


async def _watch(gone: asyncio.Future[None], receive: Receive) -> None:
    """Set `gone` when the client leaves. Give up on a host that never says so and repeats the request instead."""
    for _ in range(3):
        if (await receive())["type"] == "http.disconnect":
            gone.set_result(None)
            return


class Handler(Protocol):
    """One of the two APIs."""

    def admit(self, scope: Scope) -> InlineCall:
        """Admit a call by its head, before its body is read. Raise `ApiError` if it is refused."""

    async def refuse(self, error: ApiError) -> Outgoing[Content]:
        """Return the response to a call that was not admitted."""


async def serve(handler: Handler, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a call on the ASGI road."""
    try:
        call = handler.admit(scope)
    except ApiError as error:
        await write(scope, receive, send, await handler.refuse(error))
        return
    call.begin(*await read_body(receive, call.max_bytes))
    await call.finish(scope, receive, send)


class Handlers:
    """Selects the API that a path belongs to."""

    def __init__(self, api: Handler, bases: tuple[str, ...], control: Handler | None) -> None:
        self._api = api
        self._bases = bases
        self._control = control

    def find(self, scope: Scope) -> Handler | None:
        """Return the API of a request, or None if its path belongs to neither. Takes `/_worlds/ID` off the path."""
        path = enter_world(scope, self._bases)
        if path.startswith(self._bases):
            return self._api
        return self._control if path.startswith(_BELOW_CONTROL) or path == CONTROL_BASE else None


_BELOW_CONTROL = f"{CONTROL_BASE}/"


class FastPath:
    """Decides which calls of a connection run inline."""

    def __init__(self, handlers: Handlers, calls: CallsUnderWay) -> None:
        self._handlers = handlers
        self._calls = calls

    def accept(self, scope: Scope) -> InlineCall | None:
        """Return the call to run inline once its body is complete, or None if it goes the ASGI road.

        A refused call does, so that refusals are written in one place. So does a call behind a proxy that names the
        scheme: only uvicorn's layer beneath ASGI knows which proxies to trust, and the scheme decides whether the
        origin of a page is this server's.
        """
        persistence = self._calls.runtime.persistence
        if self._calls.are_ending or (persistence is not None and persistence.refusal is not None):
            return None
        handler = self._handlers.find(scope)
        if handler is None or "x-forwarded-proto" in headers_of(scope):
            return None
        try:
            return handler.admit(scope)
        except ApiError:
            return None

    def must_wait(self, scope: Scope) -> bool:
        """Return True if a response may not be sent yet, because what it reports is not saved."""
        persistence = self._calls.runtime.persistence
        return (
            persistence is not None
            and not storage.is_of_the_server(scope["path"])
            and persistence.unsettled() is not None
        )

    def finisher(self, call: InlineCall) -> ASGIApp:
        """Return the ASGI application that completes a call that has begun inline."""
        persistence = self._calls.runtime.persistence
        # The worlds that the call has worked on are those of now. Its task starts later, perhaps after a failed write
        # has thrown them away.
        generation = None if persistence is None else persistence.generation
        return ErrorBoundary(call.finish, self._calls, generation=generation)
