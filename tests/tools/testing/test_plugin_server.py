"""The server of a run: shared by all workers, and stopped after the last process that needs it, however it ends."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from simulator.testing.servers.run_server import RunServer
from tests.measured import measured
from tests.tools.testing.suites import Outcome, Suite, worlds_at


def servers_of(suite: Suite) -> list[int]:
    """The servers that runs of this suite have started, and that live."""
    rows = subprocess.run(["ps", "-A", "-ww", "-o", "pid=,args="], capture_output=True, text=True, check=True).stdout
    found = [row.split(maxsplit=1) for row in rows.splitlines() if "run_server_process" in row]
    return [int(pid) for pid, command in found if str(suite.temporary) in command]


def is_left(suite: Suite) -> bool:
    return bool(servers_of(suite) or list(suite.temporary.glob("rampsim*")))


@contextmanager
def waiting_for_end(suite: Suite) -> Iterator[None]:
    """Wait after the block until the server lets go of its lock, which it does when it ends."""
    [log] = suite.temporary.glob("rampsim-*/server")
    with log.open("rb") as file:
        yield
        waiting = threading.Thread(target=fcntl.flock, args=(file, fcntl.LOCK_SH), daemon=True)
        waiting.start()
        waiting.join(60)
        assert not waiting.is_alive(), "the server goes on"


CROWD = """
    import os
    import signal
    from pathlib import Path
    import pytest

    HERE = Path(__file__).parent

    @pytest.fixture(autouse=True)
    def noted(simulator, world):
        (HERE / f"url-{os.getpid()}").write_text(simulator.url)

    @pytest.mark.parametrize("number", range(40))
    def test_of_a_crowd(world, number):
        assert world.events() == [] and len(world.requests()) == 0
        world.act("set_balance", symbol="USDC", network="CELO", amount=str(number))
        wallet = world.client.post("/wallets", json={"network": "celo", "label": f"of {number}"})
        assert world.balance("USDC", "CELO") == number
        rows = world.client.get("/wallets").json()["data"]
        assert [row["label"] for row in rows] == [f"of {number}"], wallet.text

    def test_that_kills_its_worker():
        if not (HERE / "killed").exists():
            (HERE / "killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> tuple[Suite, Outcome]:
    suite = Suite(tmp_path_factory.mktemp("crowd"))
    suite.write("test_it.py", CROWD)
    return suite, suite.run("-n8", variables=measured())


@pytest.mark.farm
@pytest.mark.xdist_group("plugin-crowd")
def test_eight_workers_share_one_server_and_never_see_each_others_data(crowd: tuple[Suite, Outcome]) -> None:
    suite, outcome = crowd
    assert [how for name, how in outcome.tests.items() if "crowd" in name] == ["passed"] * 40, outcome.text
    noted = [path.read_text() for path in suite.directory.glob("url-*")]
    assert len(noted) > 4
    assert len(set(noted)) == 1


@pytest.mark.farm
@pytest.mark.xdist_group("plugin-crowd")
def test_a_worker_that_is_killed_leaves_nothing_running(crowd: tuple[Suite, Outcome]) -> None:
    suite, outcome = crowd
    assert (suite.directory / "killed").exists()
    assert "crashed while running 'test_it.py::test_that_kills_its_worker'" in outcome.text
    assert not is_left(suite)


@pytest.mark.farm
@pytest.mark.parametrize("keep", ["failed", "never"])
def test_the_world_of_a_test_that_kills_its_worker_is_that_of_a_failed_test(
    tmp_path: Path, origin: str, keep: str
) -> None:
    suite = Suite(tmp_path)
    suite.write(
        "test_it.py",
        """
        import os
        import pytest

        @pytest.mark.parametrize("name", ["a::b"])
        def test_it(world, name):
            world.client.get("/profile/kyc")
            os._exit(1)
        """,
    )
    words = ("-n1", "--max-worker-restart=0", f"--simulator-keep={keep}", f"--simulator-url={origin}")
    outcome = suite.run(*words, variables=measured())
    assert outcome.has("crashed while running", "what happened in the simulator", "GET /v1/profile/kyc", "rampsim scen")
    left = [world for world in worlds_at(origin) if world.startswith("test_it-a-b-")]
    assert [f"{origin}/_simulator/dashboard?world={world}" in outcome.text for world in left] == [True] * (
        keep == "failed"
    )
    for world in left:
        httpx.delete(f"{origin}/_simulator/worlds/{world}", trust_env=False)


WAITING = """
    import os
    import threading
    from pathlib import Path

    def test_that_waits(world):
        with open(Path(__file__).parent / "reached", "w") as reached:
            reached.write(str(os.getpid()))
        while True:
            threading.Event().wait(0.01)  # now and then a moment to be interrupted in
"""


@pytest.mark.farm
@pytest.mark.parametrize(
    ("workers", "kind", "whom"),
    [
        ([], signal.SIGINT, "controller"),
        ([], signal.SIGKILL, "controller"),
        pytest.param(["-n1"], signal.SIGKILL, "controller"),  # the worker waits five seconds
        (["-n1"], signal.SIGKILL, "all"),
    ],
    ids=lambda value: str(getattr(value, "name", value)),
)
def test_a_run_that_is_ended_from_outside_leaves_nothing_running(
    tmp_path: Path, workers: list[str], kind: signal.Signals, whom: str
) -> None:
    suite = Suite(tmp_path)
    suite.write("test_it.py", WAITING)
    reached = suite.directory / "reached"
    os.mkfifo(reached)
    with suite.start(*workers) as process:
        worker = int(reached.read_text())  # waits until somebody writes to it
        assert len(servers_of(suite)) == 1
        with waiting_for_end(suite):
            process.send_signal(kind)
            if whom == "all":
                os.kill(worker, kind)
        process.communicate(timeout=60)
    assert not is_left(suite)


def test_modules_beside_the_tests_do_not_disturb_the_server(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    suite.write("starlette.py", "raise ImportError('not the one that is wanted')")
    suite.write("test_it.py", "def test_it(world): ...")
    assert suite.run_here().tests == {"test_it": "passed"}


def test_a_server_that_does_not_start_says_why(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    suite.write("absent/uvicorn.py", "raise ImportError('the server lacks something')")
    suite.write("test_it.py", "def test_it(world): ...\ndef test_other(world): ...")
    outcome = suite.run(variables={"PYTHONPATH": str(suite.directory / "absent")})
    assert outcome.tests == {"test_it": "error", "test_other": "error"}
    assert outcome.has("The simulator of this run did not start. Its output:", "the server lacks something")
    assert not is_left(suite)


def test_a_server_that_dies_is_reported(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    suite.write(
        "test_it.py",
        """
        import os
        import signal
        import subprocess
        import tempfile
        import pytest

        def test_that_kills_the_server(world):
            rows = subprocess.run(["ps", "-A", "-ww", "-o", "pid=,args="], capture_output=True, text=True).stdout
            own = [row for row in rows.splitlines() if "run_server_process" in row and tempfile.gettempdir() in row]
            os.kill(int(own[0].split()[0]), signal.SIGKILL)
            with pytest.raises(Exception):
                world.client.get("/profile")
            raise ValueError("my own failure")

        def test_after_that(world): ...
        """,
    )
    outcome = suite.run()
    assert outcome.tests == {"test_that_kills_the_server": "failed", "test_after_that": "error"}
    assert outcome.has("The world of this test cannot be created. The simulator of this run has died.")
    assert outcome.has("ValueError: my own failure", "not possible: No simulator responds at")
    assert not is_left(suite)


def test_a_server_that_does_not_answer_is_reported_in_one_line(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    suite.write("test_it.py", "def test_it(world): ...")
    outcome = suite.run_here("--simulator-url=http://127.0.0.1:9")
    assert outcome.tests == {"test_it": "error"}
    assert "No simulator responds at http://127.0.0.1:9" in outcome.text
    assert ".py:" not in outcome.text.partition("ERROR at setup")[2].partition("short test summary")[0]
    outcome = suite.run_here("--simulator-url=localhost", "--simulator=inprocess")
    assert outcome.code == 4
    assert "use one of them" in outcome.text


def test_waiting_for_a_server_to_end_creates_no_files(tmp_path: Path) -> None:
    (tmp_path / "server").write_bytes(b"")
    RunServer(tmp_path).wait_for_end()
    assert not tmp_path.exists()
    RunServer(tmp_path).wait_for_end()
    assert not tmp_path.exists()
    tmp_path.mkdir()
    assert RunServer(tmp_path)._is_left()
    assert list(tmp_path.iterdir()) == []
