"""The simulator's assumptions on which the shop's tests depend, determined by reading the tests.

For each assumption and alternative: the tests that fail under the alternative. Other alternatives do not affect
`test_shop` and `test_newcomer`. The shop itself keeps correct books under all alternatives except the kept fee, which
it does not know about.
"""

from __future__ import annotations

from collections.abc import Mapping

DEPENDS: Mapping[tuple[str, str], tuple[str, ...]] = {
    # They count the calls that have made something by the status 201.
    ("H1", "creating_answers_200"): (
        "test_an_order_that_is_sent_twice_is_one_order",
        "test_a_payout_that_bounced_is_paid_again_when_the_customer_asks_and_only_then",
        "test_an_order_under_way_is_not_tried_again",
    ),
    # The shop reads seconds, and waits one second where it finds none.
    ("H15", "retry_after_is_a_date"): (
        "test_a_client_waits_as_long_as_retry_after_says",
        "test_a_rate_limited_call_waits",
    ),
    # The customer is told the code.
    ("H17", "answers_unauthorized"): ("test_a_key_pair_that_is_revoked_is_tried_once_more_and_no_longer",),
    # What 5,000 KES buy is written down to the last digit.
    ("M1", "no_spread"): (
        "test_an_onramp_is_paid_delivered_and_booked",
        "test_an_onramp_is_delivered",
        "test_webhooks_that_come_twice_and_out_of_order_count_once",
        "test_an_answer_that_is_lost_is_asked_for_with_the_same_key",
    ),
    # The shop takes the fee out of its books with a refund.
    ("S5", "fee_is_kept"): ("test_a_payout_that_bounced_is_paid_again_when_the_customer_asks_and_only_then",),
    # The shop knows a run by the hyphen in its reference.
    ("S19", "suffix_after_an_underscore"): (
        "test_a_standing_payout_is_booked_run_by_run",
        "test_the_rent_is_paid_three_months_long",
    ),
}
