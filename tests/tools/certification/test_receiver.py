"""The reference receiver: signature verification of arbitrary requests, and its command."""

from __future__ import annotations

import hashlib
import hmac
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.certification.receiver import is_genuine
from tests.remote import Remote
from tests.tools.certification.test_command import certify

NOW_MS = 1_767_600_000_000
HEADERS = st.text(st.characters(max_codepoint=255, exclude_categories=["Cc"]), max_size=80)
"""Header values as servers pass them on."""


def headers_of(timestamp: str, signature: str) -> dict[str, str]:
    return {"X-Timestamp": timestamp, "X-Signature": signature}


@given(HEADERS, HEADERS, st.binary(max_size=200))
def test_an_unsigned_request_is_refused(timestamp: str, signature: str, body: bytes) -> None:
    assert is_genuine("whk_test_simulator", headers_of(timestamp, signature), body, NOW_MS) is False


@given(st.integers(-(10**9), 10**9), st.binary(max_size=200))
def test_a_signed_request_is_genuine_within_five_minutes(away_ms: int, body: bytes) -> None:
    timestamp = str(NOW_MS + away_ms)
    signature = hmac.new(b"key", timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    assert is_genuine("key", headers_of(timestamp, signature), body, NOW_MS) is (abs(away_ms) <= 300_000)


@pytest.mark.parametrize(
    "timestamp", ["9" * 5000, "-1", "+1767600000000", "1_767_600_000_000", "١٧٦٧٦٠٠٠٠٠٠٠٠", "1e12"]
)
def test_a_timestamp_that_only_looks_like_a_number_is_refused(timestamp: str) -> None:
    signature = hmac.new(b"key", timestamp.encode() + b".x", hashlib.sha256).hexdigest()
    assert is_genuine("key", headers_of(timestamp, signature), b"x", NOW_MS) is False


def test_the_receiver_of_the_page_starts_and_is_certified(world: Remote) -> None:
    keys: dict[str, Any] = world.world["credentials"]["sandbox"]
    given_words = ("--port", "0", "--key", keys["webhook_key"], "--base-url", keys["base_url"])
    pair = ("--public-key", keys["public_key"], "--secret-key", keys["secret_key"])
    command = [sys.executable, "-m", "simulator.certification.receiver", *given_words, *pair]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as receiver:
        try:
            assert receiver.stdout is not None
            words = receiver.stdout.readline().split()
            assert words[:2] == ["Receiving", "on"]
            url, books = words[2].removesuffix(","), words[5]
            key = ("--webhook-key", keys["webhook_key"], "--simulator", world.origin)
            result = certify(url, *key, "--books", books)
        finally:
            receiver.terminate()
    assert result.exit_code == 0, result.output
    assert "Certified: 31 of 31 rules hold" in result.output
