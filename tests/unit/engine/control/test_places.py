"""A new control call needs only one row at its handler."""

from __future__ import annotations

import asyncio
from typing import Any

from typing_extensions import TypedDict

from simulator.engine.clients.asynchronous import AsgiClient
from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import ControlOperation, any_text
from simulator.engine.server.runtime import Runtime
from simulator.engine.text.fields import Body
from simulator.engine.worlds.simulator import Blueprint
from tests.library import Simulator, application_of


class Greeting(TypedDict):
    greeting: str
    world: str


class Wish(Body):
    greeting: str


async def greet(call: ControlCall) -> Greeting:
    """Return a greeting from the world."""
    return {"greeting": call.body.greeting, "world": call.world.id}


GREET = ControlOperation(
    "POST",
    "/greetings/{name}",
    "greet",
    "Worlds",
    "Greet a world",
    greet,
    201,
    Wish,
    query={"tone": any_text("How to say it.")},
    recorded_as="call",
)


def test_row_alone_adds_a_call_to_server_and_journal() -> None:
    async def go() -> list[Any]:
        simulator = Simulator()
        simulator.create_world(Blueprint("default", 1))
        application = application_of(Runtime(simulator), (GREET,))
        client = AsgiClient(application)
        answers = [
            await client.request("POST", "/_simulator/greetings/x?tone=soft", {"greeting": "hello"}),
            await client.request("POST", "/_simulator/greetings/x", {"greting": "hello"}),
            await client.request("POST", "/_simulator/greetings/x?ton=soft", {"greeting": "hello"}),
            await client.request("GET", "/_simulator/controls"),
            await client.request("GET", "/_simulator/recording"),
        ]
        await application.runtime.close()
        return answers

    made, member, parameter, journal, recording = asyncio.run(go())
    assert (made.status, made.body) == (201, {"greeting": "hello", "world": "default"})
    assert [(one.status, one.body["error"]["param"]) for one in (member, parameter)] == [(400, "greting"), (400, "ton")]
    (row,) = journal.body["data"]
    assert (row["name"], row["path"], row["body"]) == ("greet", "/greetings/x", {"greeting": "hello"})
    assert b"post: /_simulator/greetings/x" in recording.raw
