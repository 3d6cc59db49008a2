"""`contracts/webhook-vectors.json`: requests of webhooks as data, each with the verdict that a verifier has to give."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator
from itertools import count

from simulator.certification.signing import SIGNING, Case, Material, resigned, with_header
from simulator.engine.text.json import JsonObject, dumps
from simulator.host import PROVIDER
from simulator.kernel.clock import parse_timestamp
from simulator.service import TOOLING

KEY = "whk_test_simulator"
_OTHER_KEY = "whk_live_simulator"
_NOW = "2026-01-05T08:00:00.000Z"
_HEADERS = ("Content-Type", "X-Timestamp", "X-Signature")
_ONRAMP = {
    "id": "txn_sdc0hwa5vkk922a0bb95",
    "type": "onramp",
    "status": "awaiting_payment",
    "quote_id": "qt_yt70p4b8kwvmfrh14ncp",
    "order_id": "ORD-00000001",
    "network": "celo",
    "asset": "USDC",
    "fiat_currency": "KES",
    "rate": "130.593",
    "source_amount": "5000.00",
    "destination_amount": "37.892536",
    "fee": {"total": "51.50", "currency": "KES", "processing_fee": "50.00", "network_fee": "1.50"},
    "wallet_address": "0x52908400098527886E0F7030069857D2E4169EE7",
    "tx_hash": None,
    "reference": "invoice-17",
    "created_at": _NOW,
    "updated_at": _NOW,
}


def document() -> JsonObject:
    """`now_ms` is the clock of the receiver when each of the requests comes."""
    now_ms = parse_timestamp(_NOW)
    numbers = count(1)
    material = Material(
        PROVIDER.signing,
        KEY,
        _OTHER_KEY,
        lambda: now_ms,
        _events(numbers, "transaction.awaiting_payment", _ONRAMP),
        _events(numbers, "transaction.completed", {**_ONRAMP, "status": "completed"}),
        TOOLING.playbook().altered,
    )
    cases = [(rule, case) for rule, make in SIGNING.items() for case in make(material)]
    vectors = [_vector(rule, case) for rule, case in (*cases, *_vectors_only(material))]
    return {"key": KEY, "now_ms": now_ms, "vectors": vectors}


def _vectors_only(material: Material) -> Iterator[tuple[str, Case]]:
    """Yield rules and cases for tests of signature verifiers. `rampsim certify` does not send them.

    The service never sends these requests, but the specification's rules for signatures also determine whether to
    accept them.
    """
    what, reason = "a signature in upper case", "the signature is written in lower case"
    yield "unknown-signature", material.forgery(what, reason, signature=str.upper)
    what, reason = "two signatures, joined by a comma", "two joined headers are not a signature"
    joined = material.forgery(what, reason, signature=lambda right: f"{'0' * 64}, {right}")
    yield "unknown-signature", joined
    reason = "seconds read as milliseconds are decades old"
    seconds = str(material.now_ms() // 1000)
    case = material.forgery("a timestamp in seconds", reason)
    yield "stale-timestamp", with_header(resigned(case, material, seconds), material.timestamp, seconds)
    yield "valid-event", material.genuine("an empty body", b"", "an empty body can be signed, too")
    body = b'{"price": 1.10, "big": 12345678901234567890, "id": "evt_1", "id": "evt_2"}'
    yield "reserialised-body", material.genuine("JSON that no serializer reproduces", body, "signed as it is")
    body = dumps(material.event()) + b"\r\n"
    yield "trimmed-body", material.genuine("CR and LF after the JSON", body, "signed with its line end")
    body = dumps(material.event())
    reason = "the body is not the signed one"
    yield "trimmed-body", material.forgery("a space added at the end", reason, body=body + b" ", signed=body)
    yield "altered-body", material.forgery("a missing last byte", reason, body=body[:-1], signed=body)


def _events(numbers: Iterator[int], kind: str, thing: JsonObject) -> Callable[[], JsonObject]:
    def event() -> JsonObject:
        name = f"evt_{next(numbers):020}"
        return {"id": name, "type": kind, "created_at": _NOW, "livemode": False, "data": {"object": thing}}

    return event


def _vector(rule: str, case: Case) -> JsonObject:
    return {
        "rule": rule,
        "what": case.what,
        # Of the other headers some change with the version of the simulator.
        "headers": {name: value for name, value in case.headers if name in _HEADERS},
        "body_base64": b64encode(case.body).decode(),
        "genuine": case.genuine,
        "reason": case.reason,
    }
