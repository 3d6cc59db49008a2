"""Masking: secrets are recognised by their prefix, anywhere and in any spelling."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given, strategies

from simulator.engine.text.json import dumps
from simulator.engine.text.masking import Masker

SECRETS = ("sk_test_simulator", "tok_live_" + "a1" * 20, "whk_test_0123456789abcdef", "a-control-token")
MASKER = Masker(["a-control-token"])


def _percent(text: str) -> str:
    return "".join(f"%{ord(character):02X}" for character in text)


def _escaped(text: str) -> str:
    return "".join(f"\\u{ord(character):04x}" for character in text)


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    "form",
    [
        "{}",
        '{{"a": ["{}"]}}',
        '{{"a": "{}",',
        "a={}&b=c",
        "secretKey={}",
        "x{}y",
        "line\\n{}",
        '"\\n{}"',
        "%22{}%22",
        "\0{}",
    ],
)
def test_a_secret_is_masked_in_any_text(secret: str, form: str) -> None:
    shown = MASKER.text(form.format(secret))
    assert secret not in shown
    assert "***" in shown
    assert secret.encode() not in MASKER.raw(form.format(secret).encode())


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("hide", [_percent, lambda text: quote(_percent(text)), _escaped, lambda text: "\0".join(text)])
def test_a_secret_in_escapes_is_masked_too(secret: str, hide: Callable[[str], str]) -> None:
    hidden = hide(secret)
    shown = MASKER.text(f'{{"reference": "{hidden}"}}')
    assert hidden not in shown
    assert secret not in shown
    assert "***" in shown


@pytest.mark.parametrize(
    "text",
    [
        "pk_test_simulator",
        '{"task_id": "desk_top", "risk_level": 2}',
        "100%25 of %zz and \\u00e9 and ä",
        "/v1/transactions/txn_0123",
        "Idempotency-Key: 7",
    ],
)
def test_values_that_are_not_secrets_are_unchanged(text: str) -> None:
    assert MASKER.text(text) == text
    assert MASKER.raw(text.encode()) == text.encode()


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("authorization", "Bearer tok_test_abc", "Bearer ***"),
        ("authorization", "Bearer anything", "Bearer ***"),
        ("authorization", "tok_test_abc", "***"),
        ("authorization", "Bearer:tok_test_abc", "***"),
        ("authorization", "Bearer one two", "***"),
        ("authorization", "Basic dXNlcjpwYXNz", "***"),
        ("proxy-authorization", "Bearer anything", "***"),
        ("cookie", "session=1", "***"),
        ("set-cookie", "session=1", "***"),
        ("x-api-key", "anything", "***"),
        ("x-auth-token", "anything", "***"),
        ("x-client-secret", "anything", "***"),
        ("x-note", "my key is sk_test_simulator.", "my key is ***."),
        ("idempotency-key", "order-1", "order-1"),
    ],
)
def test_headers_that_carry_secrets_are_masked_whole(name: str, value: str, shown: str) -> None:
    assert MASKER.header(name, value) == shown


def test_fields_named_like_secrets_are_always_masked() -> None:
    body = {"public_key": "pk_1", "secret_key": "mistyped", "accessToken": "x", "list": [{"webhook_key": "y"}]}
    masked = {"public_key": "pk_1", "secret_key": "***", "accessToken": "***", "list": [{"webhook_key": "***"}]}
    assert MASKER.value(body) == masked
    assert json.loads(MASKER.raw(json.dumps(body).encode())) == masked
    assert MASKER.text("secret_key=mistyped&public_key=pk_1") == "secret_key=***&public_key=pk_1"


def test_masking_twice_is_masking_once() -> None:
    for secret in SECRETS:
        once = MASKER.text(f'{{"secret_key": "{secret}", "a": "{secret}%20"}}')
        assert MASKER.text(once) == once


def test_short_control_token_does_not_mask_longer_words() -> None:
    assert Masker(["data"]).text('{"database": "data", "data_x": 1}') == '{"database": "***", "data_x": 1}'


def test_a_large_body_is_masked_in_one_pass() -> None:
    text = "a" * 1_000_000 + "%41" + "b" * 1_000_000 + "sk_test_simulator"
    assert MASKER.text(text).endswith("b***")


def test_json_is_masked_at_every_depth() -> None:
    given = {
        "tok_test_1": [{"note": ["for sk_test_simulator", 5, None, True]}],
        "access_token": ["a"],
        "Secret_Key": "",
    }
    assert MASKER.value(given) == {
        "***": [{"note": ["for ***", 5, None, True]}],
        "access_token": "***",
        "Secret_Key": "",
    }


@pytest.mark.parametrize("raw", [b"\xff\xfe no text", "Zürich".encode(), b""])
def test_bytes_without_a_secret_stay_the_same_bytes(raw: bytes) -> None:
    assert MASKER.raw(raw) == raw
    assert MASKER.raw(raw + b"%22sk_test_simulator") == raw + b"%22***"


def test_many_headers_are_masked_as_the_first_ones_are() -> None:
    """What is remembered of headers is forgotten when it is too much."""
    masker = Masker()
    for number in range(3_000):
        assert masker.header("x-note", f"sk_test_{number:024}") == "***"
        assert masker.header("x-note", f"note {number}") == f"note {number}"
    assert masker.headers({"x-tok_test_5": "a"}) == {"x-***": "a"}


@given(
    strategies.recursive(
        strategies.sampled_from(
            ["", "plain", "sk_live_1", "Ångström", 'a "title"', "token", "a-control-token", "K\u212aEY=1"]
        )
        | strategies.integers(-5, 5),
        lambda inner: (
            strategies.lists(inner, max_size=3)
            | strategies.dictionaries(
                strategies.sampled_from(["note", "api_key", "secretKey", "id"]), inner, max_size=3
            )
        ),
    )
)
def test_a_value_in_a_message_is_masked_like_the_value(value: object) -> None:
    assert MASKER.json(dumps(value)) == MASKER.value(value)


def test_equal_heads_are_masked_once_and_shared() -> None:
    given = {"authorization": "Bearer tok_live_1", "x-api-key": "abc", "accept": "*/*"}
    shown = MASKER.head(given)
    assert shown == tuple(MASKER.headers(given).items())
    assert MASKER.head(dict(given)) is shown
    assert MASKER.head({**given, "accept": "text/html"}) != shown


def test_a_head_that_comes_once_is_not_kept() -> None:
    once = {"accept": "*/*", "idempotency-key": "a"}
    assert MASKER.head(once) is not MASKER.head(once)
