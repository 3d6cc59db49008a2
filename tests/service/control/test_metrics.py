"""Metrics and readiness."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from simulator.engine.server.app import Application
from simulator.engine.server.telemetry.meter import BOUNDS, Meter
from tests.remote import EMPTY, Remote, running
from tests.support import QUOTE

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture
def server(http: httpx.Client) -> Iterator[tuple[Remote, Application]]:
    with running(EMPTY) as (origin, application):
        yield Remote(origin, http).another(), application


def scraped(remote: Remote) -> Samples:
    answer = remote.control("GET", "/metrics")
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    families = text_string_to_metric_families(answer.raw.decode())
    return {(row.name, tuple(sorted(row.labels.items()))): row.value for one in families for row in one.samples}


def of(samples: Samples, name: str, **labels: str) -> float:
    return samples[name, tuple(sorted(labels.items()))]


def test_calls_are_counted_by_operation_and_status(server: tuple[Remote, Application]) -> None:
    world, _ = server
    for body in (QUOTE, QUOTE, {}):
        world.api("POST", "/quotes", body)
    world.api("GET", "/nowhere")
    samples = scraped(world)
    assert of(samples, "rampsim_requests_total", operation="create_quote", status="201") == 2
    assert of(samples, "rampsim_requests_total", operation="create_quote", status="400") == 1
    assert of(samples, "rampsim_requests_total", operation="none", status="404") == 1
    assert of(samples, "rampsim_request_duration_seconds_count", operation="create_quote") == 3
    assert of(samples, "rampsim_request_duration_seconds_bucket", operation="create_quote", le="+Inf") == 3
    assert of(samples, "rampsim_request_duration_seconds_sum", operation="create_quote") > 0


def test_counts_continue_when_their_world_has_ended(server: tuple[Remote, Application]) -> None:
    """A falling counter would look like a restart of the server."""
    world, _ = server
    world.api("POST", "/quotes", QUOTE)
    before = scraped(world)
    world.control("POST", "/reset")
    world.control("DELETE", f"/worlds/{world.world['id']}")
    after = scraped(Remote(world.origin, world.http))
    name = "rampsim_requests_total"
    assert {key: value for key, value in before.items() if key[0] == name} == {
        key: value for key, value in after.items() if key[0] == name
    }
    assert of(before, "rampsim_worlds") - of(after, "rampsim_worlds") == 1


def test_worlds_timers_and_deliveries_are_reported(server: tuple[Remote, Application]) -> None:
    world, _ = server
    url = f"{world.origin}/_simulator/inbox/metrics"
    assert world.api("POST", "/webhooks", {"url": url, "events": ["*"]}).status == 201
    world.control("PUT", "/inbox/metrics", {"respond": [500, 200]})
    before = scraped(world)
    world.act("set_kyc", status="action_required")
    world.control("POST", "/settle")
    between = scraped(world)
    world.advance(by="1h")
    after = scraped(world)
    told = [
        {kind: of(one, "rampsim_deliveries_total", outcome=kind) for kind in ("delivered", "refused", "unanswered")}
        for one in (before, between, after)
    ]
    assert told == [
        {"delivered": 0, "refused": 0, "unanswered": 0},
        {"delivered": 0, "refused": 1, "unanswered": 0},
        {"delivered": 1, "refused": 1, "unanswered": 0},
    ]
    assert of(between, "rampsim_timers_pending") == of(before, "rampsim_timers_pending") + 1
    assert of(after, "rampsim_timers_due") == 0
    assert (of(after, "rampsim_ready"), of(after, "rampsim_journal_lag_seconds")) == (1, 0)


def test_an_attempt_without_a_response_counts(server: tuple[Remote, Application]) -> None:
    world, application = server
    url = f"{world.origin}/_simulator/inbox/gone"
    assert world.api("POST", "/webhooks", {"url": url, "events": ["*"]}).status == 201

    class Nobody:
        async def post(self, *_: Any) -> Any:
            raise ConnectionError

        async def close(self) -> None:
            pass

    application.runtime.courier._transport = Nobody()
    world.act("set_kyc", status="action_required")
    world.control("POST", "/settle")
    assert of(scraped(world), "rampsim_deliveries_total", outcome="unanswered") == 1


def test_calls_over_the_quota_are_counted_apart(server: tuple[Remote, Application]) -> None:
    world, application = server
    application.endpoint.quota._seconds = lambda: 5.0
    world.token()
    world.control("PATCH", "/settings", {"quota_calls_per_second": 1})
    assert [world.api("GET", "/profile").status for _ in range(3)] == [200, 429, 429]
    assert of(scraped(world), "rampsim_requests_over_quota_total") == 2


def test_a_page_names_nothing_that_calls_carried(server: tuple[Remote, Application]) -> None:
    world, _ = server
    world.api("POST", "/quotes", {**QUOTE, "note": "a-canary"})
    page = world.control("GET", "/metrics").raw.decode()
    keys = world.world["credentials"]["sandbox"]
    for secret in ("a-canary", world.world["id"], world.token(), keys["public_key"], keys["secret_key"]):
        assert secret not in page


def test_a_call_counts_in_the_bucket_of_its_duration() -> None:
    meter = Meter()
    for seconds in (0.0, BOUNDS[0], BOUNDS[0] * 1.01, BOUNDS[-1], BOUNDS[-1] + 1):
        meter.observe("look", 200, seconds)
    buckets = meter.observed["look", 200].buckets
    assert (buckets[0], buckets[1], buckets[-2], buckets[-1]) == (2, 1, 1, 1)
    assert sum(buckets) == 5


def test_it_is_ready_once_it_answers_without_a_token(server: tuple[Remote, Application]) -> None:
    world, _ = server
    answer = world.http.get(f"{world.origin}/_simulator/ready")
    assert (answer.status_code, answer.json()) == (200, {"status": "ready"})


def test_it_is_not_ready_while_its_store_keeps_nothing(server: tuple[Remote, Application]) -> None:
    world, application = server

    class Full:
        refusal = "the disk is full."

        def lag_seconds(self) -> float:
            return 0.0

        def world_ids(self) -> list[str]:
            return list(application.runtime.simulator.worlds)

    application.runtime.persistence = Full()  # type: ignore[assignment]  # it has what is asked of a persistence layer
    try:
        refused = world.control("GET", "/ready")
        told = of(scraped(world), "rampsim_ready")
    finally:
        application.runtime.persistence = None
    assert refused.refusal == (503, "not_ready", None)
    assert refused.body["error"]["message"] == "The store cannot save changes: the disk is full."
    assert told == 0


def test_prometheus_is_imported_at_the_first_metrics_call() -> None:
    program = (
        "import sys, asyncio\n"
        "from simulator import Config, create_app\n"
        "from simulator.engine.clients.asynchronous import AsgiClient\n"
        "async def go():\n"
        "    client = AsgiClient(create_app(Config(clock='manual')))\n"
        "    await client.request('GET', '/_simulator/health')\n"
        "    before = 'prometheus_client' in sys.modules\n"
        "    await client.request('GET', '/_simulator/metrics')\n"
        "    print(before, 'prometheus_client' in sys.modules)\n"
        "asyncio.run(go())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
