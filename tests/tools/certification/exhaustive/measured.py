"""What it costs to cover every order of five events, with up to two copies of each, at the careful shop.

    python -m tests.tools.certification.exhaustive.measured [--way snapshots|replays] [--flow onramp]

prints the rows of the table in `tests/tools/exploration/README.md`. The simulator and the shop are processes. The
processor time is that of both and of this process with its commands. The shop's database does not wait for the disk.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import click

from simulator.certification.exhaustive.running import Bound, FlowReport
from simulator.testing.servers.server import Process
from tests.remote import new_client
from tests.tools.certification.exhaustive.conftest import searched
from tests.tools.certification.exhaustive.shop import serving_shop

FLOWS = ("onramp", "offramp-refunded", "completed-refunded")
WAYS = ("snapshots", "replays")
POST = "curl -s -X POST"
"""Starts in a few milliseconds. With commands in Python, half of the time is that of starting them."""


@click.command()
@click.option("--flow", "flows", type=click.Choice(FLOWS), multiple=True, default=FLOWS)
@click.option("--way", "ways", type=click.Choice(WAYS), multiple=True, default=WAYS)
def table(flows: tuple[str, ...], ways: tuple[str, ...]) -> None:
    """Print what was covered, and in which time."""
    click.echo("| flow | way | complete | findings | states | edges | on the wall | processor |")
    click.echo("| - | - | - | - | - | - | - | - |")
    for way in ways:
        for flow in flows:
            before = _spent()
            report = covered(flow, saves=way == "snapshots")
            result = report.result
            cells = (
                f"`{flow}`",
                way,
                "yes" if report.complete else "no",
                len(result.findings),
                result.states,
                result.edges,
            )
            click.echo("| " + " | ".join(map(str, cells)) + f" | {report.seconds:.1f} s | {_spent() - before:.1f} s |")


def covered(flow: str, *, saves: bool) -> FlowReport:
    """Cover a flow. `saves`: restore saved states; otherwise, each path is played from the start."""
    server = Process({})
    try:
        with new_client() as http, tempfile.TemporaryDirectory() as directory:
            keys = http.get(f"{server.url}/_simulator/worlds/default").json()["credentials"]["sandbox"]
            file = Path(directory) / "shop.db"
            with shop_of(keys, file) as app:
                bound = Bound(f"{app}/books", flow, settle=f"{POST} {app}/settle", state=file if saves else None)
                order = f"{POST} {app}/make/$SIMULATOR_ORDER_KIND"
                (report,) = searched(bound, server.url, keys["webhook_key"], f"{app}/webhooks", order=order)
                return report
    finally:
        server.close()


@contextmanager
def shop_of(keys: Mapping[str, str], file: Path) -> Iterator[str]:
    """Serve the careful shop in a process and yield its origin."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(keys, file, there))
    process.start()
    try:
        yield str(here.recv())
    finally:
        here.send("end")
        process.join()


def _serve(keys: Mapping[str, str], file: Path, connection: Connection) -> None:
    with serving_shop(keys, file) as app:
        connection.send(app)
        connection.recv()


def _spent() -> float:
    """Return the seconds of processor time of this process and of the processes that it has waited for."""
    return sum(os.times()[:4])


if __name__ == "__main__":
    table()
