"""`@pytest.mark.against("simulator", "target")` runs a test on the simulator and on the real service.

Both clients record requests and responses. The run reports the differences, except in ids, times and amounts.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NoReturn, TypeAlias

import httpx
import pytest

from simulator.engine.text.json import JsonObject
from simulator.service import TOKEN_EXCHANGE
from simulator.testing.errors import SimulatorError
from simulator.testing.links.clients import Keys, SignIn, make_client
from simulator.testing.worlds import World

Exchanges: TypeAlias = list[JsonObject]
"""The calls of one side, each with method, path, status and body."""

SIDES = ("simulator", "target")
VARIABLES = ("SIMULATOR_TARGET_URL", "RAMPSIM_PUBLIC_KEY", "RAMPSIM_SECRET_KEY")
"""The base URL of the service, which ends with /v1, and the keys of a test account."""


class _Transport(httpx.HTTPTransport):
    """A transport that fails the test with one line if the target is unreachable."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        try:
            return super().handle_request(request)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            address = f"{request.url.scheme}://{request.url.netloc.decode()}"
            message = f"The target of SIMULATOR_TARGET_URL is unreachable: {address}: {error}"
            raise pytest.fail.Exception(message, pytrace=False) from None


class TargetWorld:
    """The real service, in place of the fixture `world`: only `client`, `keys`, `base_url` and `token()`."""

    id = "target"

    def __init__(self, base_url: str, public_key: str, secret_key: str) -> None:
        self.base_url = base_url.rstrip("/")
        self.keys = Keys(public_key, secret_key, "", self.base_url)
        self._transport = _Transport(trust_env=False)

    @cached_property
    def client(self) -> httpx.Client:
        """An API client for `base_url` that authenticates automatically."""
        return make_client(self, self.keys, SignIn(self.keys))

    def transport(self) -> httpx.BaseTransport:
        return self._transport

    def close(self) -> None:
        self.client.close()
        self._transport.close()

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise SimulatorError(
            f"`world.{name}` is not available at the target, which is not a simulator. "
            'Test `world.id == "target"`, or use `world.client` only.'
        )


def side_of(item: pytest.Item) -> str:
    """Return "simulator" or "target" for a test with the marker `against`, or "" for a test without the marker."""
    callspec = getattr(item, "callspec", None)
    return str(callspec.params.get("rampsim_side", "")) if callspec is not None else ""


def name_of(item: pytest.Item) -> str:
    """Return the id of a test without its side, so that it is the same on both sides."""
    test, bracket, parameters = item.nodeid.partition("[")
    side = rf"(^|-){side_of(item)}(-|$)"
    shown = re.sub(side, lambda found: "-" if all(found.groups()) else "", parameters[:-1], count=1)
    return f"{test}[{shown}]" if bracket and shown else test


def check_marker(item: pytest.Item) -> None:
    """Fail the test if its marker `against` has wrong arguments."""
    marker = item.get_closest_marker("against")
    if marker is not None and not _is_valid(marker):
        given = ", ".join([*map(repr, marker.args), *(f"{name}={value!r}" for name, value in marker.kwargs.items())])
        pytest.fail(f'{item.nodeid}: @pytest.mark.against takes "simulator" and "target", not {given}.', pytrace=False)


def _is_valid(marker: pytest.Mark) -> bool:
    return not marker.kwargs and (not marker.args or set(map(str, marker.args)) == set(SIDES))


def why_nothing_compared(item: pytest.Item, exchanges: Exchanges | None) -> str:
    """Return the reason why a test without exchanges compares nothing. `exchanges` is None if it has no world."""
    why = "does not use the fixture `world`" if exchanges is None else "makes no call with `world.client`"
    return f"{item.nodeid}: nothing was compared, because the test {why}."


def target_world(item: pytest.Item) -> TargetWorld:
    """Return the service that the environment variables in `VARIABLES` specify. If one is not set, skip the test."""
    missing = [name for name in VARIABLES if not os.environ.get(name)]
    if missing:
        pytest.skip(f"the target needs {', '.join(missing)}")
    url, public_key, secret_key = (os.environ[name] for name in VARIABLES)
    if not url.startswith(("http://", "https://")) or not url.rstrip("/").endswith("/v1"):
        pytest.fail(f"SIMULATOR_TARGET_URL: {url!r} is not a base URL that ends with /v1", pytrace=False)
    world = TargetWorld(url, public_key, secret_key)
    item.addfinalizer(world.close)
    return world


def record(world: World | TargetWorld) -> Exchanges:
    """Return a list to which the world's client adds each request and its response."""
    exchanges: Exchanges = []

    def add(response: httpx.Response) -> None:
        response.read()
        base = httpx.URL(world.base_url).path
        try:
            body = json.loads(response.content)
        except ValueError:
            body = None
        method, path = response.request.method, response.request.url.path.removeprefix(base)
        if path != TOKEN_EXCHANGE.path:
            exchanges.append({"method": method, "path": path, "status": response.status_code, "body": body})

    world.client.event_hooks["response"].append(add)
    return exchanges


def differences(sides: Mapping[str, Exchanges]) -> Iterator[str]:
    """Yield one line for each difference between the exchanges with the simulator and with the service."""
    from simulator.compare.differences import compare_answers
    from simulator.evidence.corpus.known import known

    def operation_of(call: JsonObject) -> str:
        return known().operation(call["method"], call["path"])[0] or f"{call['method']} {call['path']}"

    first, second = (sides[name] for name in SIDES)
    for number, (ours, theirs) in enumerate(zip(first, second, strict=False), 1):
        name = operation_of(ours)
        if name != operation_of(theirs):
            yield f"call {number}: the simulator got {name}, the target {operation_of(theirs)}"
            return
        if ours["status"] != theirs["status"]:
            yield f"call {number}, {name}: status: simulator {_status(ours)}, target {_status(theirs)}"
            continue
        for kind, pointer, there, here in compare_answers(theirs["body"], ours["body"]):
            yield f"call {number}, {name}: {kind} at {pointer}: simulator {here!r}, target {there!r}"
    if len(first) != len(second):
        yield f"the simulator got {len(first)} calls, the target {len(second)}"


def _status(call: JsonObject) -> str:
    error = call["body"].get("error") if isinstance(call["body"], dict) else None
    return f"{call['status']} {error.get('code')}" if isinstance(error, dict) else str(call["status"])


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Run a test with the marker `against` once on each side that the marker names."""
    marker = metafunc.definition.get_closest_marker("against")
    if marker is not None and _is_valid(marker):  # otherwise `check_marker` fails the test
        metafunc.fixturenames.append("rampsim_side")
        metafunc.parametrize("rampsim_side", list(dict.fromkeys(marker.args or SIDES)), indirect=True)
