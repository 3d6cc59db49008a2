"""Applications behind a receiver: the requests they get, their responses, and their errors."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any
from wsgiref.validate import validator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from simulator.testing import Receiver, SimulatorError, World, receiver, world

EVENT = "beneficiary.created"
NAMES = {"name": "José ✓"}


@pytest.fixture
def webhooks(kit: World) -> Iterator[Receiver]:
    with receiver(kit) as made:
        yield made


def emit(kit: World, times: int = 1) -> None:
    for _ in range(times):
        kit.act("emit", type=EVENT)
    kit.settle()


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
        self.application = validator(self)

    def __call__(self, environ: dict[str, Any], start_response: Any) -> list[bytes]:
        assert environ["PATH_INFO"] == "/webhooks"
        assert environ["CONTENT_TYPE"] == "application/json"
        self.bodies.append(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
        self.signatures.append(environ["HTTP_X_SIGNATURE"])
        start_response("202 Accepted", [("Content-Type", "text/plain"), ("X-Seen", "1")])
        return [b"tha", b"nks"]


@pytest.mark.parametrize("kind", [Asgi, Wsgi])
def test_an_application_gets_every_byte_and_its_answer_is_the_answer(
    kit: World, webhooks: Receiver, kind: type[Asgi] | type[Wsgi]
) -> None:
    app = kind()
    webhooks.forward_to(app.application)
    beneficiary = {**NAMES, "type": "bank_account", "country": "KE"}
    kit.client.post("/beneficiaries", json=beneficiary)
    emit(kit)

    assert app.bodies == [delivery.body for delivery in webhooks.received]
    assert app.signatures == [delivery.headers["X-Signature"] for delivery in webhooks.received]
    rows = kit.deliveries()
    assert [row["request_body"].encode() for row in rows] == app.bodies
    assert {(row["response_status"], row["response_body"]) for row in rows} == {(202, "thanks")}
    assert rows[0]["response_headers"] is not None
    assert {name.lower(): value for name, value in rows[0]["response_headers"].items()}["x-seen"] == "1"
    assert [delivery.status for delivery in webhooks.received] == [202] * len(rows)


def test_another_receiver_is_an_address_like_any_other(kit: World, webhooks: Receiver) -> None:
    with world(seed=8) as elsewhere, receiver(elsewhere) as second:
        second.respond(418)
        webhooks.forward_to(second.url)
        emit(kit)

        assert [delivery.body for delivery in second.received] == [delivery.body for delivery in webhooks.received]
        assert [delivery.status for delivery in webhooks.received] == [418]
        assert not second.received[0].genuine


def test_an_address_without_a_server_is_reported(kit: World) -> None:
    webhooks = Receiver(kit)
    webhooks.forward_to("http://127.0.0.1:9/webhooks")
    emit(kit)

    assert [delivery.status for delivery in webhooks.received] == [500]
    with pytest.raises(
        AssertionError, match=r"http://127.0.0.1:9/webhooks did not respond .* Does the application run there"
    ):
        webhooks.close()


def test_an_application_starts_and_ends_with_the_receiver(kit: World) -> None:
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
    with receiver(kit) as webhooks:
        webhooks.forward_to(app, path="/hooks")
        emit(kit)

    assert life == ["started", "open", "ended"]


def test_a_failed_startup_is_reported(kit: World, webhooks: Receiver) -> None:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        raise OSError("no such table")
        yield

    with pytest.raises(SimulatorError, match=r"(?s)application failed to start: .*no such table"):
        webhooks.forward_to(Starlette(lifespan=lifespan))


@pytest.mark.parametrize("kind", ["asgi", "wsgi", "function"])
def test_an_application_error_becomes_500_and_is_reported(kit: World, kind: str) -> None:
    async def asgi(scope: Any, receive: Any, send: Any) -> None:
        raise KeyError("order 7")

    def wsgi(environ: Any, start_response: Any) -> Any:
        raise KeyError("order 7")

    def function(delivery: Any) -> Any:
        raise KeyError("order 7")

    webhooks = Receiver(kit)
    if kind == "function":
        webhooks.respond_with(function)
    else:
        webhooks.forward_to(asgi if kind == "asgi" else wsgi)
    emit(kit, times=2)

    assert [row["response_status"] for row in kit.deliveries()] == [500, 500]
    assert isinstance(webhooks.received[0].error, KeyError)
    with pytest.raises(AssertionError, match=r"raised an error for beneficiary\.created: KeyError: 'order 7'") as told:
        webhooks.wait_for(EVENT)
    assert isinstance(told.value.__cause__, KeyError)
    with pytest.raises(AssertionError, match="KeyError: 'order 7'"):
        webhooks.close()  # the second, which nobody has waited for


def test_an_error_after_the_response_is_reported_too(kit: World) -> None:
    async def take(request: Request) -> Response:
        raise ValueError("after the framework has answered")

    webhooks = Receiver(kit)
    webhooks.forward_to(Starlette(routes=[Route("/webhooks", take, methods=["POST"])]), raises=False)
    emit(kit)

    (delivery,) = webhooks.received
    assert (delivery.status, type(delivery.error)) == (500, ValueError)
    assert kit.deliveries()[0]["response_body"] == "Internal Server Error"
    webhooks.close()


@pytest.mark.parametrize("kind", ["asgi", "wsgi"])
def test_an_application_that_exits_cuts_the_connection(kit: World, kind: str) -> None:
    async def asgi(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            raise SystemExit(137)

    def wsgi(environ: Any, start_response: Any) -> Any:
        raise SystemExit(137)

    with receiver(kit) as webhooks:
        webhooks.forward_to(asgi if kind == "asgi" else wsgi, raises=False)
        emit(kit)
        webhooks.respond(200)
        kit.advance("1m")

        first, again = kit.deliveries()
        assert (first["response_status"], first["error"]) == (None, "the connection was closed without an answer")
        assert again["response_status"] == 200
        assert [delivery.status for delivery in webhooks.received] == [None, 200]


def test_the_end_does_not_hide_the_failure_of_the_test(kit: World) -> None:
    def function(delivery: Any) -> Any:
        raise KeyError("order 7")

    def fails_for_another_reason() -> None:
        with receiver(kit) as webhooks:
            webhooks.respond_with(function)
            emit(kit)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails_for_another_reason()


def test_two_come_at_once_and_may_call_back(kit: World, webhooks: Receiver) -> None:
    both = threading.Barrier(2)
    seen: list[str] = []

    def take(delivery: Any) -> int:
        both.wait(30)
        seen.append(kit.client.get("/profile").json()["email"])
        return 200

    kit.client.post("/webhooks", json={"url": f"{webhooks.url}?again", "events": ["*"]})
    webhooks.respond_with(take)
    kit.act("emit", type=EVENT)
    kit.settle()

    assert len(seen) == 2
    assert [row["response_status"] for row in kit.deliveries(status="succeeded")] == [200, 200]


def test_an_early_delivery_may_call_back(kit: World, webhooks: Receiver) -> None:
    seen: list[str] = []

    def take(delivery: Any) -> int:
        seen.append(kit.client.get(f"/wallets/{delivery['data']['object']['id']}").json()["status"])
        return 200

    webhooks.respond_with(take)
    with kit.fault(webhook={}, deliver={"before_answer": True}):
        answer = kit.client.post("/wallets", json={"network": "celo"})
        seen.append(f"answered {answer.status_code}")

    assert seen == ["active", "answered 201"]


def test_waits_until_the_application_has_dealt_with_it(kit: World, webhooks: Receiver) -> None:
    came, may_go_on, books = threading.Event(), threading.Event(), []

    def take(delivery: Any) -> int:
        came.set()
        may_go_on.wait(30)
        books.append(delivery["type"])
        return 200

    webhooks.respond_with(take)
    kit.act("emit", type=EVENT)
    assert came.wait(30)
    with pytest.raises(AssertionError, match=r"did not respond within 0\.01 seconds"):
        webhooks.wait_for(EVENT, timeout=0.01)
    may_go_on.set()
    webhooks.wait_for(EVENT)

    assert books == [EVENT]


def test_an_application_that_never_answers_does_not_hold_up_the_end(kit: World) -> None:
    came, never = threading.Event(), threading.Event()

    def take(delivery: Any) -> int:
        came.set()
        never.wait(30)
        return 200

    with receiver(kit) as webhooks:
        webhooks.patience_seconds = 0.1
        webhooks.respond_with(take)
        kit.act("emit", type=EVENT)
        assert came.wait(30)
    kit.settle()
    never.set()

    assert kit.deliveries()[0]["error"] == "the connection was closed without an answer"


def test_an_application_that_does_not_look_like_one_is_named(kit: World, webhooks: Receiver) -> None:
    app = Asgi()
    webhooks.forward_to(lambda *arguments: app.application(*arguments), interface="asgi")
    emit(kit)

    assert len(app.bodies) == 1


@pytest.mark.parametrize("wrong", [7, object(), lambda: None])
def test_an_object_that_is_not_an_application_is_refused(webhooks: Receiver, wrong: object) -> None:
    with pytest.raises(TypeError, match="forward_to takes an ASGI application"):
        webhooks.forward_to(wrong)


@pytest.mark.parametrize("reply", ["ok", True, (200, "text")])
def test_an_invalid_response_is_reported(kit: World, reply: Any) -> None:
    webhooks = Receiver(kit)
    webhooks.respond_with(lambda delivery: reply)
    emit(kit)

    with pytest.raises(AssertionError, match="must return a status"):
        webhooks.close()


def test_an_address_that_is_none_is_refused_at_once(webhooks: Receiver) -> None:
    with pytest.raises(ValueError, match="'shop:app' is not a URL"):
        webhooks.forward_to("shop:app")
