"""The proof of a forwarded request is valid for one request of a replica of the same database."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.engine.durable.shared.proxy import FORWARDED, PROOF, proof_of, proved_world, take_out

SECRET = b"drawn by the database"
CALL: dict[str, Any] = {
    "method": "POST",
    "path": "/v1/quotes",
    "raw_path": b"/v1/quotes",
    "query_string": b"",
    "headers": [(b"authorization", b"Bearer tok_1"), (b"accept", b"*/*")],
}


def given(world: str = "team") -> dict[bytes, bytes]:
    proof = proof_of(SECRET, "http://two", world, CALL, b"{}")
    return {FORWARDED: world.encode(), PROOF: proof.encode()}


def test_a_call_of_another_replica_is_believed() -> None:
    assert proved_world(SECRET, "http://two", given(), CALL, b"{}") == "team"
    unread = {**CALL, "headers": [(b"accept", b"text/html"), *CALL["headers"]]}
    assert proved_world(SECRET, "http://two", given(), unread, b"{}") == "team"


@pytest.mark.parametrize(
    "changed",
    [
        {"method": "GET"},
        {"raw_path": b"/v1/profile"},
        {"query_string": b"limit=1"},
        {"headers": [(b"authorization", b"Bearer tok_2")]},
        {"headers": [*CALL["headers"], (b"x-simulator-world", b"other")]},
    ],
)
def test_a_proof_holds_for_no_other_call(changed: dict[str, Any]) -> None:
    assert proved_world(SECRET, "http://two", given(), {**CALL, **changed}, b"{}") is None


def test_a_proof_holds_for_one_world_body_and_replica() -> None:
    assert proved_world(SECRET, "http://two", {**given(), FORWARDED: b"other"}, CALL, b"{}") is None
    assert proved_world(SECRET, "http://two", given(), CALL, b"{} ") is None
    assert proved_world(SECRET, "http://one", given(), CALL, b"{}") is None
    assert proved_world(b"of another database", "http://two", given(), CALL, b"{}") is None


def test_nothing_is_believed_without_a_secret() -> None:
    forged = {FORWARDED: b"team", PROOF: proof_of(b"", "http://two", "team", CALL, b"{}").encode()}
    assert proved_world(b"", "http://two", forged, CALL, b"{}") is None
    assert proved_world(SECRET, "http://two", {FORWARDED: b"team"}, CALL, b"{}") is None
    assert proved_world(SECRET, "http://two", {FORWARDED: b"\xff", PROOF: b"\xff"}, CALL, b"{}") is None


def test_the_headers_of_a_forwarding_are_taken_out() -> None:
    scope, taken = take_out({**CALL, "headers": [*CALL["headers"], *given().items()]})
    assert (scope, taken) == (CALL, given())
    assert take_out(CALL) == (CALL, {})
