"""The shared value types, as JSON Schema shows them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import TypeAdapter

from simulator.providers.ramp import shapes


def schema(shape: Any) -> dict[str, Any]:
    return TypeAdapter(shape).json_schema()


def test_codes_are_enums() -> None:
    assert schema(shapes.FiatText)["enum"] == ["KES", "TZS", "NGN", "ZAR", "ZMW"]
    assert schema(shapes.AssetText)["enum"] == ["XLM", "USDC", "CELO", "USDT", "CUSD", "BTC"]
    assert schema(shapes.CurrencyText)["enum"] == [*shapes.FIAT_CODES, *shapes.ASSET_CODES]


@pytest.mark.parametrize(
    ("shape", "good", "bad"),
    [
        (shapes.PhoneText, ["+254712000001"], ["254712000001", "+054712000001", "+25471"]),
        (shapes.OrderNumber, ["ORD-00000001", "ORD-123456789"], ["ORD-1", "ord-00000001"]),
    ],
)
def test_formats_match_what_is_printed(shape: Any, good: list[str], bad: list[str]) -> None:
    pattern = schema(shape)["pattern"]
    assert all(re.search(pattern, text) for text in good)
    assert not any(re.search(pattern, text) for text in bad)
