"""Responders for the deliveries to a receiver: a fixed status, a test function, or an application."""

from __future__ import annotations

import asyncio
import inspect
import io
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast
from wsgiref.util import setup_testing_defaults

from simulator.kernel.dataclass import dataclass
from simulator.testing.errors import SimulatorError
from simulator.testing.links.asgi import Conversation, Message, scope_of
from simulator.testing.links.loop_thread import LoopThread, in_thread
from simulator.testing.receiving.loopback import Answer, Request

if TYPE_CHECKING:
    from simulator.testing.receiving.deliveries import Delivery

Reply: TypeAlias = "int | tuple[int, Mapping[str, str], bytes | str] | None"
Interface = Literal["asgi", "wsgi"]
_BY_ARGUMENTS: Mapping[int, Interface] = {3: "asgi", 2: "wsgi"}
_LIFESPAN_SECONDS = 30.0
"""The time limit for starting an application."""


class Answerer:
    """Responds to deliveries in the receiver's event loop."""

    async def answer(self, delivery: Delivery, request: Request) -> Answer:
        """Return the response to a delivery."""
        raise NotImplementedError

    def close(self) -> None:
        """Close everything that the responder has opened. Call this from any thread except the receiver's."""


@dataclass
class Fixed(Answerer):
    """Responds with `status` after `delay_seconds`, and only `times` times if given. No application handles the
    delivery.
    """

    status: int = 200
    delay_seconds: float = 0.0
    times: int | None = None

    async def answer(self, delivery: Delivery, request: Request) -> Answer:
        if self.delay_seconds:
            await asyncio.sleep(self.delay_seconds)
        return Answer(self.status)


class Function(Answerer):
    """Responds with the result of the test's function. A plain function runs in a thread, an `async` function in the
    loop.
    """

    def __init__(self, function: Callable[[Delivery], Reply | Awaitable[Reply]]) -> None:
        self._function = function

    async def answer(self, delivery: Delivery, request: Request) -> Answer:
        function = self._function
        if _is_async(function):
            return _answer_of(await cast("Callable[[Delivery], Awaitable[Reply]]", function)(delivery))
        reply = await in_thread(lambda: function(delivery))
        return _answer_of(await reply if inspect.isawaitable(reply) else reply)


def _answer_of(reply: object) -> Answer:
    match reply:
        case None:
            return Answer(200)
        case bool():
            pass
        case int():
            return Answer(reply)
        case (int() as status, Mapping() as headers, str() | bytes() as body):
            return Answer(status, tuple(headers.items()), body.encode() if isinstance(body, str) else body)
    raise TypeError(
        f"respond_with: the function returned {reply!r}; it must return a status, (status, headers, body), "
        "or None for 200"
    )


class AsgiApp(Answerer):
    """Passes deliveries to an ASGI application in the receiver's event loop, after the application has started."""

    def __init__(self, app: Callable[..., Awaitable[None]], path: str, thread: LoopThread) -> None:
        self._app = app
        self._path = path
        self._thread = thread
        self._state: dict[str, Any] = {}
        self._lifespan = _Lifespan(app, self._state)
        thread.run(self._lifespan.start())

    async def answer(self, delivery: Delivery, request: Request) -> Answer:
        query = request.target.partition("?")[2].encode("latin-1")
        headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in request.headers]
        scope = scope_of(request.method, self._path, query, headers, "127.0.0.1", state=self._state.copy())
        conversation = Conversation(request.body)

        async def send(message: Message) -> None:
            await conversation.send(message)
            if conversation.is_complete:
                conversation.over.set()

        try:
            await self._app(scope, conversation.receive, send)
        except Exception as error:
            # Frameworks return 500 and then raise the error again. The test gets both.
            delivery.error = error
            return conversation.answer() if conversation.is_complete else Answer(500)
        if not conversation.has_begun:
            delivery.error = RuntimeError("the application returned without a response")
        return conversation.answer()

    def close(self) -> None:
        with suppress(RuntimeError):  # the loop has ended, and with it the application
            self._thread.run(self._lifespan.stop())


class _Lifespan:
    """The startup and shutdown of an ASGI application. Applications without lifespan support are accepted."""

    def __init__(self, app: Callable[..., Awaitable[None]], state: dict[str, Any]) -> None:
        self._app = app
        self._state = state
        self._task: asyncio.Task[None] | None = None
        self._error: BaseException | None = None

    async def start(self) -> None:
        """Run the application's startup. Raises SimulatorError if the startup fails or takes too long."""
        loop = asyncio.get_running_loop()
        self._asked = asyncio.Queue[Message]()
        self._told: asyncio.Future[Message] = loop.create_future()
        self._asked.put_nowait({"type": "lifespan.startup"})
        self._task = task = loop.create_task(self._live())
        told = self._told
        first: set[asyncio.Future[Any]] = {task, told}
        await asyncio.wait(first, timeout=_LIFESPAN_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if told.done() and told.result()["type"] == "lifespan.startup.failed":
            why = told.result().get("message") or "it gives no reason"
            raise SimulatorError(f"The application failed to start: {why}") from self._error
        if not told.done() and not task.done():
            task.cancel()
            raise SimulatorError(f"The application did not start within {_LIFESPAN_SECONDS:g} seconds.")

    async def stop(self) -> None:
        if self._task is None or self._task.done():
            return
        self._asked.put_nowait({"type": "lifespan.shutdown"})
        await asyncio.wait({self._task}, timeout=_LIFESPAN_SECONDS)

    async def _live(self) -> None:
        scope = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}, "state": self._state}
        try:
            await self._app(scope, self._asked.get, self._tell)
        except Exception as error:
            # An application without lifespan support raises an error at the first message. It runs without.
            self._error = error

    async def _tell(self, message: Message) -> None:
        if not self._told.done():
            self._told.set_result(message)


class WsgiApp(Answerer):
    """Passes deliveries to a WSGI application, each in its own thread."""

    def __init__(self, app: Callable[..., Iterable[bytes]], path: str) -> None:
        self._app = app
        self._path = path

    async def answer(self, delivery: Delivery, request: Request) -> Answer:
        return await in_thread(lambda: self._call(request))

    def _call(self, request: Request) -> Answer:
        answered: dict[str, Any] = {}
        chunks: list[bytes] = []

        def start_response(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Callable[[bytes], Any]:
            answered.update(status=int(status.split()[0]), headers=tuple(headers))
            return chunks.append

        parts = self._app(self._environ(request), start_response)
        try:
            chunks.extend(parts)
        finally:
            if callable(close := getattr(parts, "close", None)):
                close()
        if not answered:
            raise RuntimeError("the application returned without a response")
        return Answer(answered["status"], answered["headers"], b"".join(chunks))

    def _environ(self, request: Request) -> dict[str, Any]:
        environ: dict[str, Any] = {
            "REQUEST_METHOD": request.method,
            "SCRIPT_NAME": "",
            "PATH_INFO": self._path,
            "QUERY_STRING": request.target.partition("?")[2],
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "CONTENT_LENGTH": str(len(request.body)),
            "wsgi.input": io.BytesIO(request.body),
            "wsgi.errors": sys.stderr,
            "wsgi.multithread": True,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
        }
        for name, value in request.headers:
            key = name.upper().replace("-", "_")
            if key not in ("CONTENT_LENGTH", "TRANSFER_ENCODING"):
                environ["CONTENT_TYPE" if key == "CONTENT_TYPE" else f"HTTP_{key}"] = value
        setup_testing_defaults(environ)  # sets only what is missing
        return environ


class Address(Answerer):
    """Forwards deliveries to a URL, with the same headers and bytes, and returns the response from that URL."""

    def __init__(self, url: str) -> None:
        import httpx

        if not url.startswith(("http://", "https://")):
            raise ValueError(f"forward_to: {url!r} is not a URL. Use one that starts with http://")
        self._failure = httpx.TransportError
        self._url = url
        self._client = httpx.Client(trust_env=False, timeout=30.0)

    async def answer(self, delivery: Delivery, request: Request) -> Answer:
        headers = [pair for pair in request.headers if pair[0].lower() not in ("host", "connection", "content-length")]
        try:
            response = await in_thread(lambda: self._client.post(self._url, content=request.body, headers=headers))
        except self._failure as error:
            why = str(error) or type(error).__name__
            raise SimulatorError(f"{self._url} did not respond ({why}). Does the application run there?") from None
        # httpx has already decompressed the response, so it is passed on without compression.
        kept = [pair for pair in response.headers.multi_items() if pair[0] != "content-encoding"]
        return Answer(response.status_code, tuple(kept), response.content)

    def close(self) -> None:
        self._client.close()


def _is_async(function: object) -> bool:
    call = getattr(function, "__call__", None)  # noqa: B004
    return inspect.iscoroutinefunction(inspect.unwrap(cast("Any", function))) or inspect.iscoroutinefunction(call)


def answerer_of(target: object, path: str, thread: LoopThread, interface: Interface | None = None) -> Answerer:
    """Return the responder for an application or a URL. Raises TypeError for other values."""
    if isinstance(target, str):
        return Address(target)
    if not path.startswith("/"):
        raise ValueError(f"forward_to: the path {path!r} must start with a slash")
    kind = interface or _interface_of(target)
    if callable(target) and kind == "asgi":
        return AsgiApp(target, path, thread)
    if callable(target) and kind == "wsgi":
        return WsgiApp(target, path)
    raise TypeError(
        f"forward_to takes an ASGI application (scope, receive, send), a WSGI application (environ, start_response) "
        f'or a URL; {target!r} is not recognised as one of these (pass interface="asgi" or "wsgi")'
    )


def _interface_of(target: object) -> Interface | None:
    """Return the interface of an application: ASGI for a coroutine function or for three arguments, WSGI for two."""
    if not callable(target):
        return None
    if _is_async(target):
        return "asgi"
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(one.kind is one.VAR_POSITIONAL for one in parameters):
        return "wsgi"
    required = [one for one in parameters if one.kind is not one.VAR_KEYWORD and one.default is one.empty]
    return _BY_ARGUMENTS.get(len(required))
