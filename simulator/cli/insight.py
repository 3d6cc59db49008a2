"""Commands that judge an integration by its traffic: advice on its conduct, and its coverage of the contract."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from simulator import client as clients
from simulator.cli.remote import EXIT_REFUSED, remote, show

_SEVERITIES = ("info", "warning", "error")


@click.command()
@click.option("--all-worlds", is_flag=True, help="Of all worlds this server has had, ended ones included.")
@click.option("--severity", type=click.Choice(_SEVERITIES), help="Only findings at least as severe as this.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option("--fail", is_flag=True, help="Exit with 1 when anything is found.")
@remote
def advice(client: clients.ControlClient, all_worlds: bool, severity: str | None, as_json: bool, fail: bool) -> None:
    """Show findings about the integrator's conduct: what was seen, and what to do.

    \b
    rampsim advice
    rampsim advice --severity warning --fail
    rampsim advice --all-worlds --fail
    """
    least = _SEVERITIES.index(severity or "info")
    found = [
        row
        for row in client.get("/advice", world="*" if all_worlds else None)["data"]
        if _SEVERITIES.index(row["severity"]) >= least
    ]
    if as_json:
        show(found)
    else:
        for row in found:
            click.echo(f"{row['severity']:7}  {row['kind']}  ({row['count']}×)\n         {row['message']}")
            if all_worlds:
                click.echo(f"         in the world {row['world']}")
            click.echo(f"         → {row['what_to_do']}  [{row['clause']}]")
            shown = (row["requests"] or row["evidence"])[-3:]
            if shown:
                click.echo(f"         see {', '.join(shown)}")
        if not found:
            click.echo("No findings.")
    if fail and found:
        sys.exit(EXIT_REFUSED)


@click.command()
@click.option("--all-worlds", is_flag=True, help="Of all worlds this server has had, ended ones included.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole report as JSON.")
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Write the report as one HTML page.")
@click.option("--missing", is_flag=True, help="List what is not covered, too.")
@click.option(
    "--fail-under", type=click.FloatRange(0, 100), metavar="PERCENT", help="Exit with 1 when the total is lower."
)
@remote
def coverage(
    client: clients.ControlClient,
    all_worlds: bool,
    as_json: bool,
    html: Path | None,
    missing: bool,
    fail_under: float | None,
) -> None:
    """Show how much of the contract the traffic has exercised.

    \b
    rampsim coverage --missing
    rampsim coverage --all-worlds --html coverage.html --fail-under 60
    """
    report = client.get("/coverage", world="*" if all_worlds else None)
    if html is not None:
        from simulator.insight.page import render_page

        try:
            html.write_text(render_page(report), "utf-8")
        except OSError as error:
            raise click.FileError(str(html), error.strerror) from None
    if as_json:
        show(report)
    else:
        _print(report, missing)
    if fail_under is not None and not report["percent"] >= fail_under:
        click.echo(f"rampsim: coverage {report['percent']} % is below {fail_under:g} %", err=True)
        sys.exit(EXIT_REFUSED)


def _print(report: Mapping[str, Any], missing: bool) -> None:
    parts = report["dimensions"].values()
    width = max(len(part["title"]) for part in parts)
    for part in parts:
        click.echo(_line(part["title"], part, width))
        for row in part["items"]:
            if missing and not row["covered"]:
                click.echo(f"  - {row['item']}")
    click.echo(_line("Total", report, width))


def _line(title: str, part: Mapping[str, Any], width: int) -> str:
    return f"{title:{width}}  {part['covered']:5} of {part['total']:5}  {part['percent']:5} %"
