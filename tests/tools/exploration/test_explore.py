"""`rampsim explore` from outside: its findings, its limits, and its exit codes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from simulator.exploration.judgement.evidence import same
from tests.measured import measured
from tests.tools.exploration.suite import PYTEST, Explored, explore, explore_apart

PAYS = """
import httpx, pytest

SEND = {{"symbol": "USDC", "network": "CELO", "amount": "5", "destination": {{"type": "address",
        "address": "0x52908400098527886E0F7030069857D2E4169EE7"}}}}

def pay(client, key):
    for attempt in range(3):
        try:
            return client.post("/wallet/send", json=SEND, headers={{"Idempotency-Key": {key}}})
        except httpx.TransportError:
            pass
    raise AssertionError("no answer")

@pytest.mark.scenario("autopilot")
def test_pay(world):
    assert pay(world.client, "order-1").status_code == 201
    world.advance("1m")
"""


def suite(directory: Path, key: str) -> Path:
    """A suite that pays once, and tries again under this key where no answer comes."""
    (directory / "test_pay.py").write_text(PAYS.format(key=key))
    return directory


@pytest.mark.farm
def test_a_client_that_looks_before_retrying_pays_once(tmp_path: Path) -> None:
    """The answer that would tell where the money went is the one that was lost."""
    looks = 'if client.get("/transactions").json()["data"]:\n                return httpx.Response(201)'
    suite(tmp_path, "key")
    text = (tmp_path / "test_pay.py").read_text()
    (tmp_path / "test_pay.py").write_text(text.replace("pass\n", f"{looks}\n"))
    found = explore(tmp_path, "--faults", "answer-lost-after-commit,answer-lost-before-work")
    assert (found.code, found.findings) == (0, set()), found.said


@pytest.mark.farm
def test_a_retry_under_a_new_key_pays_twice(tmp_path: Path) -> None:
    found = explore(
        suite(tmp_path, 'f"{key}-{attempt}"'), "--faults", "answer-lost-after-commit,answer-lost-before-work"
    )
    assert found.code == 1, found.said
    assert found.findings == {("answer-lost-after-commit", "doubled")}
    (name,) = found.report["findings"]
    row = next(row for row in found.report["runs"] if row["id"] == name)
    assert (row["test"], row["site"], row["test_outcome"]) == (
        "test_pay.py::test_pay",
        "POST /wallet/send #1",
        "passed",
    )
    assert row["money"]["actual"] > row["money"]["expected"]
    assert (tmp_path / f".rampsim/explore/findings/{name}.yaml").exists()

    again = explore(tmp_path, "--replay", name)
    assert (again.code, "DOUBLED" in again.said) == (1, True), again.said
    assert "More in" not in again.said  # it writes no report
    suite(tmp_path, "key")
    assert explore(tmp_path, "--replay", f".rampsim/explore/findings/{name}.yaml").code == 0


@pytest.mark.farm
def test_a_run_that_survived_is_replayed_with_its_story(tmp_path: Path) -> None:
    found = explore(suite(tmp_path, '"key"'), "--faults", "answer-lost-after-commit")
    (row,) = found.report["runs"]
    assert (row["verdict"], found.report["causes"]) == ("survived", [])
    again = explore(tmp_path, "--replay", row["id"])
    assert again.code == 0, again.said
    for text in (
        "survived  test_pay.py::test_pay",
        "POST /wallet/send #1",
        "01-05 08:00:00 POST",
        "1 run, no findings.",
    ):
        assert text in again.said, again.said
    refused = explore(tmp_path, "--replay", "refused-503-00000000")
    assert (refused.code, "the report contains no run with this id" in refused.said) == (2, True), refused.said
    (tmp_path / "test_pay.py").write_text("def test_pay(world):\n    pass\n")
    gone = explore(tmp_path, "--replay", row["id"])
    assert (gone.code, "has no POST /wallet/send #1 where" in gone.said) == (2, True), gone.said


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("no answer of http://127.0.0.1:42801/v1/quotes", "no answer of http://127.0.0.1:PORT/v1/quotes"),
        ("<World x812-5330211-r12-again at http://[::1]:1>", "<World WORLD at http://[::1]:PORT>"),
        ("<Till object at 0x7fd24b39d250>", "<Till object at ADDRESS>"),
        ("/tmp/pytest-of-ann/pytest-31/test_pay4/till.db", "/tmp/pytest/test_pay/till.db"),
        ("assert 37 == 38 at 10:30", "assert 37 == 38 at 10:30"),
    ],
)
def test_differences_between_runs_are_hidden(said: str, text: str) -> None:
    assert same(said) == text


@pytest.mark.farm
def test_a_suite_that_fails_without_faults(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_it(world):\n    assert world.id == 'nothing'\n")
    found = explore_apart(tmp_path, "--faults", "refused-503")
    assert found.code == 4
    assert "test_it.py::test_it: AssertionError" in found.said


def test_the_wrong_value_is_named() -> None:
    found = explore(Path.cwd(), "--faults", "refused-503,webhok-lost", command=("true",))
    assert found.code == 2
    assert "webhok-lost" in found.said
    assert "did you mean `webhook-lost`?" in found.said


SCRIPT = """
import json, os, urllib.request

def call(path, body, **headers):
    asked = urllib.request.Request(os.environ["SIMULATOR_URL"] + path, json.dumps(body).encode(),
                                   {"Content-Type": "application/json", **headers})
    with urllib.request.urlopen(asked) as answer:
        return json.load(answer)

keys = {name: os.environ[f"SIMULATOR_{name.upper()}"] for name in ("public_key", "secret_key")}
token = call("/v1/auth/token", keys)["access_token"]
for number in range(2):
    try:
        call("/v1/wallet/send", {"symbol": "USDC", "network": "CELO", "amount": "5", "destination": {"type": "address",
             "address": "0x52908400098527886E0F7030069857D2E4169EE7"}},
             **{"Authorization": f"Bearer {token}", "Idempotency-Key": f"key-{number}"})
        break
    except OSError:
        pass
for _ in range(1):
    sent = json.load(urllib.request.urlopen(os.environ["SIMULATOR_URL"] + "/_simulator/resources"))["data"]
    for one in sent:
        for action in ("broadcast", "complete"):
            call(f"/_simulator/actions/{action}", {"target": one["id"]})
"""


def test_any_command_is_explored_by_the_environment_alone(tmp_path: Path) -> None:
    (tmp_path / "pay.py").write_text(SCRIPT)
    found = explore(
        tmp_path, "--faults", "answer-lost-after-commit,refused-503", command=(sys.executable, "-S", "pay.py")
    )
    assert isinstance(found, Explored)
    assert found.code == 1, found.said
    assert found.findings == {("answer-lost-after-commit", "doubled")}


def test_incomplete_sends_are_completed_before_the_verdict(tmp_path: Path) -> None:
    (tmp_path / "pay.py").write_text(SCRIPT.partition("for _ in range(1)")[0])
    found = explore(tmp_path, "--faults", "answer-lost-after-commit", command=(sys.executable, "-S", "pay.py"))
    assert found.findings == {("answer-lost-after-commit", "doubled")}, found.said


@pytest.mark.farm
def test_worlds_of_the_kit_are_those_that_are_judged(tmp_path: Path) -> None:
    text = PAYS.format(key='f"{key}-{attempt}"').replace(
        "def test_pay(world):", "def test_pay():\n  with kit() as world:"
    )
    text = text.replace("    assert pay", "    world.scenario('autopilot')\n    assert pay")
    text = "from simulator.testing import world as kit\n" + text + "\nif __name__ == '__main__':\n    test_pay()\n"
    (tmp_path / "test_pay.py").write_text(text)
    for command in ((*PYTEST, "."), (sys.executable, "test_pay.py")):
        found = explore(tmp_path, "--faults", "answer-lost-after-commit", command=command, environment=measured())
        assert found.code == 1, found.said
        assert found.findings == {("answer-lost-after-commit", "doubled")}


APP = """
import hashlib, hmac, json
import pytest

@pytest.mark.scenario("autopilot")
def test_events(world, webhooks):
    def handle(delivery):
        signed = delivery.headers["x-timestamp"].encode() + b"." + delivery.body
        wanted = hmac.new(world.keys.webhook_key.encode(), signed, hashlib.sha256).hexdigest()
        return 200 if {trusts} or wanted == delivery.headers["x-signature"] else 401
    webhooks.respond_with(handle)
    world.client.post("/beneficiaries", headers={{"Idempotency-Key": "b"}}, json={{"type": "phone_number",
        "name": "Wanjiru Otieno", "country": "KE", "fiat_currency": "KES",
        "phone_number": {{"phone_number": "+254722000000", "provider": "mpesa"}}}}).raise_for_status()
    world.settle()
"""


def written(directory: Path) -> dict[str, bytes]:
    """Every file that explore has written."""
    out = directory / ".rampsim/explore"
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


@pytest.mark.farm
def test_the_same_seed_gives_the_same_bytes_on_one_worker_and_on_two(tmp_path: Path) -> None:
    """Whichever run ends first, and although worlds, keys, ports and times differ from one exploration to the next."""
    suite(tmp_path, 'f"{key}-{attempt}"')
    (tmp_path / "test_events.py").write_text(APP.format(trusts=True))
    faults = "answer-lost-after-commit,answer-unknown-enum,refused-429,refused-500,webhook-forged,webhook-doubled"
    once, again = (
        (explore(tmp_path, "--faults", faults, "--workers", workers), written(tmp_path)) for workers in ("1", "2")
    )
    assert {"doubled", "forged-accepted", "survived"} <= once[0].verdicts, once[0].said
    assert {"report.json", "report.html", "junit.xml"} < set(once[1])
    assert [name.partition("/")[0] for name in once[1]].count("findings") == 2
    assert [name for name in {**once[1], **again[1]} if once[1].get(name) != again[1].get(name)] == []


@pytest.mark.parametrize(("trusts", "found"), [(True, {"webhook-forged"}), (False, set())])
def test_a_receiver_without_signature_checks_is_found(trusts: bool, found: set[str], tmp_path: Path) -> None:
    (tmp_path / "test_events.py").write_text(APP.format(trusts=trusts))
    explored = explore(tmp_path, "--faults", "webhook-forged,webhook-doubled")
    assert {fault for fault, _ in explored.findings} == found, explored.said
    assert explored.code == int(bool(found))


@pytest.mark.farm
def test_known_findings_do_not_fail(tmp_path: Path) -> None:
    suite(tmp_path, 'f"{key}-{attempt}"')
    first = explore(tmp_path, "--faults", "answer-lost-after-commit", "--out", "first")
    assert first.code == 1
    known = explore(tmp_path, "--faults", "answer-lost-after-commit", "--baseline", "first/report.json")
    assert known.code == 0, known.said
