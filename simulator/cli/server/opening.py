"""`rampsim open`: the dashboard in a browser."""

from __future__ import annotations

import sys
from urllib.parse import urlencode

import click

from simulator.cli.output import say
from simulator.cli.remote import remote
from simulator.cli.tools import completing
from simulator.engine.clients import control as clients
from simulator.engine.clients.address import CONTROL_BASE


@click.command("open")
@click.argument("resource_id", metavar="[ID]", required=False, shell_complete=completing.resources)
@click.option("--print", "only_print", is_flag=True, help="Only print its address.")
@click.option("--docs", is_flag=True, help="The documentation instead.")
@remote
def open_dashboard(client: clients.ControlClient, resource_id: str | None, only_print: bool, docs: bool) -> None:
    """Open the dashboard in a browser, with ID at that resource.

    The address is printed; a browser is opened at a terminal only.
    """
    client.get("/health")
    url = f"{client.url}{CONTROL_BASE}/docs/" if docs else f"{client.url}{CONTROL_BASE}/dashboard"
    if not docs and client.world:
        url += f"?{urlencode({'world': client.world})}"
    if not docs and resource_id is not None:
        url += f"#/resources/{clients.segment(resource_id)}"
    say(url)
    if not only_print and sys.stdout.isatty():
        click.launch(url)
