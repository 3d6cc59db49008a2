"""All campaigns by name, the longest first."""

from __future__ import annotations

from tests.campaigns.hostile.campaign import Campaign
from tests.campaigns.hostile.campaigns import (
    control,
    documents,
    har,
    interface,
    quotas,
    receivers,
    scenes,
    sockets,
    strangers,
    uploads,
)

CAMPAIGNS: dict[str, Campaign] = {
    module.CAMPAIGN.name: module.CAMPAIGN
    for module in (interface, control, uploads, documents, har, sockets, receivers, quotas, scenes, strangers)
}
