"""Random values in a test have the same names in all runs, so that only effects of the fault differ."""

from __future__ import annotations

from typing import Any

from simulator.exploration.judgement.masking import masks_of
from simulator.exploration.reports.page import beside, first_difference

FIXED = ["2026-01-05T08:00:00.000Z", "call", "POST /v1/quotes → 201 qt_yt70p4b8kwvmfrh14ncp active"]


def evidence(reference: str, *more: str) -> dict[str, Any]:
    timeline = [
        FIXED,
        ["2026-01-05T08:00:01.000Z", "call", f"GET /v1/transactions?search={reference} → 200"],
        *(["2026-01-05T08:00:02.000Z", "call", line] for line in more),
    ]
    transactions = [{"reference": reference}]
    return {"transactions": transactions, "standing": [], "books": [{"order": reference}], "timeline": timeline}


ONE, OTHER = evidence("buy-1400e4bc7aad"), evidence("buy-90f05ffede26")


def test_random_references_are_not_differences() -> None:
    masks = masks_of(ONE, OTHER)
    with_fault = evidence("buy-77aa00bb11cc", "GET /v1/transactions?search=buy-77aa00bb11cc → 503")
    before, after = (masks.names(each).rows(each["timeline"]) for each in (ONE, with_fault))
    rows = beside(before, after)
    assert first_difference(rows) == 2
    assert rows[1][0] == rows[1][1]
    assert after[2][-1] == "GET /v1/transactions?search=<random 1> → 503"
    assert before[0][-1] == FIXED[-1]


def test_notes_of_two_runs_name_a_random_order_alike() -> None:
    masks = masks_of(ONE, OTHER)
    notes = {masks.names(each).masked(f"{each['books'][0]['order']}: the books say 0") for each in (ONE, OTHER)}
    assert notes == {"<random 1>: the books say 0"}


def test_words_that_no_reference_has_are_learnt_from_the_story() -> None:
    one, other = (evidence("A-1", f"POST /v1/beneficiaries → 201 note {word}") for word in ("7f3e21aa", "b90c44de"))
    masks = masks_of(one, other)
    assert masks.references is None
    third = evidence("A-1", "POST /v1/beneficiaries → 201 note 00ff00ff", "later 00ff00ff again")
    assert masks.names(third).rows(third["timeline"])[3][-1] == "later <random 1> again"


def test_a_steady_test_has_nothing_to_mask() -> None:
    masks = masks_of(ONE, ONE)
    assert masks.names(ONE).rows(ONE["timeline"]) == ONE["timeline"]


def test_references_that_both_runs_have_stay() -> None:
    one, other = (
        {**each, "transactions": [{"reference": "order-5000"}, *each["transactions"]]} for each in (ONE, OTHER)
    )
    names = masks_of(one, other).names(one)
    assert names.masked("order-5000 and buy-1400e4bc7aad") == "order-5000 and <random 1>"
