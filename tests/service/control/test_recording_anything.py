"""Recordings of random calls are valid scenarios."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulator.engine.clients.asynchronous import AsgiClient
from simulator.engine.scenario.files.library import ScenarioFile
from simulator.engine.scenario.files.loader import Loader
from simulator.engine.scenario.language.bounds import FILE
from simulator.engine.server.http.messages import Incoming
from tests.service.test_documents import Inside

ODD = st.text("a/\x00\n\r\t %?#${}:'\"\\é\u2028\U0001f600.-", max_size=8)
KNOWN = ["/quotes", "/beneficiaries", "/v1/quotes", "/recurring-payments", "/transactions/txn_x"]
PATHS = st.sampled_from(KNOWN) | ODD.map("/".__add__)
METHODS = st.sampled_from(["GET", "POST", "PATCH", "DELETE", "PUT"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | ODD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ODD, inner, max_size=3),
    max_leaves=6,
)
BODIES = st.binary(max_size=10) | VALUES.map(lambda value: json.dumps(value).encode()) | st.just(b'{"n": 18e300}')
CALLS = st.tuples(st.just("call"), METHODS, PATHS, BODIES, ODD.filter(str.isascii))
FAULT = st.fixed_dictionaries(
    {"match": st.just({}), "respond": st.fixed_dictionaries({"status": st.integers(200, 599), "code": ODD})},
    optional={"times": st.integers(1, 2), "after_commit": st.booleans(), "malformed": st.just("garbage")},
)
CONTROL = st.sampled_from(
    [
        ("PUT", "/scenarios/active", {"names": ["autopilot"]}),
        ("PUT", "/scenarios/active", {"names": []}),
        ("POST", "/clock/advance", {"by": "1m"}),
        ("POST", "/actions/set_network", {"network": "celo", "status": "down"}),
        ("POST", "/actions/move_rates", {"percent": 1e-7}),
        ("POST", "/actions/emit", {"type": "kyc.approved", "object": {"action": "x", "\x07\n": "${a}", "n": 2**63}}),
        ("PATCH", "/settings", {"strict": True}),
        ("DELETE", "/faults", None),
        ("POST", "/faults", {"match": {}, "respond": {"status": 503, "code": "weather"}}),
        ("POST", "/trigger", {"event": "wallet.created"}),
        ("POST", "/scenarios", {"name": "mine", "rules": [{"on": "created", "where": {"a\n": "\x00"}, "do": []}]}),
        ("POST", "/scenarios", {"name": "deep", "drive": [], "world": {}, "description": "${x}"}),
    ]
)


@pytest.fixture(scope="module")
def inside() -> Iterator[Inside]:
    inside = Inside()
    yield inside
    inside.close()


def loaded(inside: Inside, text: bytes) -> ScenarioFile:
    return Loader(inside.simulator.vocabulary).load(text, known=inside.simulator.library, bounds=FILE)


def call(inside: Inside, method: str, path: str, body: bytes, key: str = "") -> None:
    headers = {"content-type": "application/json", "authorization": f"Bearer {inside.token()}"}
    headers |= {"idempotency-key": key} if key else {}
    inside.runner.run(inside.application.endpoint.answer(Incoming(method, f"/v1{path}", b"", headers, body)))


def recording(inside: Inside) -> bytes:
    reply = inside.runner.run(AsgiClient(inside.application).request("GET", "/_simulator/recording"))
    assert reply.status == 200, reply.body
    return reply.raw


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(st.lists(CALLS | FAULT.map(lambda fault: ("POST", "/faults", fault)) | CONTROL, max_size=8))
def test_a_recording_of_any_steps_is_a_scenario(inside: Inside, done: list[Any]) -> None:
    inside.control("POST", "/reset")
    inside.tokens.clear()
    inside.token()
    for one in done:
        if one[0] == "call":
            call(inside, *one[1:])
        else:
            inside.control(one[0], one[1], one[2])
    loaded(inside, recording(inside))


def test_recording_of_a_thousand_calls_is_fast_and_valid(inside: Inside) -> None:
    inside.control("POST", "/reset")
    inside.tokens.clear()
    for number in range(1_000):
        call(inside, "POST", "/quotes", b'{"type": "onramp", "network": "celo", "reference": "%d"}' % number)
    began = time.process_time()
    text = recording(inside)
    assert time.process_time() - began < 2
    assert len(loaded(inside, text).scenario.drive) == 1_000


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("/quotes", {"match": {}, "respond": {"status": 503, "code": "weather"}}),
        ("/quotes/a\x00b\nc", {"match": {"path": "/quotes/*/confirm"}, "drop": True}),
    ],
)
def test_unknown_codes_and_paths_are_recorded(inside: Inside, path: str, fault: dict[str, Any]) -> None:
    inside.control("POST", "/reset")
    inside.tokens.clear()
    inside.token()
    assert inside.control("POST", "/faults", fault).status == 201
    call(inside, "POST", path, b"{}")
    assert len(loaded(inside, recording(inside)).scenario.drive) == 2
