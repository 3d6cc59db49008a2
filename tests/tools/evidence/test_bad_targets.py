"""`rampsim probe` against targets that are not the service, or that fail in the middle."""

from __future__ import annotations

import json
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from simulator.cli.tools.probing import probe
from simulator.evidence.remote import RemoteService
from tests.tools.evidence.hidden import hidden_service, judged
from tests.tools.evidence.liar import Answer, liar

KEYS = ("--public-key", "pk_test_simulator", "--secret-key", "sk_test_simulator")
ASSUMED = {"H4": "answers_422", "M7": "fee_comes_on_top"}
ENVELOPE = {"error": {"code": "forbidden", "message": "no"}}

pytestmark = pytest.mark.xdist_group("evidence")


@pytest.fixture(scope="module")
def upstream() -> Iterator[str]:
    with hidden_service(ASSUMED) as found:
        yield found


def run(target: str, *more: str) -> Result:
    return CliRunner().invoke(probe, ["--target", target, *KEYS, "--control", "none", *more])


def report_of(origin: str, tmp_path: Path, *more: str) -> tuple[Result, Any]:
    file = tmp_path / "report.json"
    done = run(f"{origin}/v1", "--json", str(file), *more)
    assert file.exists(), done.output
    return done, json.loads(file.read_text())


def assert_one_line(done: Result, part: str) -> None:
    assert done.exit_code == 3, done.output
    assert len(done.output.strip().splitlines()) == 1, done.output
    assert part in done.output


def test_silent_address_exits_with_3() -> None:
    assert_one_line(run("http://127.0.0.1:9/v1"), "127.0.0.1:9")


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, b"<html>hello</html>"),
        Answer(404, {"error": {"code": "not_found"}}),
        Answer(404, b"not here"),
        Answer(503, {}),
        Answer(200, []),
        Answer(200, "x"),
        Answer(200, {"token": "abc"}),
        Answer(200, {"access_token": 7}),
        Answer(200, b'{"access_token": "half', cut=True),
        Answer(200, b'{"access_token": "complete"}' + b" " * 28, cut=True),
        Answer(200, b"zz", {"Transfer-Encoding": "chunked"}, repeated=2),
        Answer(200, b"[" * 100_000),
        Answer(302, b"", {"Location": "https://elsewhere.example/"}),
    ],
)
def test_another_service_exits_with_one_line(answer: Answer) -> None:
    with liar(lambda *_: answer) as (origin, _):
        assert_one_line(run(f"{origin}/v1"), origin)


@pytest.mark.parametrize(
    "answer", [Answer(404, {"message": "no route"}), Answer(200, {"access_token": "x"}), Answer(200, [])]
)
def test_another_service_that_signs_in_exits_with_one_line(answer: Answer, tmp_path: Path) -> None:
    def lie(number: int, method: str, path: str, truth: Any) -> Answer:
        return Answer(200, {"access_token": "x"}) if path.endswith("/auth/token") else answer

    out = tmp_path / "observed.yaml"
    with liar(lie) as (origin, _):
        assert_one_line(
            run(f"{origin}/v1", "--out", str(out)), "is not this service: sign-in succeeds, but GET /wallet"
        )
    assert not out.exists()


def test_base_url_without_version_exits_with_a_hint(upstream: str) -> None:
    assert_one_line(run(upstream), "ends with /v1")


def test_answer_that_is_not_http_exits_with_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n\n")

        Thread(target=greet, daemon=True).start()
        assert_one_line(run(f"http://127.0.0.1:{server.getsockname()[1]}/v1"), "SSH-2.0")


@pytest.mark.parametrize("body", [{"access_token": "x"}, [], "x", {"now": 7}])
def test_other_server_on_loopback_is_not_controlled(body: object) -> None:
    """The default of --control looks for a simulator at the target."""
    with liar(lambda *_: Answer(200, body)) as (origin, _):
        given = ["--target", f"{origin}/v1", *KEYS, "--calls", "5"]
        assert not isinstance(CliRunner().invoke(probe, given).exception, LookupError | TypeError)
        assert_one_line(CliRunner().invoke(probe, [*given, "--control", origin]), "is not a simulator")


def test_wrong_keys_exit_with_one_line(upstream: str) -> None:
    done = CliRunner().invoke(
        probe, ["--target", f"{upstream}/v1", "--public-key", "pk_test_x", "--secret-key", "sk_test_x"]
    )
    assert_one_line(done, "401")


def test_large_answer_is_read_only_in_part() -> None:
    with liar(lambda *_: Answer(200, b" " * 1_000_000, repeated=64)) as (origin, sent):
        assert_one_line(run(f"{origin}/v1"), "4 MB")
    assert sum(sent) < 16_000_000


def test_plain_http_behind_https_exits_with_one_line() -> None:
    with liar(lambda *_: Answer(200, {})) as (origin, _):
        assert_one_line(run(origin.replace("http:", "https:") + "/v1"), "SSL")


def test_unknown_certificate_exits_with_one_line(tmp_path: Path) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs openssl")
    made = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    made += ["-addext", "subjectAltName=IP:127.0.0.1"]
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run([*made, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with liar(lambda *_: Answer(200, {}), tls=context) as (origin, _):
        base = origin.replace("http:", "https:") + "/v1"
        assert_one_line(run(base), "certificate")
        assert_one_line(run(base, "--ca", str(certificate)), "returned a response without a token: 200")
    certificate.write_text("no certificate")
    assert "is not a PEM certificate file" in run(base, "--ca", str(certificate)).output


FAILURES = {
    "envelope": Answer(500, {"error": {"code": "internal_error"}}),
    "html": Answer(502, b"<html>bad gateway</html>"),
    "cut": Answer(200, b'{"id": "qt_1234567890"}', cut=True),
    "large": Answer(200, b" " * 1_000_000, repeated=64),
    "empty": Answer(200, b""),
    "numbers": Answer(200, b'{"amount": NaN, "rate": 1e999, "data": [[[[]]]]}'),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_in_the_middle_keeps_earlier_verdicts(upstream: str, tmp_path: Path, name: str) -> None:
    def lie(number: int, method: str, path: str, truth: Any) -> Answer | None:
        return FAILURES[name] if number > 14 else None

    out = tmp_path / "observed.yaml"
    with liar(lie, upstream) as (origin, _):
        done, report = report_of(origin, tmp_path, "--out", str(out), "--skip", "L6")
    verdicts = {row["id"]: row for row in report["assumptions"]}
    decided = {one for one, row in verdicts.items() if row["verdict"] in ("holds", "differs")}
    assert decided
    _, wrong = judged({"assumptions": [verdicts[one] for one in decided]}, ASSUMED)
    assert wrong == []
    if name in ("envelope", "html", "cut", "large"):
        assert done.output.count("The run ended early: ") == 1
        assert re.search(r"of f\d", done.output) is None, "flows have names that users do not know"
        assert "needs-permission" not in {row["reason"] for row in verdicts.values()}
        assert {row["verdict"] for row in verdicts.values()} <= {"holds", "differs", "undecided"}
        assert "unreachable" in {row["reason"] for row in verdicts.values()}
    assert done.exit_code in (0, 1)
    assert set(yaml.safe_load(out.read_text())["assumptions"]) >= decided


def test_keys_without_permission_decide_nothing_wrongly(upstream: str, tmp_path: Path) -> None:
    def lie(number: int, method: str, path: str, truth: Any) -> Answer | None:
        return Answer(403, ENVELOPE) if method == "POST" and path != "/v1/auth/token" else None

    with liar(lie, upstream) as (origin, _):
        done, report = report_of(origin, tmp_path, "--spend", "sandbox")
    counts, wrong = judged(report, ASSUMED)
    assert wrong == []
    assert "The keys lack permissions: the target returned 401 or 403 to POST /quotes, " in done.output
    assert counts["needs-permission"] > 10
    assert "rates" in report["facts"]
    assert "currencies" not in report["facts"], "no response shows which methods a currency has"
    assert counts["decided"] > 3


def test_wrong_or_missing_user_is_named_and_decides_nothing(upstream: str, tmp_path: Path) -> None:
    given = ("--spend", "sandbox", "--only", "M13", "--only", "S9", "--only", "H3")
    done, report = report_of(upstream, tmp_path, *given, "--user-id", "nobody")
    assert "--user-id: the target does not accept this value (not_found)" in done.output
    assert [row["reason"] for row in report["assumptions"]] == [None, "needs-permission", "needs-permission"]
    done, _ = report_of(upstream, tmp_path, *given)
    assert "Add --user-id, the id of another user, to decide M13, S9\n" in done.output
    assert "lack permissions" not in done.output


def test_one_failed_call_at_the_start_does_not_end_the_run(upstream: str, tmp_path: Path) -> None:
    def lie(number: int, method: str, path: str, truth: Any) -> Answer | None:
        return Answer(502, b"<html>") if number == 3 else None

    with liar(lie, upstream) as (origin, _):
        _, report = report_of(origin, tmp_path, "--only", "H3")
    assert [row["verdict"] for row in report["assumptions"]] == ["holds"]


@pytest.mark.parametrize("status", [401, 429])
def test_refusal_of_all_calls_ends_in_time(upstream: str, tmp_path: Path, status: int) -> None:
    def lie(number: int, method: str, path: str, truth: Any) -> Answer | None:
        return None if path == "/v1/auth/token" else Answer(status, ENVELOPE, {"Retry-After": "0"})

    with liar(lie, upstream) as (origin, _):
        _, report = report_of(origin, tmp_path)
    assert {row["verdict"] for row in report["assumptions"] if row["id"] != "H17"} <= {"undecided", "neither", "holds"}
    assert judged(report, ASSUMED)[1] == [] or status == 429


UNAUTHORIZED = {"error": {"code": "unauthorized", "message": "no"}}


@pytest.mark.parametrize("signs_in", [False, True])
def test_keys_that_are_revoked_decide_nothing(upstream: str, tmp_path: Path, signs_in: bool) -> None:
    """A gateway that returns 401 to everything looks like the alternative of H17, unless the right keys are tried."""
    refused: list[str] = []

    def revoke(number: int, method: str, path: str, truth: Any) -> Answer | None:
        if path == "/v1/auth/token":
            refused.append(path)
            if len(refused) == 1 or (signs_in and len(refused) > 2):
                return None
        return Answer(401, UNAUTHORIZED) if len(refused) > 1 else None

    with liar(revoke, upstream) as (origin, _):
        _, report = report_of(origin, tmp_path, "--only", "H17")
    assert [(row["verdict"], row["reason"]) for row in report["assumptions"]] == [("undecided", "unreachable")]


def test_pause_that_is_too_long_ends_the_run(upstream: str, tmp_path: Path) -> None:
    def lie(number: int, method: str, path: str, truth: Any) -> Answer | None:
        return Answer(429, ENVELOPE, {"Retry-After": "86400"}) if number > 9 else None

    with liar(lie, upstream) as (origin, _):
        done, report = report_of(origin, tmp_path)
    assert "86400 s" in done.output
    assert "budget" in {row["reason"] for row in report["assumptions"]}


def test_pause_until_a_time_of_a_target_whose_clock_differs(upstream: str, tmp_path: Path) -> None:
    headers = {"Date": "Mon, 05 Jan 2026 08:00:00 GMT", "Retry-After": "Mon, 05 Jan 2026 08:00:01 GMT"}
    pauses: list[float] = []
    with liar(lambda number, *_: Answer(429, ENVELOPE, headers) if number < 3 else None, upstream) as (origin, _):
        service = RemoteService(f"{origin}/v1", (KEYS[1], KEYS[3]), calls=9, sleep=pauses.append)
        assert service.call("GET", "/profile", None, {}).status == 200
    assert pauses == [1.0, 1.0]


def test_clock_of_the_target_may_differ(upstream: str, tmp_path: Path) -> None:
    """The target's clock is months behind, and a schedule that starts `today` needs its date."""
    _, report = report_of(upstream, tmp_path, "--spend", "sandbox", "--only", "S20")
    assert [row["verdict"] for row in report["assumptions"]] == ["holds"]


def test_other_behaviour_is_neither(upstream: str, tmp_path: Path) -> None:
    def lie(number: int, method: str, path: str, truth: Any) -> Answer | None:
        return Answer(418, ENVELOPE) if (method, path) == ("DELETE", "/v1/quotes") else None

    with liar(lie, upstream) as (origin, _):
        done, report = report_of(origin, tmp_path, "--only", "H3")
    assert [row["verdict"] for row in report["assumptions"]] == ["neither"]
    assert "418" in report["assumptions"][0]["seen"]
    assert done.exit_code == 1
