"""Phone numbers must be in international format and valid, for a given country if there is one."""

from __future__ import annotations

import pytest

from simulator.providers.ramp.reference import is_phone


@pytest.mark.parametrize(
    ("text", "country"),
    [
        ("+254712000001", "KE"),
        ("+254722000000", "KE"),
        ("+255754000001", "TZ"),
        ("+2348031000002", "NG"),
        ("+27821234567", "ZA"),
        ("+260971234567", "ZM"),
        ("+254712000001", None),
        ("+442079460018", None),
    ],
)
def test_a_valid_number_is_accepted(text: str, country: str | None) -> None:
    assert is_phone(text, country)


@pytest.mark.parametrize("suffix", ["0001", "0002", "0003", "0009"])
def test_numbers_that_choose_an_outcome_are_valid(suffix: str) -> None:
    assert is_phone(f"+25471200{suffix}", "KE")


@pytest.mark.parametrize(
    ("text", "country"),
    [
        ("0712000001", "KE"),
        ("254712000001", "KE"),
        ("+254 712 000001", "KE"),
        ("+25471200000", "KE"),
        ("+2547120000012", "KE"),
        ("+254712000001", "NG"),
        ("+254000000000", None),
        ("+999123456789", None),
        ("+２54712000001", None),
        ("+254712000001\n", None),
        ("tel:+254712000001", None),
        ("+", None),
        ("", None),
        ("phone", None),
    ],
)
def test_anything_else_is_refused(text: str, country: str | None) -> None:
    """Decision R4."""
    assert not is_phone(text, country)
