"""`rampsim doctor`: checks the installation, the settings, the server and the webhook endpoints."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import socket
import sys
from collections.abc import Iterator
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

import click

from simulator.cli.options import option
from simulator.cli.output import Exit, Row, say, show
from simulator.cli.remote import Address, address_of, in_words
from simulator.cli.server import running, settings, settings_file
from simulator.engine.clients import guard
from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.clients.control import CallRefused, ControlClient, Unreachable, segment
from simulator.engine.clients.synchronous import NoResponse, SyncClient
from simulator.kernel.world import DEFAULT_WORLD
from simulator.version import __version__, wheel

_SECONDS = 3.0
_PLUGINS = ("pytest", "httpx", "freezegun", "hypothesis", "pytest-xdist", "pytest-asyncio")
_COLOURS = {"ok": "green", "note": "yellow", "problem": "red"}


class Check(NamedTuple):
    """The result of one check."""

    subject: str
    state: Literal["ok", "note", "problem"]
    found: str
    todo: str = ""
    """The next step, if there is one."""


@click.command()
@option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
@settings.CLIENT[0].option()
@settings.CLIENT[1].option()
@settings.CLIENT[3].option()
@settings_file.config_option(settings.CLIENT)
def doctor(as_json: bool, url: str | None, world: str | None, control_token: str | None) -> None:
    """Check installation, settings, server and webhook endpoints.

    Each line has a next step if there is one. Enabled webhook endpoints on this machine get one unsigned request,
    which a receiver must refuse. Exits with 1 if there is a problem.
    """
    address = address_of(url)
    checks = [*_installation(), *_settings(), *_server(address, world or DEFAULT_WORLD, control_token)]
    if as_json:
        show([check._asdict() for check in checks])
    else:
        for check in checks:
            say(f"{check.state:<8}", nl=False, fg=_COLOURS[check.state])
            say(f" {check.subject}: {check.found}")
            if check.todo:
                say(f"         -> {check.todo}")
    if any(check.state == "problem" for check in checks):
        sys.exit(Exit.REFUSED)


def _installation() -> Iterator[Check]:
    yield Check("rampsim", "ok", __version__)
    yield Check("Python", "ok", f"{platform.python_version()} on {platform.system()} ({sys.executable})")
    found = {name: version for name in _PLUGINS if (version := _version_of(name)) is not None}
    listed = ", ".join(f"{name} {version}" for name, version in found.items())
    if "pytest" in found and "httpx" in found:
        yield Check("test kit", "ok", listed)
    else:
        todo = (
            f'for tests: pip install pytest "{wheel("testing")}", or in a checkout: pip install pytest -e ".[testing]"'
        )
        yield Check("test kit", "note", listed or "not installed", todo)


def _version_of(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _settings() -> Iterator[Check]:
    file = settings_file.file_of(click.get_current_context())
    if file.path is None:
        yield Check("settings file", "ok", "none; defaults apply")
    else:
        yield Check("settings file", "ok", str(file.path))
        for name, value in settings_file.read(str(file.path)).values.items():
            yield Check(f"setting {name}", "ok", f"{value}, from {file.place_of(name)}")
    rows = {row.variable: row for row in (*settings.SERVE, *settings.CLIENT)}
    for name in sorted(name for name in os.environ if name.startswith("SIMULATOR_")):
        shown = "set" if "TOKEN" in name or "KEY" in name else os.environ[name]
        if name in rows or name in (guard.HOSTS_VARIABLE, "SIMULATOR_CONFIG"):
            yield Check(f"variable {name}", "ok", shown)
        else:
            yield Check(f"variable {name}", "ok", f"{shown}, used by tests and tools")


def _server(address: Address, world: str, token: str | None) -> Iterator[Check]:
    origin = f"from {address.by}" if address.by else "the default address"
    client = ControlClient(address.url, world, token=token, timeout_seconds=_SECONDS)
    try:
        health = client.get("/health")
    except Unreachable as error:
        yield _nobody(address, origin, str(error))
        return
    except CallRefused as refusal:
        yield Check("server", "problem", f"{address.url} ({origin}): {in_words(refusal)}", "use another --url")
        return
    yield Check("server", "ok", f"{address.url} ({origin}), version {health.get('version')}")
    if health.get("version") != __version__:
        yield Check("version", "note", f"the server has {health.get('version')}, this command {__version__}",
                    "install the same version on both sides")  # fmt: skip
    others = [server.url for server in running.here() if server.url != address.url]
    if others:
        yield Check(
            "other servers", "note", f"{', '.join(others)} also run here", "stop them with `rampsim stop --url URL`"
        )
    try:
        found = client.get(f"/worlds/{segment(world)}")
        yield Check("world", "ok", f"{world}, seed {found['seed']}")
        for environment, keys in found["credentials"].items():
            yield Check(f"keys, {environment}", "ok", f"{keys['public_key']} at {keys['base_url']}")
        yield _clock(found["clock"])
        yield from _webhooks(client)
    except CallRefused as refusal:
        todo = "`rampsim worlds` lists the worlds" if refusal.status == 404 else ""
        yield Check("world", "problem", in_words(refusal), todo)


def _nobody(address: Address, origin: str, why: str) -> Check:
    """Return the check result for an address at which no simulator responds."""
    parts = urlsplit(address.url)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 80), _SECONDS):
            todo = "stop that program, or start the server on another port: `rampsim serve --port 0`"
            return Check("server", "problem", f"{address.url} ({origin}): another program listens there", todo)
    except OSError:
        return Check("server", "problem", f"{address.url} ({origin}): {why}", "start one with `rampsim serve`")


def _clock(clock: Row) -> Check:
    mode, now = clock["mode"], clock["now"]
    if mode == "manual":
        return Check("clock", "ok", f"manual, {now}; it advances only with `rampsim clock advance`")
    rate = f", {clock['rate']:g} times as fast as real time" if mode == "scaled" else ""
    return Check("clock", "ok", f"{mode}{rate}, {now}")


def _webhooks(client: ControlClient) -> Iterator[Check]:
    endpoints = [row for row in client.get("/resources", type="webhook")["data"] if row["status"] == "enabled"]
    if not endpoints:
        yield Check("webhooks", "note", "no enabled endpoint", "register one with POST /webhooks, if you need events")
    for endpoint in endpoints:
        url = str(endpoint["url"])
        if re.match(rf"{re.escape(client.url)}(/_worlds/[^/]+)?{CONTROL_BASE}/inbox/", url):
            yield Check(f"webhook {url}", "ok", "the built-in inbox; `rampsim inbox` shows what it received")
        else:
            yield _receiver(url)


def _receiver(url: str) -> Check:
    """Send one unsigned request to an endpoint. A receiver must refuse it with a 4xx status."""
    subject = f"webhook {url}"
    try:
        client = SyncClient(url, connect_seconds=_SECONDS)
        response = client.request("POST", "", b"{}", {"Content-Type": "application/json"}, _SECONDS)
    except guard.ForeignHost:
        return Check(subject, "note", "not checked: it is not on this machine", "check it with `rampsim certify URL`")
    except (NoResponse, ValueError) as error:
        return Check(subject, "problem", f"no response: {error}", "start your receiver, or register another URL")
    if 400 <= response.status < 500 and response.status not in (404, 405):
        return Check(subject, "ok", f"refuses an unsigned request with {response.status}")
    if response.status < 300:
        todo = "verify X-Signature; `rampsim certify URL` shows how"
        return Check(subject, "problem", f"accepts an unsigned request with {response.status}", todo)
    todo = "a receiver must accept POST at this path, and refuse an unsigned request with 400 or 401"
    return Check(subject, "problem", f"returns {response.status} for an unsigned request", todo)
