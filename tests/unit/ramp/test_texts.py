"""Everything that integrators read about has a description at its declaration: operations, filters, lists."""

from __future__ import annotations

import pytest

from simulator.engine.records.listing import Listing
from simulator.engine.rows.operation import Operation
from simulator.providers.ramp.provider import ROOMS

OPERATIONS = {operation.name: operation for room in ROOMS for operation in room.operations}
LISTS = {name: row.query for name, row in OPERATIONS.items() if isinstance(row.query, Listing)}


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_an_operation_says_more_than_its_summary(operation: Operation) -> None:
    assert operation.description.endswith(".")
    assert operation.description.rstrip(".") != operation.summary


@pytest.mark.parametrize("listing", LISTS.values(), ids=LISTS)
def test_a_list_describes_its_search_and_its_filters(listing: Listing) -> None:
    assert (listing.search is None) == (not listing.searched)
    for filter_ in listing.filters:
        assert filter_.description.endswith("."), filter_.name
