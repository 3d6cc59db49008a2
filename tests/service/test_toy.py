"""The engine with a service other than the ramp: the toy library `tests/toy`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from simulator.engine.clients.asynchronous import AsgiClient
from simulator.engine.scenario.files.library import Library
from simulator.engine.scenario.files.loader import Loader
from simulator.engine.scenario.run.runner import run as run_scenario
from simulator.engine.server.runtime import Runtime
from simulator.engine.vocabulary.vocabulary import collected
from simulator.engine.worlds.alternatives import chosen
from simulator.engine.worlds.simulator import Blueprint, Simulator
from simulator.host import application_of
from tests.fake_transport import FakeTransport
from tests.served_library import visited_library
from tests.toy import PROVIDER
from tests.toy import __file__ as toy
from tests.toy.lending import RETURNED
from tests.toy.seal import SIGNATURE

MOST_LINES = 300
SCENARIO = {
    "name": "fast-readers",
    "rules": [{"on": "created", "where": {"status": "out"}, "do": [{"after": "1h", "action": "bring_back"}]}],
}


class Branch:
    """A simulated library, called without a socket; `sent` are the webhooks that left it."""

    def __init__(self, scenarios: tuple[str, ...] = ()) -> None:
        self.simulator = Simulator(PROVIDER, Library())
        self.world = self.simulator.create_world(Blueprint("default", 1, scenarios=scenarios))
        self.transport = FakeTransport()
        self.runtime = Runtime(self.simulator, self.transport)
        self.client = AsgiClient(application_of(self.runtime))

    async def call(self, method: str, path: str, body: Any = None, status: int = 0) -> Any:
        secret = PROVIDER.identity.credentials(self.world)[self.world.environments[0]]["secret_key"]
        headers = {"Authorization": f"Bearer {secret}"}
        answer = await self.client.request(method, path, body, headers)
        assert answer.status == status or (not status and answer.status < 300), (path, answer.status, answer.body)
        return answer.body

    async def lend(self) -> str:
        book = await self.call("POST", "/v1/books", {"title": "Middlemarch"})
        loan = await self.call("POST", "/v1/loans", {"book_id": book["id"]})
        return str(loan["id"])

    async def close(self) -> None:
        await self.runtime.close()


def run(use: Callable[[Branch], Awaitable[None]], *scenarios: str) -> None:
    async def whole() -> None:
        library = Branch(scenarios)
        try:
            await use(library)
        finally:
            await library.close()

    asyncio.run(whole())


def test_the_toy_is_small(capsys: pytest.CaptureFixture[str]) -> None:
    lines = sum(path.read_text("utf-8").count("\n") for path in Path(toy).parent.glob("*.py"))
    with capsys.disabled():
        print(f"\nthe toy provider: {lines} lines")  # noqa: T201
    assert lines <= MOST_LINES


def test_it_is_served_over_http() -> None:
    async def use(library: Branch) -> None:
        loan = await library.call("GET", f"/v1/loans/{await library.lend()}")
        assert loan["status"] == "out"
        assert loan["id"].startswith("loan-")
        again = await library.call("POST", "/v1/loans", {"book_id": loan["book_id"]}, status=409)
        assert again["error"]["code"] == "book_taken"
        await library.call("GET", "/v1/loans/loan-none", status=404)
        await library.call("POST", "/v1/loans", {}, status=400)
        about = await library.call("GET", f"/_simulator/resources/{loan['id']}")
        assert about["allowed"] == ["bring_back"]
        done = await library.call("POST", "/_simulator/actions/bring_back", {"target": loan["id"]})
        assert [event["type"] for event in done["events"]] == [RETURNED.name]
        assert (await library.call("GET", f"/v1/loans/{loan['id']}"))["status"] == "returned"

    run(use)


def test_each_environment_has_its_own_address_cards_and_books() -> None:
    with visited_library() as library:
        loan = library.lend()
        assert library.base("open") == f"{library.origin}/open/v1"
        for environment, status in (("practice", 200), ("open", 404)):
            assert library.api("GET", f"/loans/{loan}", environment=environment).status == status
        card = {"Authorization": f"Bearer {library.token('open')}"}
        foreign = library.call("GET", f"{library.base()}/loans/{loan}", headers=card)
        assert foreign.refusal == (401, "unauthorized", None)
        assert library.act("bring_back", loan).status == 200
        assert library.event_types(environment="practice") == [RETURNED.name]
        assert library.event_types(environment="open") == []


def test_it_survives_a_restart_of_its_server(tmp_path: Path) -> None:
    with visited_library(tmp_path / "worlds.db") as library:
        loan, secret = library.lend(), library.token()
        library.advance(by="1h")
    with visited_library(tmp_path / "worlds.db") as library:
        assert library.token() == secret
        assert library.control("GET", "/clock").body["now"] == "2026-01-05T09:00:00.000Z"
        assert library.api("GET", f"/loans/{loan}").body["status"] == "out"
        assert library.act("bring_back", loan).status == 200


DRIVE = """
name: a-loan
drive:
  - book: {post: /books, body: {title: Middlemarch}}
  - loan: {post: /loans, body: {book_id: "${book.id}"}}
  - {action: bring_back, target: "${loan.id}"}
  - read: {get: "/loans/${loan.id}"}
"""


def test_a_scenario_drives_it_with_the_secret_key_as_token() -> None:
    async def use(library: Branch) -> None:
        file = Loader(collected(PROVIDER)).load(DRIVE)
        result = await run_scenario(file, library.client, PROVIDER.identity.exchange, seed=1)
        assert [(check.name, check.problem) for check in result.checks] == [("drive", "")]
        calls = [entry.text for entry in result.timeline if entry.kind == "call"]
        assert [text.partition(" →")[0].split("/")[1] for text in calls] == ["books", "loans", "loans"]

    run(use)


def test_a_whole_object_as_target_of_a_driven_action_fails_the_run() -> None:
    async def use(library: Branch) -> None:
        file = Loader(collected(PROVIDER)).load(DRIVE.replace("${loan.id}", "${loan}", 1))
        (check, *_) = (await run_scenario(file, library.client, PROVIDER.identity.exchange, seed=1)).checks
        assert "target" in check.problem

    run(use)


def test_it_has_no_assumption_to_switch_and_says_so() -> None:
    async def use(library: Branch) -> None:
        assert (await library.call("GET", "/_simulator/assumptions"))["data"] == []
        given = {"assumptions": {"H14": "lapses_after_1h"}}
        refused = await library.call("PATCH", "/_simulator/settings", given, status=400)
        assert refused["error"]["message"] == "There is no field `assumptions.H14`. No field is possible."
        await library.call("POST", "/_simulator/worlds", {"settings": given}, status=400)
        document = await library.call("GET", "/_simulator/state")
        document["tables"]["assumptions"] = [["H14", "lapses_after_1h"]]
        await library.call("PUT", "/_simulator/state", document, status=400)

    run(use)
    assert chosen(PROVIDER.alternatives(), ["H14=x", "H14"]) == (
        {},
        [
            "'H14=x': no assumption 'H14' can be switched. `rampsim assumptions` lists them",
            "'H14' is not written ID=ALTERNATIVE",
        ],
    )


def test_it_plays_a_scenario() -> None:
    async def use(library: Branch) -> None:
        assert "warnings" not in await library.call("POST", "/_simulator/scenarios", SCENARIO)
        await library.call("PUT", "/_simulator/scenarios/active", {"names": [SCENARIO["name"]]})
        loan = await library.lend()
        await library.call("POST", "/_simulator/clock/advance", {"by": "59m"})
        assert (await library.call("GET", f"/v1/loans/{loan}"))["status"] == "out"
        await library.call("POST", "/_simulator/clock/advance", {"by": "1m"})
        assert (await library.call("GET", f"/v1/loans/{loan}"))["status"] == "returned"

    run(use)


def test_a_receiver_verifies_its_webhook_by_its_own_scheme() -> None:
    async def use(library: Branch) -> None:
        url = "http://127.0.0.1:9/notices"
        await library.call("POST", "/v1/webhooks", {"url": url, "events": [RETURNED.name]})
        loan = await library.lend()
        library.transport.sent.clear()
        await library.call("POST", "/_simulator/actions/bring_back", {"target": loan})
        await library.call("POST", "/_simulator/clock/advance", {"by": "1s"})
        ((to, headers, raw),) = library.transport.sent
        assert to == url
        named = {name.lower(): value for name, value in headers.items()}
        key = (await library.call("GET", "/_simulator/worlds/default"))["credentials"]["practice"]["webhook_key"]
        assert key.startswith("seal_practice_")
        stamp = named["library-date"]
        assert SIGNATURE.problem(named, raw, [key], int(stamp)) == ""
        assert SIGNATURE.problem(named, raw + b" ", [key], int(stamp)) != ""
        notice = json.loads(raw)
        assert notice["id"].startswith("notice-")
        assert notice["data"]["object"]["id"] == loan

    run(use)


def test_it_is_saved_and_restored() -> None:
    async def use(library: Branch) -> None:
        loan = await library.lend()
        saved = await library.call("GET", "/_simulator/state")
        await library.call("POST", "/_simulator/actions/bring_back", {"target": loan})
        await library.call("PUT", "/_simulator/state", saved)
        library.world = library.simulator.default
        assert (await library.call("GET", f"/v1/loans/{loan}"))["status"] == "out"
        snapshot = await library.call("POST", "/_simulator/snapshots", {"name": "lent"})
        fork = await library.call("POST", "/_simulator/worlds", {"id": "other", "from_snapshot": snapshot["id"]})
        here = await library.call("GET", "/_simulator/worlds/default")
        assert fork["credentials"]["practice"]["secret_key"] != here["credentials"]["practice"]["secret_key"]

    run(use)
