"""The variables by which a run tells the hooks what to use."""

from __future__ import annotations

PUBLIC_KEY = "RAMPSIM_PUBLIC_KEY"
SECRET_KEY = "RAMPSIM_SECRET_KEY"
WEBHOOK_URL = "RAMPSIM_WEBHOOK_URL"
