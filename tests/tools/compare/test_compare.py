"""Recorded traffic against the simulator: HAR files of a simulator, with injected differences."""

from __future__ import annotations

import asyncio
import base64
import copy
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulator.cli import main
from simulator.compare.replay import compare
from simulator.engine.server.config import Config
from simulator.engine.server.http.messages import Incoming
from simulator.evidence.corpus.har import HarError, read_har
from simulator.host import create_app
from simulator.kernel.clock import format_timestamp, parse_timestamp
from tests.support import CELO, KEYS, QUOTE


class Recorder:
    """Calls a simulator with another seed and start, and records the calls like a proxy."""

    def __init__(self) -> None:
        now = parse_timestamp("2026-03-01T10:00:00Z")
        self.application = create_app(Config(clock="manual", seed=99, now_ms=now, scenarios=("autopilot",)))
        self.world = self.application.runtime.simulator.worlds["default"]
        self.entries: list[dict[str, Any]] = []
        self.token = ""

    async def call(self, method: str, path: str, body: Any = None, query: str = "") -> Any:
        headers = {"content-type": "application/json"} | (
            {"authorization": f"Bearer {self.token}"} if self.token else {}
        )
        text = "" if body is None else orjson.dumps(body).decode()
        at = format_timestamp(self.world.now_ms)
        answered = await self.application.endpoint.answer(
            Incoming(method, f"/v1{path}", query.encode(), headers, text.encode())
        )
        self.entries.append(
            {
                "startedDateTime": at,
                "request": {
                    "method": method,
                    "url": f"https://sandbox.example.test/v1{path}" + (f"?{query}" if query else ""),
                    "headers": [{"name": name, "value": value} for name, value in headers.items()],
                    "postData": {"text": text},
                },
                "response": {"status": answered.status, "content": {"text": answered.body.decode()}},
            }
        )
        return orjson.loads(answered.body) if answered.body else None

    async def wait(self, minutes: int) -> None:
        await self.application.runtime.driver.advance(self.world, self.world.now_ms + minutes * 60_000)

    async def session(self) -> dict[str, Any]:
        self.token = (await self.call("POST", "/auth/token", KEYS))["access_token"]
        quote = await self.call("POST", "/quotes", QUOTE)
        ramp = await self.call(
            "POST",
            f"/quotes/{quote['id']}/confirm",
            {"wallet_address": CELO, "payer": {"phone_number": "+254712345678"}},
        )
        await self.wait(5)
        await self.call("GET", f"/transactions/{ramp['id']}")
        await self.call("GET", "/transactions", query=f"search={ramp['id']}")
        await self.call(
            "POST",
            f"/quotes/{quote['id']}/confirm",
            {"wallet_address": CELO, "payer": {"phone_number": "+254712345678"}},
        )
        await self.call("POST", "/quotes", QUOTE | {"amount": 5})
        await self.call("GET", "/wallet/assets")
        return {"log": {"version": "1.2", "entries": self.entries}}


@pytest.fixture(scope="module")
def recording() -> dict[str, Any]:
    return asyncio.run(Recorder().session())


def replay(har: dict[str, Any], **options: Any) -> Any:
    return asyncio.run(compare(read_har(orjson.dumps(har)), **options))


def changed(har: dict[str, Any], number: int, change: Any) -> dict[str, Any]:
    """Return the recording with one changed response. `change` gets the parsed body."""
    har = copy.deepcopy(har)
    response = har["log"]["entries"][number]["response"]
    answer = orjson.loads(response["content"]["text"])
    change(answer, response)
    response["content"]["text"] = orjson.dumps(answer).decode()
    return har


def test_own_traffic_has_no_difference(recording: dict[str, Any]) -> None:
    result = replay(recording)
    assert result.readable().splitlines()[-1].endswith("0 differences")
    assert (result.differences, result.skipped) == ([], [])


def sow_state(answer: Any, response: Any) -> None:
    answer["status"] = "expired"


def sow_shape(answer: Any, response: Any) -> None:
    answer["fee"]["surcharge"] = "1.00"
    del answer["method"]


def sow_type(answer: Any, response: Any) -> None:
    answer["destination_amount"] = 37.5


def sow_span(answer: Any, response: Any) -> None:
    answer["expires_at"] = "2026-03-01T10:15:00.000Z"


def sow_code(answer: Any, response: Any) -> None:
    answer["error"]["code"] = "invalid_request"


def sow_status(answer: Any, response: Any) -> None:
    response["status"] = 200


@pytest.mark.parametrize(
    ("number", "sow", "found"),
    [
        (3, sow_state, [("state", "/status")]),
        (1, sow_shape, [("shape", "/method"), ("shape", "/fee/surcharge")]),
        (1, sow_type, [("type", "/destination_amount")]),
        (1, sow_span, [("span", "/expires_at after created_at")]),
        (6, sow_code, [("code", "/error/code")]),
        (1, sow_status, [("status", "")]),
    ],
)
def test_an_injected_difference_is_found(
    recording: dict[str, Any], number: int, sow: Any, found: list[tuple[str, str]]
) -> None:
    result = replay(changed(recording, number, sow))
    assert sorted((row.kind, row.pointer) for row in result.differences) == sorted(found)
    assert {row.entry for row in result.differences} == {number + 1}


def sow_missing_guess(answer: Any, response: Any) -> None:
    del answer["order_id"]


@pytest.mark.parametrize(
    ("number", "sow", "meanings"),
    [
        (1, sow_shape, ["addition", "promise"]),
        (1, sow_type, ["promise"]),
        (1, sow_span, ["promise"]),
        (3, sow_state, ["world"]),
        (3, sow_missing_guess, ["guess"]),
        (1, sow_status, ["guess"]),
        (6, sow_code, ["promise"]),
    ],
)
def test_a_difference_has_a_meaning(recording: dict[str, Any], number: int, sow: Any, meanings: list[str]) -> None:
    result = replay(changed(recording, number, sow))
    assert [row.meaning for row in result.differences] == meanings
    assert all(
        row["meaning"] == meaning for row, meaning in zip(result.as_json()["differences"], meanings, strict=True)
    )
    words = {
        "promise": "1 differ from a specified part of the contract",
        "guess": "1 differ from an assumption of the simulator",
    }
    assert all(said in result.readable() for meaning, said in words.items() if meaning in meanings)


def test_amounts_differ_by_world(recording: dict[str, Any]) -> None:
    har = changed(recording, 1, lambda answer, _: answer.update(rate="131.00"))
    assert [row.meaning for row in replay(har, values=True).differences] == ["world"]


def test_a_status_caused_by_outside_events_is_reached(recording: dict[str, Any]) -> None:
    def failed(answer: Any, response: Any) -> None:
        answer.update(status="processing", tx_hash=None)

    result = replay(changed(recording, 3, failed), scenarios=())
    assert [row for row in result.differences if row.entry == 4] == []


@pytest.mark.parametrize("status", ["completed", "failed", "refunded"])
def test_a_recorded_status_is_reached_by_several_actions(recording: dict[str, Any], status: str) -> None:
    result = replay(changed(recording, 3, lambda answer, _: answer.update(status=status)), scenarios=())
    assert [row.kind for row in result.differences if row.kind == "state" and row.entry == 4] == []


def test_values_compares_amounts(recording: dict[str, Any]) -> None:
    def dearer(answer: Any, response: Any) -> None:
        answer["rate"] = "131.00"

    har = changed(recording, 1, dearer)
    assert replay(har).differences == []
    assert [(row.kind, row.pointer) for row in replay(har, values=True).differences] == [("value", "/rate")]


def test_ids_from_before_the_recording_are_skipped(recording: dict[str, Any]) -> None:
    har = copy.deepcopy(recording)
    del har["log"]["entries"][1:3]
    result = replay(har)
    assert any("older than the recording" in reason for reason in result.skipped)
    assert not any(row.kind == "status" for row in result.differences)


def test_base64_bodies_and_foreign_calls_are_read(recording: dict[str, Any]) -> None:
    har = copy.deepcopy(recording)
    content = har["log"]["entries"][1]["response"]["content"]
    content.update(text=base64.b64encode(content["text"].encode()).decode(), encoding="base64")
    foreign = copy.deepcopy(har["log"]["entries"][0])
    foreign["request"]["url"] = "https://elsewhere.example.test/metrics"
    har["log"]["entries"].insert(0, foreign)
    assert replay(har).differences == []
    assert len(read_har(orjson.dumps(har), "https://sandbox.example.test/v1")) == len(recording["log"]["entries"])


@pytest.mark.parametrize("raw", [b"", b"[]", b"{}", b'{"log": {"entries": [{}]}}', b'{"log": {"entries": []}}'])
def test_a_file_that_is_not_a_recording_is_refused(raw: bytes) -> None:
    with pytest.raises(HarError):
        read_har(raw)


def test_the_exit_code_depends_on_differences(recording: dict[str, Any], tmp_path: Path) -> None:
    good, bad = tmp_path / "good.har", tmp_path / "bad.har"
    good.write_bytes(orjson.dumps(recording))
    bad.write_bytes(orjson.dumps(changed(recording, 3, sow_state)))
    run = CliRunner().invoke(main, ["compare", str(good)])
    assert (run.exit_code, run.output.strip()) == (0, "8 calls replayed, 0 differences")
    run = CliRunner().invoke(main, ["compare", str(bad)])
    assert run.exit_code == 1
    assert "state at /status: recorded 'expired', simulated 'completed'" in run.output
    run = CliRunner().invoke(main, ["compare", str(bad), "--json"])
    assert orjson.loads(run.output)["differences"][0]["kind"] == "state"
    (tmp_path / "no.har").write_text("[]")
    assert CliRunner().invoke(main, ["compare", str(tmp_path / "no.har")]).exit_code == 2


def spoilt(recording: dict[str, Any], *path: Any, value: Any) -> bytes:
    document = copy.deepcopy(recording)
    holder = document["log"]["entries"][1]
    for part in path[:-1]:
        holder = holder[part]
    if value is ...:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return orjson.dumps(document)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("request", "headers", 0, "value"), 5, "`value` of header 1 of the request of entry 2 must be a string"),
        (
            ("request", "headers", 0, "value"),
            "a\nb",
            "header 1 of the request of entry 2 must be a string without line breaks",
        ),
        (("request", "headers", 0), "x", "`name` of header 1 of the request of entry 2 must be a string"),
        (("request", "headers"), ..., "`headers` of the request of entry 2 must be a list"),
        (("request", "postData"), "x", "`postData` of the request of entry 2 must be an object"),
        (("request", "postData", "text"), {}, "`text` of postData of the request of entry 2 must be a string"),
        (("request", "url"), None, "`url` of the request of entry 2 must be a string"),
        (("request", "url"), "http://[/v1/a", "`url` of the request of entry 2 must be a URL"),
        (("request", "method"), 5, "`method` of the request of entry 2 must be a string"),
        (("request",), ..., "`request` of entry 2 must be an object"),
        (("response", "status"), "200", "`status` of the response of entry 2 must be a whole number"),
        (("response", "status"), 20000, "`status` of the response of entry 2 must be an HTTP status"),
        (("response", "content", "text"), [], "`text` of content of the response of entry 2 must be a string"),
        (
            ("startedDateTime",),
            "9999-12-31T00:00:00Z",
            "`startedDateTime` of entry 2 must be a timestamp between the years 1970",
        ),
        (("startedDateTime",), 5, "`startedDateTime` of entry 2 must be a string"),
    ],
)
def test_an_error_in_a_file_is_named(recording: dict[str, Any], path: Any, value: Any, message: str) -> None:
    with pytest.raises(HarError) as caught:
        read_har(spoilt(recording, *path, value=value))
    assert str(caught.value).startswith(f"this is not a HAR file: {message}")


def test_the_command_reports_an_error_in_one_line(recording: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "a.har").write_bytes(spoilt(recording, "request", "headers", 0, "value", value=5))
    result = CliRunner().invoke(main, ["compare", str(tmp_path / "a.har")])
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1


ODD: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers(-1, 2**63) | st.text("a\x00/[é", max_size=4) | st.just({})
)
DEEP = '{"a_id":' * 500 + "1" + "}" * 500


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_corrupted_file_is_compared_or_refused(recording: dict[str, Any], data: st.DataObject) -> None:
    document = copy.deepcopy(recording)
    for _ in range(data.draw(st.integers(1, 3))):
        holder: Any = document["log"]["entries"][data.draw(st.integers(0, 5))]
        while True:
            key = data.draw(st.sampled_from(sorted(holder) if isinstance(holder, dict) else range(len(holder))))
            if data.draw(st.booleans()) or not isinstance(holder[key], dict | list) or not holder[key]:
                break
            holder = holder[key]
        holder[key] = data.draw(ODD | st.just(DEEP))
    try:
        entries = read_har(orjson.dumps(document))
    except HarError as error:
        message = str(error)
    else:
        message = asyncio.run(compare(entries)).readable().splitlines()[-1]
    assert "\n" not in message
