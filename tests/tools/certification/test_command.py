"""The command `rampsim certify`: output, reports, exit codes, and which simulator it uses."""

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


def test_the_output_lists_receiver_simulator_and_rules(start: Start) -> None:
    receiver = start()
    result = certify(*at(receiver))
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0] == f"Certifying the webhook receiver at {receiver.url}"
    assert lines[1].split() == ["key", receiver.key]
    assert f"{receiver.world.origin}, already running, world {receiver.world.world['id']}" in lines[2]
    told = {line.split()[1]: line.split()[0] for line in lines if line.startswith(("pass", "FAIL", "skipped"))}
    assert told == {name: "skipped" if name in BY_BOOKS else "pass" for name in NAMES}
    assert "skipped  booked-once" in result.output
    assert "name them with --books" in result.output
    assert "counts it once (judged by responses only: no books were read)" in result.output
    assert lines[-1].startswith("Certified: 28 of 31 rules hold, 3 were skipped (")


def test_a_broken_rule_is_explained(start: Start) -> None:
    receiver = start(*wrong.age_only())
    result = certify(*at(receiver), "--only", "stale-timestamp", "--only", "future-timestamp")
    assert result.exit_code == 1
    assert "pass     stale-timestamp" in result.output
    assert "FAIL     future-timestamp" in result.output
    told = result.output.partition("\nfuture-timestamp: Refuses an event with a timestamp an hour ahead\n")[2]
    rows = {line[2:12].strip(): line[13:] for line in told.splitlines() if line[2:12].strip()}
    assert rows["sent"] == "an event with a timestamp an hour from now"
    assert "             X-Signature: " in told
    assert '             {"id":"evt_' in told
    assert rows["came back"].startswith("200 after ")
    assert rows["wanted"] == "4xx, for example 401"
    assert rows["by"] == "Events: Delivery and signature; Limits: 5 minutes"
    assert rows["read"].startswith("rampsim docs events-delivery-and-signature, rampsim docs")
    assert "abs(now_ms - int(timestamp)) > 300_000" in rows["fix"]
    assert "Not certified: 1 of 2 rules hold, 1 does not (" in result.output


def test_a_redirect_is_shown_with_where_it_leads(start: Start) -> None:
    receiver = start(*wrong.slash_at_the_end())
    result = certify(*at(receiver), "--only", "no-redirect")
    assert result.exit_code == 1
    assert "308 to /webhooks/ after" in result.output


def test_a_blocked_rule_names_the_rule_that_must_hold_first(start: Start) -> None:
    receiver = start(*wrong.nothing_verified())
    result = certify(*at(receiver), "--only", "unknown-signature", "--only", "altered-body")
    assert result.exit_code == 1
    assert "skipped  altered-body                 unknown-signature must hold first" in result.output


def test_a_5xx_is_not_a_refusal_of_a_forgery(start: Start) -> None:
    receiver = start(*wrong.breaks_over_forgeries())
    result = certify(*at(receiver), "--only", "unknown-signature")
    assert result.exit_code == 1
    assert "500 after" in result.output
    assert "The receiver failed on the request instead of refusing it." in result.output


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


def test_skip_excludes_a_rule(start: Start) -> None:
    result = certify(*at(start()), "--only", "valid-event", "--only", "large-body", "--skip", "large-body")
    assert result.exit_code == 0
    assert "skipped  large-body                   excluded by --skip" in result.output


def test_a_missing_receiver_exits_with_3() -> None:
    with running(Config(clock="manual", scenarios=())) as (origin, _):
        result = certify(f"http://127.0.0.1:{free_port()}/webhooks", "--simulator", origin)
    assert result.exit_code == 3
    assert "connection refused" in result.output
    assert "start the receiver" in result.output


def test_a_missing_simulator_exits_with_3() -> None:
    result = certify("http://127.0.0.1:1/webhooks", SIMULATOR_URL=f"http://127.0.0.1:{free_port()}")
    assert result.exit_code == 3
    assert "no simulator responds at" in result.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--only", "duplicate-events"), "unknown rule `duplicate-events`; did you mean `duplicate-event`?"),
        (("--skip", "large"), "--skip: unknown rule `large`"),
        (
            ("--only", "valid-event", "--skip", "valid-event"),
            "--skip excludes every rule that --only selects; name other rules",
        ),
        (("--simulator", "localhost:8642"), "'localhost:8642' is not an http or https URL"),
        (("--json", "nowhere/report.json"), "nowhere/report.json: the directory does not exist"),
        (("--books", "exit 3"), "`exit 3` failed with exit code 3"),
        (("--order", "echo done"), "`echo done` printed 'done', not the id of a new onramp"),
        (
            ("--settle", "exit 5", "--books", "true", "--only", "booked-once"),
            "--settle: `exit 5` failed with exit code 5",
        ),
        (("--order", "exit 4"), "--order: `exit 4` failed with exit code 4"),
        (("--books", "echo hello"), "line 1 is 'hello'. Write JSON lines like"),
        (("--books", "http://127.0.0.1:1/books"), "http://127.0.0.1:1/books does not respond"),
    ],
)
def test_wrong_usage_is_named(start: Start, words: tuple[str, ...], said: str) -> None:
    result = certify(*at(start()), *words)
    assert result.exit_code == 2
    assert said in result.output


def test_a_url_without_scheme_is_wrong_usage() -> None:
    result = certify("localhost:5000/webhooks")
    assert result.exit_code == 2
    assert "'localhost:5000/webhooks' is not the URL of a receiver, such as http:" in result.output


def test_the_books_command_gets_the_keys_of_the_simulator(start: Start, tmp_path: Path) -> None:
    receiver = start(*wrong.before_fees())
    script, told = tmp_path / "books.py", tmp_path / "told.json"
    script.write_text(
        f"import json, os, urllib.request\n"
        f"names = [name for name in os.environ if name.startswith('SIMULATOR_')]\n"
        f"open({str(told)!r}, 'w').write(json.dumps({{name: os.environ[name] for name in names}}))\n"
        f"print(urllib.request.urlopen('{receiver.origin}/books').read().decode())\n"
    )
    report = receiver.certified(only=("booked-once",), books=f"{sys.executable} {script}", books_seconds=0.2)
    said = "has 5000.00 USDC (completed) in the books, but 37.892536 USDC were delivered: another amount"
    assert [said in one.got for one in report.found("fail")] == [True]
    given = json.loads(told.read_text())
    keys = receiver.world.world["credentials"]["sandbox"]
    assert given["SIMULATOR_URL"] == keys["base_url"]
    assert given["SIMULATOR_PUBLIC_KEY"] == keys["public_key"]
    assert given["SIMULATOR_SECRET_KEY"] == keys["secret_key"]
    assert given["SIMULATOR_WEBHOOK_KEY"] == receiver.key


def test_books_without_orders_of_the_run_judge_nothing(start: Start, tmp_path: Path) -> None:
    books = tmp_path / "books"
    books.write_text('{"order": "A-17", "state": "completed", "amount": 12, "currency": "USDC"}\n')
    receiver = start()
    report = receiver.certified(only=("booked-once", "duplicate-event"), books=f"cat {books}")
    assert {one.rule.name: one.verdict for one in report.results} == {
        "booked-once": "skipped", "duplicate-event": "pass",
    }  # fmt: skip
    assert "the books have no order of this run" in report.results[0].got
    assert report.results[1].got.endswith("(judged by responses only: no books were read)")


def test_a_simulator_is_started_at_the_default_address_and_ends(start: Start) -> None:
    receiver, port = start(), free_port()
    result = certify(receiver.url, "--webhook-key", receiver.key, "--only", "valid-event", SIMULATOR_PORT=port)
    assert result.exit_code == 0, result.output
    assert f"simulator  http://127.0.0.1:{port}, started for this run, and ends with this run" in result.output
    assert f"are at http://127.0.0.1:{port}/v1," in result.output
    with open_socket("127.0.0.1", int(port)):
        """The port is free again."""


def test_a_port_in_use_is_replaced_by_a_free_one(start: Start) -> None:
    receiver = start()
    port = receiver.origin.rpartition(":")[2]
    result = certify(receiver.url, "--webhook-key", receiver.key, "--only", "valid-event", SIMULATOR_PORT=port)
    assert result.exit_code == 0, result.output
    assert f"started for this run, because port {port} is in use" in result.output


def test_a_simulator_at_the_default_address_is_used(start: Start) -> None:
    receiver = start()
    port = receiver.world.origin.rpartition(":")[2]
    result = certify(receiver.url, "--webhook-key", receiver.key, "--only", "valid-event", SIMULATOR_PORT=port)
    assert result.exit_code == 0, result.output
    assert f"{receiver.world.origin}, already running, world {receiver.world.world['id']}" in result.output


def test_the_simulator_of_another_run_is_not_used() -> None:
    with running(Config(clock="manual", scenarios=())) as (origin, _):
        assert is_simulator(origin)
        ControlClient(origin).post("/worlds", {"id": "certify"})
        assert not is_simulator(origin)


def test_the_world_is_restored_except_for_the_payments(start: Start) -> None:
    receiver = start()
    control = ControlClient(receiver.world.origin, receiver.world.world["id"])
    control.put("/scenarios/active", {"names": ["autopilot"]})
    made = receiver.world.api("POST", "/webhooks", {"url": receiver.url, "events": ["*"]})
    assert made.status == 201
    report = receiver.certified(only=("booked-once", "retry-after-failure"))
    assert [one.verdict for one in report.results] == ["pass", "pass"]
    control.post("/settle")
    assert control.get("/faults")["data"] == []
    assert [one["name"] for one in control.get("/scenarios")["data"] if one["active"]] == ["autopilot"]
    # The world's own webhooks to the receiver were dropped.
    assert all(one["status"] != "succeeded" for one in control.get("/deliveries")["data"])


def test_timestamps_follow_the_setting_of_the_world(start: Start) -> None:
    receiver = start()
    control = ControlClient(receiver.world.origin, receiver.world.world["id"])
    control.call("PATCH", "/settings", {"webhook_timestamp": "simulated"})
    report = receiver.certified(only=("registration-200",))
    sent = dict(report.results[0].exchanges[0].headers)
    assert sent["X-Timestamp"] == "1767600000000"  # 2026-01-05T08:00Z, the time of its clock
    assert report.results[0].verdict == "fail"  # the receiver uses the wall clock


def test_a_settle_job_may_process_missed_events(start: Start) -> None:
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
    assert [one.verdict for one in receiver.certified(only=only).results] == ["fail"]
    job = f"import urllib.request; urllib.request.urlopen('{receiver.origin}/settle')"
    report = receiver.certified(only=only, settle=f'{sys.executable} -c "{job}"', books_seconds=5)
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


def test_the_application_may_create_the_orders(start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    alone = receiver.certified(only=wanted)
    assert [one.verdict for one in alone.results] == ["skipped", "skipped", "pass"]
    report = receiver.certified(only=wanted, order=f"{sys.executable} {script}", books_seconds=5)
    assert {one.rule.name: one.got for one in report.results if one.verdict != "pass"} == {}
    assert {line.split("-")[0] for line in orders.read_text().split()} == {"own"}
