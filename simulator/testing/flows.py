"""`world.flow`: create an order with API calls and bring it to a status with outside events, in one line."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from itertools import count
from typing import TYPE_CHECKING

from simulator.engine.text.json import JsonObject
from simulator.service import TOOLING
from simulator.testing.errors import error_of
from simulator.testing.links.link import parsed

if TYPE_CHECKING:
    import httpx

_numbers = count(1)


def play(
    client: httpx.Client, trigger: Callable[[str, str], object], name: str, status: str, fields: Mapping[str, object]
) -> JsonObject:
    """Create an order and bring it to a status. Return the order as the API shows it. For errors, see `World.flow`."""
    flows = TOOLING.flows()
    flow = flows.get(name)
    if flow is None:
        raise ValueError(f"{name!r} is not a flow. Use one of: {', '.join(map(repr, flows))}.")
    if status not in flow.events:
        raise ValueError(f"{status!r} is not a status of {name}. Use one of: {', '.join(map(repr, flow.events))}.")
    if unknown := [field for field in fields if field not in flow.fields]:
        raise TypeError(f"{unknown[0]!r} is not a field of {name}. Use: {', '.join(flow.fields)}.")

    def call(method: str, path: str, body: JsonObject | None) -> JsonObject:
        # Without a key, advice about these calls would be reported as advice about the code under test.
        keyed = {"Idempotency-Key": f"flow-{os.getpid()}-{next(_numbers)}"} if method == "POST" else {}
        response = client.request(method, path, json=body, headers=keyed)
        answer = parsed(response.content)
        if not response.is_success or not isinstance(answer, dict):
            raise error_of(response.status_code, answer)
        return answer

    order = flow.order(call, fields)
    if event := flow.events[status]:
        trigger(event, order["id"])
    return call("GET", f"{flow.path}{order['id']}", None)
