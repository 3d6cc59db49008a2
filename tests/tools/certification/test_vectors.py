"""`contracts/webhook-vectors.json`: each verdict follows from the specification, and every mistake is found."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from contracts.generator import vectors, webhooks_page
from simulator.certification.receiver import is_genuine
from simulator.certification.rules import NAMES, RULES
from simulator.certification.signing import SIGNING
from simulator.contract.files import contracts_directory

REPORT = vectors.document()
KEY, NOW_MS, VECTORS = REPORT["key"], REPORT["now_ms"], REPORT["vectors"]

Verifier = Callable[[str, str, bytes], bool]


def body_of(vector: Mapping[str, Any]) -> bytes:
    return base64.b64decode(vector["body_base64"])


def header(vector: Mapping[str, Any], name: str) -> str:
    found: str = vector["headers"].get(name, "")
    return found


def due(timestamp: str, body: bytes, key: str = KEY) -> str:
    return hmac.new(key.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


def test_the_file_is_what_the_code_says() -> None:
    assert json.loads((contracts_directory() / "webhook-vectors.json").read_bytes()) == REPORT
    assert vectors.document() == REPORT


def test_every_rule_of_a_signature_has_vectors() -> None:
    assert {vector["rule"] for vector in VECTORS} == set(SIGNING)
    assert {True, False} == {vector["genuine"] for vector in VECTORS}
    assert max(len(body_of(vector)) for vector in VECTORS) > 200_000


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"{vector['rule']}: {vector['what'][:50]}")
def test_the_verdict_follows_from_the_specification(vector: dict[str, Any]) -> None:
    """A receiver rejects when a header is missing, the comparison fails, or the timestamp is over 5 minutes away."""
    timestamp, signature, body = header(vector, "X-Timestamp"), header(vector, "X-Signature"), body_of(vector)
    there = bool(timestamp) and bool(signature)
    same = signature == due(timestamp, body)
    recent = re.fullmatch("[0-9]+", timestamp) is not None and abs(NOW_MS - int(timestamp)) <= 5 * 60 * 1000
    assert (there and same and recent) is vector["genuine"], vector["reason"]
    assert is_genuine(KEY, vector["headers"], body, NOW_MS) is vector["genuine"]


def recent(timestamp: str) -> bool:
    return timestamp.isdigit() and abs(NOW_MS - int(timestamp)) <= 300_000


WRONG: dict[str, Verifier] = {
    "says yes": lambda timestamp, signature, body: True,
    "says no": lambda timestamp, signature, body: False,
    "ignores the clock": lambda timestamp, signature, body: signature == due(timestamp, body),
    "checks only the age": lambda timestamp, signature, body: (
        timestamp.isdigit() and NOW_MS - int(timestamp) <= 300_000 and signature == due(timestamp, body)
    ),
    "is strict by one millisecond": lambda timestamp, signature, body: (
        timestamp.isdigit() and abs(NOW_MS - int(timestamp)) < 300_000 and signature == due(timestamp, body)
    ),
    "accepts a missing timestamp": lambda timestamp, signature, body: (
        (not timestamp or recent(timestamp)) and signature == due(timestamp, body)
    ),
    "compares a prefix": lambda timestamp, signature, body: (
        recent(timestamp) and bool(signature) and due(timestamp, body).startswith(signature)
    ),
    "compares the first half": lambda timestamp, signature, body: (
        recent(timestamp) and len(signature) == 64 and due(timestamp, body)[:32] == signature[:32]
    ),
    "compares the second half": lambda timestamp, signature, body: (
        recent(timestamp) and len(signature) == 64 and due(timestamp, body)[32:] == signature[32:]
    ),
    "ignores case": lambda timestamp, signature, body: (
        recent(timestamp) and signature.lower() == due(timestamp, body)
    ),
    "accepts one of several": lambda timestamp, signature, body: (
        recent(timestamp) and due(timestamp, body) in signature.split(", ")
    ),
    "tries two keys": lambda timestamp, signature, body: (
        recent(timestamp) and signature in (due(timestamp, body), due(timestamp, body, "whk_live_simulator"))
    ),
    "serializes the JSON again": lambda timestamp, signature, body: (
        recent(timestamp) and signature == due(timestamp, again(body))
    ),
    "strips the body": lambda timestamp, signature, body: (
        recent(timestamp) and signature == due(timestamp, body.strip())
    ),
    "reads Latin-1": lambda timestamp, signature, body: (
        recent(timestamp) and signature == due(timestamp, body.decode("latin-1").encode())
    ),
    "refuses an empty body": lambda timestamp, signature, body: (
        recent(timestamp) and bool(body) and signature == due(timestamp, body)
    ),
    "reads 100 kB": lambda timestamp, signature, body: (
        recent(timestamp) and signature == due(timestamp, body[:100_000])
    ),
    "takes seconds": lambda timestamp, signature, body: (
        timestamp.isdigit()
        and min(abs(NOW_MS - int(timestamp)), abs(NOW_MS - int(timestamp) * 1000)) <= 300_000
        and signature == due(timestamp, body)
    ),
}  # fmt: skip


def again(body: bytes) -> bytes:
    try:
        return json.dumps(json.loads(body), separators=(",", ":"), ensure_ascii=False).encode()
    except ValueError:
        return body


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_verifier_is_found(name: str) -> None:
    verify = WRONG[name]
    wrong = [
        vector["what"]
        for vector in VECTORS
        if verify(header(vector, "X-Timestamp"), header(vector, "X-Signature"), body_of(vector))
        is not vector["genuine"]
    ]
    assert wrong


def test_the_code_of_the_page_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page has a verifier in Python and code that reads the vectors. They work together."""
    monkeypatch.chdir(contracts_directory().parent)
    blocks = re.findall(r"^```python\n(.*?)^```", webhooks_page.page(), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2
    space: dict[str, Any] = {}
    exec(compile("".join(blocks), "webhooks.md", "exec"), space)
    assert space["is_genuine"]("k", {"X-Timestamp": "1"}, b"", 1) is False


def test_the_page_names_every_rule() -> None:
    text = webhooks_page.page()
    assert [name for name in NAMES if f"| `{name}` | " not in text] == []


def test_a_rule_needs_only_rules_that_come_before_it() -> None:
    for number, rule in enumerate(RULES):
        assert set(rule.needs) <= set(NAMES[:number]), rule.name
        assert rule.advice.endswith("."), rule.name
        assert rule.clause, rule.name
        assert rule.wanted, rule.name
