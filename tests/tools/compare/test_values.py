"""Values in recordings: texts that pseudonyms replace, and values of enumerations."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simulator.compare.corpora import Judged, compare_corpus
from simulator.evidence.corpus import Recording, read_corpus
from simulator.evidence.local import Simulators
from simulator.evidence.replay.players import LocalPlayer
from simulator.evidence.replay.schedule import Schedule
from tests.tools.evidence.recorded import record, write

pytestmark = pytest.mark.xdist_group("evidence")


@pytest.fixture(scope="module")
def recording() -> Recording:
    """A failed onramp: 3 calls and 3 events show the payer's phone number, and the last ones a `failure_code`."""
    simulators = Simulators()
    try:
        return record(simulators, {}, "f34")
    finally:
        simulators.close()


def compared(recording: Recording, directory: Path, change: Callable[[Any], None], **options: Any) -> Judged:
    """Compare the recording after a change of its last response."""
    write(directory, [recording])
    path = directory / f"{recording.name}.jsonl"
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    change(rows[-1]["response"])
    path.write_text("\n".join(map(json.dumps, rows)))
    return compare_corpus(read_corpus(directory), **options)


def nothing(response: Any) -> None:
    """Change nothing."""


def other_phone_number(response: Any) -> None:
    response["payment_instructions"]["phone_number"] = "+254712999999"


def other_failure_code(response: Any) -> None:
    response["failure_code"] = "payout_failed"


def unlisted_failure_code(response: Any) -> None:
    response["failure_code"] = "declined_by_bank"


def other_amount(response: Any) -> None:
    response["source_amount"] = "5001.00"


def test_texts_that_were_sent_are_not_differences(recording: Recording, tmp_path: Path) -> None:
    result = compared(recording, tmp_path, nothing, values=True)
    assert (result.replayed, result.differences) == (8, [])


@pytest.mark.parametrize(
    ("change", "pointer", "meaning"),
    [
        (other_phone_number, "/payment_instructions/phone_number", "world"),
        (other_amount, "/source_amount", "world"),
        (other_failure_code, "/failure_code", "world"),
        (unlisted_failure_code, "/failure_code", "guess"),
    ],
)
def test_values_report_each_changed_value(
    recording: Recording, tmp_path: Path, change: Callable[[Any], None], pointer: str, meaning: str
) -> None:
    result = compared(recording, tmp_path, change, values=True)
    assert [(one.kind, one.pointer, one.meaning) for one in result.differences] == [("value", pointer, meaning)]


@pytest.mark.parametrize("change", [other_failure_code, unlisted_failure_code])
def test_enumerations_are_compared_without_values(
    recording: Recording, tmp_path: Path, change: Callable[[Any], None]
) -> None:
    result = compared(recording, tmp_path, change, values=False)
    assert [(one.kind, one.pointer) for one in result.differences] == [("value", "/failure_code")]


@pytest.mark.parametrize("change", [other_phone_number, other_amount])
def test_other_values_are_not_compared_without_values(
    recording: Recording, tmp_path: Path, change: Callable[[Any], None]
) -> None:
    assert compared(recording, tmp_path, change, values=False).differences == []


def without_a_required_field(response: Any) -> None:
    del response["rate"]


def with_another_field(response: Any) -> None:
    response["discount"] = "1.00"


@pytest.mark.parametrize(
    ("change", "line", "total"),
    [
        (
            without_a_required_field,
            "shape at /rate: recorded 'absent', now 'decimal string' (addition)",
            "with new fields",
        ),
        (
            with_another_field,
            "shape at /discount: recorded 'decimal string', now 'absent' (not specified)",
            "not specified",
        ),
    ],
)
def test_difference_at_a_service_is_a_change(
    recording: Recording, tmp_path: Path, change: Callable[[Any], None], line: str, total: str
) -> None:
    """A field that the service adds is an addition. A field that it removes is not."""
    simulators = Simulators()
    target = LocalPlayer(simulators, Schedule(recording).begins, {})
    try:
        text = compared(recording, tmp_path, change, target=target).readable()
    finally:
        target.close()
        simulators.close()
    assert line in text
    assert total in text.splitlines()[-2]
    assert text.splitlines()[-1] == "The service has changed since the recording."
