"""Events that arrive too early, too late or not at all do not decide an assumption."""

from __future__ import annotations

import pytest

from simulator.evidence.features import ABSENT
from simulator.evidence.probing import misplaced

EXPIRED = "event wait quote.expired"


@pytest.mark.parametrize(
    ("seen", "came", "expected"),
    [
        ({EXPIRED: ABSENT}, {}, False),
        ({EXPIRED: ABSENT}, {"event quote quote.expired": "object"}, True),
        ({EXPIRED: ABSENT}, {"event quote quote.created": "object"}, False),
        ({EXPIRED: "object"}, {EXPIRED: "object"}, False),
        ({f"{EXPIRED}.fee": ABSENT}, {EXPIRED: "object"}, False),
        ({f"{EXPIRED}.fee": ABSENT}, {}, True),
        ({"quote body.fee": ABSENT}, {}, False),
    ],
)
def test_event_at_another_step_decides_nothing(seen: dict[str, str], came: dict[str, str], expected: bool) -> None:
    assert misplaced(seen, seen | came) is expected
