"""The corpus: what a recording contains, and the pseudonyms for the rest."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.evidence.corpus import BadCorpus, Exchange, Pseudonyms, Traffic, read_corpus, sanitise
from simulator.evidence.corpus.reading import read_line
from simulator.providers.ramp.reference import is_address, is_phone
from tests.support import CELO

KEY = b"k" * 32
START_MS = 1_767_600_000_123  # 2026-01-05, a Monday


def traffic(**changes: Any) -> Traffic:
    usual = {"n": 1, "at_ms": START_MS, "method": "GET", "path": "/rates", "status": 200}
    return Traffic(**{**usual, **changes})


def shown(body: object, pseudonyms: Pseudonyms | None = None) -> Any:
    """Return the recorded form of a request body."""
    return sanitise(traffic(method="POST", body=json.dumps(body).encode()), pseudonyms or Pseudonyms(KEY)).request


def test_allowed_values_stay() -> None:
    allowed = {
        "amount": "12.50", "rate": "0.001", "slippage": 0.5, "status": "awaiting_payment", "type": "onramp",
        "livemode": False, "tx_hash": None, "currency": "KES", "occurrences": 3, "asset_id": "ast_usdc_celo",
        "timezone": "Africa/Nairobi", "time": "09:30", "bank_code": "68",
    }  # fmt: skip
    assert shown(allowed) == allowed


def test_other_values_get_pseudonyms_of_the_same_form() -> None:
    given = {
        "id": "qt_yt70p4b8kwvmfrh14ncp", "order_id": "ORD-00000001", "first_name": "Amina", "memo": "1234567890",
        "email": "jane.doe@acme.io", "phone_number": "+254712345678", "account_number": "0123456789", "address": CELO,
        "url": "https://shop.acme.io/hook?key=1", "user_id": "0b5f2b5e-1c2d-4e3f-8a9b-0c1d2e3f4a5b", "status": "odd",
    }  # fmt: skip
    seen = shown(given)
    assert all(seen[name] != value for name, value in given.items())
    assert not any(secret in json.dumps(seen) for secret in ("acme", "yt70p4b8", "712345678", "jane"))
    assert seen["id"].startswith("qt_")
    assert len(seen["id"]) == len(given["id"])
    assert seen["order_id"].startswith("ORD-")
    assert seen["order_id"][4:].isdecimal()
    assert is_phone(seen["phone_number"], "KE")
    assert is_address("celo", seen["address"])
    assert seen["email"].endswith("@example.com")
    assert seen["url"].startswith("https://")


def test_pseudonyms_agree_within_a_recording_and_differ_between_two() -> None:
    pseudonyms = Pseudonyms(KEY)
    first = shown({"id": "qt_yt70p4b8kwvmfrh14ncp"}, pseudonyms)
    assert shown({"quote_id": "qt_yt70p4b8kwvmfrh14ncp"}, pseudonyms)["quote_id"] == first["id"]
    assert shown({"id": "qt_yt70p4b8kwvmfrh14ncp"}, Pseudonyms(b"o" * 32)) != first


def test_secrets_have_no_pseudonym() -> None:
    exchange = sanitise(
        traffic(
            method="POST",
            path="/auth/token",
            headers=[
                ("Authorization", "Bearer tok_test_a1"),
                ("Cookie", "a=b"),
                ("X-Signature", "ab"),
                ("X-Tok", "x1"),
            ],
            body=b'{"public_key": "pk_test_a1", "secret_key": "sk_live_b2", "pin": 1234, "password": "x y"}',
            response=b'{"access_token": "tok_test_c3", "token_type": "Bearer", "expires_in": 3600}',
        ),
        Pseudonyms(KEY),
    )
    assert exchange.request == {
        "public_key": "pk_test_removed", "secret_key": "sk_live_removed", "pin": 0, "password": "removed",
    }  # fmt: skip
    assert exchange.response == {"access_token": "tok_test_removed", "token_type": "Bearer", "expires_in": 3600}
    assert exchange.headers == {"x-tok": None}
    assert exchange.authenticated


def test_names_stay_only_if_they_are_known_or_words() -> None:
    seen = shown({"loyalty_tier": True, "riskScore": True, "s3cr3t77": True, "kqzvbnwxpl": True, "0712345678": True})
    assert list(seen)[:2] == ["loyalty_tier", "riskScore"]
    assert not {"s3cr3t77", "kqzvbnwxpl", "0712345678"} & set(seen)
    assert len(seen) == 5


def test_numbers_stay_only_where_the_contract_has_numbers() -> None:
    seen = shown({"amount": 12, "card": 4111111111111111, "card_text": "4111.1111"})
    assert seen["amount"] == 12
    assert seen["card"] != 4111111111111111
    assert len(str(seen["card"])) == 16
    assert seen["card_text"] != "4111.1111"


def test_hidden_amounts_keep_their_form() -> None:
    seen = shown({"amount": "5000.00", "slippage": 0.5, "page": 2}, Pseudonyms(KEY, hide_amounts=True))
    assert seen["amount"] != "5000.00"
    assert len(seen["amount"]) == len("5000.00")
    assert seen["page"] == 2


def test_times_move_together_by_whole_weeks() -> None:
    pseudonyms = Pseudonyms(KEY)
    body = {"created_at": "2026-01-05T08:00:00.123Z", "start_date": "2026-02-05", "at": "2026-01-05T11:00+03:00"}
    first = sanitise(traffic(body=json.dumps(body).encode()), pseudonyms)
    later = sanitise(traffic(n=2, at_ms=START_MS + 90_000), pseudonyms)
    assert first.request == {
        "created_at": "2001-01-01T08:00:00.123Z", "start_date": "2001-02-01", "at": "2001-01-01T11:00+03:00",
    }  # fmt: skip
    assert (first.at, first.after_ms) == ("2001-01-01T08:00:00.123Z", 0)
    assert (later.at, later.after_ms) == ("2001-01-01T08:01:30.123Z", 90_000)


def test_operation_path_and_query() -> None:
    exchange = sanitise(
        traffic(method="POST", path="/quotes/qt_yt70p4b8kwvmfrh14ncp/confirm", query="page=2&email=a%40b.io&page=3"),
        Pseudonyms(KEY),
    )
    assert exchange.operation == "confirm_quote"
    assert exchange.path.startswith("/quotes/qt_")
    assert exchange.path.endswith("/confirm")
    assert "yt70p4b8" not in exchange.path
    assert exchange.query["page"] == ["2", "3"]
    assert "b.io" not in exchange.query["email"]


def test_errors_keep_code_and_param() -> None:
    error = {"code": "brand_new", "message": "Ask Jane", "param": "from.amount", "request_id": "req_abcdef123"}
    seen = sanitise(traffic(response=json.dumps({"error": error}).encode()), Pseudonyms(KEY)).response["error"]
    assert (seen["code"], seen["param"]) == ("brand_new", "from.amount")
    assert "Jane" not in seen["message"]
    assert seen["request_id"].startswith("req_")


def test_attempts_count_deliveries_of_an_event() -> None:
    pseudonyms = Pseudonyms(KEY)
    body = b'{"id": "evt_1", "type": "transaction.created", "data": {}}'
    seen = [sanitise(traffic(n=n, direction="webhook", body=body), pseudonyms) for n in (1, 2)]
    assert [one.attempt for one in seen] == [1, 2]
    assert seen[0].operation == "transaction.created"


@pytest.mark.parametrize(
    ("body", "form"), [(b"", "none"), (b"<html>", "other"), (None, "large"), (b"{}", "json"), (b"[" * 9000, "other")]
)
def test_bodies_have_a_form(body: bytes | None, form: str) -> None:
    assert sanitise(traffic(body=body), Pseudonyms(KEY)).request_body == form


def test_exchange_cannot_be_made_or_changed_elsewhere() -> None:
    exchange = sanitise(traffic(), Pseudonyms(KEY))
    with pytest.raises(TypeError, match="sanitise"):
        Exchange(**{**vars(exchange), "seal": None})
    with pytest.raises(TypeError, match="sanitise"):
        replace(exchange, seal=object(), request={"name": "Amina"})
    assert not hasattr(traffic(), "line")


def test_reading_names_damaged_lines_and_uses_the_rest(tmp_path: Path) -> None:
    pseudonyms = Pseudonyms(KEY)
    lines = [sanitise(traffic(n=n), pseudonyms).line() for n in (2, 1)]
    (tmp_path / "one.jsonl").write_bytes(lines[0] + b'{"n": 7}\n' + lines[1] + lines[0][:40])
    corpus = read_corpus(tmp_path)
    assert [one.n for one in corpus.exchanges] == [1, 2]
    assert corpus.exchanges[1].line() == lines[0]
    assert [(one.line, one.why.partition(":")[0]) for one in corpus.damaged] == [
        (2, "direction"), (4, "is not JSON"),
    ]  # fmt: skip


def test_reading_an_empty_directory_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(BadCorpus, match="rampsim capture"):
        read_corpus(tmp_path)


def test_har_files_are_sanitised_when_read(tmp_path: Path) -> None:
    entry = {
        "startedDateTime": "2026-01-05T08:00:00.000Z",
        "request": {
            "method": "POST", "url": "https://api.acme.io/v1/quotes",
            "headers": [{"name": "Authorization", "value": "Bearer tok_live_x"}],
            "postData": {"text": '{"amount": "5", "reference": "Invoice of Jane"}'},
        },
        "response": {"status": 201, "headers": [], "content": {"text": '{"id": "qt_secretsecret"}'}},
    }  # fmt: skip
    (tmp_path / "a.har").write_text(json.dumps({"log": {"entries": [entry]}}))
    (exchange,) = read_corpus(tmp_path).exchanges
    assert exchange.operation == "create_quote"
    assert exchange.request["amount"] == "5"
    assert not any(secret in exchange.line() for secret in (b"Jane", b"tok_live_x", b"secretsecret", b"acme"))
    assert read_corpus(tmp_path).exchanges == [exchange]


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
HEADER = st.tuples(st.text(max_size=12), st.text(max_size=40))


@settings(deadline=None, max_examples=300)
@given(
    body=JSON_VALUES.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=60),
    path=st.text(max_size=30),
    query=st.text(max_size=30),
    headers=st.lists(HEADER, max_size=4),
    method=st.sampled_from(["GET", "POST", "BREW"]),
)
def test_any_traffic_becomes_a_readable_line(
    body: bytes, path: str, query: str, headers: list[tuple[str, str]], method: str
) -> None:
    exchange = sanitise(
        traffic(body=body, response=body, path=f"/{path}", query=query, headers=headers, method=method),
        Pseudonyms(KEY, hide_amounts=method == "BREW"),
    )
    read = read_line(exchange.line())
    assert isinstance(read, Exchange), read
    assert type(read.request) is type(exchange.request) or isinstance(read.request, int | float)
