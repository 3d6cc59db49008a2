"""A few kills; `make trust` runs hundreds. The judge also detects stores that break their promises."""

from __future__ import annotations

from tests.campaigns.trust.postgres import PostgresCampaign
from tests.campaigns.trust.sqlite import SqliteCampaign
from tests.seeds import walk_seed
from tests.service.durable.postgres_server import require


def test_acknowledged_writes_survive_kills() -> None:
    outcome = SqliteCampaign(walk_seed(7), 2).run()
    assert outcome.findings.told == []
    assert outcome.kills >= 2
    assert outcome.acknowledged > 20
    assert outcome.webhooks > 0


def test_acknowledged_writes_survive_a_replica() -> None:
    require()
    outcome = PostgresCampaign(walk_seed(2), 1).run()
    assert outcome.findings.told == []
    assert outcome.kills == 1
    assert outcome.acknowledged > 20


def test_a_store_that_breaks_a_promise_is_detected() -> None:
    """Answers leave before what they tell of is kept; `make trust ARGS=--self-check` has all lies."""
    outcome = SqliteCampaign(7, 12, lie="answers-early").run()
    assert outcome.findings.counts["lost"], f"not after {outcome.kills} kills: {outcome.findings.told}"
