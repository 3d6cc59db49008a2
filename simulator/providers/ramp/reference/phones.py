"""Phone numbers in international format, validated by the `phonenumbers` library (decision R4)."""

from __future__ import annotations

import re
from functools import lru_cache

from simulator.kernel.patterns import compile_late

_INTERNATIONAL = compile_late(r"\+[1-9][0-9]{5,14}", re.ASCII)


@lru_cache(maxsize=4096)
def is_phone(text: str, country: str | None = None) -> bool:
    """Return True if a string is a valid phone number (`+` and digits), of the country if one is given."""
    if _INTERNATIONAL.fullmatch(text) is None:
        return False
    import phonenumbers  # imported here, because it is large

    try:
        number = phonenumbers.parse(text, None)
    except phonenumbers.NumberParseException:
        return False
    if country is None:
        return phonenumbers.is_valid_number(number)
    return phonenumbers.is_valid_number_for_region(number, country)
