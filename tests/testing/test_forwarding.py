"""Applications that get the deliveries of a receiver: what they see, what they answer, and how they fail."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from simulator.testing import Receiver, SimulatorError, World, receiver, world

EVENT = "beneficiary.created"
NAMES = {"name": "José ✓"}


@pytest.fixture(params=["over HTTP", "in process"])
def a_world(request: pytest.FixtureRequest) -> Iterator[World]:
    with world(in_process=request.param == "in process", seed=7) as made:
        yield made


@pytest.fixture
def webhooks(a_world: World) -> Iterator[Receiver]:
    with receiver(a_world) as made:
        yield made


def emit(a_world: World, times: int = 1) -> None:
    for _ in range(times):
        a_world.act("emit", type=EVENT)
    a_world.settle()


class Asgi:
    """An application that keeps what it gets."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.paths: list[str] = []
        self.signatures: list[str] = []
        self.application = Starlette(routes=[Route("/webhooks", self.take, methods=["POST"])])

    async def take(self, request: Request) -> Response:
        self.bodies.append(await request.body())
        self.signatures.append(request.headers["x-signature"])
        return PlainTextResponse("thanks", 202, {"X-Seen": "1"})


class Wsgi:
    """The same by WSGI."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.signatures: list[str] = []
        self.application = self

    def __call__(self, environ: dict[str, Any], start_response: Any) -> list[bytes]:
        assert environ["PATH_INFO"] == "/webhooks"
        assert environ["CONTENT_TYPE"] == "application/json"
        self.bodies.append(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
        self.signatures.append(environ["HTTP_X_SIGNATURE"])
        start_response("202 Accepted", [("X-Seen", "1")])
        return [b"tha", b"nks"]


@pytest.mark.parametrize("kind", [Asgi, Wsgi])
def test_an_application_gets_every_byte_and_its_answer_is_the_answer(
    a_world: World, webhooks: Receiver, kind: type[Asgi] | type[Wsgi]
) -> None:
    app = kind()
    webhooks.forward_to(app.application)
    beneficiary = {**NAMES, "type": "bank_account", "country": "KE"}
    a_world.client.post("/beneficiaries", json=beneficiary)
    emit(a_world)

    assert app.bodies == [delivery.body for delivery in webhooks.received]
    assert app.signatures == [delivery.headers["X-Signature"] for delivery in webhooks.received]
    rows = a_world.deliveries()
    assert [row["request_body"].encode() for row in rows] == app.bodies
    assert {(row["response_status"], row["response_body"]) for row in rows} == {(202, "thanks")}
    assert {name.lower(): value for name, value in rows[0]["response_headers"].items()}["x-seen"] == "1"
    assert [delivery.status for delivery in webhooks.received] == [202] * len(rows)


def test_another_receiver_is_an_address_like_any_other(a_world: World, webhooks: Receiver) -> None:
    with world(seed=8) as elsewhere, receiver(elsewhere) as second:
        second.respond(418)
        webhooks.forward_to(second.url)
        emit(a_world)

        assert [delivery.body for delivery in second.received] == [delivery.body for delivery in webhooks.received]
        assert [delivery.status for delivery in webhooks.received] == [418]
        assert not second.received[0].genuine


def test_an_address_where_nobody_listens_is_told(a_world: World) -> None:
    webhooks = Receiver(a_world)
    webhooks.forward_to("http://127.0.0.1:9/webhooks")
    emit(a_world)

    assert [delivery.status for delivery in webhooks.received] == [500]
    with pytest.raises(AssertionError, match="ConnectError"):
        webhooks.close()


def test_an_application_starts_and_ends_with_the_receiver(a_world: World) -> None:
    life: list[str] = []

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[dict[str, str]]:
        life.append("started")
        yield {"books": "open"}
        life.append("ended")

    async def take(request: Request) -> Response:
        life.append(request.state.books)
        return Response()

    app = Starlette(routes=[Route("/hooks", take, methods=["POST"])], lifespan=lifespan)
    with receiver(a_world) as webhooks:
        webhooks.forward_to(app, path="/hooks")
        emit(a_world)

    assert life == ["started", "open", "ended"]


def test_a_start_up_that_fails_is_told(a_world: World, webhooks: Receiver) -> None:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        raise OSError("no such table")
        yield

    with pytest.raises(SimulatorError, match=r"(?s)start-up of the application failed: .*no such table"):
        webhooks.forward_to(Starlette(lifespan=lifespan))


@pytest.mark.parametrize("kind", ["asgi", "wsgi", "function"])
def test_what_an_application_raises_is_answered_500_and_told(a_world: World, kind: str) -> None:
    async def asgi(scope: Any, receive: Any, send: Any) -> None:
        raise KeyError("order 7")

    def wsgi(environ: Any, start_response: Any) -> Any:
        raise KeyError("order 7")

    def function(delivery: Any) -> Any:
        raise KeyError("order 7")

    webhooks = Receiver(a_world)
    if kind == "function":
        webhooks.respond_with(function)
    else:
        webhooks.forward_to(asgi if kind == "asgi" else wsgi)
    emit(a_world, times=2)

    assert [row["response_status"] for row in a_world.deliveries()] == [500, 500]
    assert isinstance(webhooks.received[0].error, KeyError)
    with pytest.raises(AssertionError, match=r"raised while it had beneficiary\.created: KeyError: 'order 7'") as told:
        webhooks.wait_for(EVENT)
    assert isinstance(told.value.__cause__, KeyError)
    with pytest.raises(AssertionError, match="KeyError: 'order 7'"):
        webhooks.close()  # the second, which nobody has waited for


def test_what_an_application_raises_after_its_answer_is_told_too(a_world: World) -> None:
    async def take(request: Request) -> Response:
        raise ValueError("after the framework has answered")

    webhooks = Receiver(a_world)
    webhooks.forward_to(Starlette(routes=[Route("/webhooks", take, methods=["POST"])]), raises=False)
    emit(a_world)

    (delivery,) = webhooks.received
    assert (delivery.status, type(delivery.error)) == (500, ValueError)
    assert a_world.deliveries()[0]["response_body"] == "Internal Server Error"
    webhooks.close()


@pytest.mark.parametrize("kind", ["asgi", "wsgi"])
def test_an_application_that_exits_cuts_the_connection(a_world: World, kind: str) -> None:
    async def asgi(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            raise SystemExit(137)

    def wsgi(environ: Any, start_response: Any) -> Any:
        raise SystemExit(137)

    with receiver(a_world) as webhooks:
        webhooks.forward_to(asgi if kind == "asgi" else wsgi, raises=False)
        emit(a_world)
        webhooks.respond(200)
        a_world.advance("1m")

        first, again = a_world.deliveries()
        assert (first["response_status"], first["error"]) == (None, "the connection was closed without an answer")
        assert again["response_status"] == 200
        assert [delivery.status for delivery in webhooks.received] == [None, 200]


def test_the_end_does_not_hide_the_failure_of_the_test(a_world: World) -> None:
    def function(delivery: Any) -> Any:
        raise KeyError("order 7")

    def fails_for_another_reason() -> None:
        with receiver(a_world) as webhooks:
            webhooks.respond_with(function)
            emit(a_world)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails_for_another_reason()


def test_two_come_at_once_and_may_call_back(a_world: World, webhooks: Receiver) -> None:
    both = threading.Barrier(2)
    seen: list[str] = []

    def take(delivery: Any) -> int:
        both.wait(30)
        seen.append(a_world.client.get("/profile").json()["email"])
        return 200

    a_world.client.post("/webhooks", json={"url": f"{webhooks.url}?again", "events": ["*"]})
    webhooks.respond_with(take)
    a_world.act("emit", type=EVENT)
    a_world.settle()

    assert len(seen) == 2
    assert [row["response_status"] for row in a_world.deliveries(status="succeeded")] == [200, 200]


def test_waits_until_the_application_has_dealt_with_it(a_world: World, webhooks: Receiver) -> None:
    came, may_go_on, books = threading.Event(), threading.Event(), []

    def take(delivery: Any) -> int:
        came.set()
        may_go_on.wait(30)
        books.append(delivery["type"])
        return 200

    webhooks.respond_with(take)
    a_world.act("emit", type=EVENT)
    assert came.wait(30)
    with pytest.raises(AssertionError, match=r"has not answered it within 0\.01 seconds"):
        webhooks.wait_for(EVENT, timeout=0.01)
    may_go_on.set()
    webhooks.wait_for(EVENT)

    assert books == [EVENT]


def test_an_application_that_never_answers_does_not_hold_up_the_end(a_world: World) -> None:
    came, never = threading.Event(), threading.Event()

    def take(delivery: Any) -> int:
        came.set()
        never.wait(30)
        return 200

    with receiver(a_world) as webhooks:
        webhooks.respond_with(take)
        a_world.act("emit", type=EVENT)
        assert came.wait(30)
    a_world.settle()
    never.set()

    assert a_world.deliveries()[0]["error"] == "the connection was closed without an answer"


@pytest.mark.parametrize("wrong", [7, object(), lambda: None])
def test_what_is_no_application_is_refused(webhooks: Receiver, wrong: object) -> None:
    with pytest.raises(TypeError, match="forward_to takes an ASGI application"):
        webhooks.forward_to(wrong)


@pytest.mark.parametrize("reply", ["ok", True, (200, "text")])
def test_what_is_no_answer_is_told(a_world: World, reply: Any) -> None:
    webhooks = Receiver(a_world)
    webhooks.respond_with(lambda delivery: reply)
    emit(a_world)

    with pytest.raises(AssertionError, match="it returns a status"):
        webhooks.close()
