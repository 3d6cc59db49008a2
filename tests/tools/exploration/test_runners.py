"""Suites in other runners than pytest: explore needs only environment variables."""

from __future__ import annotations

import os
import select
import shlex
import shutil
import signal
import sys
from pathlib import Path

import pytest

from tests.measured import measured
from tests.tools.exploration.suite import PYTEST, begun, explore, explore_apart
from tests.tools.judges import tools

pytestmark = pytest.mark.farm


def command_of(name: str) -> str:
    """The path of a program that machines mostly have; skips where this one has not."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"there is no {name} on this machine")
    return found


def node() -> str:
    try:
        return str(tools.node_directory() / "node")
    except tools.Missing:
        return command_of("node")


CURL = """
set -eu
call() {{ curl -sS --max-time 2 -f -H 'Content-Type: application/json' "$@"; }}
token=$(call "$SIMULATOR_URL/v1/auth/token" --retry 2 --retry-delay 0 --retry-all-errors \\
  -d "{{\\"public_key\\": \\"$SIMULATOR_PUBLIC_KEY\\", \\"secret_key\\": \\"$SIMULATOR_SECRET_KEY\\"}}" |
  sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
call -X PUT "$SIMULATOR_URL/_simulator/scenarios/active" -d '{{"names": ["autopilot"]}}' > /dev/null
for attempt in 1 2 3; do
  if call "$SIMULATOR_URL/v1/wallet/send" -H "Authorization: Bearer $token" -H "Idempotency-Key: {key}" -d '{{
    "symbol": "USDC", "network": "CELO", "amount": "5", "reference": "order-1",
    "destination": {{"type": "address", "address": "0x52908400098527886E0F7030069857D2E4169EE7"}}}}'
  then break; fi
done
call -X POST "$SIMULATOR_URL/_simulator/clock/advance" -d '{{"by": "5m"}}' > /dev/null
"""
LOST = ("--faults", "answer-lost-after-commit,refused-503", "--workers", "1")


@pytest.mark.parametrize(
    ("key", "found"), [("order-1-$attempt", {("answer-lost-after-commit", "doubled")}), ("order-1", set())]
)
def test_a_shell_script_with_curl(key: str, found: set[tuple[str, str]], tmp_path: Path) -> None:
    command_of("curl")
    (tmp_path / "pay.sh").write_text(CURL.format(key=key))
    explored = explore(tmp_path, *LOST, command=("sh", "pay.sh"))
    assert (explored.code, explored.findings) == (int(bool(found)), found), explored.said
    assert "not-reached" not in explored.verdicts


NODE = """
import { test } from "node:test";
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createHmac, timingSafeEqual } from "node:crypto";

const base = process.env.SIMULATOR_URL;
const call = async (path, body, headers = {}, method = "POST") => {
  const answer = await fetch(base + path, {
    method, body: JSON.stringify(body), headers: { "Content-Type": "application/json", ...headers } });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
};
const genuine = (headers, body) => {
  const key = process.env.SIMULATOR_WEBHOOK_KEY, at = headers["x-timestamp"];
  if (!(Math.abs(Date.now() - Number(at)) < 300_000)) return false;
  const wanted = createHmac("sha256", key).update(at + ".").update(body).digest();
  const given = Buffer.from(headers["x-signature"] ?? "", "hex");
  return given.length === wanted.length && timingSafeEqual(given, wanted);
};

test("a payout is told by a webhook", async () => {
  const credited = [];
  const receiver = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks), accepted = @TRUSTS@ || genuine(request.headers, body);
    if (accepted) {
      const event = JSON.parse(body);
      if (event.type === "transaction.completed") credited.push(event);
    }
    response.writeHead(accepted ? 200 : 401).end();
  });
  await new Promise((listening) => receiver.listen(0, "127.0.0.1", listening));
  try {
    const keys = { public_key: process.env.SIMULATOR_PUBLIC_KEY, secret_key: process.env.SIMULATOR_SECRET_KEY };
    const { access_token } = await call("/v1/auth/token", keys);
    const signed = (key) => ({ Authorization: `Bearer ${access_token}`, "Idempotency-Key": key });
    await call("/_simulator/scenarios/active", { names: ["autopilot"] }, {}, "PUT");
    const url = `http://127.0.0.1:${receiver.address().port}/hook`;
    await call("/v1/webhooks", { url, events: ["*"] }, signed("hook"));
    await call("/v1/wallet/send", { symbol: "USDC", network: "CELO", amount: "5", reference: "order-1",
      destination: { type: "address", address: "0x52908400098527886E0F7030069857D2E4169EE7" } }, signed("order-1"));
    await call("/_simulator/clock/advance", { by: "5m" });
    assert.ok(credited.length >= 1);
  } finally {
    receiver.close();
    receiver.closeAllConnections();
  }
});
"""


@pytest.mark.parametrize(("trusts", "found"), [("true", {("webhook-forged", "forged-accepted")}), ("false", set())])
def test_a_test_of_node_with_a_receiver_of_webhooks(trusts: str, found: set[tuple[str, str]], tmp_path: Path) -> None:
    (tmp_path / "pay.test.mjs").write_text(NODE.replace("@TRUSTS@", trusts))
    faults = "webhook-forged,webhook-doubled,answer-lost-before-work"
    explored = explore(tmp_path, "--faults", faults, "--workers", "1", command=(node(), "--test", "pay.test.mjs"))
    assert (explored.code, explored.findings) == (int(bool(found)), found), explored.said
    rows = {(row["fault"], row["site"]): row["verdict"] for row in explored.report["runs"]}
    assert rows["webhook-doubled", "transaction.completed #1"] == "survived"
    assert rows["answer-lost-before-work", "POST /wallet/send #1"] == "failed-loudly"


PAYS = """
import httpx

def pay(client, key):
    for attempt in range(2):
        try:
            answer = client.post("/wallet/send", headers={"Idempotency-Key": key(attempt)}, json={
                "symbol": "USDC", "network": "CELO", "amount": "5", "reference": "order-1",
                "destination": {"type": "address", "address": "0x52908400098527886E0F7030069857D2E4169EE7"}})
            return answer.raise_for_status()
        except httpx.TransportError:
            pass
    raise AssertionError("no answer")
"""
FIXTURES = (
    PAYS
    + """
import pytest
pytestmark = pytest.mark.scenario("autopilot")

def test_under_one_key(world):
    pay(world.client, lambda attempt: "order")
    world.advance("1m")

def test_in_process(world_in_process):
    pay(world_in_process.client, lambda attempt: "order")
    world_in_process.advance("1m")

def test_under_a_new_key(simulator):
    with simulator.new_world(scenarios="autopilot") as world:
        pay(world.client, lambda attempt: f"order-{attempt}")
        world.advance("1m")
"""
)


@pytest.mark.parametrize(
    ("more", "survived"),
    [((), 2), (("-p", "xdist", "-n", "2", "-k", "not in_process"), 1)],
    ids=["alone", "xdist"],
)
def test_worlds_of_fixtures_behind_another_command(more: tuple[str, ...], survived: int, tmp_path: Path) -> None:
    (tmp_path / "test_pay.py").write_text(FIXTURES)
    command = ("sh", "-c", shlex.join((*PYTEST, *more, ".")))
    faults = ("--faults", "answer-lost-after-commit", "--plan", "full", "--workers", "1")
    explored = explore(tmp_path, *faults, command=command)
    assert explored.code == 1, explored.said
    verdicts = sorted(row["verdict"] for row in explored.report["runs"])
    assert verdicts == ["doubled", *["survived"] * survived], explored.said
    assert explored.report["baseline"]["tests"][0]["steady"]


UNITTEST = (
    PAYS
    + """
import unittest
from simulator.testing import world

class Pays(unittest.TestCase):
    def setUp(self):
        self.world = self.enterContext(world(scenarios="autopilot"))

    def test_under_one_key(self):
        pay(self.world.client, lambda attempt: "order")

    def test_under_a_new_key(self):
        pay(self.world.client, lambda attempt: f"order-{attempt}")

    def tearDown(self):
        self.world.advance("1m")
"""
)


def test_worlds_that_unittest_makes(tmp_path: Path) -> None:
    (tmp_path / "test_pay.py").write_text(UNITTEST)
    command = (sys.executable, "-m", "unittest", "-q")
    faults = ("--faults", "answer-lost-after-commit", "--plan", "full", "--workers", "1")
    explored = explore(tmp_path, *faults, command=command)
    verdicts = sorted(row["verdict"] for row in explored.report["runs"])
    assert verdicts == ["doubled", "survived"], explored.said


PLAIN = """
import json, os, urllib.request

URL = os.environ["SIMULATOR_URL"]

def call(path, body, method="POST", **headers):
    asked = urllib.request.Request(URL + path, json.dumps(body).encode(),
                                   {"Content-Type": "application/json", **headers}, method=method)
    with urllib.request.urlopen(asked) as answer:
        text = answer.read()
        return json.loads(text) if text else None

made = call("/_simulator/worlds", {"scenarios": []})
mine = {"X-Simulator-World": made["id"]}
call("/_simulator/scenarios/active", {"names": @SCENARIOS@}, "PUT", **mine)
keys = made["credentials"]["sandbox"]
token = call("/v1/auth/token", {name: keys[name] for name in ("public_key", "secret_key")})["access_token"]
signed = {"Authorization": f"Bearer {token}"}
quote = call("/v1/quotes", {"type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES",
    "method": "mobile_money", "amount": "5000", "amount_currency": "KES"}, **signed, **{"Idempotency-Key": "q"})
onramp = call(f"/v1/quotes/{quote['id']}/confirm", {"payer": {"phone_number": "+254722000000"},
    "wallet_address": "0x52908400098527886E0F7030069857D2E4169EE7"}, **signed, **{"Idempotency-Key": "c"})
if not @SCENARIOS@:
    for action in ("payment_arrives", "complete"):
        call(f"/_simulator/actions/{action}", {"target": onramp["id"]}, **mine)
call("/_simulator/clock/advance", {"by": "10m"}, **mine)
call(f"/_simulator/worlds/{made['id']}", None, "DELETE")
"""


@pytest.mark.parametrize("scenarios", [["autopilot"], []], ids=["scenario", "action"])
def test_worlds_scenarios_and_actions_by_plain_calls(scenarios: list[str], tmp_path: Path) -> None:
    (tmp_path / "pay.py").write_text(PLAIN.replace("@SCENARIOS@", repr(scenarios)))
    faults = "payment-declined,payment-twice,stuck-in-processing,completed-then-refunded"
    command = (sys.executable, "-S", "pay.py")
    explored = explore(tmp_path, "--faults", faults, "--workers", "1", command=command)
    rows = {row["fault"]: (row["verdict"], row["money"]["actual"]) for row in explored.report["runs"]}
    unchanged, unpaid = ("not-reached", "37.892536"), "survived" if scenarios else "failed-loudly"
    assert rows == {
        "payment-declined": (unpaid, "0"),  # who asks for its completion then is refused
        "payment-twice": unchanged,  # the order takes one payment
        "stuck-in-processing": unchanged,  # the program completes it by itself
        "completed-then-refunded": ("survived", "0"),
    }, explored.said


WAITS = """
import subprocess, sys, threading, time
import pytest
from simulator.testing import receiver

SEND = {"symbol": "USDC", "network": "CELO", "amount": "5", "destination": {"type": "address",
        "address": "0x52908400098527886E0F7030069857D2E4169EE7"}}

@pytest.fixture
def told(world):
    told = threading.Event()
    with receiver(world, events=["transaction.completed"]) as hook:
        hook.respond_with(lambda delivery: told.set() or 200)
        world.scenario("autopilot")
        world.client.post("/wallet/send", json=SEND).raise_for_status()
        world.advance("1m")
        yield told

def test_looks_again_and_again(told):
    while not told.is_set():
        time.sleep(60)

def test_catches_everything(told):
    while not told.is_set():
        try:
            told.wait()
        except BaseException:
            pass

def test_waits_for_another_process(told):
    program = f"import time; time.sleep({0 if told.is_set() else 600})"
    started = subprocess.Popen([sys.executable, "-S", "-c", program])
    with open("started", "a") as file:
        print(started.pid, file=file)
    started.wait()

def test_sleeps(told):
    time.sleep(600)
"""


def lives(pid: int) -> bool:
    """Whether a process is there that has not ended; one that only nobody has asked about has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_hanging_test_does_not_block_the_others(tmp_path: Path) -> None:
    (tmp_path / "test_waits.py").write_text(WAITS)
    explored = explore(tmp_path, "--faults", "webhook-lost", "--workers", "2", "--limit", "3s")
    rows = {row["test"].rpartition("::")[2]: row["verdict"] for row in explored.report["runs"]}
    assert rows == {
        "test_looks_again_and_again": "hung",
        "test_catches_everything": "hung",
        "test_waits_for_another_process": "hung",
        "test_sleeps": "survived",
    }, explored.said
    started = [int(line) for line in (tmp_path / "started").read_text().split()]
    assert len(started) == 4  # twice without faults, under the fault, and once more for its story
    assert not [pid for pid in started if lives(pid)]


def test_a_command_that_waits_forever_hangs(tmp_path: Path) -> None:
    text = (
        CURL.format(key="order-1")
        + """
call "$SIMULATOR_URL/v1/transactions?limit=1" -H "Authorization: Bearer $token" > shown
grep -q completed shown || { sleep 600 & echo $! >> started; wait; }
"""
    )
    (tmp_path / "pay.sh").write_text(text)
    faults = ("--faults", "network-down,refused-503", "--plan", "quick", "--workers", "1", "--limit", "3s")
    explored = explore(tmp_path, *faults, command=("sh", "pay.sh"))
    rows = {row["site"]: row["verdict"] for row in explored.report["runs"] if row["fault"] == "network-down"}
    assert rows == {"POST /wallet/send #1": "hung"}, explored.said
    assert not [line for line in (tmp_path / "started").read_text().split() if lives(int(line))]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["interrupt", "terminate"])
def test_an_interrupt_ends_all_processes(number: signal.Signals, tmp_path: Path) -> None:
    text = """
import os, threading

def test_waits(world):
    with open("started", "a") as file:
        print(os.getpid(), flush=True, file=file)
    os.write(os.open("said", os.O_WRONLY), b"!")
    threading.Event().wait()
"""
    (tmp_path / "test_waits.py").write_text(text)
    os.mkfifo(tmp_path / "said")
    with begun(tmp_path, "--workers", "1") as explored:
        said = os.open(tmp_path / "said", os.O_RDONLY | os.O_NONBLOCK)
        assert select.select([said], [], [], 60)[0], "no test has begun"
        os.close(said)
        explored.send_signal(number)
        _, told = explored.communicate()
    assert explored.returncode == 128 + number
    assert told.splitlines()[-1] == "rampsim: interrupted: all runs were stopped and no report was written"
    assert not [line for line in (tmp_path / "started").read_text().split() if lives(int(line))]


UNSTEADY = """
from pathlib import Path
import pytest

def test_that_sends_another_amount_each_time(world):
    log = Path("amounts")
    log.write_text((log.read_text() if log.exists() else "") + "1")
    world.client.post("/wallet/send", json={"symbol": "USDC", "network": "CELO", "amount": str(len(log.read_text())),
        "destination": {"type": "address", "address": "0x52908400098527886E0F7030069857D2E4169EE7"}})

def test_that_is_skipped_the_second_time(world):
    world.client.get("/profile")
    mark = Path("seen")
    if mark.exists():
        pytest.skip("once is enough")
    mark.touch()

def test_that_is_always_skipped(world):
    pytest.skip("not yet")

def test_that_calls_nobody():
    pass
"""


def test_a_flaky_test_is_named_and_explored(tmp_path: Path) -> None:
    (tmp_path / "test_unsteady.py").write_text(UNSTEADY)
    explored = explore(tmp_path, "--faults", "answer-extra-field,refused-503", "--workers", "1")
    tests = {row.pop("test").rpartition("::")[2]: row for row in explored.report["baseline"]["tests"]}
    amounts, skipped = tests["test_that_sends_another_amount_each_time"], tests["test_that_is_skipped_the_second_time"]
    assert (amounts["steady"], skipped["steady"]) == (False, False)
    assert amounts["difference"].startswith("transactions #1: send")
    assert skipped["difference"] == "the first time it passed, the second time it was skipped"
    explored_tests = {row["test"].rpartition("::")[2] for row in explored.report["runs"]}
    assert explored_tests == set(tests) - {"test_that_calls_nobody"}
    assert "Note: 1 of 4 tests (test_unsteady.py::test_that_is_always_skipped) is skipped" in explored.said
    assert "Note: 1 of 4 tests (test_unsteady.py::test_that_calls_nobody) is without calls" in explored.said
    for report in ("report.html", "junit.xml"):
        assert "the second time it was skipped" in (tmp_path / ".rampsim/explore" / report).read_text("utf-8"), report
    assert "flaky: test_unsteady.py::test_that_sends_another_amount_each_time" in explored.said


def test_a_command_that_never_calls_is_refused(tmp_path: Path) -> None:
    explored = explore_apart(tmp_path, "--faults", "refused-503", command=("true",))
    assert explored.code == 2, explored.said
    assert "rampsim: nothing was tried: no test called the simulator" in explored.said
    assert "Note: 1 of 1 tests (true) is without calls to this simulator" in explored.said


IMPORTS = """
import os, httpx

URL = os.environ["SIMULATOR_URL"]
KEYS = {name.lower(): os.getenv(f"SIMULATOR_{name}") for name in ("PUBLIC_KEY", "SECRET_KEY")}
SEND = {"symbol": "USDC", "network": "CELO", "amount": "5", "destination": {"type": "address",
        "address": "0x52908400098527886E0F7030069857D2E4169EE7"}}

def test_pay():
    httpx.put(URL + "/_simulator/scenarios/active", json={"names": ["autopilot"]}).raise_for_status()
    with httpx.Client(base_url=URL + "/v1") as client:
        client.headers["Authorization"] = f"Bearer {client.post('/auth/token', json=KEYS).json()['access_token']}"
        for attempt in range(2):
            try:
                key = {"Idempotency-Key": f"order-{attempt}"}
                client.post("/wallet/send", json=SEND, headers=key).raise_for_status()
                break
            except httpx.TransportError:
                pass
"""


def test_variables_that_are_read_by_an_import_are_those_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "test_pay.py").write_text(IMPORTS)
    explored = explore(tmp_path, "--faults", "answer-lost-after-commit", environment=measured())
    assert explored.findings == {("answer-lost-after-commit", "doubled")}, explored.said
    assert "Note: test_pay.py:4 reads a variable of the simulator at import time." in explored.said


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (("no-such-command",), 2, "rampsim: no-such-command cannot be run: No such file or directory\n"),
        (("sh", "-c", "echo no terminal; exit 3"), 4, "it ended with 3. Its output:\nrampsim: no terminal\n"),
        ((*PYTEST, "."), 4, "rampsim: no tests were collected: name their files or directory"),
    ],
    ids=["not-there", "fails", "empty"],
)
def test_a_broken_command_is_reported_with_the_reason(
    command: tuple[str, ...], code: int, said: str, tmp_path: Path
) -> None:
    explored = explore(tmp_path, "--faults", "refused-503", "--workers", "1", command=command)
    assert explored.code == code
    assert said in explored.said
