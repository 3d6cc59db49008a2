"""All campaigns by name, the longest first."""

from __future__ import annotations

from tests.hostile.campaign import Campaign
from tests.hostile.campaigns import control, documents, har, interface, sockets, uploads

CAMPAIGNS: dict[str, Campaign] = {
    campaign.name: campaign
    for campaign in (
        interface.CAMPAIGN,
        documents.CAMPAIGN,
        uploads.CAMPAIGN,
        control.CAMPAIGN,
        har.CAMPAIGN,
        sockets.CAMPAIGN,
    )
}
