"""Webhook signatures in a format that differs from the simulated service's."""

from __future__ import annotations

import pytest

from simulator.engine.rows.signature import Signature

KEY = "hook-test-1"
SIGNATURE = Signature(
    timestamp_header="Sent-At",
    signature_header="Proof",
    signed_string=lambda timestamp, raw: raw + b"|" + timestamp.encode(),
    key_prefixes={"practice": "hook-test-", "open": "hook-real-"},
    tolerance_ms=60_000,
)
NOT_SIGNED = "Proof is not the HMAC-SHA256 of `<raw body>|<Sent-At>` under the webhook key"
HEADERS = {name.lower(): value for name, value in SIGNATURE.headers(KEY, 5_000, b"{}")}


def test_headers_carry_the_time_and_the_hmac_of_the_signed_string() -> None:
    expected = "3f3e23bb0bbf71c21d34e8a65cc971bedf195ea3965c38ac725f31b73e3bcc05"
    assert {"sent-at": "5000", "proof": expected} == HEADERS


@pytest.mark.parametrize("now_ms", [5_000, 65_000, -55_000])
def test_problem_of_a_genuine_request_within_the_tolerance_is_empty(now_ms: int) -> None:
    assert SIGNATURE.problem(HEADERS, b"{}", ["hook-test-0", KEY], now_ms) == ""


@pytest.mark.parametrize(
    ("headers", "raw", "now_ms", "problem"),
    [
        ({}, b"{}", 5_000, "Sent-At or Proof is missing or malformed"),
        ({**HEADERS, "sent-at": "soon"}, b"{}", 5_000, "Sent-At or Proof is missing or malformed"),
        ({**HEADERS, "sent-at": "٥"}, b"{}", 5_000, "Sent-At or Proof is missing or malformed"),
        (HEADERS, b"{ }", 5_000, NOT_SIGNED),
        ({**HEADERS, "proof": "é"}, b"{}", 5_000, NOT_SIGNED),
        (HEADERS, b"{}", 65_001, "Sent-At is more than 1m before or after the time of receipt"),
    ],
)  # fmt: skip
def test_problem_names_the_header_that_is_wrong(headers: dict[str, str], raw: bytes, now_ms: int, problem: str) -> None:
    assert SIGNATURE.problem(headers, raw, [KEY], now_ms) == problem


def test_environment_of_a_key_is_found_by_its_prefix() -> None:
    assert [SIGNATURE.environment_of(key) for key in (KEY, "hook-real-1", "whk_test_1")] == [
        "practice", "open", None,
    ]  # fmt: skip
