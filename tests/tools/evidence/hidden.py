"""Probes hidden services: simulators with randomly switched assumptions, other reference data, or other behaviour.

`python -m tests.tools.evidence.hidden [COUNT] [MODE]...` prints the correct and the wrong verdicts for each mode. `make
evidence ARGS=200` runs the whole campaign. With `--seeds FIRST-LAST --results FILE`, it runs in parts that add up.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from simulator.kernel.dataclass import dataclass
from simulator.service import TOOLING
from tests.tools.evidence import free_port
from tests.tools.evidence.liar import Answer, Lie, liar

KEYS = ("--public-key", "pk_test_simulator", "--secret-key", "sk_test_simulator")


def chosen(seed: str, least: int = 1, most: int = 20) -> dict[str, str]:
    """Return alternatives of `least` to `most` assumptions."""
    chance = random.Random(seed)
    switches = list(TOOLING.alternatives().values())
    picked = chance.sample(switches, chance.randint(least, most))
    return {switch.id: chance.choice(list(switch.alternatives)) for switch in picked}


@contextmanager
def hidden_service(assumed: Mapping[str, str], *more: str) -> Iterator[str]:
    """Serve a simulator with these alternatives; yield its origin. `more` are flags; by default the clock is manual."""
    port = free_port()
    flags = [part for one, name in assumed.items() for part in ("--assume", f"{one}={name}")]
    clock = more or ("--clock", "manual")
    command = [sys.executable, "-m", "simulator", "serve", "--port", str(port), *clock, "--end-with-stdin"]
    process = subprocess.Popen(
        [*command, *flags], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        origin = f"http://127.0.0.1:{port}"
        _await(origin)
        yield origin
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:  # a busy machine
            process.kill()
            process.wait()


def _await(origin: str) -> None:
    deadline = time.monotonic() + 90
    while True:
        try:
            with urlopen(f"{origin}/_simulator/health", timeout=5):
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def control(origin: str, method: str, path: str, body: object = None) -> Any:
    """Return the result of a control call."""
    content = None if body is None else json.dumps(body).encode()
    request = Request(f"{origin}/_simulator{path}", content, {"Content-Type": "application/json"}, method=method)
    with urlopen(request, timeout=20) as response:
        return json.loads(response.read())


def change_data(origin: str, seed: str) -> None:
    """Give a service other rates, limits, fees and networks."""
    chance = random.Random(seed)

    def act(action: str, target: str, parameters: Mapping[str, Any]) -> bool:
        return bool(
            control(origin, "POST", f"/actions/{action}", {**({"target": target} if target else {}), **parameters})
        )

    act("move_rates", "", {"percent": chance.randint(-20, 30)})
    act("set_limits", "", {"per_transaction": str(chance.randint(300, 900) * 1000), "daily": "2500000"})
    act("set_network", "", {"network": "stellar", "status": chance.choice(["operational", "degraded", "down"])})
    for product in ("fee_onramp_celo_kes", "fee_buy_kes", "fee_send_usdc_celo", "fee_withdraw_usdc_kes"):
        act("set_fee_product", product, {"percentage": f"{chance.randint(20, 300) / 100:.2f}"})


def probed(origin: str, control_mode: str, *more: str) -> tuple[int, dict[str, Any]]:
    """Run `rampsim probe` on a service; return its exit code and its report."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        given = ["--target", f"{origin}/v1", *KEYS, "--control", control_mode, "--json", str(report)]
        command = [sys.executable, "-m", "simulator", "probe", *given, *more]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        if not report.exists():
            raise AssertionError(done.stdout + done.stderr)
        return done.returncode, json.loads(report.read_text())


def judged(report: Mapping[str, Any], assumed: Mapping[str, str]) -> tuple[Counter[str], list[str]]:
    """Return how many assumptions were decided or why not, and the wrong verdicts."""
    counts: Counter[str] = Counter()
    wrong = []
    for row in report["assumptions"]:
        if row["verdict"] == "undecided":
            counts[row["reason"]] += 1
            continue
        counts["decided"] += 1
        truth = assumed.get(row["id"])
        if row["verdict"] != ("differs" if truth else "holds") or row["alternative"] != truth:
            wrong.append(f"{row['id']}: {row['verdict']} {row['alternative'] or row['seen']}, is {truth}")
    return counts, wrong


@dataclass(frozen=True)
class Mode:
    """One way to probe hidden services."""

    options: tuple[str, ...]
    serve: tuple[str, ...] = ()
    steers: bool = False
    listens: bool = False
    check: Callable[[str], list[str]] = lambda origin: []
    """Returns what is wrong with the service after the run."""
    lies: bool = False
    at_once: int = 1
    """The services that are probed at the same time, for probes that mostly wait."""


def only_quotes(origin: str) -> list[str]:
    """Return the calls in the journal that created something else than a quote."""
    rows = control(origin, "GET", "/requests?limit=1000")["data"]
    allowed = ("/auth/token", "/quotes", "/quote", "/estimate", "/calculate")
    return [
        f"{row['method']} {row['path']} returned {row['status']}"
        for row in rows
        if row["method"] != "GET" and row["status"] < 400 and not row["path"].endswith(allowed)
    ]


def mutation(seed: str) -> Lie:
    """Return a lie about the answers of one operation: another status, code, field, number or text."""
    chance = random.Random(seed)
    method, end = chance.choice([("POST", "/quotes"), ("GET", "/profile"), ("POST", "/wallet/send"), ("GET", "/rates"),
        ("GET", "/wallet/assets"), ("POST", "/estimate"), ("POST", "/wallet/swap/quote"), ("POST", "/beneficiaries"),
        ("GET", "/currencies"), ("DELETE", "/quotes")])  # fmt: skip
    kind = chance.choice(["status", "code", "drop", "number", "empty"])

    def lie(number: int, called: str, path: str, truth: Callable[[], Answer]) -> Answer | None:
        if called != method or not path.partition("?")[0].endswith(end):
            return None
        answer = truth()
        body = json.loads(answer.body) if answer.body else None
        status = answer.status
        if kind == "status":
            status = 418 if status >= 400 else 202
        elif kind == "empty":
            body = {}
        elif kind == "code" and isinstance(body, dict) and isinstance(body.get("error"), dict):
            body["error"]["code"] = "teapot"
        elif kind == "drop" and isinstance(body, dict):
            for name in list(body)[1::2]:
                del body[name]
        elif kind == "number" and isinstance(body, dict):
            body = {name: 12 if isinstance(value, str) else value for name, value in body.items()}
        return Answer(status, json.dumps(body).encode(), answer.headers)

    return lie


_SANDBOX = ("--spend", "sandbox")
MODES = {
    "steered": Mode(_SANDBOX, steers=True),
    "waiting": Mode((*_SANDBOX, "--wait", "2m"), ("--clock", "scaled", "--rate", "900"), at_once=4),
    "listening": Mode((*_SANDBOX, "--wait", "2m"), ("--clock", "scaled", "--rate", "900"), listens=True, at_once=4),
    "none": Mode(("--spend", "none"), check=only_quotes),
    "other": Mode(_SANDBOX, lies=True),
}
"""By name. Half of the services have other reference data."""


def one_run(name: str, seed: int) -> tuple[Counter[str], list[str], dict[str, Any]]:
    """Probe one hidden service. Return the counts, what is wrong, and the report."""
    mode = MODES[name]
    assumed = chosen(f"hidden {seed}")
    with ExitStack() as stack:
        origin = stack.enter_context(hidden_service(assumed, *mode.serve))
        if seed % 2:
            change_data(origin, f"data {seed}")
        options = list(mode.options)
        if mode.listens:
            port = free_port()
            options += ["--webhook-url", f"http://127.0.0.1:{port}", "--listen", f"127.0.0.1:{port}"]
            options += ["--webhook-key", "whk_test_simulator"]
        if "sandbox" in options:
            options += ["--user-id", _other_user(origin)]
        target = origin
        if mode.lies:
            target, _ = stack.enter_context(liar(mutation(f"lie {seed}"), origin))
        _, report = probed(target, origin if mode.steers else "none", *options)
        wrong = mode.check(origin)
    counts, mistaken = judged(report, assumed)
    if mode.lies:  # what the lie touches may be `neither`
        mistaken = [line for line in mistaken if ": neither " not in line]
        counts["neither"] = sum(row["verdict"] == "neither" for row in report["assumptions"])
    return counts, wrong + mistaken, report


def _other_user(origin: str) -> str:
    return str(control(origin, "GET", "/worlds/default")["platform_users"][0]["user_id"])


@dataclass(frozen=True)
class Row:
    """The result of one service, as a line of a results file."""

    mode: str
    seed: int
    counts: Mapping[str, int]
    """How many assumptions were decided, and how many were not for each reason."""
    wrong: tuple[str, ...]
    calls: int
    seconds: float


def read_rows(path: Path) -> dict[tuple[str, int], Row]:
    """Return the rows of a results file by mode and seed. A last line that was cut off is ignored."""
    rows = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            row = Row(**json.loads(line))
        except ValueError:
            continue
        rows[row.mode, row.seed] = row
    return rows


def summary(mode: str, rows: Iterable[Row]) -> str:
    """Return one line with the totals of a mode."""
    played = [row for row in rows if row.mode == mode]
    if not played:
        return f"{mode}: 0 services"
    totals: Counter[str] = Counter(wrong=sum(len(row.wrong) for row in played))
    for row in played:
        totals.update(row.counts)
    shown = ", ".join(f"{number} {reason}" for reason, number in sorted(totals.items()))
    return (
        f"{mode}: {len(played)} services; {shown}; "
        f"decided {_range(row.counts.get('decided', 0) for row in played)}, "
        f"calls {_range(row.calls for row in played)}, seconds {_range(row.seconds for row in played)}"
    )


def _range(numbers: Iterable[float]) -> str:
    found = list(numbers)
    return f"{min(found)} to {max(found)}"


def play(mode: str, seeds: Sequence[int], results: Path | None) -> None:
    """Probe the services of these seeds that are not in the results file, and append them.

    Prints each service, and the totals of all services in the file.
    """
    rows = read_rows(results) if results else {}
    left = [seed for seed in seeds if (mode, seed) not in rows]
    with ThreadPoolExecutor(MODES[mode].at_once) as pool:
        for seed, played in zip(left, pool.map(partial(_attempt, mode), left), strict=True):
            if isinstance(played, str):
                _say(f"{mode} {seed} failed: {played}")
                continue
            counts, wrong, report = played
            row = Row(mode, seed, dict(counts), tuple(wrong), report["calls"], report["seconds"])
            rows[mode, seed] = row
            if results:
                with results.open("a", encoding="utf-8") as file:
                    file.write("\n" + json.dumps(asdict(row)))  # first a new line: the last one may be cut off
            open_ = [f"{one['id']} {one['reason']}" for one in report["assumptions"] if one["reason"]]
            _say(f"{mode} {seed}: {counts['decided']} decided, {row.calls} calls, open: {', '.join(open_)}")
            for line in wrong:
                _say(f"    {mode} {seed} is wrong: {line}")
    _say(summary(mode, rows.values()))


def _attempt(mode: str, seed: int) -> tuple[Counter[str], list[str], dict[str, Any]] | str:
    """Return the result of `one_run`, or why there is none."""
    try:
        return one_run(mode, seed)
    except (AssertionError, OSError, subprocess.SubprocessError) as error:
        return f"{type(error).__name__}: {error}"


def _seeds(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def main() -> None:
    parser = ArgumentParser(description="Probe hidden services and count what is decided, and what wrongly.")
    parser.add_argument("count", nargs="?", default="10", help="number of services of each mode: seeds 0 to COUNT - 1")
    parser.add_argument("modes", nargs="*", metavar="mode", help=f"{', '.join(MODES)}; default: all")
    parser.add_argument("--seeds", type=_seeds, metavar="FIRST-LAST", help="these seeds instead of COUNT")
    parser.add_argument(
        "--results", type=Path, metavar="FILE", help="skip the services in this file, and append others"
    )
    given = parser.parse_args()
    modes = given.modes if given.count.isdecimal() else [given.count, *given.modes]
    count = int(given.count) if given.count.isdecimal() else 10
    for mode in modes or MODES:
        play(mode, given.seeds or range(min(count, 20) if mode == "other" else count), given.results)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
