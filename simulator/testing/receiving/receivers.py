"""A webhook receiver in the test process. It verifies and records deliveries and responds as configured."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any

from simulator.engine.text.json import JsonObject
from simulator.kernel.clock import parse_duration
from simulator.testing import explored
from simulator.testing.errors import SimulatorError, hides_traceback
from simulator.testing.given import Target, id_of
from simulator.testing.links.extra import httpx
from simulator.testing.links.loop_thread import LoopThread, in_thread, is_handling
from simulator.testing.messages import absence
from simulator.testing.receiving.answerers import Answerer, Fixed, Function, Interface, Reply, answerer_of
from simulator.testing.receiving.deliveries import Delivery, Judge, envelope_of, what_raised
from simulator.testing.receiving.loopback import Answer, Listener, Request
from simulator.testing.receiving.registration import register, unregister

if TYPE_CHECKING:
    from simulator.testing.worlds import World

__tracebackhide__ = hides_traceback

HOST_VARIABLE = "SIMULATOR_RECEIVER_HOST"
"""The host name that a simulator on another machine or in a container uses to reach receivers in this process."""
_REGISTRATION = "webhook.test"
_MOST_ERRORS = 5
_DETACH_SECONDS = 10.0
"""The time after which every delivery has a response or has failed. An attempt fails after ten seconds."""


class Receiver:
    """A webhook endpoint of a world. It registers itself for `events` and returns 200 unless configured otherwise.

    If `events` is None, the test or the application must register `url`. Over HTTP, the receiver listens on a free
    loopback port in its own thread, or on the host name in SIMULATOR_RECEIVER_HOST if the simulator runs elsewhere.
    With a server in the test process, it needs no socket, and the URL is the same in every run. Several deliveries can
    arrive at once, and a handler can call the simulator. `received` does not contain the event `webhook.test` of the
    registration.
    """

    # A run of `rampsim explore` sets the next three attributes.
    refuses_forged = False
    """Whether the receiver returns 401 for a forged delivery when it replaces an application."""
    handling: Callable[[str, Coroutine[Any, Any, Answer]], Awaitable[Answer]] = staticmethod(
        lambda event, answer: answer
    )
    """Called with the type of each event and the coroutine that handles it, which it runs."""
    after_death: Callable[[], None] = staticmethod(lambda: None)
    """Called in a thread when the application has died while it handled a delivery, before the next delivery."""
    patience_seconds = 2.0
    """The time for which `received` and `close` wait for deliveries in flight."""

    def __init__(
        self,
        world: World,
        *,
        events: Sequence[str] | None = ("*",),
        environment: str = "sandbox",
        path: str = "/webhooks",
    ) -> None:
        self._received: list[Delivery] = []
        self.environment = environment
        self._world = world
        self._judge = Judge(world, environment)
        self._answerers: list[Answerer] = [Fixed()]
        """The responders. Only the last one responds. When it is detached, the previous one responds again."""
        self._next: list[Fixed] = []
        self._raises = True
        self._told: set[int] = set()
        self._lock = Lock()
        self._waiting: dict[Future[Delivery], tuple[str, str | None]] = {}
        """The deliveries for which a test is waiting, by event type and resource."""
        self._is_open = False
        self._stop_delivering: Callable[[], object] = lambda: None
        self._thread = LoopThread(f"webhooks of {world.id}")
        try:
            self.url = f"{self._open()}{path}"
            self.endpoint_id = None if events is None else register(world, self.url, events, environment)
        except BaseException:
            self._thread.stop()
            raise
        self._is_open = True
        world.receivers.append(self)

    def __repr__(self) -> str:
        return f"<Receiver of {self._world.id} at {self.url}>"

    # Deliveries

    @property
    def received(self) -> list[Delivery]:
        """The deliveries in order of arrival. Waits up to two seconds for deliveries in flight."""
        self._settle()
        return self._received

    def events(self, type: str | None = None, object_id: Target | None = None) -> list[JsonObject]:
        """Return the received envelopes in order of arrival, including duplicates. Filters: event type, resource."""
        about = None if object_id is None else id_of(object_id)
        return [delivery.event for delivery in list(self.received) if delivery.fits(type, about)]

    def wait_for(self, type: str, object_id: Target | None = None, timeout: float = 5.0) -> Delivery:
        """Return the first delivery with a type (and resource). It may have arrived before the call.

        Waits up to `timeout` real seconds for the handler to respond. Raises AssertionError if no such delivery
        arrives, with a list of what did arrive, or if the application raised an error while handling it.
        """
        about = None if object_id is None else id_of(object_id)
        came = Future[Delivery]()
        with self._lock:
            delivery = next((one for one in self._received if one.fits(type, about)), None)
            if delivery is None:
                self._waiting[came] = (type, about)
        if delivery is None:
            # Wait only once and do not check the time, because a loop that checks a frozen clock would never end.
            with suppress(TimeoutError):
                delivery = came.result(timeout)
            with self._lock:
                del self._waiting[came]
        if delivery is None:
            raise AssertionError(absence(self._world, self, type, about, timeout))
        if not delivery.handled.wait(timeout):
            raise AssertionError(f"{type} arrived, but its handler did not respond within {timeout:g} seconds.")
        self._raise_error(delivery)
        return delivery

    # Responses

    def respond(self, status: int, times: int | None = None, delay: float | str | None = None) -> None:
        """Respond with this status after `delay` (real seconds, or a string such as "200ms").

        `times` limits the number of these responses. They start after the responses of earlier `respond` calls are
        used up. Afterwards, the previous behaviour resumes. Without `times`, every later delivery gets this response.
        """
        seconds = 0.0 if delay is None else parse_duration(delay) / 1000
        if not isinstance(status, int) or not 200 <= status <= 599:
            raise ValueError(f"respond: a status must be a number from 200 to 599, not {status!r}")
        if times is not None and times < 1:
            raise ValueError(f"respond: times must be a positive integer, not {times!r}")
        with self._lock:
            if times is None:
                self._next.clear()
                kept = [one for one in self._answerers if not isinstance(one, Fixed)]
                self._answerers = [*kept, Fixed(status, seconds)]
            else:
                self._next.append(Fixed(status, seconds, times))

    def respond_with(self, function: Callable[[Delivery], Reply | Awaitable[Reply]]) -> None:
        """Respond with what a function returns for the delivery: a status, (status, headers, body), or None for 200.

        A plain function runs in a thread, an `async` function in the receiver's event loop. If the function raises an
        error, the response is 500 and the test receives the error, as with `forward_to`.
        """
        self._answer_by(Function(function), raises=True)

    def forward_to(
        self, app: object, path: str = "/webhooks", *, interface: Interface | None = None, raises: bool = True
    ) -> Forwarding:
        """Forward deliveries to this path of an ASGI or WSGI application in this process, or to a URL over HTTP.

        `interface` specifies the application's interface if it cannot be detected. In a `with` statement, forwarding
        ends with the block, after deliveries in flight have their response. For a world from the pytest fixtures, it
        also ends with the test, before the fixtures that the application uses.

        The receiver responds with the application's response. An ASGI application runs its startup (lifespan) first. It
        runs in the receiver's event loop in a separate thread, so it cannot use objects that belong to another loop. A
        WSGI application gets a thread for each delivery. If the application raises an error, the response is 500. If it
        exits (SystemExit), the connection is cut. The error is in `delivery.error`. Unless `raises` is False,
        `wait_for` or closing the receiver raises the error.
        """
        return self._answer_by(answerer_of(app, path, self._thread, interface), raises=raises)

    def _answer_by(self, answerer: Answerer, *, raises: bool) -> Forwarding:
        with self._lock:
            self._answerers.append(answerer)
            self._raises = raises
        return Forwarding(lambda: self._detach([answerer]))

    def detach(self) -> None:
        """Detach the applications and functions that handle deliveries, after deliveries in flight have their response.
        The receiver then returns 200, or the status set by `respond`.
        """
        self._detach([one for one in self._answerers if not isinstance(one, Fixed)])

    def _detach(self, answerers: Sequence[Answerer]) -> None:
        if any(one in self._answerers for one in answerers):
            self._settle(_DETACH_SECONDS)
            self._let_go(answerers)

    def _let_go(self, answerers: Sequence[Answerer]) -> None:
        with self._lock:
            ended = [one for one in self._answerers if one in answerers]
            kept = [one for one in self._answerers if one not in answerers]
            self._answerers = kept or [Fixed()]
        for one in ended:
            one.close()

    # Life cycle

    def close(self, *, keep_endpoint: bool = False) -> None:
        """Stop receiving. Remove the endpoint from the world, unless `keep_endpoint` is True.

        Deliveries in flight get up to two seconds for their response, because a cut delivery would count as an error of
        the application. Raises the first application error that `wait_for` has not raised yet.
        """
        if not self._is_open:
            return
        with suppress(httpx.HTTPError, SimulatorError, RuntimeError):  # the world may have been deleted
            if self.endpoint_id is not None and not keep_endpoint:
                unregister(self._world, self.endpoint_id, self.environment)
            self._settle()
        self._is_open = False
        self._stop_delivering()
        self._world.receivers.remove(self)
        try:
            self._let_go([one for one in self._answerers if not isinstance(one, Fixed)])
        finally:
            self._thread.stop()
        for delivery in list(self._received):
            self._raise_error(delivery)

    def __enter__(self) -> Receiver:
        return self

    def __exit__(self, error_type: object, error: object, _traceback: object) -> None:
        try:
            self.close()
        except AssertionError:
            if error is None:
                raise

    def _open(self) -> str:
        deliver_to = getattr(self._world.link, "deliver_to", None)
        if deliver_to is not None:
            take = self._take
            origin: str
            origin, self._stop_delivering = deliver_to(self._world.id, lambda one: self._thread.submit(take(one)))
            return origin
        host = os.environ.get(HOST_VARIABLE) or "127.0.0.1"
        listener = Listener(self._take, host)
        self._thread.at_end.append(listener.close)
        return f"http://{host}:{self._thread.run(listener.open())}"

    # One delivery, in the event loop

    async def _take(self, request: Request) -> Answer:
        if request.method != "POST":
            return Answer(405, (("Allow", "POST"),), b"This receives webhooks, which are posted.\n")
        is_handling.set(True)
        headers = httpx.Headers(list(request.headers))
        if not self._is_open and envelope_of(request.body).get("type") == _REGISTRATION:
            return Answer(200)
        try:
            genuine = await self._judge.is_genuine(headers, request.body)
            if self._world.on_delivery:
                await in_thread(self._report_moment)
        except SimulatorError:  # the world or its server has ended, so nobody waits for the response
            return Answer(0, cut=True)
        delivery = Delivery(headers, request.body, genuine=genuine)
        with self._lock:
            answerer = self._choose()
            if (self.refuses_forged or explored.run()) and not delivery.genuine and isinstance(answerer, Fixed):
                answerer = Fixed(401)
            self._received.append(delivery)
            waiting = [came for came, what in self._waiting.items() if not came.done() and delivery.fits(*what)]
        if isinstance(answerer, Fixed):
            delivery.finish(answerer.status)
        for came in waiting:
            came.set_result(delivery)
        try:
            answer = await self.handling(str(delivery.get("type", "")), answerer.answer(delivery, request))
        except Exception as error:
            delivery.error = error
            answer = Answer(500)
        except BaseException as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():  # the receiver is closed meanwhile
                raise
            if explored.has_died(error):
                await in_thread(self.after_death)
            else:
                delivery.error = error
            answer = Answer(0, cut=True)
        delivery.finish(None if answer.cut else answer.status)
        return answer

    def _report_moment(self) -> None:
        """Report the world's time to the listeners in `on_delivery`. The clock is paused until the response."""
        with suppress(SimulatorError):  # the world has ended
            now = self._world.now
            for hear in list(self._world.on_delivery):
                hear(now)

    def _choose(self) -> Answerer:
        if not self._next:
            return self._answerers[-1]
        fixed = self._next[0]
        assert fixed.times is not None
        fixed.times -= 1
        if not fixed.times:
            self._next.pop(0)
        return fixed

    def _settle(self, patience_seconds: float | None = None) -> None:
        """Wait for deliveries that the test has caused, unless the caller is a handler of such a delivery."""
        if not is_handling.get() and self._is_open:
            seconds = self.patience_seconds if patience_seconds is None else patience_seconds
            with suppress(SimulatorError):  # the world was deleted, or a handler is waiting for the test
                self._world.link.control("POST", "/settle", {}, world=self._world.id, timeout_seconds=seconds)

    # Errors for the test

    def unraised_errors(self) -> list[str]:
        """Return a line for each handler error that has not been raised yet."""
        if not self._raises or self._told:
            return []
        counts = Counter(what_raised(one.error) for one in list(self._received) if one.error is not None)
        lines = [what if n == 1 else f"{what} ({n} times)" for what, n in counts.items()]
        left = len(lines) - _MOST_ERRORS
        return lines[:_MOST_ERRORS] + ([f"… {left} more"] if left > 0 else [])

    def _raise_error(self, delivery: Delivery) -> None:
        """Raise the error of a handler, but each error only once."""
        if delivery.error is None or not self._raises or id(delivery) in self._told:
            return
        self._told.add(id(delivery))
        what = f"{delivery.get('type', 'a request')}: {type(delivery.error).__name__}: {delivery.error}"
        raise AssertionError(f"The webhook handler raised an error for {what}") from delivery.error


class Forwarding:
    """Forwards a receiver's deliveries to an application until `detach` or the end of the block."""

    def __init__(self, detach: Callable[[], None]) -> None:
        self._detach = detach

    def detach(self) -> None:
        """Wait until deliveries in flight have their response, then stop the application. Does nothing if it has
        stopped. Later deliveries go to the previous responder.
        """
        self._detach()

    def __enter__(self) -> Forwarding:
        return self

    def __exit__(self, *_: object) -> None:
        self.detach()


receiver = Receiver
"""A receiver for a world that lasts for a block: `with receiver(world) as webhooks`."""
