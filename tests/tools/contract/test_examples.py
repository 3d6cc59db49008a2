"""The first examples in the contract are valid calls: sent in order to a new server, each one succeeds."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import orjson
import pytest

from contracts.generator.evidence import TOUR
from contracts.generator.flows import Flow, Step, flow_of
from contracts.generator.openapi import operations
from simulator.contract.files import operations_of
from simulator.engine.clients.asynchronous import HttpClient, Reply
from simulator.engine.scenario.play.filling import fill, value_at
from simulator.engine.server.config import Config
from simulator.engine.server.process import serving
from simulator.host import Simulator, create_app

Rows = Mapping[str, tuple[str, str, Mapping[str, Any]]]


@pytest.fixture(scope="module")
def tour() -> Flow:
    return flow_of(Simulator().library[TOUR])


def rows_of(document: Mapping[str, Any]) -> Rows:
    return {operation["operationId"]: (method, path, operation) for method, path, operation in operations_of(document)}


def example_of(row: tuple[str, str, Mapping[str, Any]]) -> tuple[str, str, Any]:
    """An operation's method, path with its query, and body, as its first examples have them."""
    method, path, operation = row
    query = []
    for parameter in operation.get("parameters", ()):
        if parameter.get("in") == "path":
            path = path.replace(f"{{{parameter['name']}}}", parameter["example"])
        elif "example" in parameter:
            value = parameter["example"]
            query.append(f"{parameter['name']}={','.join(value) if isinstance(value, list) else value}")
    examples = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("examples", {})
    name, body = next(iter(examples.items()), (TOUR, {"value": None}))
    assert name == TOUR, (operation["operationId"], "another example comes first")
    return method, path + ("?" + "&".join(query) if query else ""), body["value"]


class Sender:
    """Sends the examples of a served contract, and what happens in between, to its server."""

    def __init__(self, client: HttpClient) -> None:
        self._client = client
        self._answers: dict[str, Any] = {}
        self.replies: dict[str, Reply] = {}

    async def send(self, steps: tuple[Step, ...]) -> None:
        document = orjson.loads((await self._client.request("GET", "/_simulator/openapi.json")).raw)
        self._rows, self._server = rows_of(document), document["servers"][0]["url"]
        assert self._server == f"{self._client.origin}/v1"
        for step in steps:
            if step.operation == "create_world":
                continue
            body = (await (self._control(step) if step.control else self._example(step))).body
            self._answers[step.name] = value_at(step.within, {**body}) if step.within else body

    async def _control(self, step: Step) -> Reply:
        path = step.path.format(**fill(step.values, self._answers))
        query = "&".join(f"{name}={value}" for name, value in step.query.items())
        reply = await self._client.request(step.method, f"{path}?{query}", fill(step.body, self._answers))
        assert reply.status == step.status, (step.name, reply.body)
        return reply

    async def _example(self, step: Step) -> Reply:
        method, path, body = example_of(self._rows[step.operation])
        token = self._answers.get("token", {}).get("access_token", "")
        reply = await self._client.request(method, f"/v1{path}", body, {"Authorization": f"Bearer {token}"})
        self.replies[step.operation] = reply
        return reply


@pytest.fixture(scope="module", params=["manual", "real"])
def replies(request: pytest.FixtureRequest, tour: Flow) -> dict[str, Reply]:
    async def go() -> dict[str, Reply]:
        application = create_app(Config(clock=request.param))
        async with serving(application) as origin:
            client = HttpClient(origin)
            sender = Sender(client)
            await sender.send(tour.steps)
            return sender.replies

    return asyncio.run(go())


def test_every_example_succeeds_in_a_fresh_world(replies: dict[str, Reply]) -> None:
    assert {name: reply.body for name, reply in replies.items() if reply.status >= 400} == {}
    assert {row.name: row.status for row in operations()} == {name: reply.status for name, reply in replies.items()}


def test_the_tour_calls_each_operation_once(tour: Flow) -> None:
    called = [step.operation for step in tour.steps if not step.control]
    assert sorted(called) == sorted(row.name for row in operations())


def test_every_variable_of_a_path_has_an_example(document: dict[str, Any]) -> None:
    without = [
        (method, path)
        for method, path, operation in operations_of(document)
        for parameter in operation.get("parameters", ())
        if parameter.get("in") == "path" and "example" not in parameter
    ]
    assert without == []


def test_the_token_example_has_the_keys_of_the_default_world(document: dict[str, Any]) -> None:
    _, _, body = example_of(rows_of(document)["create_token"])
    assert body == {"public_key": "pk_test_simulator", "secret_key": "sk_test_simulator"}


def test_no_example_gives_several_calls_one_idempotency_key(document: dict[str, Any]) -> None:
    key = document["components"]["parameters"]["IdempotencyKey"]
    assert {"example", "examples"} & {*key, *key["schema"]} == set()
