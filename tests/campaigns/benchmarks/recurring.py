"""Weekly recurring payments to another user. Each run creates a transaction, its order and four events."""

from __future__ import annotations

from tests.campaigns.benchmarks.client import Client

EVENTS_OF_A_RUN = 4


def begin(client: Client, begun: int, more: int) -> None:
    """Activate so many more payments, whose first runs are within a week; `begun` are there already."""
    today = client.call("GET", "/_simulator/clock")["now"][:10]
    for each in range(begun, begun + more):
        payment = client.call("POST", "/v1/recurring-payments", {
            "name": f"Savings {each}", "type": "send", "source": {"symbol": "USDC", "network": "CELO"},
            "amount": f"{1 + each / 100:.2f}", "amount_currency": "USDC", "reference": f"ref-{each:05}",
            "recipient": {"destination": {"type": "platform_user", "email": "amina@example.test"}},
        })  # fmt: skip
        path = f"/v1/recurring-payments/{payment['id']}"
        weekly = {"frequency": "weekly", "day_of_week": "monday", "start_date": today, "end": {"type": "never"}}
        client.call("PUT", f"{path}/schedule", weekly)
        client.call("GET", f"{path}/review")
        client.call("POST", f"{path}/activate")


def advance(client: Client, weeks: int) -> None:
    """Let so many weeks go by."""
    client.call("POST", "/_simulator/clock/advance", {"by": f"{7 * weeks}d"})


def endow(client: Client) -> None:
    """Give the account enough money for all runs."""
    client.act("set_balance", symbol="USDC", network="CELO", amount="1000000000")


def check_runs(client: Client, runs: int) -> None:
    """RuntimeError when there were not so many runs; takes a fresh token, because the last one has lapsed."""
    client.sign_in()
    found = client.call("GET", "/v1/transactions?type=send")["pagination"]["total"]
    if found != runs:
        raise RuntimeError(f"there were {found} runs instead of {runs}")
