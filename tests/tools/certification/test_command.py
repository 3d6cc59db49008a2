"""`rampsim certify` as it is typed: what it prints and writes, how it ends, and where its simulator comes from."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from simulator.certification.rules import NAMES
from simulator.certification.stage import is_simulator
from simulator.cli import main
from simulator.engine.clients.control import ControlClient
from simulator.engine.server.config import Config
from simulator.engine.server.process import open_socket
from tests.remote import running
from tests.tools.certification import wrong
from tests.tools.certification.conftest import Start

Certify = Callable[..., Result]
BY_BOOKS = {"booked-once", "refund-not-booked", "forged-not-booked"}


def certify(*words: str, **variables: str) -> Result:
    environment = {"SIMULATOR_URL": None, "SIMULATOR_WEBHOOK_KEY": None, "SIMULATOR_PORT": "1", **variables}
    return CliRunner().invoke(main, ["certify", *words], env=environment, catch_exceptions=False)


def free_port() -> str:
    with open_socket("127.0.0.1", 0) as listener:
        return str(listener.getsockname()[1])


def at(receiver: Any) -> tuple[str, ...]:
    """The receiver of a test, and the simulator behind it."""
    return (receiver.url, "--webhook-key", receiver.key, "--simulator", receiver.world.origin)


def test_it_says_what_it_does_and_what_holds(start: Start) -> None:
    receiver = start()
    result = certify(*at(receiver))
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0] == f"Certifying the webhook receiver at {receiver.url}"
    assert lines[1].split() == ["key", receiver.key]
    assert f"{receiver.world.origin}, which was running, world {receiver.world.world['id']}" in lines[2]
    told = {line.split()[1]: line.split()[0] for line in lines if line.startswith(("pass", "FAIL", "skipped"))}
    assert told == {name: "skipped" if name in BY_BOOKS else "pass" for name in NAMES}
    assert "skipped  booked-once" in result.output
    assert "name them with --books" in result.output
    assert "counts once (as far as answers tell; no books were read)" in result.output
    assert lines[-1].startswith("Certified: 28 of 31 rules hold, 3 were skipped (")


def test_of_a_rule_that_does_not_hold_it_says_all_there_is_to_say(start: Start) -> None:
    receiver = start(*wrong.age_only())
    result = certify(*at(receiver), "--only", "stale-timestamp", "--only", "future-timestamp")
    assert result.exit_code == 1
    assert "pass     stale-timestamp" in result.output
    assert "FAIL     future-timestamp" in result.output
    told = result.output.partition("\nfuture-timestamp: It refuses an event with a timestamp an hour ahead\n")[2]
    rows = {line[2:12].strip(): line[13:] for line in told.splitlines() if line[2:12].strip()}
    assert rows["sent"] == "an event with a timestamp an hour from now"
    assert "             X-Signature: " in told
    assert '             {"id":"evt_' in told
    assert rows["came back"].startswith("200 after ")
    assert rows["wanted"] == "4xx, for example 401"
    assert rows["by"] == "Events: Delivery and signature; Limits: 5 minutes"
    assert rows["read"].startswith("rampsim docs events-delivery-and-signature, rampsim docs")
    assert "abs(now_ms - int(timestamp)) > 300_000" in rows["mend"]
    assert "Not certified: 1 of 2 rules hold, 1 does not (" in result.output


def test_a_redirect_is_shown_with_where_it_leads(start: Start) -> None:
    receiver = start(*wrong.slash_at_the_end())
    result = certify(*at(receiver), "--only", "no-redirect")
    assert result.exit_code == 1
    assert "308 to /webhooks/ after" in result.output


def test_a_rule_that_would_say_nothing_says_which_has_to_hold_first(start: Start) -> None:
    receiver = start(*wrong.nothing_verified())
    result = certify(*at(receiver), "--only", "unknown-signature", "--only", "altered-body")
    assert result.exit_code == 1
    assert "skipped  altered-body                 unknown-signature has to hold first" in result.output


def test_breaking_over_a_forgery_is_no_refusal(start: Start) -> None:
    receiver = start(*wrong.breaks_over_forgeries())
    result = certify(*at(receiver), "--only", "unknown-signature")
    assert result.exit_code == 1
    assert "500 after" in result.output
    assert "It broke over the request instead of refusing it." in result.output


def test_the_report_as_json_and_as_junit(start: Start, tmp_path: Path) -> None:
    receiver = start(*wrong.conflict_409())
    as_json, as_junit = tmp_path / "report.json", tmp_path / "report.xml"
    wanted = ("--only", "valid-event", "--only", "duplicate-event", "--only", "booked-once")
    result = certify(*at(receiver), *wanted, "--json", str(as_json), "--junit", str(as_junit))
    assert result.exit_code == 1
    report = json.loads(as_json.read_text())
    assert (report["url"], report["verdict"]) == (receiver.url, "failed")
    rules = {one["rule"]: one for one in report["rules"]}
    assert {name: one["verdict"] for name, one in rules.items()} == {
        "valid-event": "pass", "booked-once": "skipped", "duplicate-event": "fail",
    }  # fmt: skip
    texts = {"rule", "title", "verdict", "clause", "sent", "got", "wanted", "advice"}
    assert all(isinstance(one[name], str) for one in rules.values() for name in texts)
    found = rules["duplicate-event"]
    assert found["sent"] == "the same transaction.completed for the second time"
    assert found["got"].startswith("409 after ")
    assert [one["status"] for one in found["exchanges"]] == [200, 200, 200, 200, 409]
    suite = ElementTree.fromstring(as_junit.read_text())
    counts = (suite.get("tests"), suite.get("failures"), suite.get("skipped"))
    assert counts == ("3", "1", "1")
    cases = {case.get("name"): [child.tag for child in case] for case in suite}
    assert cases == {"valid-event": [], "booked-once": ["skipped"], "duplicate-event": ["failure"]}


def test_skip_leaves_a_rule_out_and_says_so(start: Start) -> None:
    result = certify(*at(start()), "--only", "valid-event", "--only", "large-body", "--skip", "large-body")
    assert result.exit_code == 0
    assert "skipped  large-body                   --skip leaves it out" in result.output


def test_nothing_answers() -> None:
    with running(Config(clock="manual", scenarios=())) as (origin, _):
        result = certify(f"http://127.0.0.1:{free_port()}/webhooks", "--simulator", origin)
    assert result.exit_code == 3
    assert "connection refused" in result.output
    assert "start the receiver" in result.output


def test_the_simulator_that_was_named_does_not_answer() -> None:
    result = certify("http://127.0.0.1:1/webhooks", SIMULATOR_URL=f"http://127.0.0.1:{free_port()}")
    assert result.exit_code == 3
    assert "no simulator answers at" in result.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--only", "duplicate-events"), "there is no rule `duplicate-events`; did you mean `duplicate-event`?"),
        (("--skip", "large"), "--skip: there is no rule `large`"),
        (("--only", "valid-event", "--skip", "valid-event"), "--skip excludes every rule of --only"),
        (("--simulator", "localhost:8642"), "'localhost:8642' is not an http or https URL"),
        (("--json", "nowhere/report.json"), "the directory does not exist"),
        (("--books", "exit 3"), "`exit 3` ended with 3"),
        (("--order", "echo done"), "`echo done` printed 'done', and not the id of the onramp that it made"),
        (("--settle", "exit 5", "--books", "true", "--only", "booked-once"), "--settle: `exit 5` ended with 5"),
        (("--order", "exit 4"), "--order: `exit 4` ended with 4"),
        (("--books", "echo hello"), "line 1 is 'hello'; every line is JSON like"),
        (("--books", "http://127.0.0.1:1/books"), "http://127.0.0.1:1/books does not answer"),
    ],
)
def test_wrong_usage_is_named(start: Start, words: tuple[str, ...], said: str) -> None:
    result = certify(*at(start()), *words)
    assert result.exit_code == 2
    assert said in result.output


def test_an_address_that_is_none() -> None:
    result = certify("localhost:5000/webhooks")
    assert result.exit_code == 2
    assert "'localhost:5000/webhooks' is not the URL of a receiver, such as http:" in result.output


def test_the_books_of_a_command_that_finds_the_simulator(start: Start, tmp_path: Path) -> None:
    receiver = start(*wrong.before_fees())
    script, told = tmp_path / "books.py", tmp_path / "told.json"
    script.write_text(
        f"import json, os, urllib.request\n"
        f"names = [name for name in os.environ if name.startswith('SIMULATOR_')]\n"
        f"open({str(told)!r}, 'w').write(json.dumps({{name: os.environ[name] for name in names}}))\n"
        f"print(urllib.request.urlopen('{receiver.origin}/books').read().decode())\n"
    )
    report = receiver.examined(only=("booked-once",), books=f"{sys.executable} {script}", books_seconds=0.2)
    said = "the books say 5000.00 USDC (completed), but 37.892536 USDC were delivered: another amount"
    assert [said in one.got for one in report.found("fail")] == [True]
    given = json.loads(told.read_text())
    keys = receiver.world.world["credentials"]["sandbox"]
    assert given["SIMULATOR_URL"] == keys["base_url"]
    assert given["SIMULATOR_PUBLIC_KEY"] == keys["public_key"]
    assert given["SIMULATOR_SECRET_KEY"] == keys["secret_key"]
    assert given["SIMULATOR_WEBHOOK_KEY"] == receiver.key


def test_books_that_know_no_order_of_the_examination_are_no_judge(start: Start, tmp_path: Path) -> None:
    books = tmp_path / "books"
    books.write_text('{"order": "A-17", "state": "completed", "amount": 12, "currency": "USDC"}\n')
    receiver = start()
    report = receiver.examined(only=("booked-once", "duplicate-event"), books=f"cat {books}")
    assert {one.rule.name: one.verdict for one in report.results} == {
        "booked-once": "skipped", "duplicate-event": "pass",
    }  # fmt: skip
    assert "the books know no order of this examination" in report.results[0].got
    assert report.results[1].got.endswith("(as far as answers tell; no books were read)")


def test_where_no_simulator_runs_one_is_started_at_its_usual_address_and_ends(start: Start) -> None:
    receiver, port = start(), free_port()
    result = certify(receiver.url, "--webhook-key", receiver.key, "--only", "valid-event", SIMULATOR_PORT=port)
    assert result.exit_code == 0, result.output
    assert f"simulator  http://127.0.0.1:{port}, started for this run, and ends with this run" in result.output
    assert f"are at http://127.0.0.1:{port}/v1," in result.output
    with open_socket("127.0.0.1", int(port)):
        """Nobody has it any more."""


def test_where_something_else_has_the_port_another_is_taken(start: Start) -> None:
    receiver = start()
    port = receiver.origin.rpartition(":")[2]
    result = certify(receiver.url, "--webhook-key", receiver.key, "--only", "valid-event", SIMULATOR_PORT=port)
    assert result.exit_code == 0, result.output
    assert f"started for this run, because something else has port {port}" in result.output


def test_a_simulator_at_the_usual_address_is_used(start: Start) -> None:
    receiver = start()
    port = receiver.world.origin.rpartition(":")[2]
    result = certify(receiver.url, "--webhook-key", receiver.key, "--only", "valid-event", SIMULATOR_PORT=port)
    assert result.exit_code == 0, result.output
    assert f"{receiver.world.origin}, which was running, world {receiver.world.world['id']}" in result.output


def test_the_simulator_of_another_examination_is_not_used() -> None:
    with running(Config(clock="manual", scenarios=())) as (origin, _):
        assert is_simulator(origin)
        ControlClient(origin).post("/worlds", {"id": "certify"})
        assert not is_simulator(origin)


def test_the_world_is_left_as_it_was_but_for_the_payments(start: Start) -> None:
    receiver = start()
    control = ControlClient(receiver.world.origin, receiver.world.world["id"])
    control.put("/scenarios/active", {"names": ["autopilot"]})
    made = receiver.world.api("POST", "/webhooks", {"url": receiver.url, "events": ["*"]})
    assert made.status == 201
    report = receiver.examined(only=("booked-once", "retry-after-failure"))
    assert [one.verdict for one in report.results] == ["pass", "pass"]
    control.post("/settle")
    assert control.get("/faults")["data"] == []
    assert [one["name"] for one in control.get("/scenarios")["data"] if one["active"]] == ["autopilot"]
    # What the world itself sent to the receiver was lost: the examination alone says what comes when.
    assert all(one["status"] != "succeeded" for one in control.get("/deliveries")["data"])


def test_the_clock_of_the_timestamps_is_that_of_the_world(start: Start) -> None:
    receiver = start()
    control = ControlClient(receiver.world.origin, receiver.world.world["id"])
    control.call("PATCH", "/settings", {"webhook_timestamp": "simulated"})
    report = receiver.examined(only=("registration-200",))
    sent = dict(report.results[0].exchanges[0].headers)
    assert sent["X-Timestamp"] == "1767600000000"  # 2026-01-05T08:00Z, where its clock stands
    assert report.results[0].verdict == "fail"  # the receiver's own clock is the wall's


def test_what_an_application_has_missed_it_may_pick_up_by_a_job(start: Start) -> None:
    handler, kind = wrong.failure_swallowed()

    class Settling(handler):  # type: ignore[misc, valid-type]  # its base is made while the test runs
        def do_GET(self) -> None:  # noqa: N802
            if self.path == "/settle":
                with self.shop.lock, self.shop.rows:
                    self.shop.rows.execute("UPDATE inbox SET done = 0")
                self.shop.more.set()
            super().do_GET()

    receiver = start(Settling, kind)
    only = ("retry-after-failure",)
    assert [one.verdict for one in receiver.examined(only=only).results] == ["fail"]
    job = f"import urllib.request; urllib.request.urlopen('{receiver.origin}/settle')"
    report = receiver.examined(only=only, settle=f'{sys.executable} -c "{job}"', books_seconds=5)
    assert [one.verdict for one in report.results] == ["pass"]


ORDERING = """
import json, os, urllib.request

def call(path, body, token=""):
    headers = {"Content-Type": "application/json", "Authorization": "Bearer " + token}
    request = urllib.request.Request(os.environ["SIMULATOR_URL"] + path, json.dumps(body).encode(), headers)
    return json.load(urllib.request.urlopen(request))

pair = {name: os.environ["SIMULATOR_" + name.upper()] for name in ("public_key", "secret_key")}
token = call("/auth/token", pair)["access_token"]
quote = call("/quotes", {"type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES", "amount": "800",
                         "amount_currency": "KES", "method": "mobile_money"}, token)
payer = {"wallet_address": "0x52908400098527886E0F7030069857D2E4169EE7", "payer": {"phone_number": "+254712345678"}}
made = call("/quotes/" + quote["id"] + "/confirm", {**payer, "reference": "own-" + quote["id"]}, token)
with open(os.environ["ORDERS"], "a") as orders:
    orders.write(made["reference"] + "\\n")
print("ordered", made["id"])
"""


def test_an_application_that_knows_only_its_own_orders_makes_them(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, orders = tmp_path / "order.py", tmp_path / "orders"
    script.write_text(ORDERING)
    orders.touch()
    monkeypatch.setenv("ORDERS", str(orders))

    class Own(wrong.Trusting):
        def enter(self, thing: Any) -> None:
            if thing["reference"] in orders.read_text().split():
                super().enter(thing)

    receiver = start(kind=Own)
    wanted = ("booked-once", "refund-not-booked", "duplicate-event")
    alone = receiver.examined(only=wanted)
    assert [one.verdict for one in alone.results] == ["skipped", "skipped", "pass"]
    report = receiver.examined(only=wanted, order=f"{sys.executable} {script}", books_seconds=5)
    assert {one.rule.name: one.got for one in report.results if one.verdict != "pass"} == {}
    assert {line.split("-")[0] for line in orders.read_text().split()} == {"own"}
