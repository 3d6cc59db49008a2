"""HAR files that contain no request header `Content-Type`, as some tools export them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from simulator.cli import main
from simulator.engine.text.json import dumps
from simulator.evidence.corpus import Recording
from simulator.evidence.local import Simulators
from tests.tools.evidence.recorded import record

pytestmark = pytest.mark.xdist_group("evidence")


@pytest.fixture(scope="module")
def recording() -> Recording:
    simulators = Simulators()
    try:
        return record(simulators, {}, "f35")
    finally:
        simulators.close()


def write_har(directory: Path, recording: Recording, posted: dict[str, str]) -> Path:
    """Write the calls without request headers. `posted`: further fields of `postData`."""
    entries: list[Any] = [
        {
            "startedDateTime": one.at,
            "request": {
                "method": one.method,
                "url": f"https://api.example.test/v1{one.path}",
                "headers": [{"name": "Authorization", "value": "Bearer x"}],
                "postData": {**posted, "text": "" if one.request_body == "none" else dumps(one.request).decode()},
            },
            "response": {"status": one.status, "headers": [], "content": {"text": dumps(one.response).decode()}},
        }
        for one in recording.exchanges
        if one.direction == "call"
    ]
    directory.mkdir()
    (directory / "a.har").write_text(json.dumps({"log": {"entries": entries}}))
    return directory


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments])


TYPES = [{"mimeType": "application/json"}, {"mimeType": ""}, {}]


@pytest.mark.parametrize("posted", TYPES, ids=["type of the body", "empty", "missing"])
def test_missing_content_type_header_decides_nothing(
    recording: Recording, posted: dict[str, str], tmp_path: Path
) -> None:
    har = write_har(tmp_path / "har", recording, posted)
    done = run("infer", har, "--json", tmp_path / "report.json")
    rows = {row["id"]: row for row in json.loads((tmp_path / "report.json").read_text())["assumptions"]}
    assert rows["H13"]["verdict"] == "undecided", done.output
    assert any(row["verdict"] == "holds" for row in rows.values())  # so the calls were replayed


@pytest.mark.parametrize("posted", TYPES, ids=["type of the body", "empty", "missing"])
@pytest.mark.parametrize("file", ["har", "har/a.har"], ids=["corpus", "file"])
def test_missing_content_type_header_is_no_difference(
    recording: Recording, posted: dict[str, str], file: str, tmp_path: Path
) -> None:
    write_har(tmp_path / "har", recording, posted)
    done = run("compare", tmp_path / file)
    assert "simulated '400" not in done.output


def test_other_content_type_of_the_body_is_replayed(recording: Recording, tmp_path: Path) -> None:
    har = write_har(tmp_path / "har", recording, {"mimeType": "text/plain"})
    assert "simulated '400" in run("compare", har).output
    assert "any_type_is_taken" in run("infer", har).output


def test_content_type_with_a_line_break_is_refused(recording: Recording, tmp_path: Path) -> None:
    har = write_har(tmp_path / "har", recording, {"mimeType": "text/\nplain"})
    done = run("compare", har)
    assert done.exit_code == 2
    assert "`mimeType` of postData of the request of entry 1 must be a string without line breaks" in done.output
