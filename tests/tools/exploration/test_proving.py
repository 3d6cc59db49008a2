"""`--prove PATCH`: with copies of a repository or a directory, which does not change, and findings that cannot be
proved.
"""

from __future__ import annotations

import difflib
import subprocess
from decimal import Decimal
from pathlib import Path

import pytest

from simulator.exploration.exploring import Explored, Settings
from simulator.exploration.judgement.causes import Judged
from simulator.exploration.judgement.judging import Verdict
from simulator.exploration.plans import Run
from simulator.exploration.proving import Proof, prove
from simulator.exploration.runs.aftermath import Hooks
from simulator.exploration.runs.running import StopExploring
from tests.places import ROOT
from tests.tools.exploration.suite import explore
from tests.tools.exploration.test_explore import PAYS

RUN = Run("refused-503-1", "test_pay.py::test_pay", "refused-503", "POST /wallet/send #1", {})
CARELESS, CAREFUL = 'def key(number):\n    return f"order-{number}"\n', 'def key(number):\n    return "order"\n'


def patch(path: str, before: str = CARELESS, after: str = CAREFUL) -> str:
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), f"a/{path}", f"b/{path}")
    return "".join(lines)


def git(*words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    subprocess.run(["git", *who, *words], check=True, capture_output=True)


@pytest.mark.farm
def test_a_suite_in_a_part_of_a_repository_is_proved_with_what_lies_beside_it(tmp_path: Path) -> None:
    """The mistake is in a package beside the suite, the patch is named from the top, and nothing changes there."""
    (tmp_path / "src/shop").mkdir(parents=True)
    (tmp_path / "src/shop/__init__.py").write_text("")
    (tmp_path / "src/shop/keys.py").write_text(CARELESS)
    suite = tmp_path / "services/suite"
    suite.mkdir(parents=True)
    text = "from shop.keys import key as key_of\n" + PAYS.format(key="key_of(attempt)")
    (suite / "test_pay.py").write_text(text)
    (tmp_path / "mend.patch").write_text(patch("src/shop/keys.py"))
    (tmp_path / "useless.patch").write_text(patch("src/shop/keys.py", CARELESS, f"{CARELESS}# looked at\n"))
    git("init", "-q", str(tmp_path))
    git("-C", str(tmp_path), "add", "-A")
    git("-C", str(tmp_path), "commit", "-qm", "one")
    installed = {"PYTHONPATH": f"{ROOT}:{tmp_path}/src"}
    found = explore(suite, "--faults", "answer-lost-after-commit", "--workers", "1", environment=installed)
    (name,) = found.report["findings"]
    for text, code, said in (("mend", 0, "Fixed: "), ("useless", 1, "Not fixed: ")):
        words = ("--replay", name, "--prove", f"../../{text}.patch", "--workers", "1")
        proof = explore(suite, *words, environment=installed)
        assert (proof.code, proof.said.splitlines()[-1].startswith(said)) == (code, True), proof.said
    assert (tmp_path / "src/shop/keys.py").read_text() == CARELESS
    assert found.written("receipt.json")["suite"]["changed"] is False


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    Path("keys.py").write_text(CARELESS)
    return tmp_path


def tried(here: Path, text: str, *command: str, hooks: Hooks | None = None) -> str:
    """Return the message for a proof that cannot start."""
    Path("a.patch").write_text(text)
    settings = Settings(command or ("pytest", "."), hooks=hooks or Hooks(), replay=RUN)
    with pytest.raises(StopExploring) as refused:
        prove(settings, Path("a.patch"))
    assert Path("keys.py").read_text() == CARELESS
    return str(refused.value)


def test_a_patch_that_does_not_apply_is_refused_before_any_run(here: Path) -> None:
    told = tried(here, patch("keys.py", CARELESS.replace("order-", "purchase-")))
    assert told.startswith(f"--prove: {here}/a.patch does not apply: error: patch failed: keys.py:1")
    assert "does not apply: error: No valid patches in input" in tried(here, "hello\n")
    assert "nowhere.py: No such file or directory" in tried(here, patch("nowhere.py"))


def test_words_that_lead_out_of_the_copy_are_refused(here: Path) -> None:
    mend = patch("keys.py")
    for command in (("pytest", str(here)), ("pytest", f"--rootdir={here}"), (f"{here}/run.sh",), ("sh", f"{here}/a b")):
        told = tried(here, mend, *command)
        assert told.startswith(f"--prove tries the patch in a copy of {here}, but ")
        assert told.endswith("is a path in the original directory: write it relative to the current directory")
    assert "is a path in the original directory" in tried(
        here, mend, hooks=Hooks(books=f"sqlite:///{here}/shop.db#SELECT 1")
    )
    told = tried(here, "hello\n", f"{here}/.venv/bin/pytest", "tests", f"{here}-else")
    assert "does not apply" in told  # what is installed there may be named


def proof(*verdicts: str) -> Proof:
    judged = [Judged(RUN, Verdict(verdict, Decimal(0), Decimal(0), "", ""), "passed") for verdict in verdicts]
    before, *after = (Explored(Settings(("pytest",)), {}, [one], 0) for one in judged)
    return Proof(before, after[0] if after else None)


def test_only_a_fault_that_happens_and_does_no_harm_is_a_proof() -> None:
    assert (proof("lost", "survived").mended, proof("lost", "survived").said[:6]) == (True, "Fixed:")
    red = proof("lost", "failed-loudly")
    assert (red.mended, "The test fails under the fault" in red.said) == (True, True)
    assert (proof("lost", "stuck").mended, proof("lost", "stuck").said[:10]) == (False, "Not fixed:")
    assert (proof("lost", "not-reached").mended, proof("lost", "not-reached").said[:11]) == (False, "Not proved:")
    assert (proof("survived").mended, proof("survived").said[:11]) == (False, "Not proved:")


@pytest.mark.farm
def test_a_patch_that_looks_before_it_sends_again_leaves_no_key_to_forget(tmp_path: Path) -> None:
    careless = PAYS.format(key="key")
    careful = careless.replace(
        "            pass",
        '            if client.get("/transactions").json()["data"]:\n                return httpx.Response(201)',
    )
    (tmp_path / "test_pay.py").write_text(careless)
    (tmp_path / "mend.patch").write_text(patch("test_pay.py", careless, careful))
    found = explore(tmp_path, "--faults", "key-forgotten", "--workers", "1")
    assert found.findings == {("key-forgotten", "doubled")}
    (name,) = found.report["findings"]
    told = explore(tmp_path, "--replay", name, "--prove", "mend.patch", "--workers", "1")
    assert (told.code, "Fixed: " in told.said, "repeats no call" in told.said) == (0, True, True), told.said
