"""Large JSON is read in pieces, with the same result as reading it at once."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.engine.text.json import read_down_to

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text('"\\[]{},: aé\n', max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('"\\[]{}a', max_size=3), inner, max_size=4),
    max_leaves=20,
)


def whole(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [whole(item) for item in value]
    return orjson.loads(value) if isinstance(value, bytes) else value


@settings(max_examples=300)
@given(JSON, st.integers(1, 4), st.booleans())
def test_the_pieces_make_up_the_whole(value: Any, depth: int, indented: bool) -> None:
    raw = orjson.dumps(value, option=orjson.OPT_INDENT_2 if indented else 0)
    assert whole(read_down_to(raw, depth)) == value


def test_what_is_deep_stays_unread() -> None:
    assert read_down_to(b'{"a": [1, {"b": 2}], "c": 3}', 2) == {"a": b'[1, {"b": 2}]', "c": 3}


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"]", b"[[}", b"[]]", b'["', b'["\\', b"[" * 1_000_000, b'"' + b"a" * 10**6]
)
def test_invalid_json_is_a_value_error(raw: bytes) -> None:
    with pytest.raises(orjson.JSONDecodeError):
        whole(read_down_to(raw, 2))


@settings(max_examples=300)
@given(st.binary(max_size=12) | st.text('[]{}",:1\\', max_size=12).map(str.encode), st.integers(1, 3))
def test_any_bytes_are_read_as_at_once_or_refused(raw: bytes, depth: int) -> None:
    try:
        expected = orjson.loads(raw)
    except ValueError:
        with pytest.raises(orjson.JSONDecodeError):
            whole(read_down_to(raw, depth))
    else:
        assert whole(read_down_to(raw, depth)) == expected
