"""The ownership protocol against a simulated database and network.

`python -m tests.campaigns.trust.protocol` runs 10,000 seeds.
"""

from __future__ import annotations

import pytest

from tests.campaigns.trust.protocol.database import Broken, Guards
from tests.campaigns.trust.protocol.run import Run, play
from tests.seeds import walk_seeds
from tests.support import whole

KEPT = {
    161: Guards(lock_on_committing_connection=False),
    31: Guards(epoch=False),
    7: Guards(write_before_answer=False),
    3: Guards(confirm_reads=False),
    200: Guards(repeats_only_what_may=False),
}
"""Seeds that break a promise while something is missing, and what."""


@pytest.mark.long
def test_no_promise_is_broken() -> None:
    for seed in walk_seeds(range(whole(10_000, short=300))):
        play(seed)


@pytest.mark.parametrize("seed", KEPT)
def test_a_seed_that_breaks_a_promise_where_something_is_missing_breaks_none_where_it_is_not(seed: int) -> None:
    with pytest.raises(Broken):
        play(seed, KEPT[seed])
    play(seed)


def test_a_run_depends_only_on_its_seed() -> None:
    first, second = play(7), play(7)
    assert (first.steps, first.loop.now, first.went_wrong) == (second.steps, second.loop.now, second.went_wrong)
    assert [row.journal for row in first.database.rows.values()] == [
        row.journal for row in second.database.rows.values()
    ]


def test_runs_come_to_what_they_are_for() -> None:
    runs = [play(seed) for seed in range(100)]
    wrong = sum((run.went_wrong for run in runs), start=runs[0].went_wrong.copy())
    assert {"kill", "pause", "cut", "part", "isolate", "drain", "pooler"} <= set(wrong)
    takeovers = sum(row.epoch - 1 for run in runs for row in run.database.rows.values())
    assert takeovers > 100, "worlds hardly move"
    assert any(count > 1 for run in runs for count in run.webhooks.values()), "no webhook was in flight at a takeover"
    assert sum(len(run.database.committed) for run in runs) > 2_000, "hardly anything is written"


@pytest.mark.parametrize(
    ("guards", "has_pooler", "what"),
    [
        (Guards(lock_on_committing_connection=False), False, "is owned by .* and"),
        (Guards(epoch=False), True, "wrote, and another has taken it over"),
        (Guards(write_before_answer=False), False, "which is not in the database"),
        (Guards(confirm_reads=False), False, "showed"),
        (Guards(session_is_compared=False), True, "a read of . showed .* operations, and .* were acknowledged"),
        (Guards(repeats_only_what_may=False), False, "was done twice"),
    ],
)
def test_a_guard_that_is_taken_out_is_missed(guards: Guards, has_pooler: bool, what: str) -> None:
    def play_all() -> None:
        for seed in range(2_000):
            Run(seed, guards, has_pooler=has_pooler).play()

    with pytest.raises(Broken, match=what):
        play_all()
