"""Masks secrets, which have known prefixes, in all output except world objects, state documents and responses that
create a key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar
from urllib.parse import unquote

from simulator.engine.text.json import JsonObject, Pairs, loads
from simulator.kernel.fields import one_line
from simulator.kernel.patterns import compile_late

Key = TypeVar("Key")
Value = TypeVar("Value")

MASK = "***"

_BEGINNINGS = ("sk_", "tok_", "whk_")
_SECRET = r"(?:sk|tok|whk)_(?:test|live)_[A-Za-z0-9_]+|(?<![A-Za-z0-9])(?:sk|tok|whk)_[A-Za-z0-9_]+"
_MEMBERS = frozenset(
    {"secret_key", "secretkey", "webhook_key", "webhookkey", "access_token", "accesstoken", "control_token"}
    | {"controltoken", "client_secret", "clientsecret", "api_key", "apikey", "authorization", "password"}
)
_NAMES = r"(?:secret_?key|webhook_?key|access_?token|control_?token|client_?secret|api_?key|authorization|password)"
_JSON_MEMBER = compile_late(rf'("{_NAMES}"\s*:\s*)("(?:[^"\\]|\\.)*"|-?[0-9][^\s,}}\]]*)', re.IGNORECASE)
_PAIR = compile_late(rf"(?<![^&?;\s])({_NAMES}=)[^&;\s]+", re.IGNORECASE)
_NAMED = ("key", "token", "secret", "authorization", "password")
_ESCAPE = compile_late(r"\\u00([2-7][0-9A-Fa-f])")
_HIDING = compile_late(r"%(?:25|3[0-9]|4[1-9A-Fa-f]|5[0-9AFaf]|6[1-9A-Fa-f]|7[0-9Aa])|\\u00[2-7]|\0")
"""A pattern for escaped characters that could be part of a secret or of another escape, and are rare elsewhere."""
_SHORT = 200
_REMEMBERED = 1_000
"""The number of short headers that are cached. Clients send the same headers with every request."""
_SHORT_BODY = 2 * 1024
_BODIES_REMEMBERED = 200
"""The number of short bodies that are cached. A client that polls receives the same body again."""
_SMALL = 16 * 1024
_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})
_ORDINARY = frozenset(
    {"accept", "accept-encoding", "authorization", "connection", "content-length", "content-type", "host"}
    | {"idempotency-key", "user-agent", "x-signature", "x-timestamp"}
)
"""Common names of headers, which are stored as they are. Their values are masked like all others."""
_EVER_NEW = frozenset({"idempotency-key", "x-signature", "x-timestamp"})
"""Names of headers whose values rarely repeat."""
_HEADER_PARTS = ("api-key", "apikey", "api_key", "token", "secret", "password")
_LAYERS = 4
"""The maximum number of encoding layers that are checked."""
_SHORTEST = 4
_LONG = 12


class Masker:
    """Masks secrets in saved and displayed data, including the additional `secrets`, wherever they occur."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = [secret for secret in secrets if len(secret) >= _SHORTEST]
        self._quick = (*_BEGINNINGS, *known)
        self._quick_bytes = tuple(part.encode() for part in self._quick)
        hints = ("sk_", "tok", "whk_", "key", "secret", "authorization", "password", "%", "\\", "\0")
        self._hints = (*hints, *map(str.lower, known))
        self._bodies: dict[bytes, bytes] = {}
        self._texts: dict[str, str] = {}
        self._headers: dict[tuple[str, str], str] = {}
        self._heads: dict[Pairs, Pairs] = {}
        self._pattern = re.compile("|".join([_SECRET, *map(_literal, known)]))
        self._bytes_pattern = re.compile(self._pattern.pattern.encode())

    def text(self, text: str) -> str:
        """Mask secrets in a string. Fields and parameters whose name denotes a secret are masked, too."""
        known = self._texts.get(text)
        if known is not None:
            return known
        shown = self._text(text)
        return _remembered(self._texts, text, shown, _REMEMBERED) if len(text) <= _SHORT else shown

    def _text(self, text: str) -> str:
        lower = text.lower()
        # This check takes a tenth of the time of one pattern for all.
        if not any(map(lower.__contains__, self._hints)):
            return text
        shown = self._plain(text)
        may_hide = "%" in shown or "\\u" in shown or "\0" in shown
        if may_hide and (len(shown) <= _SMALL or _HIDING.search(shown) is not None):
            return self._encoded(shown)
        return shown

    def _plain(self, text: str) -> str:
        shown = self._pattern.sub(MASK, text) if any(part in text for part in self._quick) else text
        lower = shown.lower()
        if any(part in lower for part in _NAMED):
            shown = _JSON_MEMBER.sub(rf'\g<1>"{MASK}"', _PAIR.sub(rf"\g<1>{MASK}", shown))
        return shown

    def _encoded(self, text: str) -> str:
        """Mask a secret in a string with escaped characters. Return a string without one unchanged."""
        plain = text
        for _ in range(_LAYERS):
            inner = unquote(_ESCAPE.sub(_unescaped, plain.replace("\0", "")), "latin-1")
            if inner == plain:
                break
            plain = inner
            shown = self._plain(plain)
            if shown != plain:
                return self._encoded(shown)
        return text

    def raw(self, raw: bytes) -> bytes:
        """Mask secrets in bytes of any format."""
        if not raw:
            return raw
        known = self._bodies.get(raw)
        if known is not None:
            return known
        text = raw.decode("latin-1")  # Searching a string takes a third of the time of searching bytes.
        masked = self._text(text)
        shown = raw if masked is text else masked.encode("latin-1")
        return _remembered(self._bodies, raw, shown, _BODIES_REMEMBERED) if len(raw) <= _SHORT_BODY else shown

    def answer(self, raw: bytes) -> bytes:
        """Mask secrets in a response from this server, in one pass: they are recognised by their values only."""
        return self._bytes_pattern.sub(MASK.encode(), raw) if any(part in raw for part in self._quick_bytes) else raw

    def value(self, value: Any) -> Any:
        """Mask secrets in JSON. Secrets are recognised by their values and by the names of their fields."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {
                self.text(name): MASK if name.lower() in _MEMBERS and item else self.value(item)
                for name, item in value.items()
            }
        return [self.value(item) for item in value] if isinstance(value, list) else value

    def json(self, raw: bytes) -> Any:
        """Parse JSON and mask secrets in it. A quick check avoids the work for JSON without secrets."""
        value, lower = loads(raw), raw.decode().lower()
        return self.value(value) if any(map(lower.__contains__, self._hints)) else value

    def header(self, name: str, value: str) -> str:
        """Return a header value on one line. A value that contains a secret is masked, except for the word `Bearer`."""
        known = self._headers.get((name, value))
        if known is not None:
            return known
        shown = self._header(name, value)
        is_kept = len(name) + len(value) <= _SHORT and name not in _EVER_NEW
        return _remembered(self._headers, (name, value), shown, _REMEMBERED) if is_kept else shown

    def _header(self, name: str, value: str) -> str:
        if name in _HEADERS or any(part in name for part in _HEADER_PARTS):
            scheme, _, credential = value.partition(" ")
            clean = name == "authorization" and scheme == "Bearer" and credential and credential.split() == [credential]
            return f"Bearer {MASK}" if clean else MASK
        return one_line(self._text(value))

    def head(self, headers: Mapping[str, str]) -> Pairs:
        """Mask secrets in headers with lower-case names. Equal headers share one tuple, which saves memory."""
        given = tuple(headers.items())
        known = self._heads.get(given)
        if known is not None:
            return known
        shown = tuple(self.headers(headers).items())
        is_kept = _EVER_NEW.isdisjoint(headers) and sum(map(len, headers.values())) <= _SHORT_BODY
        return _remembered(self._heads, given, shown, _BODIES_REMEMBERED) if is_kept else shown

    def headers(self, headers: Mapping[str, str]) -> JsonObject:
        """Mask secrets in the names and values of headers. The names are in lower case."""
        # The result is cached here, because every call has several headers and most of them repeat.
        known = self._headers
        return {
            name if name in _ORDINARY else one_line(self.text(name)): known.get((name, value))
            or self.header(name, value)
            for name, value in headers.items()
        }


def _remembered(cache: dict[Key, Value], key: Key, value: Value, most: int) -> Value:
    """Add a value to a cache, which is emptied when it has `most` values."""
    if len(cache) >= most:
        cache.clear()
    cache[key] = value
    return value


def _literal(secret: str) -> str:
    """Return a pattern that matches a secret. A short one is matched only as a whole word."""
    return re.escape(secret) if len(secret) >= _LONG else rf"(?<![A-Za-z0-9_]){re.escape(secret)}(?![A-Za-z0-9_])"


def _unescaped(escape: re.Match[str]) -> str:
    character = chr(int(escape[1], 16))
    return escape[0] if character in '"\\' else character
