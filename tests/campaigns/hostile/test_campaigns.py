"""A small part of every campaign. `make hostile` runs them completely."""

from __future__ import annotations

import pytest

from tests.campaigns.hostile.__main__ import details
from tests.campaigns.hostile.campaigns import CAMPAIGNS
from tests.campaigns.hostile.runner import run_campaign
from tests.seeds import walk_seed
from tests.service.durable.postgres_server import require

EPISODES = {
    "interface": 2, "control": 2, "uploads": 1, "documents": 1, "har": 1, "sockets": 1, "receivers": 1, "scenes": 1,
    "quotas": 1, "strangers": 1,
}  # fmt: skip


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_nothing_breaks_the_server(name: str) -> None:
    if CAMPAIGNS[name].shared:
        require()
    report = run_campaign(CAMPAIGNS[name], seed=walk_seed(7), last=EPISODES[name])
    assert report.findings.total == 0, details(report)
    assert report.inputs == EPISODES[name] * CAMPAIGNS[name].per_episode


def test_every_campaign_has_its_part_here() -> None:
    assert EPISODES.keys() == CAMPAIGNS.keys()
