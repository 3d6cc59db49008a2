"""Rows of control calls: the return annotation of the handler is the response shape."""

from __future__ import annotations

from typing import Annotated

import pytest
from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import TAGS, ControlOperation, Handler, Raw
from simulator.engine.text.json import JsonObject
from tests.library import control_rows


class Thing(TypedDict):
    id: str


async def made(call: ControlCall) -> Thing:
    return {"id": "1"}


async def ready(call: ControlCall) -> Raw[Thing]:
    return Raw(b'{"id": "1"}')


async def text(call: ControlCall) -> Raw[str]:
    return Raw(b"hello")


async def stored(call: ControlCall) -> Annotated[JsonObject, Thing]:
    return {"id": "1"}


async def nothing(call: ControlCall) -> None: ...


def row(handler: Handler, name: str = "it") -> ControlOperation:
    return ControlOperation("GET", f"/{name}", name, "Worlds", "It", handler)


@pytest.mark.parametrize(
    ("handler", "shape"), [(made, Thing), (ready, Thing), (stored, Thing), (text, str), (nothing, None)]
)
def test_response_shape_is_the_return_annotation(handler: Handler, shape: object) -> None:
    assert row(handler).answer is shape


def test_two_rows_of_one_name_are_refused() -> None:
    assert control_rows((row(made, "one"), row(made, "other")))
    with pytest.raises(ValueError, match="clock"):
        control_rows((row(made, "get_clock"),))


def test_every_group_of_calls_is_described_and_has_calls() -> None:
    assert {one.tag for one in control_rows((row(made),))} | {"Contract"} == TAGS.keys()


def test_every_call_that_changes_a_world_is_recorded() -> None:
    whole_worlds = ("/worlds", "/prune", "/reset", "/snapshots", "/state", "/settle", "/inbox")
    for one in control_rows():
        is_kept = one.method != "GET" and not one.path.startswith(whole_worlds)
        assert (one.recorded_as is not None) is is_kept, one.name
