"""`rampsim probe` deletes what it creates: at the end of its budget, after a signal, and within the limits of 429."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from simulator.cli.tools.probing import probe
from simulator.evidence.interrupts import Interrupted, Interrupts
from simulator.evidence.remote import RemoteService
from tests.tools.evidence import free_port
from tests.tools.evidence.hidden import control, hidden_service
from tests.tools.evidence.liar import Answer, liar

KEYS = ("--public-key", "pk_test_simulator", "--secret-key", "sk_test_simulator")
LIMITED = {"error": {"code": "rate_limited", "message": "slow down"}}

pytestmark = pytest.mark.xdist_group("evidence")


@pytest.fixture(scope="module")
def upstream() -> Iterator[str]:
    with hidden_service({}) as found:
        yield found


def journal(origin: str, method: str, path: str) -> list[int]:
    """Return the statuses of the calls with this method and a path that begins with `path`, oldest first."""
    rows = control(origin, "GET", "/requests?limit=1000")["data"]
    return [row["status"] for row in rows if row["method"] == method and row["path"].startswith(f"/v1{path}")]


@pytest.mark.parametrize("calls", range(3, 8))
def test_budget_reserves_the_calls_of_the_clean_up(upstream: str, calls: int) -> None:
    created, deleted = len(journal(upstream, "POST", "/recurring-pay")), len(journal(upstream, "DELETE", "/recurring-"))
    given = ["--target", f"{upstream}/v1", *KEYS, "--control", "none", "--spend", "sandbox", "--only", "H19"]
    done = CliRunner().invoke(probe, [*given, "--calls", str(calls)])
    found = re.search(r"; (\d+) calls", done.output)
    assert found is not None, done.output
    assert int(found[1]) <= calls
    more = len(journal(upstream, "POST", "/recurring-pay")) - created
    assert len(journal(upstream, "DELETE", "/recurring-")) - deleted == more
    assert more == (calls >= 6), "otherwise the range of this test misses the point"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signal_ends_a_run_after_its_clean_up(upstream: str, tmp_path: Path, number: int, code: int) -> None:
    """The signal arrives while a call that creates a resource is under way."""
    out, port = tmp_path / "observed file.yaml", free_port()
    processes: list[subprocess.Popen[str]] = []

    def lie(count: int, method: str, path: str, truth: Callable[[], Answer]) -> Answer | None:
        if (method, path) != ("POST", "/v1/recurring-payments"):
            return None
        answer = truth()
        processes[0].send_signal(number)
        return answer

    before = {path: journal(upstream, "DELETE", path) for path in ("/recurring-payments/", "/webhooks/")}
    with liar(lie, upstream) as (origin, _):
        given = ["--target", f"{origin}/v1", *KEYS, "--control", "none", "--spend", "sandbox", "--wait", "1m"]
        given += ["--webhook-url", f"http://127.0.0.1:{port}", "--listen", f"127.0.0.1:{port}"]
        given += ["--webhook-key", "whk_test_simulator", "--only", "H19", "--only", "H3", "--out", str(out)]
        command = [sys.executable, "-m", "simulator", "probe", *given]
        processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        output, errors = processes[0].communicate(timeout=120)
    assert processes[0].returncode == code, output + errors
    for path, statuses in before.items():
        assert len(journal(upstream, "DELETE", path)) == len(statuses) + 1, path
    assert "H19                holds\n" in output
    assert "H3                 undecided  interrupted\n" in output
    assert f"in {out}. To continue: rampsim probe --target {origin}/v1 " in errors
    assert f"--only H19 --only H3 --control none --webhook-url http://127.0.0.1:{port} " in errors
    assert f"--out '{out}'" in errors
    assert "simulator_" not in errors
    assert "sk_test" not in errors + output
    assert "H19" in yaml.safe_load(out.read_text())["assumptions"]


def test_first_signal_waits_for_the_call_and_ends_a_pause() -> None:
    interrupts = Interrupts()
    with interrupts.received():
        signal.raise_signal(signal.SIGTERM)
        with interrupts.cleaning():
            interrupts.check()
        with pytest.raises(Interrupted):
            interrupts.check()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
    interrupts = Interrupts()
    with interrupts.received(), pytest.raises(Interrupted) as caught:
        interrupts.sleep(lambda _: signal.raise_signal(signal.SIGINT), 60)
    assert caught.value.signal == signal.SIGINT


def test_provoked_429_is_obeyed_before_the_next_call(upstream: str) -> None:
    pauses: list[float] = []

    def lie(number: int, method: str, path: str, truth: Callable[[], Answer]) -> Answer | None:
        return Answer(429, LIMITED, {"Retry-After": "7"}) if number == 2 else None

    with liar(lie, upstream) as (origin, _):
        service = RemoteService(f"{origin}/v1", (KEYS[1], KEYS[3]), calls=9, sleep=pauses.append)
        service.sign_in()
        assert service.call("GET", "/profile", None, {}, obey=False).status == 429
        assert pauses == []
        assert service.call("GET", "/profile", None, {}).status == 200
    assert pauses == [7.0]
