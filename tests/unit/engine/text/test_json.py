"""JSON: writing, reading, limits and comparison (decisions H7, H12, H14, S18)."""

from __future__ import annotations

import json
import sys
import time
import tracemalloc
from contextlib import suppress
from decimal import Decimal
from sys import getsizeof
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simulator.engine.text.json import MAX_BYTES, MAX_DEPTH, canonical, dumps, loads


def nested(depth: int, open_: str = "[", close: str = "]", core: str = "1") -> bytes:
    return (open_ * depth + core + close * depth).encode()


def test_json_is_written_compactly_in_the_order_of_the_members() -> None:
    assert dumps({"b": 1, "a": [True, None, "é"]}) == '{"b":1,"a":[true,null,"é"]}'.encode()


@pytest.mark.parametrize(
    "number",
    ["0.1", "1.00", "100", "1E+3", "1E-7", "999999999999999999.999999999999999999", "0.000000000000000001", "-2.50"],
)
def test_decimals_are_written_as_exact_numbers_without_exponent(number: str) -> None:
    text = dumps({"amount": Decimal(number)}).decode()
    assert text == f'{{"amount":{Decimal(number):f}}}'
    assert json.loads(text, parse_float=Decimal, parse_int=Decimal) == {"amount": Decimal(number)}
    assert "E" not in text


@pytest.mark.parametrize("value", [object(), {1, 2}, b"raw", 1j])
def test_values_that_are_not_json_are_not_written(value: Any) -> None:
    with pytest.raises(TypeError) as caught:
        dumps(value)
    assert str(caught.value.__cause__) == f"cannot be written as JSON: {type(value).__name__}"


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b"{}", {}),
        (b' {"a" : 1.50} ', {"a": 1.5}),
        ("[]", []),
        (b"null", None),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b'{"a":1,"a":2}', {"a": 2}),
        (b"18446744073709551615", 18446744073709551615),
        (b"123456789012345678901234567890", 1.2345678901234568e29),
        (b"1e999", sys.float_info.max),
        (b'{"-1e999":[-1e400,"1e400","\\"1e400"]}', {"-1e999": [-sys.float_info.max, "1e400", '"1e400']}),
        (b"9" * 400, sys.float_info.max),
        (b"1e-999", 0),
    ],
)
def test_json_is_read(raw: bytes | str, value: Any) -> None:
    assert loads(raw) == value


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b" ",
        b"{",
        b"[1,]",
        b"{'a':1}",
        b"{} {}",
        b"NaN",
        b"Infinity",
        b"-Infinity",
        b'{"a":NaN}',
        b"01",
        b"+1",
        b"1.",
        b"1e999.",
        b'["1e999, 1e999]',
        b"[1e999 1e999]",
        b'"\xff"',
        b"\xff",
        b'"\xed\xa0\x80"',
        b'"\\ud800"',
        b'"\\udc00\\ud800"',
        b"\xef\xbb\xbf{}",
        '{"a":1}'.encode("utf-16"),
        b'"a\nb"',
        b"/**/{}",
    ],
)
def test_bytes_that_are_not_utf_8_json_are_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        loads(raw)


@pytest.mark.parametrize(("open_", "close"), [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
def test_json_may_be_nested_32_deep_and_no_deeper(open_: str, close: str) -> None:
    levels = open_.count("[") + open_.count("{")
    deepest = MAX_DEPTH // levels
    assert MAX_DEPTH == 32
    assert loads(nested(deepest, open_, close)) is not None
    assert loads(nested(deepest, open_, close, "null")) is not None
    with pytest.raises(ValueError, match="nested more than 32 levels deep"):
        loads(nested(deepest + 1, open_, close))
    with pytest.raises(ValueError, match="nested more than 32 levels deep"):
        loads(nested(deepest, open_, close, "[]"))


def test_the_deepest_field_counts_at_any_position() -> None:
    deep = nested(32, core="[]").decode()
    for raw in (f"[1,[],{deep}]", f'{{"a":1,"b":{{}},"c":{deep}}}', f"[{deep},2]"):
        with pytest.raises(ValueError, match="nested"):
            loads(raw)
    wide = "[" + ",".join([nested(30).decode()] * 200) + "]"
    assert len(loads(wide)) == 200


@pytest.mark.parametrize("depth", [1_000, 100_000, 500_000])
def test_absurd_depth_is_refused_like_any_other(depth: int) -> None:
    with pytest.raises(ValueError, match=r"."):
        loads(nested(depth))
    with pytest.raises(ValueError, match=r"."):
        loads(b"[" * depth)


def test_json_may_be_a_mebibyte_long_and_no_longer() -> None:
    """Decision H12: at most 1 MiB."""
    assert MAX_BYTES == 1_048_576
    longest = b'"' + b"x" * (MAX_BYTES - 2) + b'"'
    assert len(loads(longest)) == MAX_BYTES - 2
    with pytest.raises(ValueError, match="larger than 1048576 bytes"):
        loads(longest + b" ")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ('{"a":1,"b":{"c":2,"d":3}}', ' { "b" : {"d":3,"c":2}, "a":1 }'),
        ("1", "1.0"),
        ("1", "1e0"),
        ("100", "1E2"),
        ("0", "-0.0"),
        ("0.1", "0.10"),
        ("1e17", "100000000000000000"),
        ("-9007199254740994", "-9007199254740994.0"),
        ("18446744073709549568", "18446744073709549568.0"),
        ("-9223372036854775808", "-9223372036854775808.0"),
        ("1e300", "10e299"),
        ("-18446744073709551616", "-18446744073709551616.0"),
        ("1e999", "10.0e+998"),
        ("-1e-999", "-0.1E-998"),
        ("9" * 400, "9" * 400 + ".0"),
        ("0e999", "-0"),
        ("1e" + "9" * 5_000, "1.0e+" + "9" * 5_000),
        ("18446744073709551616", "18446744073709551616.0"),
        ('[{"a":1.0}]', '[{"a":1}]'),
        ('"\\u00e9"', '"é"'),
        ('{"a":1,"a":2}', '{"a":2}'),
    ],
)
def test_json_that_is_equal_has_the_same_canonical_bytes(left: str, right: str) -> None:
    """Decision H14: how bodies under one key are compared."""
    assert canonical(left) == canonical(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("1", "true"),
        ("0", "false"),
        ("1", '"1"'),
        ("null", "false"),
        ("null", '""'),
        ("1", "1.5"),
        ("1", "2"),
        ("[1,2]", "[2,1]"),
        ("[]", "{}"),
        ("[1]", "1"),
        ('{"a":1}', '{"a":1,"b":null}'),
        ('{"a":1}', '{"A":1}'),
        ('{"a":{"b":1}}', '{"a.b":1}'),
        ("9007199254740992", "9007199254740994"),
        ("1", "1.000000000000000000001"),
        ("0.1", "0.1000000000000000055511151231257827"),
        ("1e999", "1e998"),
        ("1e999", "-1e999"),
        ("9" * 400, "9" * 399 + "8"),
        ("1e-400", "0"),
        ('{"a":1e999}', '{"a":"1e999"}'),
        ("1e17", "1e18"),
        ('"a"', '"a "'),
    ],
)
def test_json_that_differs_has_other_canonical_bytes(left: str, right: str) -> None:
    assert canonical(left) != canonical(right)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=20,
)


@given(values)
@example({"b": [1e300, 2**64 - 1, -(2**63), 2.0**64, 1.5], "a": "\x00"})
def test_what_is_written_reads_back_and_compares_as_itself(value: Any) -> None:
    assert loads(dumps(value)) == value
    assert canonical(json.dumps(value, indent=1, ensure_ascii=True)) == canonical(dumps(value))


@given(values, values)
def test_canonical_bytes_agree_with_equality(left: Any, right: Any) -> None:
    assert (canonical(dumps(left)) == canonical(dumps(right))) == (tagged(left) == tagged(right))


def tagged(value: Any) -> Any:
    """The value with booleans told apart from numbers, and floats by what is written of them."""
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, list):
        return [tagged(item) for item in value]
    return {key: tagged(item) for key, item in value.items()} if isinstance(value, dict) else value


def test_written_data_takes_no_more_memory_than_its_length() -> None:
    tracemalloc.start()
    try:
        texts = [dumps({"id": f"evt_{number}"}) for number in range(1_000)]
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken < 2 * sum(map(getsizeof, texts))


@pytest.mark.parametrize(
    "raw", [b'"' + b'\\"' * 500_000, b"9" * 1_000_000, b"[" + b"1e999," * 170_000 + b"]", b"1e" * 500_000]
)
def test_invalid_json_is_detected_in_linear_time(raw: bytes) -> None:
    began = time.process_time()
    with suppress(ValueError):
        loads(raw)
    assert time.process_time() - began < 3
