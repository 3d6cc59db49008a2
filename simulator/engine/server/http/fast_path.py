"""The fast path: a call that has arrived completely runs inline on its connection, without an ASGI task.

Most calls never wait for anything. An ASGI task, its messages and its middleware would take a sixth of the processor
time of a read call, and a tenth of the time of a create call. The connection therefore runs such a call directly and
writes the response in one piece. All other calls run in ASGI tasks. A call that has to wait continues in an ASGI task.

Both paths admit calls with `Handler.admit`, so a check in this method applies to every call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from functools import partial
from typing import Any, Generic, NoReturn, Protocol, TypeAlias, TypeVar

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.rows.error import ApiError
from simulator.engine.server import storage
from simulator.engine.server.http.boundary import CallsUnderWay, ErrorBoundary
from simulator.engine.server.http.known_heads import KnownHeads, Whole
from simulator.engine.server.http.messages import Outgoing, enter_world, headers_of, read_body, write
from simulator.engine.server.running.chunks import Content

T = TypeVar("T")


class EagerCoroutine(Generic[T]):
    """Runs a coroutine immediately, outside any task, up to its first wait or its end.

    Await the object to get the coroutine's result. Python 3.12 has `asyncio.eager_task_factory` for this purpose.
    Before its first wait, the coroutine must not ask for the current task, because there is none.
    """

    __slots__ = ("_coroutine", "_error", "_waits_for", "is_done", "result")

    result: T
    """The return value. Set only if `is_done` is True."""

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
            # The first future that the coroutine waits for was not passed to a task yet, so the current task awaits it
            # here. The result, error or cancellation of each wait must reach the coroutine, so all three are passed on.
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


Answer: TypeAlias = "Callable[[bytes, bool], Outgoing[Content] | Coroutine[Any, Any, Outgoing[Content] | Response]]"
"""A function that answers an accepted call, or returns a coroutine if it has to wait. Its arguments are the body, and
True if the body was not truncated.
"""


class InlineCall:
    """One accepted call. `begin` runs it up to its first wait. `finish` is an ASGI application that completes it."""

    __slots__ = ("_answer", "_gone", "_outgoing", "_running", "max_bytes")

    def __init__(self, answer: Answer, max_bytes: int, gone: asyncio.Future[None] | None = None) -> None:
        self._answer = answer
        self._outgoing: Outgoing[Content] | None = None
        self._gone = gone
        """Set when the client disconnects while the call waits. None for a call that always ends on its own."""
        self.max_bytes = max_bytes
        """The maximum number of bytes to read from the body."""

    def begin(self, body: bytes, is_whole: bool = True) -> Outgoing[Content] | None:
        """Run the call up to its first wait. Return the response, or None if the call has to wait or streams."""
        if len(body) > self.max_bytes:
            body, is_whole = body[: self.max_bytes], False
        try:
            answer = self._answer(body, is_whole)
        except Exception as error:  # `finish` raises it, where it is handled
            answer = _raising(error)
        if isinstance(answer, Outgoing):
            self._outgoing = answer
            return answer
        running = self._running = EagerCoroutine(answer)
        return running.result if running.is_done and isinstance(running.result, Outgoing) else None

    async def finish(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Wait for the response to the call, and send the response."""
        if self._outgoing is not None:
            await write(scope, receive, send, self._outgoing)
            return
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


async def _raising(error: Exception) -> NoReturn:
    raise error


async def _watch(gone: asyncio.Future[None], receive: Receive) -> None:
    """Set the future `gone` when the client disconnects. Give up after three messages, because some ASGI servers repeat
    `http.request` instead of sending `http.disconnect`.
    """
    for _ in range(3):
        if (await receive())["type"] == "http.disconnect":
            gone.set_result(None)
            return


class Handler(Protocol):
    """The handler for the API or the control API."""

    def admit(self, scope: Scope) -> InlineCall:
        """Return the accepted call, using only its headers, or raise `ApiError` to refuse it."""

    async def refuse(self, error: ApiError) -> Outgoing[Content]:
        """Return the response to a call that was not accepted."""


async def serve(handler: Handler, scope: Scope, receive: Receive, send: Send) -> None:
    """Carry out a call as an ASGI application: read the body, run the call, and send the response."""
    try:
        call = handler.admit(scope)
    except ApiError as error:
        await write(scope, receive, send, await handler.refuse(error))
        return
    call.begin(*await read_body(receive, call.max_bytes))
    await call.finish(scope, receive, send)


class KnowingHandler(Handler, Protocol):
    """A handler that remembers which headers it has accepted."""

    def admit_known(self, whole: Whole) -> InlineCall | None:
        """Return the accepted call if equal headers were accepted before, or None if `admit` has to check it."""


class Handlers:
    """Selects the handler for a path: the handler of the API or of the control API."""

    def __init__(self, api: KnowingHandler, bases: tuple[str, ...], control: Handler | None) -> None:
        self._api = api
        self._bases = bases
        self._control = control

    def find(self, scope: Scope) -> Handler | None:
        """Remove the prefix `/_worlds/ID` from the path. Return the handler of one of the two APIs, or None."""
        path = enter_world(scope, self._bases)
        if path.startswith(self._bases):
            return self._api
        return self._control if path.startswith(_BELOW_CONTROL) or path == CONTROL_BASE else None

    def admit_known(self, whole: Whole) -> InlineCall | None:
        """Return the accepted call if this is an API call and equal headers were accepted before, or None."""
        return self._api.admit_known(whole) if whole.path.startswith(self._bases) else None


_BELOW_CONTROL = f"{CONTROL_BASE}/"


class FastPath:
    """Decides which calls on a connection run inline."""

    def __init__(self, handlers: Handlers, calls: CallsUnderWay) -> None:
        self._handlers = handlers
        self._calls = calls
        self.known_heads = KnownHeads()

    def accept(self, scope: Scope) -> InlineCall | None:
        """Return a call that can run inline once its body is complete. Return None if the call must run in an ASGI
        task.

        A refused call runs in an ASGI task, because only `serve` sends refusals. A call with the header
        `X-Forwarded-Proto` also runs in an ASGI task, because only uvicorn's ASGI layer knows which proxies to trust.
        This layer sets the scheme, which is part of the server's origin.
        """
        if not self._is_open():
            return None
        handler = self._handlers.find(scope)
        if handler is None or "x-forwarded-proto" in headers_of(scope):
            return None
        try:
            return handler.admit(scope)
        except ApiError:
            return None

    def accept_known(self, whole: Whole) -> InlineCall | None:
        """Like `accept`, but only for calls whose headers were accepted before. No ASGI scope is needed."""
        return self._handlers.admit_known(whole) if self._is_open() else None

    def _is_open(self) -> bool:
        persistence = self._calls.runtime.persistence
        return not self._calls.are_ending and (persistence is None or persistence.refusal is None)

    def must_wait(self, path: str) -> bool:
        """Return True if a response must not be sent yet, because the changes that it reports are not saved."""
        persistence = self._calls.runtime.persistence
        return persistence is not None and not storage.is_of_the_server(path) and persistence.unsettled() is not None

    def finisher(self, call: InlineCall) -> ASGIApp:
        """Return the ASGI application that completes a call that started inline."""
        persistence = self._calls.runtime.persistence
        # The generation is read now, because the call has worked on the current worlds. Its task starts later,
        # perhaps after a failed write has discarded those worlds.
        generation = None if persistence is None else persistence.generation
        return ErrorBoundary(call.finish, self._calls, generation=generation)
