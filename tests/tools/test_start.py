"""The modules that a server loads before its first responses. It loads no others."""

from __future__ import annotations

import subprocess
import sys

from simulator.cli.server import serve
from simulator.host import PROVIDER
from tests.measures import tree_of
from tests.places import ROOT

FIRST_QUOTE = """
import asyncio, json, sys, types
from simulator import Config, create_app

async def call(path, body, token="", method="POST"):
    sent, raw = [], json.dumps(body).encode()
    headers = {"host": "127.0.0.1", "content-type": "application/json", "authorization": f"Bearer {token}"}
    headers = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": b"",
             "root_path": "", "scheme": "http", "http_version": "1.1", "headers": headers, "extensions": {},
             "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80), "asgi": {"version": "3.0"}, "state": {}}
    async def receive():
        return {"type": "http.request", "body": raw, "more_body": False}
    async def send(message):
        sent.append(message)
    await application(scope, receive, send)
    assert sent[0]["status"] in (200, 201), sent
    return json.loads(sent[1]["body"])

async def go():
    pair = {"public_key": "pk_test_simulator", "secret_key": "sk_test_simulator"}
    token = (await call("/v1/auth/token", pair))["access_token"]
    wanted = {"type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES", "method": "mobile_money"}
    await call("/v1/quotes", {**wanted, "amount": "5000", "amount_currency": "KES"}, token)
    if "control" in sys.argv:
        await call("/_simulator/clock", None, method="GET")

application = create_app(Config(clock="manual"))
asyncio.run(go())
print(*(name for name, module in sys.modules.items() if type(module).__name__ != "_LateModule"))
"""

OF_THE_FIRST_CALLS = {"auth.bodies", "auth.shapes", "fees.shapes", "ramps.bodies", "ramps.shapes"}
LATER = {
    *(
        "simulator.engine.durable",
        "simulator.engine.server.telemetry.tracing",
        "simulator.engine.server.telemetry.otlp",
        "simulator.engine.server.storage",
        "simulator.engine.records.indexes",
        "simulator.providers.ramp.tooling",
        "pyroaring",
    ),
    *(
        "simulator.engine.control",
        "simulator.contract",
        "simulator.dashboard",
        "simulator.engine.clients.asynchronous",
        "simulator.engine.clients.control",
        "simulator.engine.clients.synchronous",
        "simulator.cli",
    ),
    *("simulator.conformance", "simulator.compare", "simulator.testing", "simulator.engine.webhooks.courier.transport"),
    *(f"simulator.engine.insight.{name}" for name in ("advice", "counting", "coverage", "page")),
    *(
        "simulator.engine.scenario.files.loader",
        "simulator.engine.scenario.language.schema",
        "simulator.engine.scenario.language.document",
    ),
    *(
        "simulator.engine.scenario.language.checker",
        "simulator.engine.scenario.run.drive",
        "simulator.engine.scenario.run.runner",
        "simulator.engine.scenario.run.triggers",
    ),
    *(
        "simulator.engine.scenario.run.paths",
        "simulator.engine.scenario.run.recorder",
        "simulator.engine.scenario.language.calls",
    ),
    *(
        "simulator.engine.faults.models",
        "simulator.engine.text.globs",
        "simulator.engine.worlds.setting_model",
        "simulator.engine.text.strict",
        "simulator.engine.worlds.alternatives",
    ),
    *(
        f"simulator.providers.ramp.{room.name}.{what}"
        for room in PROVIDER.rooms
        for what in ("bodies", "shapes")
        if room.name != "webhooks" and f"{room.name}.{what}" not in OF_THE_FIRST_CALLS
    ),
    *("simulator.engine.durable", "sqlite3", "asyncpg"),
    *("yaml", "difflib", "tomllib", "jinja2", "sse_starlette", "urllib.request"),
    *("phonenumbers", "coincurve", "re2", "prometheus_client", "opentelemetry", "asyncpg", "sqlite3"),
}
"""What only later calls need, with all that is in it."""


def test_the_first_quote_loads_nothing_that_it_does_not_need() -> None:
    done = subprocess.run([sys.executable, "-c", FIRST_QUOTE], cwd=ROOT, capture_output=True, text=True, check=True)
    ran = done.stdout.split()
    assert {f"simulator.providers.ramp.{name}" for name in OF_THE_FIRST_CALLS} <= set(ran)
    early = [name for name in ran if any(f"{name}.".startswith(f"{late}.") for late in LATER)]
    assert [name for name in early if not _is_empty(name)] == []


AFTER_THE_FIRST_CONTROL_CALL = {
    *("simulator.engine.scenario.files.loader", "simulator.engine.scenario.run.drive"),
    *(f"simulator.engine.scenario.language.{name}" for name in ("checker", "document", "parts", "schema")),
    *("re2", "tarfile", "yaml"),
}


def test_the_first_control_call_reads_no_scenario_language() -> None:
    command = [sys.executable, "-c", FIRST_QUOTE, "control"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert "simulator.engine.control.time.clock" in ran
    assert AFTER_THE_FIRST_CONTROL_CALL & set(ran) == set()


SERVED = """
import sys
from simulator.cli.server import serve
with serve._quick_start():
    from simulator.engine.server.process import server_of
    from simulator.host import create_app
    server_of(create_app()).config.load()
import pydantic.plugin._loader  # as the first validated body does
print(*(name for name, module in sys.modules.items() if type(module).__name__ == "_LateModule"))
"""


def test_the_command_serve_postpones_modules_of_other_packages() -> None:
    done = subprocess.run([sys.executable, "-c", SERVED], cwd=ROOT, capture_output=True, text=True, check=True)
    assert {name for name in done.stdout.split() if not name.startswith("simulator")} == set(serve.POSTPONED)


def _is_empty(name: str) -> bool:
    """Whether it is a package that has nothing but a docstring itself."""
    head = ROOT.joinpath(*name.split("."), "__init__.py")
    return head.exists() and len(tree_of(head).body) <= 1
