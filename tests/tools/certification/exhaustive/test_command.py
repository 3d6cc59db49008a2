"""`rampsim certify --exhaustive`: reports, exit codes, wrong usage, saved states, orders created by the application."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from simulator.certification.service import filled
from simulator.cli import main
from simulator.testing import receiver, world
from tests.tools.certification.exhaustive.conftest import job_of
from tests.tools.certification.exhaustive.handler import Handler
from tests.tools.certification.exhaustive.serving import serving
from tests.tools.certification.exhaustive.shortcuts import HANDLERS

SMALL = ("--flow", "onramp", "--events", "3", "--copies", "1")


class Application:
    """A running application and the command that certifies it."""

    def __init__(self, app: str, origin: str, key: str, file: Path) -> None:
        self.app, self.file = app, file
        self.at = (f"{app}/webhooks", "--simulator", origin, "--webhook-key", key, "--exhaustive")
        self.books = ("--books", f"{app}/books", "--settle", job_of(app))

    def certify(self, *words: str) -> Result:
        return certify(*self.at, *self.books, *words)

    def report(self, *words: str) -> tuple[int, dict[str, Any]]:
        """Return the exit code and the result of the only flow."""
        file = self.file.with_suffix(".json")
        result = self.certify(*words, "--json", str(file))
        (found,) = json.loads(file.read_text())["exhaustive"]
        return result.exit_code, found


def certify(*words: str) -> Result:
    environment = {"SIMULATOR_URL": None, "SIMULATOR_WEBHOOK_KEY": None, "SIMULATOR_PORT": "1"}
    return CliRunner().invoke(main, ["certify", *words], env=environment, catch_exceptions=False)


@pytest.fixture
def start(origin: str, keys: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.chdir(tmp_path)
    with ExitStack() as stack:

        def start(name: str) -> Application:
            file = tmp_path / f"{name}.db"
            app = stack.enter_context(serving(name, keys, file=str(file)))
            return Application(app, origin, keys["webhook_key"], file)

        yield start


def test_a_covered_flow_exits_with_0_and_states_its_claim(start: Any) -> None:
    app = start("recommended")
    result = app.certify(*SMALL, "--state", str(app.file))
    assert result.exit_code == 0, result.output
    assert (
        "For every order of up to 1 copy of these 3 events, with your settle job at the end, "
        "your books equal the ledger, even if deliveries are lost. 8 states, 12 edges." in result.output
    )


def test_rules_are_tested_only_if_they_are_named(start: Any) -> None:
    app = start("recommended")
    file = app.file.with_suffix(".json")
    result = app.certify(*SMALL, "--state", str(app.file), "--only", "valid-event", "--json", str(file))
    assert result.exit_code == 0, result.output
    assert "Certified: 1 of 1 rules hold" in result.output
    assert [one["verdict"] for one in json.loads(file.read_text())["rules"]] == ["pass"]


def test_without_books_responses_are_judged_and_the_claim_says_so(start: Any) -> None:
    app = start("recommended")
    result = certify(*app.at, *SMALL, "--json", str(app.file.with_suffix(".json")))
    assert result.exit_code == 0, result.output
    assert "Your books were not compared (--books). 8 states, 12 edges." in result.output
    assert "your books equal the ledger" not in result.output
    (found,) = json.loads(app.file.with_suffix(".json").read_text())["exhaustive"]
    assert (found["complete"], found["books"], found["findings"]) == (True, False, [])


class Timeless(Handler):
    """Verifies the signature and ignores its age."""

    def receive(self, headers: Mapping[str, str], body: bytes) -> int:
        self.take(json.loads(body))
        return 200


def test_without_books_an_accepted_expired_copy_is_found(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(HANDLERS, "timeless", Timeless)
    result = certify(*start("timeless").at, *SMALL)
    assert result.exit_code == 1, result.output
    assert "  forged-accepted: a copy of transaction.created with an expired signature got the resp" in result.output


class Queued(Handler):
    """Queues events and its own job. A worker does them when the application is asked whether its queue is empty."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.waiting: list[Callable[[], None]] = []

    def take(self, event: dict[str, Any]) -> None:
        self.waiting.append(partial(super().take, event))

    def settle(self) -> None:
        self.waiting.append(super().settle)

    def is_quiet(self) -> bool:
        """Return False if there was work, so that the next question is needed."""
        work, self.waiting = self.waiting, []
        for task in work:
            task()
        return not work


@pytest.mark.parametrize("quiesces", [True, False], ids=["waits", "does not"])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--only", "booked-once"), "Certified: 1 of 1 rules hold"),
        (("--exhaustive", *SMALL), "your books equal the ledger, even if deliveries are lost. 8 states, 12 edges."),
    ],
    ids=["rules", "exhaustive"],
)
def test_certify_waits_for_the_queue_before_it_reads_the_books(
    words: tuple[str, ...], said: str, quiesces: bool, start: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(HANDLERS, "queued", Queued)
    monkeypatch.setattr("simulator.certification.exhaustive.running.Bound.books_seconds", 0.0)
    app = start("queued")
    quiesce = ("--quiesce", f"{app.app}/quiet") if quiesces else ()
    result = certify(*app.at[:-1], *app.books, *quiesce, *words)
    assert (said in result.output) is quiesces, result.output


def test_unreadable_books_are_reported_at_once(origin: str, keys: dict[str, str]) -> None:
    at = ("http://127.0.0.1:1/webhooks", "--simulator", origin, "--webhook-key", keys["webhook_key"])
    result = certify(*at, "--exhaustive", "--books", "exit 5", *SMALL)
    assert result.exit_code == 2
    assert "--books: `exit 5` failed with exit code 5" in result.output


def test_the_report_has_the_fixed_members(start: Any) -> None:
    app = start("recommended")
    code, found = app.report(*SMALL, "--state", str(app.file))
    seconds = found.pop("seconds")
    assert code == 0
    assert seconds > 0
    assert found.pop("moves") == {
        "deliver": 7, "again": 0, "lost": 29, "late-before-answer": 1, "late-after-next": 1, "late-after-final": 4,
        "late-beyond-age": 12, "acknowledgement-lost": 12, "settle": 38,
    }  # fmt: skip
    assert found == {
        "flow": "onramp",
        "events": 3,
        "event_types": ["transaction.created", "transaction.processing", "transaction.completed"],
        "copies": 1,
        "states": 8,
        "edges": 12,
        "sequences": 16,
        "complete": True,
        "books": True,
        "depth": 3,
        "never_played": [],
        "note": "",
        "findings": [],
    }


@pytest.mark.farm
def test_a_finding_exits_with_1_and_leaves_a_scenario_that_replays_it(start: Any) -> None:
    app = start("downgrades-a-final-state")
    junit = app.file.with_suffix(".xml")
    code, found = app.report("--flow", "onramp", "--events", "3", "--state", str(app.file), "--junit", str(junit))
    assert code == 1
    doubled = next(one for one in found["findings"] if one["verdict"] == "doubled")
    trace = ["deliver transaction.completed", "late-after-final transaction.created", "settle"]
    assert (doubled["trace"], doubled["shortest"]) == (trace, True)
    assert ElementTree.parse(junit).getroot().get("failures") == "1"
    file = Path(doubled["scenario"])
    played = CliRunner().invoke(main, ["scenario", "run", str(file)])
    assert played.exit_code == 0, played.output
    assert delivered_by(file) == ["transaction.completed", "transaction.created"]


def delivered_by(file: Path) -> list[str]:
    """Return the events in the order in which a world with a scenario delivers them."""
    scenario = yaml.safe_load(file.read_text("utf-8"))
    *calls, last = scenario["drive"]
    with world(scenarios=[str(file)]) as made, receiver(made) as webhooks:
        known: dict[str, str] = {}
        for name, call in ((name, call) for one in calls for name, call in one.items()):
            body = json.loads(filled(json.dumps(call["body"]), known))
            answer = made.client.post(filled(call["post"], known), json=body).json()
            known |= {f"{name}.{member}": str(value) for member, value in answer.items()}
        made.advance(last["advance"])
        return [str(one.event["type"]) for one in webhooks.received if one.event["type"].startswith("transaction.")]


@pytest.mark.farm
def test_a_budget_exits_with_4_and_states_the_covered_depth(start: Any) -> None:
    app = start("recommended")
    result = app.certify("--flow", "onramp", "--budget", "3s")
    assert result.exit_code == 4, result.output
    assert "deliver" in result.output.partition("with at most ")[2][:12]
    assert "Not complete: the budget ended the search after" in result.output
    code, found = app.report("--flow", "onramp", "--budget", "3s")
    assert (code, found["complete"], found["findings"]) == (4, False, [])
    assert found["depth"] < 10
    assert found["sequences"] < 326_011


def test_a_state_file_that_the_application_does_not_use_is_reported(start: Any, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    other.touch()
    result = start("recommended").certify(*SMALL, "--state", str(other))
    assert (result.exit_code, "your books changed, but the saved state did not" in result.output) == (2, True)


@pytest.mark.farm
def test_the_state_may_be_saved_by_commands(start: Any) -> None:
    app = start("recommended")
    copying = f"import sqlite3; one = sqlite3.connect('{app.file}'); "
    other = "import os; other = sqlite3.connect(os.environ['SNAPSHOT']); "
    save = f'{sys.executable} -S -c "{copying}{other}one.backup(other)"'
    restore = f'{sys.executable} -S -c "{copying}{other}other.backup(one)"'
    code, found = app.report("--flow", "onramp", "--events", "2", "--copies", "1", "--snapshot", save,
                             "--restore", restore)  # fmt: skip
    assert (code, found["complete"], found["states"], found["edges"]) == (0, True, 4, 4)


@pytest.mark.farm
def test_the_application_may_make_the_orders(start: Any, tmp_path: Path) -> None:
    app = start("recommended")
    command = tmp_path / "order.py"
    command.write_text(ORDER)
    words = ("--events", "2", "--copies", "1", "--order", f"{sys.executable} {command}")
    code, found = app.report("--flow", "offramp-refunded", *words)
    assert (code, found["complete"], found["moves"]["late-before-answer"]) == (0, True, 1)
    result = app.certify("--flow", "onramp", *words, "--order", "echo nothing")
    assert result.exit_code == 2
    assert "printed 'nothing', not the id of a new onramp" in result.output


ORDER = """
import json, os, urllib.request

def call(path, body, token=""):
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    request = urllib.request.Request(os.environ["SIMULATOR_URL"] + path, json.dumps(body).encode(), headers)
    return json.load(urllib.request.urlopen(request))

keys = {name: os.environ["SIMULATOR_" + name.upper()] for name in ("public_key", "secret_key")}
token = call("/auth/token", keys)["access_token"]
assert os.environ["SIMULATOR_ORDER_KIND"] == "offramp"
phone = {"phone_number": "+254722000000", "provider": "mpesa"}
who = {"type": "phone_number", "name": "Wanjiru", "country": "KE", "fiat_currency": "KES", "phone_number": phone}
beneficiary = call("/beneficiaries", who, token)
quote = {"type": "offramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES", "amount": "30"}
quote = call("/quotes", {**quote, "amount_currency": "USDC", "method": "mobile_money"}, token)
body = {"beneficiary_id": beneficiary["id"], "refund_address": "0x52908400098527886E0F7030069857D2E4169EE7"}
body["reference"] = "own-" + quote["id"]
print(call("/quotes/" + quote["id"] + "/confirm", body, token)["id"])
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--settle", "true"), "--settle has no effect without --books"),
        (("--quiesce", "true"), "--quiesce has no effect without --books"),
        (("--books", "true", "--flow", "onrampp"), "--flow: unknown flow `onrampp`; did you mean `onramp`?"),
        (("--books", "true", "--snapshot", "true"), "--snapshot and --restore must be used together"),
        (("--books", "true", "--state", "no.db"), "--state: no.db does not exist"),
        (("--books", "true", "--budget", "soon"), "--budget:"),
        (("--books", "true", "--budget", "0s"), "--budget: '0s' is not a positive duration"),
        (("--books", "true", "--copies", "0"), "'--copies'"),
        (("--books", "true", "--snapshot", "true", "--restore", "true", "--state", __file__), "--state replaces"),
    ],
)
def test_wrong_usage_names_the_value(words: tuple[str, ...], said: str) -> None:
    result = certify("http://127.0.0.1:1/webhooks", "--exhaustive", *words)
    assert result.exit_code == 2
    assert said in result.output


def test_options_of_exhaustive_runs_need_exhaustive() -> None:
    result = certify("http://127.0.0.1:1/webhooks", "--budget", "3s")
    assert result.exit_code == 2
    assert "--budget needs --exhaustive" in result.output


def test_a_missing_receiver_exits_with_3(origin: str, keys: dict[str, str]) -> None:
    at = ("http://127.0.0.1:1/webhooks", "--simulator", origin, "--webhook-key", keys["webhook_key"])
    result = certify(*at, "--exhaustive", "--books", "true", *SMALL)
    assert result.exit_code == 3
    assert "no receiver responds" in result.output
