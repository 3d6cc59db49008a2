"""Odd values, and ways to put them into documents, bodies, headers and queries. The caller supplies the randomness."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

import orjson

ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 1.5, -0.0, 2**31, 2**53 + 1, 2**63 - 1, 10**18, 1e308, 1e-320,
    "", " ", "\x00", "a\x00b", "\n", "\x1b[2J", "a" * 300, "a" * 5000, "ü" * 40, "🦄", "\u202eabc", "\ufeff", "İ", "ß",
    "0", "-0", "-1", "1", "1.", ".5", "01", "+5", "1e5", "1E-9", "NaN", "Infinity", "-Infinity", "0x10", "１２",
    "0.000000000000000000001", "99999999999999999999", "9" * 400, "1,000", "1_000",
    [], {}, [[]], [None], [1, "x"], {"a": 1}, {"": ""}, {"__proto__": 1}, {"id": {}}, ["*"], ["*", "*"],
    "../../etc/passwd", "${quote.id}", "{{7*7}}", "<script>alert(1)</script>", "' OR 1=1 --", "%s%n", "%00",
    "simulator:autopilot", "simulator:", "simulator:nothing-of-that-name", "simulator:test-values",
    "2026-01-06", "2026-02-30", "9999-12-31", "9998-12-31T23:59:59.999Z", "0000-00-00", "1970-01-01T00:00:00Z",
    "2026-01-05T08:00:00+14:00", "2026-W01-1", "PT0S", "P1M", "2932531d", "1ms", "500ms", "3d", "-1s", "1e9d",
    "Mars/Phobos", "UTC", "../UTC", "Africa/Nairobi", "KES", "kes", "XXX", "USDC", "BTC", "stellar", "STELLAR", "btc",
    "celo", "lightning", "onramp", "send", "pending", "completed", "approved", "daily", "monthly",
    "+254712345678", "+254722000001", "+254722000002", "+254722000009", "+1", "++254", "amina@example.test", "@", "a@b",
    "0x52908400098527886E0F7030069857D2E4169EE7", "0x" + "0" * 40,
    "GAAZI4TCR3TY5OJHCTJC2A4QSY6CJWJH5IAJTGKIN2ER7LBNVKOCCWN7",
    "http://127.0.0.1:1/", "https://example.com#@127.0.0.1", "http://[::1]:1/x", "http://[", "file:///etc/passwd",
    "//x",
    "transaction.completed", "no.such.event", "default", "autopilot", "^(a+)+$", "\\",
)  # fmt: skip

RAW_BODIES: tuple[bytes, ...] = (
    b"", b" ", b"null", b"[]", b"1", b'"x"', b"{", b"}", b"{}{}", b'{"a":1,}', b"{'a': 1}", b'{"a":NaN}',
    b'{"a":Infinity}',
    b'{"a":1e999}', b'{"a":' + b"9" * 5000 + b"}", b'{"a":"\\ud800"}', b'{"a":"\\udc00\\ud800"}', b'{"a":"\xff"}',
    b"\xff\xfe{}",
    b"\xef\xbb\xbf{}", b"[" * 2000, b"[" * 100_000, b'{"a":' * 3000, b'{"a":' * 2000 + b"1" + b"}" * 2000, b"\x00",
    b'{"\x00":1}',
    b'{"type":"onramp","type":"offramp"}', b'{"amount":"1","amount":{}}', b"a=1&b=2",
    b"--x\r\nContent-Disposition: form-data\r\n",
    b"<xml/>", b"{}" + b" " * 10_000, b'{"a":"' + b"x" * 1_100_000 + b'"}', b"{" + b'"k":1,' * 20_000 + b'"z":1}',
)  # fmt: skip

HEADERS: tuple[tuple[str, str], ...] = (
    ("idempotency-key", ""), ("idempotency-key", " "), ("idempotency-key", "k" * 255), ("idempotency-key", "k" * 256),
    ("idempotency-key", "same"), ("idempotency-key", "sam\xe9"), ("idempotency-key", "a\tb"), ("idempotency-key",
    "\x7f\x01"),
    ("idempotency-key", "one"), ("idempotency-key", "two"), ("idempotency-key", '"quoted"'), ("idempotency-key",
    "x" * 9000),
    ("content-type", ""), ("content-type", "text/plain"), ("content-type", "application/json; charset=utf-16"),
    ("content-type", "application/vnd.x+json"), ("content-type", "application/x-www-form-urlencoded"), ("content-type",
    ";"),
    ("content-type", "\xff"), ("content-encoding", "gzip"), ("content-length", "-1"), ("content-length", "99999999999"),
    ("transfer-encoding", "chunked"), ("transfer-encoding", "gzip, chunked"), ("expect", "100-continue"), ("te",
    "trailers"),
    ("host", "127.0.0.1"), ("host", "localhost:99999"), ("host", ""), ("host", "["), ("host", "[x]"), ("host", "a[b"),
    ("host", "127.0.0.1:8642.evil.com"), ("host", "evil.com@127.0.0.1"), ("host", "localhost#x"), ("host", "\xff"),
    ("host", "[::1]:80"), ("host", "[::ffff:127.0.0.1]"), ("host", "127.0.0.1 "), ("host", "0x7f.1"), ("host",
    "localhost."),
    ("origin", "null"), ("origin", "http://127.0.0.1"), ("origin", "\x00"), ("accept", "*/*;q=x"), ("range",
    "bytes=0-"),
    ("authorization", "Bearer"), ("authorization", "Bearer "), ("authorization", "Basic Og=="), ("authorization",
    "bearer x" * 50),
    ("authorization", "Bearer \xff"), ("authorization", ""), ("x-simulator-scenario", "autopilot"),
    ("x-simulator-scenario", ""),
    ("x-simulator-scenario", "nothing"), ("x-simulator-scenario", "\xff"), ("x-simulator-world", "default"),
    ("x-simulator-world", "nowhere"), ("x-simulator-world", ""), ("x-simulator-environment", "production"),
    ("x-simulator-environment", "moon"), ("x-http-method-override", "DELETE"), ("x-request-id", "a\r\nb: c"), ("cookie",
    "a=b" * 999),
    ("x-odd", "a\tb"), ("accept", "text/html;\tq=1"), ("x-odd", "a\x01b\x7f\x9b\x85"), ("x-odd", "\\t"),
    ("sec-fetch-site", "cross-site"), ("origin", "http://evil.com"),
    ("x-signature", "00"), ("if-none-match", "*"), ("upgrade", "websocket"), ("connection", "upgrade"), ("x" * 3000,
    "y"),
)  # fmt: skip

QUERIES: tuple[str, ...] = (
    "page=0", "page=-1", "page=99999999999999999999", "page=1&page=2", "page=x", "page=", "page=1e3", "page=%EF%BC%91",
    "limit=0",
    "limit=-5", "limit=1000000000", "limit=abc", "limit=%00", "per_page=1", "sort=-created_at", "status=", "status=%FF",
    "status[]=x",
    "type=onramp&type=offramp", "type=%F0%9F%A6%84", "from=2026-01-01", "from=9999-99-99&to=1",
    "to=2026-01-05T08:00:00Z", "&&&", "=",
    "=x", "%", "%zz", "a" * 3000, "search=" + "%25" * 500, "network=celo&network=stellar", "asset=usdc",
    "fiat_currency=",
    "symbol=%00", "date_from=2026-01-01&date_to=2025-01-01", "x=1;y=2", "+", "environment=production", "a[b][c]=1", "?",
    "#",
)  # fmt: skip

METHODS: tuple[str, ...] = (
    "GET",
    "POST",
    "PUT",
    "PATCH",
    "DELETE",
    "HEAD",
    "OPTIONS",
    "TRACE",
    "PROPFIND",
    "get",
    "M-SEARCH",
)

TEXTS: tuple[str, ...] = tuple(value for value in ODD if isinstance(value, str))


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all members of a JSON value, inner ones too."""
    found: list[tuple[Any, ...]] = []
    if isinstance(value, dict):
        for name, item in value.items():
            found += [(*path, name), *leaves(item, (*path, name))]
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += [(*path, index), *leaves(item, (*path, index))]
    return found


def _holder(value: Any, path: tuple[Any, ...]) -> Any:
    for part in path[:-1]:
        value = value[part]
    return value


def odd(rng: Random, extra: tuple[Any, ...] = ()) -> Any:
    """One odd value; it may be shared, so it is not to be changed."""
    if extra and rng.random() < 0.25:
        return rng.choice(extra)
    if rng.random() < 0.02:
        deep: Any = 1
        for _ in range(rng.choice((50, 200))):
            deep = [deep] if rng.random() < 0.5 else {"a": deep}
        return deep
    return rng.choice(ODD)


def mutated(rng: Random, value: Any, times: int = 1, extra: tuple[Any, ...] = ()) -> Any:
    """A copy of a JSON value with some members replaced, removed, doubled, renamed or swapped."""
    value = copy.deepcopy(value)
    for _ in range(times):
        paths = leaves(value)
        if not paths:
            return odd(rng, extra) if rng.random() < 0.3 else value
        path = rng.choice(paths)
        holder, last = _holder(value, path), path[-1]
        way = rng.random()
        if way < 0.6:
            holder[last] = copy.deepcopy(odd(rng, extra))
        elif way < 0.72:
            del holder[last]
        elif way < 0.8:
            other = rng.choice(paths)
            try:
                holder[last] = copy.deepcopy(_holder(value, other)[other[-1]])
            except (KeyError, IndexError, TypeError):
                holder[last] = None
        elif way < 0.88 and isinstance(holder[last], str):
            holder[last] = mutated_text(rng, holder[last])
        elif way < 0.94 and isinstance(holder, dict):
            holder[rng.choice(TEXTS)] = holder.pop(last)
        elif isinstance(holder, list):
            holder.insert(last, copy.deepcopy(holder[last]))
        else:
            holder[last] = [holder[last]] if rng.random() < 0.5 else {"value": holder[last]}
    return value


def mutated_text(rng: Random, text: str) -> str:
    """A text with a piece cut, doubled or put in."""
    at = rng.randrange(len(text) + 1)
    end = min(at + rng.randrange(1, 9), len(text))
    way = rng.randrange(5)
    if way == 0:
        return text[:at] + text[end:]
    if way == 1:
        return text[:end] + text[at:]
    if way == 2:
        return text[:at] + rng.choice(TEXTS)[:400] + text[at:]
    if way == 3:
        return text[:at] + text[at:end].swapcase() + text[end:]
    return text[:at] + rng.choice(".,-+0123456789:/ \t\n%") + text[end:]


def mutated_bytes(rng: Random, raw: bytes) -> bytes:
    """Bytes with a piece cut, doubled, or some bytes exchanged."""
    if not raw:
        return rng.choice(RAW_BODIES)
    at = rng.randrange(len(raw))
    end = min(at + rng.randrange(1, 30), len(raw))
    way = rng.randrange(4)
    if way == 0:
        return raw[:at] + raw[end:]
    if way == 1:
        return raw[:end] + raw[at:]
    if way == 2:
        return raw[:at] + bytes(rng.randrange(256) for _ in range(rng.randrange(1, 6))) + raw[end:]
    return raw[:at]


def doubled_key(rng: Random, body: dict[str, Any]) -> bytes:
    """A JSON object that has one of its members twice, with two values."""
    if not body:
        return b'{"a":1,"a":2}'
    name = rng.choice(list(body))
    return dumps(body)[:-1] + b"," + dumps(name) + b":" + dumps(odd(rng)) + b"}"


def dumps(value: Any) -> bytes:
    """Serialise a mutated value as JSON, including large integers and keys that are not strings."""
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)
    except (TypeError, orjson.JSONEncodeError):
        import json

        return json.dumps(value).encode("utf-8", "surrogatepass")
